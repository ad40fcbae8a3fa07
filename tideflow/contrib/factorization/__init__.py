"""`tf.contrib.factorization`: clusters of points, mixtures of normal distributions, factors of matrices."""

from tideflow.contrib.factorization import matrices, mixtures  # noqa: F401
from tideflow.estimator.canned import clustering
from tideflow.estimator.canned.kmeans import KMeansClustering
from tideflow.export import expose

expose(clustering.KMeans, "contrib.factorization.KMeans")
expose(KMeansClustering, "contrib.factorization.KMeansClustering")
for _name in ("SQUARED_EUCLIDEAN_DISTANCE", "COSINE_DISTANCE", "RANDOM_INIT", "KMEANS_PLUS_PLUS_INIT"):
    expose(getattr(clustering, _name), f"contrib.factorization.{_name}")
