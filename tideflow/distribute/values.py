"""Values with a copy on each device: one a replica, the same on all of them, or a variable."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.distribute import context
from tideflow.distribute.devices import canonical
from tideflow.distribute.reductions import ReduceOp
from tideflow.graph import nest
from tideflow.graph.convert import convert_to_tensor, register_tensor_conversion_function
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import (
    GraphKeys,
    control_dependencies,
    device,
    executing_eagerly,
    get_default_graph,
)
from tideflow.ops.arrays import constants
from tideflow.ops.control_flow import grouping
from tideflow.session.fetches import register_session_run_conversion_functions
from tideflow.variables.base import VariableAggregation, add_to_collections
from tideflow.variables.resource import BaseResourceVariable, ResourceVariable

if TYPE_CHECKING:
    from tideflow.distribute.strategy import Strategy
    from tideflow.graph.typing import TensorLike

REDUCTIONS = {VariableAggregation.SUM: ReduceOp.SUM, VariableAggregation.MEAN: ReduceOp.MEAN}


class DistributedValues:
    """A value for each device of a strategy."""

    is_tensor_like = True

    def __init__(self, values: Iterable[Any], devices: Iterable[str]):
        self._values = tuple(values)
        self._devices = tuple(devices)

    @property
    def values(self) -> tuple[Any, ...]:
        """The values, in the order of the devices."""
        return self._values

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices."""
        return self._devices

    @property
    def primary(self) -> Any:
        """The first value."""
        return self._values[0]

    def get(self, device: str | None = None) -> Any:
        """The value of a device or, if None, of the replica that code runs for.

        Args:
          device: The name of the device.

        Returns:
          The value.

        Raises:
          ValueError: If there is none for the device.
        """
        if device is not None:
            known = device if device in self._devices else canonical(device)
            if known not in self._devices:
                raise ValueError(f"Device {known} not found in {self._devices} (current device )")
            return self._values[self._devices.index(known)]
        return self._at(place())

    def _at(self, position: int) -> Any:
        """The value of a replica."""
        return self._values[position]

    def __repr__(self) -> str:
        lines = [f"  {i} {where}: {value!r}" for i, (where, value) in enumerate(self._placed())]
        return f"{type(self).__name__}:{{\n" + ",\n".join(lines) + "\n}"

    def _placed(self) -> Iterable[tuple[str, Any]]:
        return zip(self._devices, self._values, strict=True)


def place() -> int:
    """The position of the device that code runs for; 0 where it runs for all."""
    mode = context.current()
    if mode.replica is not None:
        return mode.replica._position
    return mode.updated or 0


class PerReplica(DistributedValues):
    """A value of its own for each replica."""


class Mirrored(DistributedValues):
    """The same value on each device, which can be used as a tensor."""

    def _as_graph_element(self) -> Any:
        return self.get()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.get(), name)


def _overload(operator: str) -> Callable[..., Any]:
    return lambda self, *args: getattr(self.get(), operator)(*args)


for _operator in Tensor.OVERLOADABLE_OPERATORS - {"__eq__", "__ne__"}:
    setattr(Mirrored, _operator, _overload(_operator))

register_tensor_conversion_function(
    Mirrored, lambda value, dtype=None, name=None, as_ref=False: convert_to_tensor(value.get(), dtype, name)
)
register_session_run_conversion_functions(
    DistributedValues,
    lambda value: (list(value.values), lambda found: type(value)(found, value.devices)),
)


# ---------------------------------------------------------------------------------- structures of them


def select(position: int, structure: Any) -> Any:
    """What a replica has of a structure in which some values are distributed."""
    return nest.map_structure(
        lambda value: value._at(position) if is_distributed(value) else value, structure
    )


def is_distributed(value: Any) -> bool:
    """Whether something has a value for each device."""
    return isinstance(value, (DistributedValues, DistributedVariable))


def regroup(structures: Sequence[Any], devices: Sequence[str], kind: type = PerReplica) -> Any:
    """One structure of the same structure of each replica: values that differ are distributed."""
    return nest.map_structure(lambda *values: _joined(values, devices, kind), *structures)


def _joined(values: tuple[Any, ...], devices: Sequence[str], kind: type) -> Any:
    first = values[0]
    container = container_of(first)
    if container is not None and all(container_of(value) is container for value in values):
        return container
    if all(value is first for value in values):
        return first
    return kind(values, devices)


