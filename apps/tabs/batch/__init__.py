"""The tab for whole files."""
