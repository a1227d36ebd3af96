"""Variants of training texts for distillation: texts without labels, which the teacher labels."""
