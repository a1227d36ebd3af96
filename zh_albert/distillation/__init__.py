"""Knowledge distillation: soft targets, hidden states, and students of any size and sharing."""
