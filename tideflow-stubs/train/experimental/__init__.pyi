# Written by `python -m tideflow.programs.stubs`.

from tideflow.train.loss_scale import DynamicLossScale as DynamicLossScale
from tideflow.train.loss_scale import FixedLossScale as FixedLossScale
from tideflow.train.loss_scale import LossScale as LossScale
from tideflow.train.loss_scale import MixedPrecisionLossScaleOptimizer as MixedPrecisionLossScaleOptimizer
from tideflow.train.mixed_precision import disable_mixed_precision_graph_rewrite as disable_mixed_precision_graph_rewrite
from tideflow.train.mixed_precision import enable_mixed_precision_graph_rewrite as enable_mixed_precision_graph_rewrite
from tideflow.train.object_saver import PythonState as PythonState
