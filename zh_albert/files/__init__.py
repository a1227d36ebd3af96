"""Files of people and of programs: what their bytes mean, limits, writing all or nothing."""
