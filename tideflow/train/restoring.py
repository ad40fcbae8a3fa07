"""How a saver restores: first it is made sure that all can be restored, then it is done, a part at a time.

A plan compares names, types and shapes of every variable with the checkpoint's, and says all that is amiss at
once. Where more than one step or operation restores, one could fail when others have done their work: then
what they will read is read once before to see that it is whole. A large checkpoint is restored in several
steps, so that memory is asked for a part of it, not for all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import accumulate, repeat
from typing import Any, NamedTuple

import numpy as np

from tideflow.graph import errors
from tideflow.graph.errors import InvalidArgumentError, OpError
from tideflow.graph.operation import Operation, Tensor, ancestors
from tideflow.graph.partial import constant_value
from tideflow.graph.shapes import TensorShape
from tideflow.io.bundle import BundleReader
from tideflow.io.object_graph import GRAPH_KEY, keys_by_variable_name, read_object_graph
from tideflow.io.old_checkpoints import open_checkpoint
from tideflow.ops.arrays.constants import identity_op, no_op
from tideflow.ops.arrays.shapes import reshape_op
from tideflow.ops.files.checkpoints import part_to_restore, restore_v2_op
from tideflow.ops.state.reference_variables import assign_op, shape_text
from tideflow.ops.state.resource_variables import assign_variable_op, variable_shape_of

_ALIGNMENT = 64  # bytes, of arrays in memory
_AT_ONCE = 64 << 20  # bytes that a step restores, unless a single variable is larger


class _RestoredTensor(NamedTuple):
    """A tensor that a restore reads, and the shape it must have to be assigned, where that is checked."""

    tensor: Tensor
    name: str
    key: str
    slice_spec: str
    dtype: Any
    shape: TensorShape


class Match(NamedTuple):
    """A variable, by the name its saver gives it, and what it is restored from."""

    name: str
    key: str
    dtype: Any
    shape: tuple[int, ...]

    def __str__(self) -> str:
        origin = "" if self.key == self.name else f"  from {self.key}"
        return f"{self.name}  {self.dtype.name} {shape_text(self.shape)}{origin}"


@dataclass(frozen=True)
class RestorePlan:
    """What restoring a checkpoint would do: what is loaded, what is amiss, and which keys nobody asks for."""

    prefix: str
    loaded: tuple[Match, ...]
    missing: tuple[str, ...]
    mismatched: tuple[str, ...]
    unused: tuple[str, ...]

    def check(self) -> None:
        """Raises the error of a restore that cannot be done."""
        if self.missing:
            raise errors.not_found("\n".join(self.missing))
        if self.mismatched:
            raise errors.invalid_argument("\n".join(self.mismatched))

    def __str__(self) -> str:
        asked = len(self.loaded) + len(self.missing) + len(self.mismatched)
        lines = [f"{self.prefix}: {len(self.loaded)} of {asked} variables can be restored"]
        groups = {
            "loaded": self.loaded,
            "missing": self.missing,
            "mismatched": self.mismatched,
            "unused": self.unused,
        }
        for label, items in groups.items():
            lines += [f"  {label}: {item}" for item in items]
        return "\n".join(lines)


def plan(graph: Any, saver_def: Any, prefix: str, renamed: Mapping[str, str] | None = None) -> RestorePlan:
    """What a saver would restore from a checkpoint; nothing is read but its table."""
    with open_checkpoint(prefix) as reader:
        return _planned(reader, _restored_tensors(_run_by(graph, saver_def), reader, renamed))


def restore(sess: Any, saver_def: Any, prefix: str, renamed: Mapping[str, str] | None = None) -> None:
    """Gives variables the values of a checkpoint; an error leaves all of them as they were."""
    ops = _run_by(sess.graph, saver_def)
    restores = [op for op in ops if op.definition is restore_v2_op]
    with open_checkpoint(prefix) as reader:
        restored = _restored_tensors(ops, reader, renamed)
        _planned(reader, restored).check()
        sizes = {tensor: _size(reader, one.key) for tensor, one in restored.items()}
        large = sum(sizes.values()) > _AT_ONCE and len(restored) == sum(len(op.outputs) for op in restores)
        # The tasks of a cluster read their own variables' values: they need not go through this process.
        is_here = not getattr(sess, "sess_str", "")
        in_parts = (large and is_here) or any(one.key != one.name for one in restored.values())
        if in_parts or len(restores) > 1:
            _verify(reader, {one.key for one in restored.values()})
        if in_parts:
            _restore_in_parts(sess, reader, ops, restored, sizes)
        else:
            sess.run(saver_def.restore_op_name, {saver_def.filename_tensor_name: prefix})


def _restore_in_parts(
    sess: Any,
    reader: BundleReader,
    ops: list[Operation],
    restored: dict[Tensor, _RestoredTensor],
    sizes: dict[Tensor, int],
) -> None:
    """A step for each part; a part's values lie where those of the part before did."""
    memory = np.empty(0, np.uint8)
    for part in _parts(ops, sizes):
        needed = {tensor: restored[tensor] for tensors in part.values() for tensor in tensors}
        places = _places([sizes[tensor] for tensor in needed])
        memory = np.empty(places[-1], np.uint8) if memory.size < places[-1] else memory
        values = map(_read, repeat(reader), needed.values(), (memory[place:] for place in places))
        sess.run(list(part), dict(zip(needed, values)))


