# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.linear_optimizer import SDCAOptimizer as SDCAOptimizer
from tideflow.contrib.linear_optimizer import SdcaModel as SdcaModel
from tideflow.estimator.canned.sdca import SparseFeatureColumn as SparseFeatureColumn
