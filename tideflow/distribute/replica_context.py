"""tf.distribute.ReplicaContext: the replica that code runs for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.distribute import context
from tideflow.distribute.context import Mode
from tideflow.distribute.reductions import ReduceOp, as_reduce_op
from tideflow.export import export
from tideflow.graph import nest
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor

if TYPE_CHECKING:
    from tideflow.distribute.strategy import Strategy


@export("distribute.ReplicaContext", "contrib.distribute.ReplicaContext")
class ReplicaContext:
    """The replica that code runs for.

    Args:
      strategy: The strategy.
      replica_id_in_sync_group: The number of the replica, as an integer or a tensor.
    """

    def __init__(self, strategy: Strategy, replica_id_in_sync_group: int | Tensor):
        self._strategy = strategy
        self._replica_id = replica_id_in_sync_group
        self._position = replica_id_in_sync_group if isinstance(replica_id_in_sync_group, int) else 0

    @property
    def strategy(self) -> Strategy:
        """The strategy."""
        return self._strategy

    @property
    def num_replicas_in_sync(self) -> int:
        """The number of replicas whose gradients are put together."""
        return self._strategy.num_replicas_in_sync

    @property
    def replica_id_in_sync_group(self) -> Tensor:
        """The number of the replica, as a tensor."""
        return convert_to_tensor(self._replica_id)

    @property
    def devices(self) -> tuple[str, ...]:
        """The device of the replica."""
        return (self._strategy.extended.worker_devices[self._position],)

    def __enter__(self) -> ReplicaContext:
        self._block = context.entered(Mode(self._strategy, self))
        self._block.__enter__()
        return self

    def __exit__(self, *exc: Any) -> None:
        self._block.__exit__(*exc)

    def merge_call(self, merge_fn: Callable, args: Sequence[Any] = (), kwargs: Any = None) -> Any:
        """Waits until all replicas are here, and runs a function once for all of them.

        Args:
          merge_fn: The function, of the strategy and of the arguments, with a value for each replica.
          args: The replica's arguments.
          kwargs: Its arguments by name.

        Returns:
          What the function returned; of a value for each replica, this replica's.
        """
        context.require_replica_context(self)
        return self._merge_call(merge_fn, args, kwargs or {})

    def _merge_call(self, merge_fn: Callable, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Where there is one replica, all of them are here."""
        with context.entered(Mode(self._strategy, None)):
            return merge_fn(self._strategy, *args, **kwargs)

    def all_reduce(self, reduce_op: ReduceOp | str, value: Any) -> Any:
        """Reduces the values of all replicas.

        Args:
          reduce_op: `tf.distribute.ReduceOp.SUM` or `MEAN`.
          value: This replica's value: a structure of tensors.

        Returns:
          The result, which is the same for every replica.
        """
        chosen = as_reduce_op(reduce_op)

        def reduced(strategy: Strategy, *values: Any) -> list[Any]:
            return strategy.extended.batch_reduce_to(chosen, [(value, value) for value in values])

        flat = self.merge_call(reduced, args=tuple(nest.flatten(value)))
        return nest.pack_sequence_as(value, flat)
