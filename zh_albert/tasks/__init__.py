"""What a model is trained to do: examples, heads, losses, metrics."""
