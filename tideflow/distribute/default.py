"""The default strategy: one replica, wherever the program puts it; and a strategy for a whole program."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tideflow.distribute import context
from tideflow.distribute.context import Mode
from tideflow.distribute.extended import StrategyExtended
from tideflow.distribute.reductions import ReduceOp
from tideflow.distribute.replica_context import ReplicaContext
from tideflow.distribute.strategy import Strategy
from tideflow.export import export


class _DefaultExtended(StrategyExtended):
    """One replica, wherever the program puts it."""

    worker_devices = ("",)

    def _create_variable(self, next_creator: Callable[..., Any], **arguments: Any) -> Any:
        return next_creator(**arguments)

    def _call_for_each_replica(self, fn: Callable, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        with ReplicaContext(self._strategy, 0):
            return fn(*args, **kwargs)

    def update(
        self, var: Any, fn: Callable, args: Sequence[Any] = (), kwargs: Any = None, group: bool = True
    ) -> Any:
        """Runs a function on a variable.

        Args:
          var: The variable.
          fn: The function.
          args: Its further arguments.
          kwargs: Its arguments by name.
          group: Whether to return one operation.

        Returns:
          What the function returned.
        """
        with context.entered(Mode(self._strategy, None, 0)):
            return fn(var, *args, **(kwargs or {}))

    def update_non_slot(
        self,
        colocate_with: Any,
        fn: Callable,
        args: Sequence[Any] = (),
        kwargs: Any = None,
        group: bool = True,
    ) -> Any:
        """Runs a function.

        Args:
          colocate_with: Ignored.
          fn: The function.
          args: Its arguments.
          kwargs: Its arguments by name.
          group: Whether to return one operation.

        Returns:
          What the function returned.
        """
        with context.entered(Mode(self._strategy, None, 0)):
            return fn(*args, **(kwargs or {}))

    def _reduce_to(self, reduce_op: ReduceOp, value: Any, destinations: Any) -> Any:
        return value


class _DefaultStrategy(Strategy):
    def __init__(self) -> None:
        super().__init__(_DefaultExtended(self))

    @contextlib.contextmanager
    def _entered(self) -> Iterator[Strategy]:
        if context.has_strategy():
            raise RuntimeError("Must not nest tf.distribute.Strategy scopes.")
        with context.entered(Mode(self, None)):
            yield self

    def experimental_distribute_dataset(self, dataset: Any) -> Any:
        """The dataset itself.

        Args:
          dataset: The dataset.

        Returns:
          The same.
        """
        return dataset

    def make_dataset_iterator(self, dataset: Any) -> Any:
        """An iterator over the dataset.

        Args:
          dataset: The dataset.

        Returns:
          The iterator.
        """
        return dataset.make_initializable_iterator()


_default_strategy = _DefaultStrategy()
context.set_default(Mode(_default_strategy, ReplicaContext(_default_strategy, 0)))


@export("distribute.experimental_set_strategy")
def experimental_set_strategy(strategy: Strategy | None) -> None:
    """Sets the strategy of the rest of the program, as if all of it were in its scope.

    Args:
      strategy: The strategy; None for none.

    Raises:
      RuntimeError: If the program is in the scope of one.
    """
    if _set:
        _set.pop().close()
    if context.has_strategy():
        raise RuntimeError("Must not be called inside a `strategy.scope()`.")
    if strategy is not None:
        block = contextlib.ExitStack()
        block.enter_context(strategy.scope())
        _set.append(block)


_set: list[contextlib.ExitStack] = []  # the scope that the program has set for all of it
