"""Tokenization: text to token ids and character offsets."""
