"""Adam without variables beside its slots: the global step says how many steps were made."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tideflow.contrib.opt.adams import LazyAdamOptimizer
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.operation import Operation, Tensor
from tideflow.ops.arrays import constants
from tideflow.ops.math import casting, powers
from tideflow.train.optimizer import Optimizer
from tideflow.train.optimizers import AdamOptimizer
from tideflow.variables.base import Variable

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("contrib.opt.AdamGSOptimizer")
class AdamGSOptimizer(AdamOptimizer):
    """Adam that corrects its running means by the global step, so that it makes no two variables for that.

    Args:
      global_step: How many steps were made: a variable, a tensor or a number.
      learning_rate: The learning rate: a number, a tensor, or a function that returns one of these.
      beta1: The decay of the mean of gradients.
      beta2: The decay of the mean of squares.
      epsilon: A small number that is added to the denominator.
      use_locking: Accepted for TensorFlow's sake: updates are always atomic.
      name: The name of the optimizer.
    """

    def __init__(
        self,
        global_step: TensorLike = 0,
        learning_rate: TensorLike | Callable[[], TensorLike] = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
    ):
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)
        self._global_step = global_step

    def _get_beta_accumulators(self) -> tuple[Any, Any]:
        return self._power_of("beta1"), self._power_of("beta2")

    def _power_of(self, name: str) -> Tensor:
        return powers.pow(getattr(self, f"_{name}_t"), self._global_step_on_worker)

    def _input(self, name: str, var: Variable) -> Any:
        if name in ("beta1_power", "beta2_power"):
            return casting.cast(self._power_of(name.removesuffix("_power")), var.dtype.base_dtype)
        return super()._input(name, var)

    def _create_slots(self, var_list: list[Variable]) -> None:
        for v in var_list:
            self._zeros_slot(v, "m", self._name)
            self._zeros_slot(v, "v", self._name)

    def _prepare(self) -> None:
        super()._prepare()
        step = constants.identity(self._global_step) + 1
        self._global_step_on_worker = casting.cast(step, dtypes.float32)

    def _finish(self, update_ops: list[Any], name_scope: str) -> Operation:
        return Optimizer._finish(self, update_ops, name_scope)


@export("contrib.opt.LazyAdamGSOptimizer")
class LazyAdamGSOptimizer(LazyAdamOptimizer, AdamGSOptimizer):
    """`AdamGSOptimizer` whose running means change only in the rows that a sparse gradient has.

    Args:
      global_step: How many steps were made: a variable, a tensor or a number.
      learning_rate: The learning rate: a number, a tensor, or a function that returns one of these.
      beta1: The decay of the mean of gradients.
      beta2: The decay of the mean of squares.
      epsilon: A small number that is added to the denominator.
      use_locking: Accepted for TensorFlow's sake: updates are always atomic.
      name: The name of the optimizer.
    """
