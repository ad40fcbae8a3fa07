"""Boosted trees: the features, the state, growing, the estimators."""
