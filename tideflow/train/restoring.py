"""How a saver restores: first it is made sure that all can be restored, then it is done, a part at a time.

Names, types and shapes are compared for every variable, and all that is missing is said at once. Where more
than one step or operation restores, one could fail when others have done their work: then what they will read
is read once before to see that it is whole. A large checkpoint is restored in several steps, so that memory
is asked for a part of it, not for all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from tideflow.graph.errors import InvalidArgumentError, NotFoundError, OpError
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.partial import constant_value
from tideflow.graph.shapes import TensorShape
from tideflow.io.bundle import BundleReader
from tideflow.io.old_checkpoints import open_checkpoint
from tideflow.ops.checkpoints import part_to_restore
from tideflow.ops.resource_state import variable_shape_of
from tideflow.ops.state import shape_text

_AT_ONCE = 64 << 20  # bytes that a step restores, unless a single variable is larger


class _Wish(NamedTuple):
    """A tensor that a restore reads, and the shape it must have to be assigned, where that is checked."""

    tensor: Tensor
    name: str
    slice_spec: str
    dtype: Any
    shape: TensorShape


def restore(sess: Any, saver_def: Any, prefix: str) -> None:
    """Gives variables the values of a checkpoint; an error leaves all of them as they were."""
    ops = _ancestors(sess.graph, saver_def)
    restores = [op for op in ops if op.type == "RestoreV2"]
    wishes = {wish.tensor: wish for op in restores for wish in _wishes(op)}
    with open_checkpoint(prefix) as reader:
        sizes = {tensor: _checked_size(reader, wish) for tensor, wish in _all_there(reader, wishes).items()}
        in_parts = sum(sizes.values()) > _AT_ONCE and len(wishes) == sum(len(op.outputs) for op in restores)
        if in_parts or len(restores) > 1:
            for wish in wishes.values():
                reader.verify(wish.name)
        if not in_parts:
            sess.run(saver_def.restore_op_name, {saver_def.filename_tensor_name: prefix})
            return
        for part in _parts(ops, sizes):
            needed = {tensor: wishes[tensor] for tensors in part.values() for tensor in tensors}
            sess.run(list(part), {tensor: _read(reader, wish) for tensor, wish in needed.items()})


def _parts(ops: list[Operation], sizes: dict[Tensor, int]) -> Iterator[dict[Operation, list[Tensor]]]:
    """The operations that assign, each with the restored tensors it takes: as many as a step should do."""
    part, size = {}, 0
    for op in ops:
        for sink in op.control_inputs if op.type == "NoOp" else ():
            tensors = [] if sink.type == "NoOp" else _restored_inputs(sink, sizes)
            if not tensors:
                continue
            part[sink] = tensors
            size += sum(sizes[tensor] for tensor in tensors)
            if size >= _AT_ONCE:
                yield part
                part, size = {}, 0
    if part:
        yield part


def _restored_inputs(sink: Operation, sizes: dict[Tensor, int]) -> list[Tensor]:
    """What of the checkpoint an operation depends on."""
    found, stack = [], list(sink.inputs)
    while stack:
        tensor = stack.pop()
        if tensor in sizes:
            found.append(tensor)
        else:
            stack += tensor.op.inputs
    return found


def _read(reader: BundleReader, wish: _Wish) -> np.ndarray:
    value = reader.read(wish.name, part_to_restore(reader, wish.name, wish.slice_spec, wish.dtype))
    return value.view(wish.dtype.as_numpy_dtype) if wish.dtype.is_quantized else value


def _all_there(reader: BundleReader, wishes: dict[Tensor, _Wish]) -> dict[Tensor, _Wish]:
    missing = [wish for wish in wishes.values() if wish.name not in reader]
    if missing:
        raise NotFoundError(None, None, "\n".join(_says_missing(reader, wish) for wish in missing))
    return wishes


def _says_missing(reader: BundleReader, wish: _Wish) -> str:
    shape = "" if wish.shape.ndims is None else f" (wanted with shape {shape_text(wish.shape.as_list())})"
    try:
        reader.entry(wish.name)
    except OpError as error:
        return f"{error.message}{shape}"
    return wish.name


def _checked_size(reader: BundleReader, wish: _Wish) -> int:
    """How many bytes a tensor takes, which must be of the type and shape that its variable has."""
    part = part_to_restore(reader, wish.name, wish.slice_spec, wish.dtype)
    if part is None and not wish.shape.is_compatible_with(reader.entry(wish.name).shape):
        raise InvalidArgumentError(
            None,
            None,
            f"Assign requires shapes of both tensors to match. lhs shape= {shape_text(wish.shape.as_list())} "
            f"rhs shape= {shape_text(reader.entry(wish.name).shape)} (key {wish.name!r})",
        )
    entry = reader.entry(wish.name)
    return entry.count * max(entry.dtype.size or 1, 1)


def _ancestors(graph: Any, saver_def: Any) -> list[Operation]:
    """All that the restore runs."""
    stack = [graph.get_operation_by_name(saver_def.restore_op_name)]
    seen = dict.fromkeys(stack)
    while stack:
        op = stack.pop()
        for source in (*(tensor.op for tensor in op.inputs), *op.control_inputs):
            if source not in seen:
                seen[source] = None
                stack.append(source)
    return list(seen)


def _wishes(restore: Operation) -> Iterator[_Wish]:
    names, slices = (constant_value(tensor) for tensor in restore.inputs[1:])
    if names is None or slices is None:
        return
    for name, spec, tensor in zip(_texts(names), _texts(slices), restore.outputs):
        yield _Wish(tensor, name, spec, tensor.dtype.base_dtype, _wanted_shape(tensor))


def _texts(values: np.ndarray) -> list[str]:
    return [value.decode(errors="surrogateescape") for value in values.reshape(-1).tolist()]


def _wanted_shape(tensor: Tensor) -> TensorShape:
    """The shape of the variable that a restored tensor goes into as it is; any where that is not checked."""
    for op in tensor.consumers():
        if op.type == "Assign" and op.attrs["validate_shape"]:
            return op.inputs[0].shape
        if op.type == "AssignVariableOp":
            return variable_shape_of(op.inputs[0].shape)
        if op.type == "Identity":
            return _wanted_shape(op.outputs[0])
    return TensorShape(None)
