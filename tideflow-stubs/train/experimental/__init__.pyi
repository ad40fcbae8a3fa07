# Written by `python -m tideflow.programs.stubs`.

from tideflow.train.loss_scale import DynamicLossScale as DynamicLossScale
from tideflow.train.loss_scale import FixedLossScale as FixedLossScale
from tideflow.train.loss_scale import LossScale as LossScale
from tideflow.train.loss_scale import MixedPrecisionLossScaleOptimizer as MixedPrecisionLossScaleOptimizer
from tideflow.train.object_saver import PythonState as PythonState
