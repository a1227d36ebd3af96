"""Token tagging: code shared by the tasks with a label for each token."""
