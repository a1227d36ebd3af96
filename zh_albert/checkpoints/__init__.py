"""Model folders: reading, writing, and the names other libraries use."""
