# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.mixed_precision import ExponentialUpdateLossScaleManager as ExponentialUpdateLossScaleManager
from tideflow.contrib.mixed_precision import FixedLossScaleManager as FixedLossScaleManager
from tideflow.contrib.mixed_precision import LossScaleManager as LossScaleManager
from tideflow.contrib.mixed_precision import LossScaleOptimizer as LossScaleOptimizer
