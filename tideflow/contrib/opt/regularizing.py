"""Adagrad for losses of two kinds: gradients of penalties need not count in its sums."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph.stacks import replaced
from tideflow.train.optimizers import AdagradOptimizer

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("contrib.opt.RegAdagradOptimizer")
class RegAdagradOptimizer(AdagradOptimizer):
    """Adagrad that can make a step without adding to the sums of squared gradients.

    Args:
      learning_rate: The learning rate: a number, a tensor, or a function that returns one of these.
      initial_accumulator_value: The value at which the sums start, above 0.
      use_locking: Accepted for TensorFlow's sake: updates are always atomic.
      name: The name of the optimizer.

    Raises:
      ValueError: If `initial_accumulator_value` is not positive.
    """

    def __init__(
        self,
        learning_rate: TensorLike | Callable[[], TensorLike],
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "RegAdagrad",
    ):
        super().__init__(learning_rate, initial_accumulator_value, use_locking, name)
        self._should_update_slots = True

    @contextlib.contextmanager
    def avoid_updating_slots(self) -> Iterator[None]:
        """What is applied within this context leaves the sums as they are."""
        with replaced(self, "_should_update_slots", False):
            yield

    def _attributes(self) -> dict[str, Any]:
        return {"update_slots": self._should_update_slots}
