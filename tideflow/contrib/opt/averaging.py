"""An optimizer that keeps moving averages of what it trains."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph.operation import Operation
from tideflow.graph.scopes import control_dependencies
from tideflow.ops.control_flow import grouping
from tideflow.train.moving_averages import ExponentialMovingAverage
from tideflow.train.optimizer import Optimizer
from tideflow.train.saveables import names_of
from tideflow.train.saver import Saver
from tideflow.variables.collections import global_variables
from tideflow.variables.partitioned import PartitionedVariable

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike, VariableLike


@export("contrib.opt.MovingAverageOptimizer")
class MovingAverageOptimizer(Optimizer):
    """Another optimizer, each of whose steps also updates an exponential moving average of every variable.

    Args:
      opt: The optimizer.
      average_decay: How much of an average stays at each step.
      num_updates: The number of updates so far, which makes early averages move faster; None for no such
        thing.
      sequential_update: Whether averages are updated after the variables; if not, at the same time.
    """

    def __init__(
        self,
        opt: Optimizer,
        average_decay: float = 0.9999,
        num_updates: TensorLike | None = None,
        sequential_update: bool = True,
    ):
        self._optimizer = opt
        self._ema = ExponentialMovingAverage(average_decay, num_updates=num_updates)
        self._sequential_update = sequential_update
        self._partners: dict[str, str] | None = None  # of a variable its average, of an average its variable

    def get_name(self) -> str:
        return self._optimizer.get_name()

    def compute_gradients(self, *args: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        """The other optimizer's.

        Args:
          args: Arguments of the other optimizer's.
          kwargs: Its keyword arguments.

        Returns:
          Pairs of a gradient and its variable.
        """
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Any, Any]],
        global_step: TensorLike | None = None,
        name: str | None = None,
    ) -> Operation:
        """The other optimizer's step, and the averages after it (or beside it).

        Args:
          grads_and_vars: Pairs of a gradient and its variable.
          global_step: The global step, which is counted up; none if None.
          name: The name scope of the operations.

        Returns:
          The operation.
        """
        pairs = list(grads_and_vars)
        train_op = self._optimizer.apply_gradients(pairs, global_step=global_step, name=name)
        variables = [variable for grad, variable in pairs if grad is not None]
        with control_dependencies([train_op] if self._sequential_update else []):
            average = self._ema.apply(variables)
        names = [(variable.op.name, self._ema.average(variable).op.name) for variable in variables]
        self._partners = dict(names) | {average_name: name for name, average_name in names}
        return grouping.group(train_op, average, name="train_with_avg")

    def swapping_saver(self, var_list: Any = None, name: str = "swapping_saver", **kwargs: Any) -> Saver:
        """Makes a saver that saves each average under the name of its variable, and the other way round.

        Evaluation then restores, with a saver of its own, the averages.

        Args:
          var_list: What to save, as for `tf.train.Saver`; all variables if None.
          name: The name of the saver's operations.
          **kwargs: More arguments of `tf.train.Saver`.

        Returns:
          The saver.

        Raises:
          RuntimeError: If no gradients were applied yet.
          ValueError: If a variable is to be saved without its average.
        """
        if self._partners is None:
            raise RuntimeError("Must call apply_gradients or minimize before creating the swapping_saver")
        if var_list is None:
            var_list = global_variables()
        if not isinstance(var_list, dict):
            var_list = names_of(var_list)
        by_name: dict[str, Any] = {}
        for key, saved in var_list.items():
            if isinstance(saved, (list, PartitionedVariable)):
                by_name.update((part.op.name, part) for part in saved)
            else:
                by_name[key] = saved
        swapped = {
            key: [self._partner(part.op.name, part, by_name) for part in saved]
            if isinstance(saved, list)
            else self._partner(key, saved, by_name)
            for key, saved in var_list.items()
        }
        return Saver(swapped, name=name, **kwargs)

    def _partner(self, name: str, variable: Any, by_name: dict[str, Any]) -> Any:
        partner = (self._partners or {}).get(name)
        if partner is None:
            return variable
        if partner not in by_name:
            raise ValueError(
                f"Variable to swap {partner} is not part of variables to save. This breaks "
                "MovingAverageOptimizer."
            )
        return by_name[partner]

    def get_slot(self, var: VariableLike, name: str) -> Any:
        return self._optimizer.get_slot(var, name)

    def get_slot_names(self) -> list[str]:
        return self._optimizer.get_slot_names()

    def variables(self) -> list[Any]:
        return self._optimizer.variables()
