"""Text in, token ids and character offsets out."""
