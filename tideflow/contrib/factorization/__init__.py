"""`tf.contrib.factorization`: clusters of points, mixtures of normal distributions, factors of matrices."""

from tideflow.contrib.factorization import clusters, matrices, mixtures  # noqa: F401
from tideflow.estimator.canned import clustering
from tideflow.export import expose, load_when_asked_for

expose(clustering.KMeans, "contrib.factorization.KMeans")
for _name in ("SQUARED_EUCLIDEAN_DISTANCE", "COSINE_DISTANCE", "RANDOM_INIT", "KMEANS_PLUS_PLUS_INIT"):
    expose(getattr(clustering, _name), f"contrib.factorization.{_name}")
load_when_asked_for("tideflow.contrib.factorization.mixture_estimator", "contrib.factorization.GMM")
load_when_asked_for(
    "tideflow.contrib.factorization.matrix_estimator", "contrib.factorization.WALSMatrixFactorization"
)
