"""Tagging of tokens: the parts that the tasks with a label for each token share."""
