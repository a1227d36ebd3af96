"""The fine-tuning tab."""
