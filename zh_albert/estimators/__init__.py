"""scikit-learn estimators of texts; they can be cloned, cross-validated and pickled."""
