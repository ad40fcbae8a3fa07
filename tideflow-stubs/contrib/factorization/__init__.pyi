# Written by `python -m tideflow.programs.stubs`.

from builtins import str as _str
from tideflow.contrib.factorization.clusters import KMeansClustering as KMeansClustering
from tideflow.contrib.factorization.matrices import WALSModel as WALSModel
from tideflow.contrib.factorization.matrix_estimator import WALSMatrixFactorization as WALSMatrixFactorization
from tideflow.contrib.factorization.mixture_estimator import GMM as GMM
from tideflow.contrib.factorization.mixtures import GmmAlgorithm as GmmAlgorithm
from tideflow.contrib.factorization.mixtures import gmm as gmm
from tideflow.estimator.canned.clustering import KMeans as KMeans

COSINE_DISTANCE: _str
KMEANS_PLUS_PLUS_INIT: _str
RANDOM_INIT: _str
SQUARED_EUCLIDEAN_DISTANCE: _str
