"""Sentence vectors: texts of similar meaning have similar vectors."""
