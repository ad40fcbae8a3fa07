"""tf.distribute.OneDeviceStrategy: everything on one device."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

from tideflow.distribute.devices import canonical
from tideflow.distribute.extended import StrategyExtended
from tideflow.distribute.reductions import ReduceOp
from tideflow.distribute.replica_context import ReplicaContext
from tideflow.distribute.strategy import Strategy
from tideflow.export import export
from tideflow.graph.scopes import device


@export("distribute.OneDeviceStrategy", "contrib.distribute.OneDeviceStrategy")
class OneDeviceStrategy(Strategy):
    """Puts the variables and the computation on one device.

    Args:
      device: The name of the device.
    """

    def __init__(self, device: str):
        super().__init__(_Extended(self, device))


class _Extended(StrategyExtended):
    def __init__(self, container_strategy: Strategy, name: str):
        super().__init__(container_strategy)
        self._device = canonical(name)

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """The device."""
        return (self._device,)

    def _default_device(self) -> contextlib.AbstractContextManager[Any]:
        return device(self._device)

    def _create_variable(self, next_creator: Callable[..., Any], **arguments: Any) -> Any:
        arguments["use_resource"] = True
        with device(self._device):
            variable = next_creator(**arguments)
        variable.distribute_strategy = self._strategy
        return variable

    def _call_for_each_replica(self, fn: Callable, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        with device(self._device), ReplicaContext(self._strategy, 0):
            return fn(*args, **kwargs)

    def _reduce_to(self, reduce_op: ReduceOp, value: Any, destinations: Any) -> Any:
        return value

    def broadcast_to(self, tensor: Any, destinations: Any) -> Any:
        """The tensor, which is on the device.

        Args:
          tensor: The tensor.
          destinations: Ignored.

        Returns:
          The tensor.
        """
        return tensor
