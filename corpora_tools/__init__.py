"""Raw text to vocabularies and pretraining data."""
