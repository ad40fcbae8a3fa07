# Written by `python -m tideflow.programs.stubs`.

from tideflow.keras.mixed_precision.policies import Policy as Policy
from tideflow.keras.mixed_precision.policies import global_policy as global_policy
from tideflow.keras.mixed_precision.policies import set_policy as set_policy
from tideflow.keras.optimizers.loss_scale_optimizer import LossScaleOptimizer as LossScaleOptimizer
