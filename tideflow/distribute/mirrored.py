"""tf.distribute.MirroredStrategy: replicas on the devices of this process, with a copy of each variable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tideflow.distribute import replicas
from tideflow.distribute.devices import canonical, local_accelerators
from tideflow.distribute.extended import StrategyExtended
from tideflow.distribute.reductions import CrossDeviceOps, ReduceOp, ReductionToOneDevice, devices_of
from tideflow.distribute.strategy import Strategy
from tideflow.distribute.values import (
    DistributedVariable,
    MirroredVariable,
    SyncOnReadVariable,
    add_in_place_of_copies,
    is_distributed,
)
from tideflow.export import export
from tideflow.graph.scopes import colocate_with, device
from tideflow.ops.arrays import constants
from tideflow.variables.base import VariableAggregation, VariableSynchronization


@export("distribute.MirroredStrategy")
class MirroredStrategy(Strategy):
    """Runs replicas on several devices of this process, each with a copy of every variable.

    Gradients are summed over the replicas, and every copy is changed by the same sum.

    Args:
      devices: The names of the devices; all GPUs if None, or the CPU where there is none.
      cross_device_ops: How values are reduced across devices, a `tf.distribute.CrossDeviceOps`.

    Raises:
      AssertionError: If a device is named twice.
    """

    def __init__(self, devices: Sequence[str] | None = None, cross_device_ops: CrossDeviceOps | None = None):
        super().__init__(MirroredExtended(self, devices, cross_device_ops))


class MirroredExtended(StrategyExtended):
    """Replicas on several devices of this process, with a copy of each variable on each of them."""

    def __init__(
        self,
        container_strategy: Strategy,
        devices: Sequence[str] | None = None,
        cross_device_ops: CrossDeviceOps | None = None,
    ):
        super().__init__(container_strategy)
        self._devices = tuple([canonical(name) for name in devices or local_accelerators()])
        if len(set(self._devices)) != len(self._devices):
            raise AssertionError(f"No duplicates allowed in `devices` argument: {self._devices}")
        self._cross_device_ops = cross_device_ops or ReductionToOneDevice()

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """The devices on which replicas run, and variables are."""
        return self._devices

    def _create_variable(self, next_creator: Callable[..., Any], **arguments: Any) -> Any:
        return mirrored_variable(self._strategy, self._devices, next_creator, arguments)

    def _call_for_each_replica(self, fn: Callable, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        return replicas.run_replicas(self._strategy, self._devices, fn, args, kwargs)

    def batch_reduce_to(self, reduce_op: ReduceOp, value_destination_pairs: Sequence[Any]) -> list[Any]:
        """Reduces several values.

        Args:
          reduce_op: `tf.distribute.ReduceOp.SUM` or `MEAN`.
          value_destination_pairs: Pairs of what `reduce_to` takes.

        Returns:
          The results.
        """
        return self._cross_device_ops.batch_reduce(reduce_op, list(value_destination_pairs))

    def _reduce_to(self, reduce_op: ReduceOp, value: Any, destinations: Any) -> Any:
        if not is_distributed(value):
            return self._reduced_alone(reduce_op, value, destinations)
        if isinstance(value, MirroredVariable):
            value = value.get()
            return self._reduced_alone(reduce_op, value, destinations)
        return self._cross_device_ops.reduce(reduce_op, value, destinations)

    def _reduced_alone(self, reduce_op: ReduceOp, value: Any, destinations: Any) -> Any:
        """A value that every replica has is its own mean; their sum must have been meant otherwise."""
        if reduce_op is ReduceOp.SUM and self._num_replicas_in_sync > 1 and not _is_zero(value):
            raise ValueError(
                f"A non-DistributedValues value {value} cannot be reduced with the given reduce op "
                f"{reduce_op}."
            )
        return self._cross_device_ops.broadcast(value, devices_of(destinations))

    def broadcast_to(self, tensor: Any, destinations: Any) -> Any:
        """Copies a tensor to devices.

        Args:
          tensor: The tensor.
          destinations: The devices, or what lies on them.

        Returns:
          The copies.
        """
        if isinstance(tensor, (float, int)):
            return tensor
        return self._cross_device_ops.broadcast(tensor, destinations)

    def read_var(self, v: Any) -> Any:
        """Reads a variable.

        Args:
          v: The variable.

        Returns:
          Its value.
        """
        return constants.identity(v.value())


def _is_zero(value: Any) -> bool:
    return isinstance(value, (int, float)) and value == 0


def mirrored_variable(
    strategy: Strategy, devices: Sequence[str], next_creator: Callable[..., Any], arguments: dict[str, Any]
) -> DistributedVariable:
    """A variable with a copy on each device. The copies begin with the first one's value."""
    aggregation = arguments.get("aggregation") or VariableAggregation.NONE
    _check_modes(aggregation, arguments.get("synchronization"), arguments.get("name"))
    collections = arguments.pop("collections", None)
    arguments |= {"use_resource": True, "collections": []}
    copies: list[Any] = []
    for place in devices:
        given = dict(arguments)
        if copies:
            first = copies[0]
            given["name"] = f"{first._shared_name}/replica_{len(copies)}/"
            given["initial_value"] = lambda first=first: _initial_value(first)
        with colocate_with(None, ignore_existing=True), device(place):
            copies.append(next_creator(**given))
    is_read_together = arguments.get("synchronization") is VariableSynchronization.ON_READ
    kind = SyncOnReadVariable if is_read_together else MirroredVariable
    made = kind(strategy, copies, aggregation, devices)
    add_in_place_of_copies(made, collections)
    return made


def _check_modes(aggregation: Any, synchronization: Any, name: str | None) -> None:
    if not isinstance(aggregation, VariableAggregation):
        raise ValueError(f"Invalid variable aggregation mode: {aggregation} for variable: {name}")
    if synchronization is VariableSynchronization.NONE:
        raise ValueError(
            "`NONE` variable synchronization mode is not supported with `Mirrored` distribution strategy. "
            f"Please change the `synchronization` for variable: {name}"
        )
    if synchronization is not None and not isinstance(synchronization, VariableSynchronization):
        raise ValueError(f"Invalid variable synchronization mode: {synchronization} for variable: {name}")


def _initial_value(first: Any) -> Any:
    if first._eager_name is not None:
        return first.read_value()
    return constants.identity(first.initial_value)
