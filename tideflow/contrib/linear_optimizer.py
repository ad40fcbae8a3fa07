"""`tf.contrib.linear_optimizer`: linear models by stochastic dual coordinate ascent."""

from tideflow.estimator.canned.sdca import SdcaModel, SparseFeatureColumn
from tideflow.export import expose

expose(SdcaModel, "contrib.linear_optimizer.SdcaModel")
expose(SparseFeatureColumn, "contrib.linear_optimizer.SparseFeatureColumn")
