"""HTTP server for trained models, which answers concurrent requests in batches."""
