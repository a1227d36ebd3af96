"""The training-curves tab."""
