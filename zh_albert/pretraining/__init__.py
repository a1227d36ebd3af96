"""Learning from plain text: masked tokens and sentence order."""
