"""Word segmentation: the words of a Chinese text."""
