"""The tab that looks into the encoders."""
