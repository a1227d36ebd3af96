"""The encoder and its pretraining heads: plain PyTorch; knows no file format, tokenizer or task."""
