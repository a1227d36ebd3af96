"""Weight transforms (masks, gates, fake quantization), plans drawn in training, removal."""
