"""Training loop, its settings and its resumable state."""
