"""Encoders of other makes, read into ours so that a student can learn from them."""
