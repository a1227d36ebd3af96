"""Reading comprehension: the passage of a text that answers a question, or that there is none."""
