"""What the inner modules of `tensorflow.contrib.opt` show beside its public names."""

from __future__ import annotations

from typing import Any

from tideflow.contrib.opt.accumulated_gradients import GRADIENT
from tideflow.contrib.opt.preconditioned import ShampooOptimizer
from tideflow.contrib.opt.replicas import GLOBAL_CENTER, LOCAL_CENTER
from tideflow.contrib.opt.weight_decay import DecoupledWeightDecayExtension

GLOBAL_VARIABLE_NAME = GLOBAL_CENTER
LOCAL_VARIABLE_NAME = LOCAL_CENTER
GRAD_VARIABLE_NAME = GRADIENT
GLOBAL_STEP = "global_step"


class ShampooWOptimizer(DecoupledWeightDecayExtension, ShampooOptimizer):
    """Shampoo, with variables that shrink in each step by a share of their own.

    Args:
      weight_decay: The share.
      global_step: The global step.
      mat_gbar_weight: How the sums of gradients' squares decay: TensorFlow takes the weight for it.
      name: The name of the optimizer.
      options: Further arguments of `ShampooOptimizer`.
    """

    def __init__(
        self,
        weight_decay: Any,
        global_step: Any,
        mat_gbar_weight: float = 1.0,
        name: str = "ShampooW",
        **options: Any,
    ):
        options["mat_gbar_decay"] = mat_gbar_weight
        super().__init__(weight_decay, global_step=global_step, name=name, **options)
