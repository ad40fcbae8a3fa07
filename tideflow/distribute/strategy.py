"""tf.distribute.Strategy: a program that is written for one device, on several of them.

A strategy says on which devices replicas of a function run, where variables are, and how values of the
replicas become one. Users talk to the Strategy; libraries (optimizers, layers, estimators) to its `extended`.
"""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.distribute import context
from tideflow.distribute.context import Mode
from tideflow.distribute.reductions import ReduceOp, copied_to, devices_of, reduced_here, values_of
from tideflow.distribute.values import Mirrored, is_distributed, regroup, select
from tideflow.export import export
from tideflow.graph import nest
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import (
    colocate_with,
    control_dependencies,
    device,
    executing_eagerly,
    get_default_graph,
    name_scope,
)
from tideflow.ops.arrays import constants, shapes
from tideflow.ops.control_flow import grouping
from tideflow.ops.math import casting, reductions
from tideflow.variables.variable_scope import variable_creator_scope

if TYPE_CHECKING:
    from tideflow.distribute.inputs import DistributedDataset, DistributedIterator


@export("distribute.InputReplicationMode")
class InputReplicationMode(enum.Enum):
    """How a function of inputs is called.

    Attributes:
      PER_WORKER: Once for each worker; its replicas share what it gives.
    """

    PER_WORKER = "PER_WORKER"


