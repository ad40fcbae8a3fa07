"""tf.distribute.experimental.CentralStorageStrategy: replicas on several devices, variables on one."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

from tideflow.distribute import replicas
from tideflow.distribute.devices import canonical, local_accelerators
from tideflow.distribute.extended import StrategyExtended
from tideflow.distribute.reductions import ReduceOp, devices_of
from tideflow.distribute.strategy import Strategy
from tideflow.distribute.values import AggregatingVariable, add_in_place_of_copies, is_distributed
from tideflow.export import export
from tideflow.graph.scopes import colocate_with, device
from tideflow.variables.base import VariableAggregation


@export("distribute.experimental.CentralStorageStrategy")
class CentralStorageStrategy(Strategy):
    """Runs replicas on several devices of this process, with the variables on one device.

    Args:
      compute_devices: The names of the devices of the replicas; all GPUs if None, or the CPU.
      parameter_device: The name of the device of the variables. The CPU if None, or the GPU where there is
        just one.

    Raises:
      ValueError: If only one of the two is given.
    """

    def __init__(self, compute_devices: Sequence[str] | None = None, parameter_device: str | None = None):
        if (compute_devices is None) != (parameter_device is None):
            raise ValueError("compute_devices and parameter_device must both be given, or neither of them.")
        devices = [canonical(name) for name in compute_devices or local_accelerators()]
        central = devices[0] if len(devices) == 1 else "/device:CPU:0"
        super().__init__(CentralExtended(self, devices, parameter_device or central))


class CentralExtended(StrategyExtended):
    """Replicas on some devices, which write together to variables that are on another."""

    _divides_variables = True

    def __init__(self, container_strategy: Strategy, devices: Sequence[str], parameter_device: str):
        super().__init__(container_strategy)
        self._devices = tuple(devices)
        self._parameter_device = parameter_device

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """The devices on which replicas run."""
        return self._devices

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        """The device on which variables are."""
        return (self._parameter_device,)

    @property
    def experimental_between_graph(self) -> bool:
        """Each worker builds a graph of its own."""
        return True

    def _variable_device(self) -> contextlib.AbstractContextManager[Any]:
        return device(self._parameter_device)

    def _create_variable(self, next_creator: Callable[..., Any], **arguments: Any) -> Any:
        aggregation = arguments.get("aggregation") or VariableAggregation.NONE
        collections = arguments.pop("collections", None)
        arguments["use_resource"] = True
        is_alone = self._num_replicas_in_sync == 1
        with colocate_with(None, ignore_existing=True), self._variable_device():
            variable = next_creator(collections=collections if is_alone else [], **arguments)
        if is_alone:
            variable.distribute_strategy = self._strategy
            return variable
        made = AggregatingVariable(self._strategy, [variable], aggregation, [variable.device])
        add_in_place_of_copies(made, collections)
        return made

    def _call_for_each_replica(self, fn: Callable, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        return replicas.run_replicas(self._strategy, self._devices, fn, args, kwargs)

    def _reduce_to(self, reduce_op: ReduceOp, value: Any, destinations: Any) -> Any:
        return super()._reduce_to(reduce_op, value, destinations) if is_distributed(value) else value

    def non_slot_devices(self, var_list: Sequence[Any]) -> Any:
        """The device for state of an optimizer that belongs to no variable.

        Args:
          var_list: The variables that the optimizer changes.

        Returns:
          The device of the variable whose name is the first.
        """
        return devices_of(min(var_list, key=lambda variable: variable.name))
