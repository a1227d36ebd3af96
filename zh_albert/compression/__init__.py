"""Model compression: recipes of stages over match terms, teachers, plans and weight transforms."""
