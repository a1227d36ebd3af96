"""The command line ``zh-corpora``."""
