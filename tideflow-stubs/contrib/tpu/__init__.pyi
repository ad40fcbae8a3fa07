# Written by `python -m tideflow.programs.stubs`.

from tideflow.estimator.tpu.config import InputPipelineConfig as InputPipelineConfig
from tideflow.estimator.tpu.config import RunConfig as RunConfig
from tideflow.estimator.tpu.config import TPUConfig as TPUConfig
from tideflow.estimator.tpu.estimator import TPUEstimator as TPUEstimator
from tideflow.estimator.tpu.spec import TPUEstimatorSpec as TPUEstimatorSpec
