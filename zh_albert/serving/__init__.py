"""HTTP serving of trained models, with dynamic batching of concurrent requests."""
