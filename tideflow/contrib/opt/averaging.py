"""An optimizer that keeps moving averages of what it trains."""

from __future__ import annotations

from typing import Any

from tideflow.export import export
from tideflow.graph.operation import Operation
from tideflow.graph.scopes import control_dependencies
from tideflow.ops.control_flow import grouping
from tideflow.train.moving_averages import ExponentialMovingAverage
from tideflow.train.optimizer import Optimizer


@export("contrib.opt.MovingAverageOptimizer")
class MovingAverageOptimizer(Optimizer):
    """Another optimizer, each of whose steps also updates an exponential moving average of every variable."""

    def __init__(
        self,
        opt: Optimizer,
        average_decay: float = 0.9999,
        num_updates: Any = None,
        sequential_update: bool = True,
    ):
        self._optimizer = opt
        self._ema = ExponentialMovingAverage(average_decay, num_updates=num_updates)
        self._sequential_update = sequential_update

    def get_name(self) -> str:
        return self._optimizer.get_name()

    def compute_gradients(self, *args: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        """The other optimizer's."""
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Operation:
        """The other optimizer's step, and the averages after it (or beside it)."""
        pairs = list(grads_and_vars)
        train_op = self._optimizer.apply_gradients(pairs, global_step=global_step, name=name)
        variables = [variable for grad, variable in pairs if grad is not None]
        with control_dependencies([train_op] if self._sequential_update else []):
            average = self._ema.apply(variables)
        return grouping.group(train_op, average, name="train_with_avg")

    def get_slot(self, var: Any, name: str) -> Any:
        return self._optimizer.get_slot(var, name)

    def get_slot_names(self) -> list[str]:
        return self._optimizer.get_slot_names()

    def variables(self) -> list[Any]:
        return self._optimizer.variables()
