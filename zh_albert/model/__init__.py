"""ALBERT encoder and heads in plain PyTorch, independent of file formats, tokenizers and tasks."""
