"""What runs before what: operations and tensors that wait for others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import nest
from tideflow.graph.composite import IndexedSlices, SparseTensor, components
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
from tideflow.ops.state import references

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("group")
def group(*inputs: Any, **kwargs: Any) -> Operation:
    """An operation that has run when all of `inputs` have.

    Args:
      *inputs: Operations and tensors, and lists of them. A variable stands for the operation that holds its
        state, a composite value for its tensors.
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
        for item in [part for value in nest.flatten(inputs) for part in components(value)]:
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
    dependencies: Sequence[Any],
    output_tensor: TensorLike | IndexedSlices | SparseTensor,
    name: str | None = None,
) -> Any:
    """`output_tensor`, which is there only after `dependencies` have run.

    Args:
      dependencies: Operations and tensors.
      output_tensor: A tensor, what can be made one, IndexedSlices or a SparseTensor.
      name: A name for the new operation.

    Returns:
      The same value, from an operation on the device of `output_tensor` that waits.
    """
    if executing_eagerly():
        return output_tensor
    with name_scope(name, "control_dependency", [*dependencies, output_tensor]) as scope:
        output = output_tensor
        if not hasattr(output, "op"):  # a plain value; a variable is read in its place, after the others
            output = convert_to_tensor(output)
        with colocate_with(output), control_dependencies(dependencies):
            if isinstance(output, IndexedSlices):
                values = _same(output.values, scope)
                return IndexedSlices(values, output.indices, output.dense_shape)
            if isinstance(output, SparseTensor):
                return SparseTensor(output.indices, _same(output.values, scope), output.dense_shape)
            return _same(convert_to_tensor(output), scope)


def _same(tensor: Tensor, name: str) -> Tensor:
    """The same value; of a reference, the reference."""
    made: Tensor
    if tensor.dtype._is_ref_dtype:
        made = references.ref_identity_op(tensor, name=name)
    else:
        made = constants.identity(tensor, name=name)
    return made
