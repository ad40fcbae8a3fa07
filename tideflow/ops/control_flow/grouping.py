"""What runs before what: operations and tensors that wait for others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tideflow.export import export
from tideflow.graph import nest
from tideflow.graph.composite import IndexedSlices
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import (
    colocate_with,
    control_dependencies,
    device,
    executing_eagerly,
    name_scope,
)
from tideflow.ops.arrays import constants


@export("group")
def group(*inputs: Any, **kwargs: Any) -> Operation:
    """An operation that has run when all of `inputs` have.

    Args:
      *inputs: Operations and tensors, and lists of them. A variable stands for the operation that holds its
        state.
      **kwargs: `name`, a name for the operation.

    Returns:
      An operation without outputs.

    Raises:
      TypeError: If an input is neither an operation nor a tensor.
      ValueError: If a keyword other than `name` is given.
    """
    name = kwargs.pop("name", None)
    if kwargs:
        raise ValueError("Unknown keyword arguments: " + ", ".join(kwargs))
    if executing_eagerly():
        return None  # type: ignore[return-value]
    with name_scope(name, "group_deps", [x for x in inputs if isinstance(x, Tensor)]) as scope:
        by_device: dict[str, list[Operation]] = {}
        for item in nest.flatten(inputs):
            if not hasattr(item, "device") and not hasattr(item, "_as_graph_element"):
                raise TypeError(
                    f"Expected tf.group() expected Tensor arguments not '{item}' with type '{type(item)}'"
                )
            op = item if isinstance(item, Operation) else item.op  # of a variable its state, not a read of it
            by_device.setdefault(op.device, []).append(op)
        if len(by_device) <= 1:
            place, ops = next(iter(by_device.items()), ("", []))
            return _no_op_after(ops, place, scope)
        gates = [_no_op_after(by_device[place], place, None) for place in sorted(by_device)]
        return _no_op_after(gates, "", scope)


def _no_op_after(ops: Sequence[Operation], place: str, name: str | None) -> Operation:
    with control_dependencies(ops):
        if not place:
            return constants.no_operation(name=name)
        with device(place):
            return constants.no_operation(name=name)


@export("tuple")
def tuple(
    tensors: Sequence[Any], name: str | None = None, control_inputs: Sequence[Any] | None = None
) -> list[Any]:
    """The same tensors, none of which is there before all of them are.

    Args:
      tensors: Tensors, IndexedSlices, operations, and None, which stays None.
      name: A name for the scope of the new operations.
      control_inputs: Further tensors and operations that must have run.

    Returns:
      A list as long as `tensors`.

    Raises:
      TypeError: If a control input is neither an operation nor a tensor.
      ValueError: If there is nothing but None in `tensors`.
    """
    if executing_eagerly():
        return list(tensors)
    with name_scope(name, "tuple", [t for t in tensors if isinstance(t, Tensor)]):
        tensors = [
            t if t is None or isinstance(t, Operation) or hasattr(t, "op") else convert_to_tensor(t)
            for t in tensors
        ]
        gating = [t if isinstance(t, Operation) else t.op for t in tensors if t is not None]
        for item in control_inputs or ():
            if not isinstance(item, (Tensor, Operation)):
                raise TypeError(f"Control input must be Operation or Tensor: {item}")
            gating.append(item.op if isinstance(item, Tensor) else item)
        if not gating:
            raise ValueError(f"Must have at least one Tensor: {tensors}")
        gate = group(*dict.fromkeys(sorted(gating, key=lambda op: op._id)))
        return [_after_gate(gate, t) for t in tensors]


def _after_gate(gate: Operation, value: Any) -> Any:
    if value is None:
        return None
    if not isinstance(value, Operation):
        return with_dependencies([gate], value)
    with control_dependencies([gate]):
        return group(value)


@export("with_dependencies")
def with_dependencies(
    dependencies: Sequence[Any], output_tensor: Tensor | IndexedSlices, name: str | None = None
) -> Any:
    """`output_tensor`, which is there only after `dependencies` have run.

    Args:
      dependencies: Operations and tensors.
      output_tensor: A tensor or IndexedSlices.
      name: A name for the new operation.

    Returns:
      The same value, from an operation on the device of `output_tensor` that waits.
    """
    if executing_eagerly():
        return output_tensor
    parts = [output_tensor.values] if isinstance(output_tensor, IndexedSlices) else [output_tensor]
    with (
        name_scope(name, "control_dependency", parts) as scope,
        colocate_with(parts[0]),
        control_dependencies(dependencies),
    ):
        if isinstance(output_tensor, IndexedSlices):
            return IndexedSlices(
                constants.identity(output_tensor.values, name=scope),
                output_tensor.indices,
                output_tensor.dense_shape,
            )
        return constants.identity(convert_to_tensor(output_tensor), name=scope)
