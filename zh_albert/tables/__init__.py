"""People's tables: CSV with any separator, workbooks, JSON; which column holds what."""
