"""The fill-mask tab."""
