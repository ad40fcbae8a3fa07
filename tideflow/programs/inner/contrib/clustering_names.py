"""`tensorflow.contrib.factorization`: the words that its modules of clusters and mixtures show."""

import numpy as np

SQUARED_EUCLIDEAN_DISTANCE = "squared_euclidean"
COSINE_DISTANCE = "cosine"
RANDOM_INIT = "random"
KMEANS_PLUS_PLUS_INIT = "kmeans_plus_plus"
KMC2_INIT = "kmc2"
CLUSTERS_VAR_NAME = "clusters"

FULL_COVARIANCE = "full"
DIAG_COVARIANCE = "diag"
MEPS = np.finfo(float).eps
