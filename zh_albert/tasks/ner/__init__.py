"""Named entity recognition: spans of a text with their types."""
