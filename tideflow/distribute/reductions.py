"""How the values of several devices become one: `tf.distribute.CrossDeviceOps`."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph.composite import IndexedSlices
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import device
from tideflow.ops.arrays import constants, joining
from tideflow.ops.math import adding

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("distribute.ReduceOp")
class ReduceOp(enum.Enum):
    """How the values of replicas are reduced to one.

    Attributes:
      SUM: To their sum.
      MEAN: To their mean.
    """

    SUM = "SUM"
    MEAN = "MEAN"

    @staticmethod
    def from_variable_aggregation(aggregation: Any) -> ReduceOp:
        """The reduction of the same name.

        Args:
          aggregation: A `tf.VariableAggregation`, SUM or MEAN.

        Returns:
          The reduction.

        Raises:
          ValueError: If the aggregation is another one.
        """
        if aggregation.name not in ReduceOp.__members__:
            raise ValueError(
                f"Could not convert from `tf.VariableAggregation` {aggregation} to "
                "`tf.distribute.ReduceOp` type"
            )
        return ReduceOp[aggregation.name]


def as_reduce_op(reduce_op: ReduceOp | str) -> ReduceOp:
    """The reduction, which may be given by its name."""
    return ReduceOp(reduce_op.upper()) if isinstance(reduce_op, str) else reduce_op


@export("distribute.CrossDeviceOps", "contrib.distribute.CrossDeviceOps")
class CrossDeviceOps:
    """The base of what reduces values across devices and copies them to devices.

    A subclass defines `reduce_implementation`, `batch_reduce_implementation` and, where a plain copy is not
    wanted, `broadcast_implementation`.
    """

    def reduce(self, reduce_op: ReduceOp, per_replica_value: Any, destinations: Any) -> Any:
        """Reduces the values of replicas.

        Args:
          reduce_op: The `tf.distribute.ReduceOp`.
          per_replica_value: A value for each replica, or one tensor.
          destinations: Where the result is wanted: a device, or what lies on the devices.

        Returns:
          The result on those devices.
        """
        return self.reduce_implementation(reduce_op, per_replica_value, destinations)

    def batch_reduce(
        self, reduce_op: ReduceOp, value_destination_pairs: Sequence[tuple[Any, Any]]
    ) -> list[Any]:
        """Reduces several values.

        Args:
          reduce_op: The `tf.distribute.ReduceOp`.
          value_destination_pairs: Pairs of what `reduce` takes.

        Returns:
          The results.

        Raises:
          ValueError: If something in the list is no pair.
        """
        pairs = list(value_destination_pairs)
        if any(not isinstance(pair, tuple) or len(pair) != 2 for pair in pairs):
            raise ValueError("`value_destination_pairs` must be a list or a tuple of pairs.")
        return self.batch_reduce_implementation(reduce_op, pairs)

    def broadcast(self, tensor: TensorLike, destinations: Any) -> Any:
        """Copies a tensor to devices.

        Args:
          tensor: The tensor.
          destinations: The devices, or what lies on them.

        Returns:
          The copies.
        """
        return self.broadcast_implementation(tensor, destinations)

    def reduce_implementation(self, reduce_op: ReduceOp, per_replica_value: Any, destinations: Any) -> Any:
        """What `reduce` does, in a subclass.

        Args:
          reduce_op: The `tf.distribute.ReduceOp`.
          per_replica_value: A value for each replica, or one tensor.
          destinations: Where the result is wanted.

        Raises:
          NotImplementedError: If the subclass does not define it.
        """
        raise NotImplementedError("_reduce method must be implemented in descendants.")

    def batch_reduce_implementation(
        self, reduce_op: ReduceOp, value_destination_pairs: Sequence[tuple[Any, Any]]
    ) -> list[Any]:
        """What `batch_reduce` does, in a subclass.

        Args:
          reduce_op: The `tf.distribute.ReduceOp`.
          value_destination_pairs: Pairs of what `reduce` takes.

        Raises:
          NotImplementedError: If the subclass does not define it.
        """
        raise NotImplementedError("batch_reduce_implementation method must be implemented in descendants.")

    def broadcast_implementation(self, tensor: TensorLike, destinations: Any) -> Any:
        """What `broadcast` does: a copy on each device.

        Args:
          tensor: The tensor.
          destinations: The devices, or what lies on them.

        Returns:
          The copies.
        """
        return copied_to(tensor, devices_of(destinations))


@export("distribute.ReductionToOneDevice", "contrib.distribute.ReductionToOneDeviceCrossDeviceOps")
class ReductionToOneDevice(CrossDeviceOps):
    """Copies values to one device, reduces them there, and copies the result where it is wanted.

    Args:
      reduce_to_device: The device; the first destination if None.
      accumulation_fn: The function that sums a list of tensors; `tf.add_n` if None.
    """

    def __init__(self, reduce_to_device: str | None = None, accumulation_fn: Callable | None = None):
        self.reduce_to_device = reduce_to_device
        self.accumulation_fn = accumulation_fn or adding.add_n

    def reduce_implementation(self, reduce_op: ReduceOp, per_replica_value: Any, destinations: Any) -> Any:
        """Reduces on one device.

        Args:
          reduce_op: The `tf.distribute.ReduceOp`.
          per_replica_value: A value for each replica, or one tensor.
          destinations: Where the result is wanted.

        Returns:
          The result on those devices.
        """
        devices = devices_of(destinations)
        with device(self.reduce_to_device or devices[0]):
            result = reduced_here(reduce_op, values_of(per_replica_value), self.accumulation_fn)
        return copied_to(result, devices)

    def batch_reduce_implementation(
        self, reduce_op: ReduceOp, value_destination_pairs: Sequence[tuple[Any, Any]]
    ) -> list[Any]:
        """Reduces one value after the other.

        Args:
          reduce_op: The `tf.distribute.ReduceOp`.
          value_destination_pairs: Pairs of what `reduce` takes.

        Returns:
          The results.
        """
        return [self.reduce_implementation(reduce_op, *pair) for pair in value_destination_pairs]


class _AllReduce(ReductionToOneDevice):
    """Reduces so that all devices have the result. Devices of one process share their sums: the first one
    adds, and the others copy, which is all that a ring would do between them.
    """

    def __init__(self, num_packs: int = 1):
        if num_packs < 0:
            raise ValueError(f"NCCL all-reduce requires num_packs >= 0, but {num_packs} is specified")
        super().__init__()
        self._num_packs = num_packs


@export("distribute.HierarchicalCopyAllReduce")
class HierarchicalCopyAllReduce(_AllReduce):
    """Reduces values so that all devices have the result.

    Args:
      num_packs: Into how many packs gradients are put together; accepted for TensorFlow's sake.

    Raises:
      ValueError: If `num_packs` is negative.
    """


@export("distribute.NcclAllReduce")
class NcclAllReduce(_AllReduce):
    """Reduces values so that all devices have the result.

    Args:
      num_packs: Into how many packs gradients are put together; accepted for TensorFlow's sake.

    Raises:
      ValueError: If `num_packs` is negative.
    """


@export("contrib.distribute.AllReduceCrossDeviceOps")
class AllReduceCrossDeviceOps(_AllReduce):
    """Reduces values so that all devices have the result.

    Args:
      all_reduce_alg: `"nccl"` or `"hierarchical_copy"`: devices of one process make no difference.
      num_packs: Into how many packs gradients are put together; accepted for TensorFlow's sake.
      agg_small_grads_max_bytes: Accepted for TensorFlow's sake.
      agg_small_grads_max_group: Accepted for TensorFlow's sake.
    """

    def __init__(
        self,
        all_reduce_alg: str = "nccl",
        num_packs: int = 1,
        agg_small_grads_max_bytes: int = 0,
        agg_small_grads_max_group: int = 10,
    ):
        super().__init__(num_packs)


# ---------------------------------------------------------------------------------- with graph ops


def values_of(value: Any) -> list[Any]:
    """The values of the replicas; a single value stands alone."""
    found = getattr(value, "values", None)
    return list(found) if isinstance(found, tuple) else [value]


def devices_of(destinations: Any) -> tuple[str, ...]:
    """The devices that something names, or lies on."""
    if isinstance(destinations, str):
        return (destinations,)
    found = getattr(destinations, "devices", None)
    if isinstance(found, tuple):
        return found
    if isinstance(destinations, (list, tuple)):
        return tuple(destinations)
    return (destinations.device,)


def copied_to(value: Any, devices: Sequence[str]) -> Any:
    """A value on one device, or a copy on each of several."""
    from tideflow.distribute.values import Mirrored  # loaded when asked for

    copies = []
    for place in devices:
        with device(place):
            copies.append(_copy(value))
    return copies[0] if len(copies) == 1 else Mirrored(copies, devices)


def _copy(value: Any) -> Any:
    if isinstance(value, IndexedSlices):
        shape = None if value.dense_shape is None else constants.identity(value.dense_shape)
        return IndexedSlices(constants.identity(value.values), constants.identity(value.indices), shape)
    return constants.identity(convert_to_tensor(value))


def reduced_here(
    reduce_op: ReduceOp, values: Sequence[Any], add: Callable[[list[Tensor]], Tensor] = adding.add_n
) -> Any:
    """The sum or mean of values, on the current device."""
    if any(isinstance(value, IndexedSlices) for value in values):
        return _reduced_slices(reduce_op, values)
    total = add([convert_to_tensor(value) for value in values])
    return total / len(values) if reduce_op is ReduceOp.MEAN else total


def _reduced_slices(reduce_op: ReduceOp, values: Sequence[IndexedSlices]) -> IndexedSlices:
    rows = joining.concat([value.values for value in values], 0)
    indices = joining.concat([value.indices for value in values], 0)
    if reduce_op is ReduceOp.MEAN:
        rows = rows / len(values)
    return IndexedSlices(rows, indices, values[0].dense_shape)
