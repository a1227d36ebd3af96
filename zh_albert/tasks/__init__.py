"""The tasks that models are fine-tuned for: a package for each, and the code they share."""
