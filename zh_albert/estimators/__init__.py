"""scikit-learn estimators for texts; they support cloning, cross-validation and pickling."""
