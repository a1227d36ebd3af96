"""Encoders of other architectures, converted to ours so that a student can learn from them."""
