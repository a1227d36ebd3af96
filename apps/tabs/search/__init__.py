"""The tab of semantic search."""
