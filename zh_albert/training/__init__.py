"""The training loop, its settings and its resumable state."""
