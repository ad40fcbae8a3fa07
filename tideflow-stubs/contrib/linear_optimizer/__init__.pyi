# Written by `python -m tideflow.programs.stubs`.

from tideflow.estimator.canned.sdca import SdcaModel as SdcaModel
from tideflow.estimator.canned.sdca import SparseFeatureColumn as SparseFeatureColumn