def container_of(variable: Any) -> Any:
    """The distributed variable of which a variable is one copy; None of any other value."""
    found = getattr(variable, "_distributed_container", None)
    return None if found is None else found()


# ---------------------------------------------------------------------------------- variables


class DistributedVariable(BaseResourceVariable):
    """A variable with a copy on each device. Code that runs for a replica has that replica's copy."""

    def __init__(
        self,
        strategy: Strategy,
        values: Sequence[ResourceVariable],
        aggregation: VariableAggregation,
        devices: Sequence[str],
    ):
        first = values[0]
        self._values = tuple(values)
        self._devices = tuple(devices)
        self._strategy = strategy
        self._aggregation = aggregation
        self._synchronization = first.synchronization
        self._trainable = first.trainable
        self._constraint = first.constraint
        self._dtype = first.dtype
        for value in self._values:
            value._distributed_container = weakref.ref(self)
        with control_dependencies(None):  # a slot may be made where a step's gradients are
            self._initializer_op = self._group([value.initializer for value in values])

    def _group(self, ops: Sequence[Operation | None]) -> Any:
        return None if ops[0] is None else grouping.group(*ops)

    values = DistributedValues.values
    devices = DistributedValues.devices
    primary = DistributedValues.primary
    _placed = DistributedValues._placed
    get = DistributedValues.get
    _at = DistributedValues._at

    @property
    def distribute_strategy(self) -> Strategy:
        """The strategy in whose scope the variable was made."""
        return self._strategy

    # What a resource variable keeps about its handle is here that of the copy.

    @property
    def _handle(self) -> Any:  # type: ignore[override]
        return self.get()._handle

    @property
    def _graph_element(self) -> Tensor:
        return self.get()._graph_element

    @property
    def _eager_name(self) -> str | None:  # type: ignore[override]
        return self.primary._eager_name

    @property
    def _initial_value(self) -> Any:  # type: ignore[override]
        return self.get()._initial_value

    @property
    def name(self) -> str:
        return self.primary.name

    @property
    def _shared_name(self) -> str:
        return self.primary._shared_name

    def __repr__(self) -> str:
        return DistributedValues.__repr__(self)  # type: ignore[arg-type]

    # ------------------------------------------------------------------ writing

    def assign(self, value: TensorLike, *args: Any, **kwargs: Any) -> Any:
        """A new value."""
        return self._write("assign", value, *args, **kwargs)

    def assign_add(self, delta: TensorLike, *args: Any, **kwargs: Any) -> Any:
        """Adds `delta`."""
        return self._write("assign_add", delta, *args, **kwargs)

    def assign_sub(self, delta: TensorLike, *args: Any, **kwargs: Any) -> Any:
        """Subtracts `delta`."""
        return self._write("assign_sub", delta, *args, **kwargs)

    def _scatter(self, function: str, delta: Any, use_locking: bool, name: str | None) -> Any:
        return self._write("_scatter", delta, use_locking=use_locking, name=name, first=function)

    def _write(self, method: str, value: Any, *args: Any, first: Any = None, **kwargs: Any) -> Any:
        raise NotImplementedError

    def _mode(self) -> context.Mode:
        """The mode that this thread is in. Outside of any scope, code runs for all replicas."""
        return context.current() if context.has_strategy() else context.Mode(self._strategy, None)

    def _on_copy(self, variable: Any, method: str, value: Any, args: Any, first: Any, kwargs: Any) -> Any:
        written = getattr(variable, method)
        return written(value, *args, **kwargs) if first is None else written(first, value, *args, **kwargs)

    # ------------------------------------------------------------------ checkpoints

    def _saved_value(self) -> Tensor:
        """What is written into a checkpoint."""
        return self.primary._graph_element if self._eager_name is None else self.primary.read_value()

    def _restore(self, value: Tensor) -> Operation:
        """Gives the copies a value from a checkpoint."""
        written = []
        for variable in self._values:
            with device(variable.device):
                written.append(variable.assign(constants.identity(value), read_value=False))
        return self._group(written)


