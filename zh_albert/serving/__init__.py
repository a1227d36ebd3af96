"""Trained models behind HTTP: requests that arrive together are answered together."""