def _parts(ops: list[Operation], sizes: dict[Tensor, int]) -> Iterator[dict[Operation, list[Tensor]]]:
    """The operations that assign, each with the restored tensors it takes: as many as a step should do."""
    part, size = {}, 0
    for op in ops:
        for sink in op.control_inputs if op.definition is no_op else ():
            tensors = [] if sink.definition is no_op else _restored_inputs(sink, sizes)
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


def _verify(reader: BundleReader, keys: set[str]) -> None:
    """Two at a time: while one is read, another is summed."""
    with ThreadPoolExecutor(2) as pool:
        for _ in pool.map(reader.verify, sorted(keys)):
            pass


def _places(sizes: list[int]) -> list[int]:
    """Where in memory things of these sizes can lie, and where the last of them ends."""
    rounded = (-(-size // _ALIGNMENT) * _ALIGNMENT for size in sizes)
    return list(accumulate(rounded, initial=0))


def _read(reader: BundleReader, one: _RestoredTensor, memory: np.ndarray) -> np.ndarray:
    part = part_to_restore(reader, one.key, one.slice_spec, one.dtype)
    value = reader.read(one.key, part, memory if _is_assigned(one.tensor) else None)
    return value.view(one.dtype.as_numpy_dtype) if one.dtype.is_quantized else value


def _size(reader: BundleReader, key: str) -> int:
    entry = reader.entry(key)
    return entry.count * max(entry.dtype.size or 1, 1)


# ------------------------------------------------------------------------------ comparing with the checkpoint


def _planned(reader: BundleReader, restored: dict[Tensor, _RestoredTensor]) -> RestorePlan:
    loaded, missing, mismatched = [], [], []
    for one in restored.values():
        if one.key not in reader:
            missing.append(_says_missing(reader, one))
            continue
        try:
            _check_type_and_shape(reader, one)
        except InvalidArgumentError as error:
            mismatched.append(error.message)
            continue
        entry = reader.entry(one.key)
        loaded.append(Match(one.name, one.key, entry.dtype, entry.shape))
    used = {one.key for one in restored.values()}
    unused = tuple(key for key in reader if key not in used and key != GRAPH_KEY)
    return RestorePlan(reader.prefix, tuple(dict.fromkeys(loaded)), tuple(missing), tuple(mismatched), unused)


def _says_missing(reader: BundleReader, one: _RestoredTensor) -> str:
    shape = "" if one.shape.ndims is None else f" (wanted with shape {shape_text(one.shape.as_list())})"
    for_name = "" if one.key == one.name else f" for {one.name}"
    try:
        reader.entry(one.key)
    except OpError as error:
        return f"{error.message}{shape}{for_name}"
    return one.key


def _check_type_and_shape(reader: BundleReader, one: _RestoredTensor) -> None:
    """A tensor must be of the type and shape that its variable has."""
    part = part_to_restore(reader, one.key, one.slice_spec, one.dtype)
    if part is None and not one.shape.is_compatible_with(reader.entry(one.key).shape):
        raise errors.invalid_argument(
            f"Assign requires shapes of both tensors to match. lhs shape= {shape_text(one.shape.as_list())} "
            f"rhs shape= {shape_text(reader.entry(one.key).shape)} (key {one.key!r}, "
            f"{reader.place(one.key)})",
        )


# --------------------------------------------------------------------------------- what is read, by which key


def _restored_tensors(
    ops: list[Operation], reader: BundleReader, renamed: Mapping[str, str] | None
) -> dict[Tensor, _RestoredTensor]:
    """What the restore operations read, by the names that it has in this checkpoint."""
    found = {}
    for op in ops:
        names, slices = map(constant_value, op.inputs[1:]) if op.definition is restore_v2_op else (None, None)
        if names is None or slices is None:
            continue
        for name, spec, tensor in zip(_texts(names), _texts(slices), op.outputs):
            found[tensor] = _RestoredTensor(
                tensor, name, name, spec, tensor.dtype.base_dtype, _wanted_shape(tensor)
            )
    keys = _keys({one.name for one in found.values()}, reader, renamed or {})
    return {tensor: one._replace(key=keys.get(one.name, one.name)) for tensor, one in found.items()}


def _keys(names: set[str], reader: BundleReader, renamed: Mapping[str, str]) -> dict[str, str]:
    """The keys of those names that are called something else in the checkpoint.

    `renamed` leads from old names to new ones, `old_scope/` to `new_scope/`; an exact name takes precedence
    over a scope, a longer scope over a shorter one. A checkpoint of objects knows the names of its variables.
    """
    keys = {}
    if GRAPH_KEY in reader:
        known = keys_by_variable_name(read_object_graph(reader))
        keys = {name: known[name] for name in names if name in known and name not in reader}
    for old, new in sorted(renamed.items(), key=lambda pair: (not _is_scope(pair), len(pair[1]))):
        if _is_scope((old, new)):
            inside = [name for name in names if name.startswith(new.removesuffix("/") + "/" if new else "")]
            keys |= {name: old + name.removeprefix(new) for name in inside}
        else:
            inside = [new] if new in names else []
            keys[new] = old
        if not inside:
            raise ValueError(f"{old!r} is renamed to {new!r}, but no variable that is restored is called so")
    return keys


def _is_scope(pair: tuple[str, str]) -> bool:
    return all(not name or name.endswith("/") for name in pair)


def _run_by(graph: Any, saver_def: Any) -> list[Operation]:
    """All that the restore runs."""
    return list(ancestors(graph.get_operation_by_name(saver_def.restore_op_name)))


def _texts(values: np.ndarray) -> list[str]:
    return [value.decode(errors="surrogateescape") for value in values.reshape(-1).tolist()]


def _is_assigned(tensor: Tensor) -> bool:
    """Whether nothing is done with a tensor but that variables take a copy of it."""
    return all(
        op.definition.role == "assign"
        or (op.definition in (identity_op, reshape_op) and _is_assigned(op.outputs[0]))
        for op in tensor.consumers()
    )


def _wanted_shape(tensor: Tensor) -> TensorShape:
    """The shape of the variable that a restored tensor goes into as it is; any where that is not checked."""
    for op in tensor.consumers():
        if op.definition is assign_op and op.attrs["validate_shape"]:
            return op.inputs[0].shape
        if op.definition is assign_variable_op:
            return variable_shape_of(op.inputs[0].shape)
        if op.definition is identity_op:
            return _wanted_shape(op.outputs[0])
    return TensorShape(None)