class MirroredVariable(DistributedVariable):
    """A variable whose copies have the same value: every write changes them all."""

    def _write(self, method: str, value: Any, *args: Any, first: Any = None, **kwargs: Any) -> Any:
        mode = self._mode()
        if mode.updated is not None:
            return self._on_copy(self.get(), method, value, args, first, kwargs)

        def on_copies(strategy: Strategy, given: Any) -> Any:
            return strategy.extended.update(
                self,
                lambda variable, one: self._on_copy(variable, method, one, args, first, kwargs),
                args=(given,),
            )

        if mode.replica is None:
            return on_copies(self._strategy, value)
        if self._aggregation is VariableAggregation.NONE:
            raise ValueError(
                "You must specify an aggregation method to update a MirroredVariable in Replica Context. You "
                "can do so by passing an explicit value for argument `aggregation` to tf.Variable(..)."
                "e.g. `tf.Variable(..., aggregation=tf.VariableAggregation.SUM)`"
                "`tf.VariableAggregation` lists the possible aggregation methods."
                "This is required because MirroredVariable should always be kept in sync. When updating them "
                "or assigning to them in a replica context, we automatically try to aggregate the values "
                "before updating the variable. For this aggregation, we need to know the aggregation method. "
            )

        def aggregated(strategy: Strategy, given: Any) -> Any:
            return on_copies(strategy, reduced(strategy, self._aggregation, given, self))

        return mode.replica.merge_call(aggregated, args=(value,))


class AggregatingVariable(MirroredVariable):
    """A variable that is on one device, and that replicas on several devices write to together."""

    def _at(self, position: int) -> Any:
        return self.primary


def reduced(strategy: Strategy, aggregation: VariableAggregation, value: Any, destinations: Any) -> Any:
    """One value of those that the replicas want to write."""
    if aggregation is VariableAggregation.ONLY_FIRST_REPLICA:
        return strategy.extended.broadcast_to(select(0, value), destinations)
    return strategy.extended.reduce_to(REDUCTIONS[aggregation], value, destinations)


class SyncOnReadVariable(DistributedVariable):
    """A variable that each replica changes for itself; read for all of them, it is their sum or mean."""

    def _write(self, method: str, value: Any, *args: Any, first: Any = None, **kwargs: Any) -> Any:
        mode = self._mode()
        if mode.replica is not None or mode.updated is not None:
            return self._on_copy(self.get(), method, value, args, first, kwargs)
        if self._aggregation is VariableAggregation.SUM:
            if method != "assign":  # the sum grows by what one copy grows by
                return self._on_copy(self.primary, method, value, args, first, kwargs)
            value = convert_to_tensor(value, self._dtype) / len(self._values)
        return self._group(
            [
                self._on_copy(
                    variable, method, select(i, value), args, first, {**kwargs, "read_value": False}
                )
                for i, variable in enumerate(self._values)
            ]
        )

    def value(self) -> Tensor:
        """The replica's value or, for all replicas, the sum or mean of theirs; outside of any scope, the
        first one's.
        """
        return self._across() if _is_for_all(context.current()) else super().value()

    def read_value(self) -> Tensor:
        """The replica's value or, elsewhere, the sum or mean of theirs."""
        return self._across() if _is_for_all(self._mode()) else super().read_value()

    def _as_graph_element(self) -> Tensor:
        return self._across() if _is_for_all(context.current()) else super()._as_graph_element()

    def _across(self) -> Tensor:
        if self._aggregation not in REDUCTIONS:
            return self.primary.value()
        with self._usable():
            values = PerReplica([variable.value() for variable in self._values], self.devices)
            return self._strategy.extended.reduce_to(REDUCTIONS[self._aggregation], values, self.devices[0])

    def _saved_value(self) -> Tensor:
        return self._across()

    def _restore(self, value: Tensor) -> Operation:
        if self._aggregation is VariableAggregation.SUM:
            value = value / len(self._values)
        return super()._restore(value)


def _is_for_all(mode: context.Mode) -> bool:
    """Whether code in this mode runs for all replicas of a strategy."""
    return mode.replica is None and mode.updated is None


def add_in_place_of_copies(made: DistributedVariable, collections: Sequence[Any] | None) -> None:
    """Files a new variable as any other is, and none of its copies."""
    if not executing_eagerly():
        trainable = get_default_graph().get_collection_ref(GraphKeys.TRAINABLE_VARIABLES)
        trainable[:] = [variable for variable in trainable if container_of(variable) is not made]
        add_to_collections(made, collections, made.trainable)
