"""`tf.contrib.factorization`: clusters of points, mixtures of normal distributions, factors of matrices."""

from tideflow.contrib.factorization import matrices, mixtures  # noqa: F401
from tideflow.estimator.canned import kmeans  # noqa: F401
