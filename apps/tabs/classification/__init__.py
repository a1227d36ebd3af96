"""The classification tab."""
