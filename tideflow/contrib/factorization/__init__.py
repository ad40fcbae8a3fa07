"""`tf.contrib.factorization`: clusters of points, mixtures of normal distributions, factors of matrices.

Its estimators are not here.
"""

from tideflow.contrib.factorization import kmeans, matrices, mixtures  # noqa: F401
