"""TensorFlow checkpoints of ALBERT, read and written without TensorFlow."""