@export("distribute.InputContext")
class InputContext:
    """What a function of inputs should know.

    Args:
      num_input_pipelines: The number of input pipelines.
      input_pipeline_id: Which of them this is.
      num_replicas_in_sync: The number of replicas that share a step.
    """

    def __init__(
        self, num_input_pipelines: int = 1, input_pipeline_id: int = 0, num_replicas_in_sync: int = 1
    ):
        self._num_input_pipelines = num_input_pipelines
        self._input_pipeline_id = input_pipeline_id
        self._num_replicas_in_sync = num_replicas_in_sync

    @property
    def num_replicas_in_sync(self) -> int:
        """The number of replicas that share a step."""
        return self._num_replicas_in_sync

    @property
    def input_pipeline_id(self) -> int:
        """Which of the input pipelines this is."""
        return self._input_pipeline_id

    @property
    def num_input_pipelines(self) -> int:
        """The number of input pipelines."""
        return self._num_input_pipelines

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """Computes a replica's share of a batch.

        Args:
          global_batch_size: The size of the batch of all replicas.

        Returns:
          The size of one replica's batch.

        Raises:
          ValueError: If the batch cannot be divided evenly.
        """
        if global_batch_size % self._num_replicas_in_sync:
            raise ValueError(
                f"The `global_batch_size` {global_batch_size} is not divisible by `num_replicas_in_sync` "
                f"{self._num_replicas_in_sync} "
            )
        return global_batch_size // self._num_replicas_in_sync


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

        Args:
          dataset: The `tf.data.Dataset`, whose batches are those of all replicas.

        Returns:
          A dataset of values with a part for each replica.
        """
        from tideflow.distribute.inputs import DistributedDataset, divided  # loaded when asked for

        return DistributedDataset(self, divided(dataset, self.num_replicas_in_sync))

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
        reduce_op = ReduceOp(reduce_op.upper()) if isinstance(reduce_op, str) else reduce_op
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


@export("distribute.StrategyExtended")
class StrategyExtended:
    """What libraries ask of a strategy.

    Args:
      container_strategy: The strategy.
    """

    def __init__(self, container_strategy: Strategy):
        self._strategy = container_strategy

    # ------------------------------------------------------------------ what a kind of strategy says

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """The devices on which replicas run."""
        raise NotImplementedError

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        """The devices on which variables are."""
        return self.worker_devices

    @property
    def _num_replicas_in_sync(self) -> int:
        return len(self.worker_devices)

    def _create_variable(self, next_creator: Callable[..., Any], **arguments: Any) -> Any:
        raise NotImplementedError

    def _call_for_each_replica(self, fn: Callable, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        raise NotImplementedError

    def _default_device(self) -> contextlib.AbstractContextManager[Any]:
        """The device of operations that are made in the scope."""
        return contextlib.nullcontext()

    def _input_context(self) -> InputContext:
        return InputContext(1, 0, self._num_replicas_in_sync)

    def _configure(self, session_config: Any, cluster_spec: Any, task_type: Any, task_id: Any) -> None:
        """A strategy of one process needs to know nothing."""

    def _update_config_proto(self, config_proto: Any) -> Any:
        updated = type(config_proto)()
        updated.CopyFrom(config_proto)
        return updated

    # ------------------------------------------------------------------ variables

    def _created(self, next_creator: Callable[..., Any], **arguments: Any) -> Any:
        return self._create_variable(next_creator, **arguments)

    def variable_created_in_scope(self, v: Any) -> bool:
        """Tests whether a variable was made in the scope of this strategy.

        Args:
          v: The variable.

        Returns:
          Whether it was.
        """
        return getattr(v, "distribute_strategy", None) is self._strategy

    def colocate_vars_with(self, colocate_with_variable: Any) -> contextlib.AbstractContextManager[None]:
        """Puts the variables of a `with` block on the devices of another one.

        Args:
          colocate_with_variable: The other variable.

        Returns:
          A context manager.
        """

        def beside(next_creator: Callable[..., Any], **arguments: Any) -> Any:
            with device(devices_of(colocate_with_variable)[0]):
                return next_creator(**arguments)

        return variable_creator_scope(beside)

    def read_var(self, v: Any) -> Any:
        """Reads a variable.

        Args:
          v: The variable.

        Returns:
          Its value.
        """
        return constants.identity(v)

    def value_container(self, value: Any) -> Any:
        """Finds the distributed variable of which a variable is one copy.

        Args:
          value: A variable.

        Returns:
          The distributed variable, or the variable itself.
        """
        from tideflow.distribute.values import container_of  # loaded when asked for

        container = container_of(value)
        return value if container is None else container

    # ------------------------------------------------------------------ replicas

    def call_for_each_replica(self, fn: Callable, args: Sequence[Any] = (), kwargs: Any = None) -> Any:
        """Runs a function on each replica.

        Args:
          fn: The function.
          args: Its arguments. Of those that have a value for each replica, each replica gets its own.
          kwargs: Its arguments by name.

        Returns:
          What it returned, with a value for each replica.
        """
        with self._strategy.scope():
            return self._call_for_each_replica(fn, args, kwargs or {})

    # ------------------------------------------------------------------ values of replicas

    def _reduce(self, reduce_op: ReduceOp, value: Any) -> Any:
        here = devices_of(value)[0] if is_distributed(value) else self.worker_devices[0]
        return self._reduce_to(reduce_op, value, here)

    def reduce_to(self, reduce_op: ReduceOp, value: Any, destinations: Any) -> Any:
        """Reduces the values of replicas.

        Args:
          reduce_op: `tf.distribute.ReduceOp.SUM` or `MEAN`.
          value: A value for each replica.
          destinations: Where the result is wanted: a device, or what lies on devices.

        Returns:
          The result on those devices.
        """
        return self._reduce_to(reduce_op, value, destinations)

    def batch_reduce_to(self, reduce_op: ReduceOp, value_destination_pairs: Sequence[Any]) -> list[Any]:
        """Reduces several values.

        Args:
          reduce_op: `tf.distribute.ReduceOp.SUM` or `MEAN`.
          value_destination_pairs: Pairs of what `reduce_to` takes.

        Returns:
          The results.
        """
        return [self._reduce_to(reduce_op, value, where) for value, where in value_destination_pairs]

    def _reduce_to(self, reduce_op: ReduceOp, value: Any, destinations: Any) -> Any:
        devices = devices_of(destinations)
        with device(devices[0] or None):
            reduced = reduced_here(reduce_op, values_of(value) if is_distributed(value) else [value])
        return copied_to(reduced, devices)

    def broadcast_to(self, tensor: Any, destinations: Any) -> Any:
        """Copies a tensor to devices.

        Args:
          tensor: The tensor.
          destinations: The devices, or what lies on them.

        Returns:
          The copies.
        """
        return copied_to(tensor, devices_of(destinations))

    # ------------------------------------------------------------------ updates

    def update(
        self, var: Any, fn: Callable, args: Sequence[Any] = (), kwargs: Any = None, group: bool = True
    ) -> Any:
        """Runs a function on each copy of a variable.

        Args:
          var: The variable.
          fn: The function, of a copy and of the arguments.
          args: Its arguments; of those that have a value for each device, a copy gets its own.
          kwargs: Its arguments by name.
          group: Whether to return one operation that waits for all; if False, what each call returned.

        Returns:
          The operation, or the results.
        """
        return self._updated(values_of(var), devices_of(var), fn, args, kwargs or {}, group)

    def update_non_slot(
        self,
        colocate_with: Any,
        fn: Callable,
        args: Sequence[Any] = (),
        kwargs: Any = None,
        group: bool = True,
    ) -> Any:
        """Runs a function on each device that has state which belongs to no variable.

        Args:
          colocate_with: The devices, as `non_slot_devices` gives them.
          fn: The function.
          args: Its arguments; of those that have a value for each device, a device gets its own.
          kwargs: Its arguments by name.
          group: Whether to return one operation that waits for all; if False, what each call returned.

        Returns:
          The operation, or the results.
        """
        return self._updated(None, devices_of(colocate_with), fn, args, kwargs or {}, group)

    def _updated(
        self,
        copies: Sequence[Any] | None,
        devices: Sequence[str],
        fn: Callable,
        args: Sequence[Any],
        kwargs: dict[str, Any],
        group: bool,
    ) -> Any:
        results = []
        for i, place in enumerate(devices):
            with (
                context.entered(Mode(self._strategy, None, i)),
                colocate_with(None, ignore_existing=True),
                device(place),
                name_scope(f"update_{i}") if len(devices) > 1 else contextlib.nullcontext(),
            ):
                first = () if copies is None else (copies[i],)
                results.append(fn(*first, *select(i, tuple(args)), **select(i, kwargs)))
        if not group:
            return tuple(results) if len(results) > 1 else results[0]
        return _after_all(results, devices)

    def non_slot_devices(self, var_list: Sequence[Any]) -> Any:
        """The devices for state of an optimizer that belongs to no variable.

        Args:
          var_list: The variables that the optimizer changes.

        Returns:
          The devices.
        """
        return self.parameter_devices

    # ------------------------------------------------------------------ loops and input

    def experimental_make_numpy_dataset(self, numpy_input: Any, session: Any = None) -> Any:
        """Makes a dataset of the rows of arrays.

        Args:
          numpy_input: A structure of arrays.
          session: Accepted for TensorFlow's sake.

        Returns:
          The `tf.data.Dataset`.
        """
        return tf.data.Dataset.from_tensor_slices(numpy_input)

    def experimental_run_steps_on_iterator(
        self, fn: Callable, iterator: Any, iterations: Any = 1, initial_loop_values: Any = None
    ) -> Any:
        """Runs a step on each replica several times.

        Args:
          fn: The step, of a context with `set_last_step_output` and of the input.
          iterator: The iterator of the input.
          iterations: How often.
          initial_loop_values: The outputs before the first step.

        Returns:
          The context, with the operation `run_op` and the outputs of the last step.
        """
        from tideflow.distribute.steps import run_steps  # loaded when asked for

        with self._strategy.scope():
            return run_steps(self._strategy, fn, iterator, iterations, initial_loop_values)

    # ------------------------------------------------------------------ roles in a cluster

    @property
    def experimental_between_graph(self) -> bool:
        """Whether each worker builds a graph of its own."""
        return False

    @property
    def experimental_require_static_shapes(self) -> bool:
        """Whether shapes must be known when the graph is built."""
        return False

    @property
    def experimental_should_init(self) -> bool:
        """Whether this worker initializes the variables."""
        return True

    @property
    def should_checkpoint(self) -> bool:
        """Whether this worker writes checkpoints."""
        return True

    @property
    def should_save_summary(self) -> bool:
        """Whether this worker writes summaries."""
        return True


def _after_all(results: Sequence[Any], devices: Sequence[str]) -> Any:
    """What updates of several copies return as one: on each device its result, once all are done."""
    flat = [one for one in nest.flatten(results) if one is not None]
    if executing_eagerly() or not flat:
        return regroup(results, devices, Mirrored) if len(results) > 1 else results[0]
    done = grouping.group(*flat)
    if any(isinstance(one, Operation) for one in flat):
        return done
    values = []
    for place, result in zip(devices, results, strict=True):
        with colocate_with(None, ignore_existing=True), device(place), control_dependencies([done]):
            values.append(nest.map_structure(constants.identity, result))
    return regroup(values, devices, Mirrored) if len(values) > 1 else values[0]


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
        chosen = ReduceOp(reduce_op.upper()) if isinstance(reduce_op, str) else reduce_op

        def reduced(strategy: Strategy, *values: Any) -> list[Any]:
            return strategy.extended.batch_reduce_to(chosen, [(value, value) for value in values])

        flat = self.merge_call(reduced, args=tuple(nest.flatten(value)))
        return nest.pack_sequence_as(value, flat)


# ---------------------------------------------------------------------------------- the default strategy


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


@export("distribute.get_loss_reduction", "contrib.distribute.get_loss_reduction")
def get_loss_reduction() -> ReduceOp:
    """Tells how gradients of the last loss are put together.

    Returns:
      `tf.distribute.ReduceOp.MEAN` in an estimator whose loss is a mean; else SUM.
    """
    last = getattr(get_default_graph(), "_last_loss_reduction", None)
    is_mean = context.get_strategy()._scale_loss_for_estimator and last not in ("weighted_sum", "none")
    return ReduceOp.MEAN if is_mean else ReduceOp.SUM
