# Written by `python -m tideflow.programs.stubs`.

from builtins import str as _str
from tideflow.contrib.factorization.matrices import WALSModel as WALSModel
from tideflow.contrib.factorization.mixtures import GmmAlgorithm as GmmAlgorithm
from tideflow.contrib.factorization.mixtures import gmm as gmm
from tideflow.estimator.canned.clustering import KMeans as KMeans
from tideflow.estimator.canned.kmeans import KMeansClustering as KMeansClustering

COSINE_DISTANCE: _str
KMEANS_PLUS_PLUS_INIT: _str
RANDOM_INIT: _str
SQUARED_EUCLIDEAN_DISTANCE: _str
