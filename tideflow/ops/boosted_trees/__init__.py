"""Boosted decision trees: quantiles of features, statistics of nodes, the best splits, ensembles of trees."""
