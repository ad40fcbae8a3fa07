"""tf.distribute.StrategyExtended: what libraries (optimizers, layers, estimators) ask of a strategy."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.distribute import context
from tideflow.distribute.context import Mode
from tideflow.distribute.input_context import InputContext
from tideflow.distribute.reductions import ReduceOp, copied_to, devices_of, reduced_here, values_of
from tideflow.distribute.values import Mirrored, is_distributed, regroup, select
from tideflow.export import export
from tideflow.graph import nest
from tideflow.graph.operation import Operation
from tideflow.graph.scopes import (
    colocate_with,
    control_dependencies,
    device,
    executing_eagerly,
    name_scope,
)
from tideflow.ops.arrays import constants
from tideflow.ops.control_flow import grouping
from tideflow.platform import logging
from tideflow.variables.variable_scope import variable_creator_scope

if TYPE_CHECKING:
    from tideflow.distribute.strategy import Strategy


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

    def _session_target(self) -> str:
        """Where this worker's sessions run: in this process, unless there is a cluster."""
        return ""

    def _update_config_proto(self, config_proto: Any) -> Any:
        updated = type(config_proto)()
        updated.CopyFrom(config_proto)
        return updated

    # ------------------------------------------------------------------ variables

    _divides_variables = False  # whether variables may have parts, as a partitioner says

    def _got(self, getter: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """What `tf.get_variable` gives in the scope of this strategy."""
        if not self._divides_variables and kwargs.get("partitioner") is not None:
            kwargs["partitioner"] = None
            logging.log_first_n(
                logging.WARN,
                "Partitioned variables are disabled when using current tf.distribute.Strategy.",
                1,
            )
        return getter(*args, **kwargs)

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
          The copies; a Python number itself, whose type follows from what it is written to.
        """
        return tensor if isinstance(tensor, (int, float)) else copied_to(tensor, devices_of(destinations))

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
        """Runs a step several times.

        Args:
          fn: The step, of a context with `set_last_step_output` and of the input of all replicas. It runs for
            all of them together, and may use `call_for_each_replica`.
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
    def _global_batch_size(self) -> bool:
        return True

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
