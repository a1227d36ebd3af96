"""Command line: thin wrappers around library functions."""
