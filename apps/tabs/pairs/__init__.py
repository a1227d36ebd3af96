"""The tab of sentence pairs."""
