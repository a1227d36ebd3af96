"""Comparison of arms (methods, settings) over seeds: runs, paired tests, table and picture."""
