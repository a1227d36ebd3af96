"""Inference with trained models: loading, prediction, export and introspection."""
