"""The entities tab."""
