"""The reading tab."""
