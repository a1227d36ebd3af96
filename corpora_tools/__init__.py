"""Tools for raw text: vocabularies and pretraining data."""
