"""The tokens tab."""
