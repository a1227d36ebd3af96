"""A vector for each text, so that texts of like meaning have like vectors."""
