"""tf.distribute.Strategy: a program that is written for one device, on several of them.

A strategy says on which devices replicas of a function run, where variables are, and how values of the
replicas become one. Users talk to the Strategy; libraries (optimizers, layers, estimators) to its `extended`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.distribute import context
from tideflow.distribute.context import Mode
from tideflow.distribute.input_context import InputContext, InputReplicationMode
from tideflow.distribute.reductions import ReduceOp, as_reduce_op, values_of
from tideflow.distribute.values import is_distributed
from tideflow.export import export
from tideflow.graph import nest
from tideflow.graph.operation import Operation
from tideflow.graph.scopes import (
    get_default_graph,
)
from tideflow.ops.arrays import shapes
from tideflow.ops.control_flow import grouping
from tideflow.ops.math import casting, reductions
from tideflow.variables.variable_scope import get_variable_scope, variable_creator_scope, variable_scope

if TYPE_CHECKING:
    from tideflow.distribute.extended import StrategyExtended
    from tideflow.distribute.inputs import DistributedDataset, DistributedIterator


@export("distribute.Strategy", "contrib.distribute.DistributionStrategy")
class Strategy:
    """A program that is written for one device, on several of them.

        strategy = tf.distribute.MirroredStrategy()
        with strategy.scope():
            model = ...

    Args:
      extended: The `tf.distribute.StrategyExtended` that does the work.
    """

    _scale_loss_for_estimator = False

    def __init__(self, extended: StrategyExtended):
        self._extended = extended

    @property
    def extended(self) -> StrategyExtended:
        """What libraries ask of the strategy."""
        return self._extended

    @property
    def num_replicas_in_sync(self) -> int:
        """The number of replicas whose gradients are put together."""
        return self._extended._num_replicas_in_sync

    @contextlib.contextmanager
    def _entered(self) -> Iterator[Strategy]:
        mode = context.current()
        if context.has_strategy():
            if mode.strategy is not self:
                raise RuntimeError(
                    f"Mixing different tf.distribute.Strategy objects: {mode.strategy} is not {self}"
                )
            if mode.replica is not None:
                raise RuntimeError(
                    "Method requires being in cross-replica context, use get_replica_context().merge_call()"
                )
            yield self
            return
        with (
            context.entered(Mode(self, None)),
            variable_scope(
                get_variable_scope(), custom_getter=self._extended._got, auxiliary_name_scope=False
            ),
            variable_creator_scope(self._extended._created),
            self._extended._default_device(),
        ):
            yield self

    def scope(self) -> contextlib.AbstractContextManager[Strategy]:
        """Makes this the strategy of a `with` block: variables made in it are distributed.

        Returns:
          A context manager.

        Raises:
          RuntimeError: If another strategy is in force.
        """
        return self._entered()

    def colocate_vars_with(self, colocate_with_variable: Any) -> contextlib.AbstractContextManager[None]:
        """Puts the variables of a `with` block on the devices of another one.

        Args:
          colocate_with_variable: The other variable.

        Returns:
          A context manager.
        """
        return self._extended.colocate_vars_with(colocate_with_variable)

    # ------------------------------------------------------------------ input

    def make_dataset_iterator(self, dataset: Any) -> DistributedIterator:
        """Makes an iterator that divides each batch of a dataset among the replicas.

        Args:
          dataset: The `tf.data.Dataset`, whose batches are those of all replicas.

        Returns:
          An iterator, with `initialize()` and `get_next()`.
        """
        return self.experimental_distribute_dataset(dataset).make_initializable_iterator()

    def make_input_fn_iterator(
        self,
        input_fn: Callable[[InputContext], Any],
        replication_mode: InputReplicationMode = InputReplicationMode.PER_WORKER,
    ) -> DistributedIterator:
        """Makes an iterator over what a function of inputs gives.

        Args:
          input_fn: Called with a `tf.distribute.InputContext`; returns a dataset whose batches are one
            replica's, or a function that returns tensors.
          replication_mode: `tf.distribute.InputReplicationMode.PER_WORKER`.

        Returns:
          An iterator, with `initialize()` and `get_next()`.

        Raises:
          ValueError: If the mode is another one.
        """
        if replication_mode != InputReplicationMode.PER_WORKER:
            raise ValueError(f"Input replication mode not supported: {replication_mode}")
        from tideflow.distribute.inputs import DistributedDataset, TensorsIterator  # loaded when asked for

        with self.scope():
            given = input_fn(self._extended._input_context())
            if callable(given):
                return TensorsIterator(self, given)
            return DistributedDataset(self, given).make_initializable_iterator()

    def experimental_distribute_dataset(self, dataset: Any) -> DistributedDataset:
        """Divides each batch of a dataset among the replicas.

        Of several workers, each has the batches of its own files where the dataset reads files, else every
        so many batches; all have all of them where the dataset's `options()` say so, by
        `experimental_distribute.auto_shard`.

        Args:
          dataset: The `tf.data.Dataset`, whose batches are those of all replicas.

        Returns:
          A dataset of values with a part for each replica.
        """
        from tideflow.distribute.inputs import DistributedDataset, divided, sharded  # loaded when asked for

        parts = divided(dataset, self.num_replicas_in_sync)
        return DistributedDataset(self, sharded(parts, self._extended._input_context()))

    def experimental_distribute_datasets_from_function(
        self, dataset_fn: Callable[[InputContext], Any]
    ) -> DistributedDataset:
        """Distributes the dataset that a function makes for this worker.

        Args:
          dataset_fn: Called with a `tf.distribute.InputContext`; returns a dataset whose batches are one
            replica's.

        Returns:
          A dataset of values with a part for each replica.
        """
        from tideflow.distribute.inputs import DistributedDataset  # loaded when asked for

        with self.scope():
            return DistributedDataset(self, dataset_fn(self._extended._input_context()))

    def experimental_make_numpy_dataset(self, numpy_input: Any, session: Any = None) -> Any:
        """Makes a dataset of the rows of arrays.

        Args:
          numpy_input: A structure of arrays.
          session: Accepted for TensorFlow's sake.

        Returns:
          The `tf.data.Dataset`.
        """
        return self._extended.experimental_make_numpy_dataset(numpy_input, session)

    # ------------------------------------------------------------------ running

    def experimental_run(self, fn: Callable, input_iterator: Any = None) -> Any:
        """Runs a function on each replica, with the next input.

        Args:
          fn: The function, of what the iterator gives.
          input_iterator: The iterator; None for a function without arguments.

        Returns:
          What it returned, with a value for each replica.
        """
        with self.scope():
            args = () if input_iterator is None else (input_iterator.get_next(),)
            return self.experimental_run_v2(fn, args)

    def experimental_run_v2(self, fn: Callable, args: Sequence[Any] = (), kwargs: Any = None) -> Any:
        """Runs a function on each replica.

        Args:
          fn: The function.
          args: Its arguments. Of those that have a value for each replica, each replica gets its own.
          kwargs: Its arguments by name.

        Returns:
          What it returned, with a value for each replica.
        """
        with self.scope():
            return self._extended.call_for_each_replica(fn, args, kwargs)

    def reduce(self, reduce_op: ReduceOp | str, value: Any, axis: int | None = None) -> Any:
        """Reduces the values of replicas to one.

        Args:
          reduce_op: `tf.distribute.ReduceOp.SUM` or `MEAN`.
          value: A structure of values with one for each replica.
          axis: An axis over which each replica's value is reduced too, or None.

        Returns:
          The result, on one device.
        """
        reduce_op = as_reduce_op(reduce_op)
        reduced = self._extended._reduce
        if axis is None:
            return nest.map_structure(lambda one: reduced(reduce_op, one), value)

        def along(one: Any) -> Any:
            totals = self.experimental_run_v2(lambda v: reductions.reduce_sum(v, axis=axis), args=(one,))
            total = reduced(ReduceOp.SUM, totals)
            if reduce_op is ReduceOp.SUM:
                return total
            counts = self.experimental_run_v2(
                lambda v: casting.cast(shapes.shape(v)[axis], total.dtype), args=(one,)
            )
            return total / reduced(ReduceOp.SUM, counts)

        with self.scope():
            return nest.map_structure(along, value)

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """Lists the values of the replicas.

        Args:
          value: A value with one for each replica, or a single one.

        Returns:
          The values, in the order of the replicas.
        """
        return tuple(values_of(value)) if is_distributed(value) else (value,)

    def unwrap(self, value: Any) -> tuple[Any, ...]:
        """Lists the values of the replicas, as `experimental_local_results` does.

        Args:
          value: A value with one for each replica, or a single one.

        Returns:
          The values.
        """
        return self.experimental_local_results(value)

    def group(self, value: Any, name: str | None = None) -> Operation:
        """Groups the operations of all replicas.

        Args:
          value: Operations or tensors, with one for each replica.
          name: The name of the operation.

        Returns:
          An operation that waits for all of them.
        """
        flat = [one for each in nest.flatten(value) for one in self.experimental_local_results(each)]
        if len(flat) != 1 or name is not None:
            return grouping.group(*flat, name=name)
        return flat[0] if isinstance(flat[0], Operation) else flat[0].op

    # ------------------------------------------------------------------ sessions and clusters

    def configure(
        self,
        session_config: Any = None,
        cluster_spec: Any = None,
        task_type: str | None = None,
        task_id: int | None = None,
    ) -> None:
        """Tells the strategy in which cluster it is.

        Args:
          session_config: A `tf.ConfigProto` to be changed.
          cluster_spec: The cluster.
          task_type: The job of this task.
          task_id: The index of this task.
        """
        self._extended._configure(session_config, cluster_spec, task_type, task_id)

    def update_config_proto(self, config_proto: Any) -> Any:
        """Changes the configuration of a session to what the strategy needs.

        Args:
          config_proto: The `tf.ConfigProto`.

        Returns:
          A changed copy.
        """
        return self._extended._update_config_proto(config_proto)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.num_replicas_in_sync} replicas>"


@export("distribute.get_loss_reduction", "contrib.distribute.get_loss_reduction")
def get_loss_reduction() -> ReduceOp:
    """Tells how gradients of the last loss are put together.

    Returns:
      `tf.distribute.ReduceOp.MEAN` in an estimator whose loss is a mean; else SUM.
    """
    last = getattr(get_default_graph(), "_last_loss_reduction", None)
    is_mean = context.get_strategy()._scale_loss_for_estimator and last not in ("weighted_sum", "none")
    return ReduceOp.MEAN if is_mean else ReduceOp.SUM
