"""Multiple choice: one of several choices for each question about a text."""
