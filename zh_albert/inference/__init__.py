"""Trained models answering questions."""
