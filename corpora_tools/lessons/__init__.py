"""Lessons about pairs of sentences, made by rule: what overlap of words cannot tell."""
