"""Checkpoints: tensors into files and out of them, as nodes of the graph.

A restore looks at the names, types and shapes of everything that is asked of it before it reads anything, and
gives nothing before all is read: what is assigned from it is assigned whole or not at all.
"""

from __future__ import annotations

import contextlib
import os
from typing import Any

import numpy as np
import torch

from tideflow.graph import dtypes, errors
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.schema import attr
from tideflow.graph.shapes import brackets
from tideflow.io.bundle import BundleReader
from tideflow.io.bundle_writer import BundleWriter, merge_bundles
from tideflow.io.local_files import local_path
from tideflow.io.old_checkpoints import open_checkpoint, write_old_checkpoint
from tideflow.io.slices import TensorSlice, parse_shape_and_slice, region_shape
from tideflow.ops.helpers.axes import of_rank, one_value
from tideflow.ops.helpers.samples import f32, i32, scratch, text
from tideflow.runtime.values import to_numpy, to_torch


def _strings(value: np.ndarray) -> list[str]:
    return [item.decode(errors="surrogateescape") for item in value.reshape(-1).tolist()]


def _string(value: np.ndarray, name: str) -> str:
    return _strings(one_value(value, name))[0]


def _vectors(prefix: Any, names: Any, slices: Any, count: int) -> None:
    of_rank(prefix, 0)
    for vector in (of_rank(names, 1), of_rank(slices, 1)):
        if vector.tuple[0] not in (None, count):
            raise ShapeError(f"Dimension must be {count} but is {vector.tuple[0]}")


def check_counts(names: list[str], slices: list[str], count: int) -> None:
    """As many names, and as many slices, as tensors."""
    if len(names) != len(slices):
        raise errors.invalid_argument(
            "tensor_names and shape_and_slices have different number of elements: "
            f"{len(names)} vs. {len(slices)}"
        )
    if len(names) != count:
        raise errors.invalid_argument(
            f"{len(names)} tensor_names and {len(slices)} shape_and_slices for {count} tensors: there must "
            "be one of each for each tensor",
        )


def part_to_restore(reader: BundleReader, name: str, spec: str, dtype: dtypes.DType) -> Any:
    """The slice to read of a tensor, which is of this type and of the shape that the slice speaks of."""
    entry = reader.entry(name)
    if entry.dtype is not dtype:
        raise errors.invalid_argument(
            f"tensor_name = {name}; expected dtype {dtype.name} does not equal original dtype "
            f"{entry.dtype.name} ({reader.place(name)})",
        )
    if not spec:
        return None
    shape, part = parse_shape_and_slice(spec)
    if shape != entry.shape:
        raise errors.invalid_argument(
            f"tensor_name = {name}; shape in shape_and_slice spec {list(shape)} does not match the shape "
            f"stored in checkpoint: {list(entry.shape)} ({reader.place(name)})",
        )
    return part


# ------------------------------------------------------------------------------------- saving and restoring

save_v2_op = Op(
    "SaveV2",
    "prefix: string, tensor_names: string, shape_and_slices: string, tensors: dtypes",
    dtypes=attr("list(type)", minimum=1),
    stateful=True,
    on_host=True,
    differentiable=False,
    role="save",
    touches="files",
)


@save_v2_op.shape
def _save_v2_shape(prefix, tensor_names, shape_and_slices, tensors):
    _vectors(prefix, tensor_names, shape_and_slices, len(tensors))
    return []


@save_v2_op.kernel
def _save_v2_kernel(prefix, tensor_names, shape_and_slices, tensors, *, dtypes):
    if tensor_names.ndim != 1 or shape_and_slices.ndim != 1:
        raise ShapeError(
            "Input tensor_names and shape_and_slices should be an 1-D tensors, got "
            f"{brackets(tensor_names.shape)} and {brackets(shape_and_slices.shape)} instead."
        )
    names, slices = _strings(tensor_names), _strings(shape_and_slices)
    check_counts(names, slices, len(tensors))
    with BundleWriter(_string(prefix, "prefix")) as writer:
        for name, spec, value, dtype in zip(names, slices, tensors, dtypes):
            if spec:
                shape, part = parse_shape_and_slice(spec)
                writer.add_slice(name, shape, part, to_numpy(value), dtype)
            else:
                writer.add(name, to_numpy(value), dtype)


def _is_read_back(prefix, tensor_names, shape_and_slices, tensors):
    with BundleReader(prefix.item()) as reader:
        claims = []
        for name, spec, tensor in zip(
            _strings(tensor_names), _strings(shape_and_slices), tensors, strict=True
        ):
            part = parse_shape_and_slice(spec)[1] if spec else None
            claims.append((reader.read(name, part), tensor))
        return claims


save_v2_op.samples(
    (text(scratch("whole"), shape=()), text("a", "b"), text("", ""), [f32(2, 3), i32()]),
    (text(scratch("slice"), shape=()), text("a", "b"), text("4 3 0,2:-", ""), [f32(2, 3), text("x", "yz")]),
    law=_is_read_back,
)
save_v2_op.refuses(
    (text(scratch("none"), shape=()), text("a"), text("", ""), [f32(2)]), "Dimension must be 1 but is 2"
)


def _restored_shape(spec: Any) -> tuple[int, ...] | None:
    """The shape of a slice; nothing is known of a tensor that is restored whole."""
    if not spec:
        return None
    try:
        shape, part = parse_shape_and_slice(spec.decode() if isinstance(spec, bytes) else spec)
    except InvalidArgumentError as error:
        raise ShapeError(error.message) from None
    return region_shape(part.region(shape))


restore_v2_op = Op(
    "RestoreV2",
    "prefix: string, tensor_names: string, shape_and_slices: string -> tensors: dtypes",
    dtypes=attr("list(type)", minimum=1),
    stateful=True,
    on_host=True,
    differentiable=False,
    role="restore",
    touches="files",
    reads_file="prefix",
)


@restore_v2_op.shape
def _restore_v2_shape(prefix, tensor_names, shape_and_slices, *, dtypes, values):
    _vectors(prefix, tensor_names, shape_and_slices, len(dtypes))
    specs = values[2]
    if specs is None or len(specs) != len(dtypes):
        return [None] * len(dtypes)
    return [_restored_shape(spec) for spec in specs]


@restore_v2_op.kernel
def _restore_v2_kernel(prefix, tensor_names, shape_and_slices, *, dtypes):
    names, slices = _strings(tensor_names), _strings(shape_and_slices)
    check_counts(names, slices, len(dtypes))
    with open_checkpoint(_string(prefix, "prefix")) as reader:
        parts = [part_to_restore(reader, *one) for one in zip(names, slices, dtypes)]
        return [to_torch(reader.read(name, part)) for name, part in zip(names, parts)]


restore_v2_op.samples(covered_by="tests/ops/files/test_checkpoints.py")
restore_v2_op.refuses(
    (text("a"), text("a"), text(""), {"dtypes": [dtypes.float32]}), "Shape must be rank 0 but is rank 1"
)

merge_v2_checkpoints_op = Op(
    "MergeV2Checkpoints",
    "checkpoint_prefixes: string, destination_prefix: string",
    delete_old_dirs=True,
    allow_missing_files=False,
    stateful=True,
    on_host=True,
    differentiable=False,
    touches="files",
)


@merge_v2_checkpoints_op.shape
def _merge_v2_checkpoints_shape(checkpoint_prefixes, destination_prefix):
    of_rank(checkpoint_prefixes, 1)
    of_rank(destination_prefix, 0)
    return []


@merge_v2_checkpoints_op.kernel
def _merge_v2_checkpoints_kernel(
    checkpoint_prefixes, destination_prefix, *, delete_old_dirs, allow_missing_files
):
    if checkpoint_prefixes.ndim != 1:
        raise errors.invalid_argument(
            "Input checkpoint_prefixes should be an 1-D tensor, got "
            f"{brackets(checkpoint_prefixes.shape)} instead."
        )
    prefixes = [local_path(prefix) for prefix in _strings(checkpoint_prefixes)]
    target = local_path(_string(destination_prefix, "destination_prefix"))
    merge_bundles(prefixes, target, allow_missing_files)
    if delete_old_dirs:
        for folder in {os.path.dirname(prefix) for prefix in prefixes} - {os.path.dirname(target)}:
            with contextlib.suppress(OSError):  # something else may be in it
                os.rmdir(folder)


merge_v2_checkpoints_op.samples(covered_by="tests/ops/files/test_checkpoints.py")
merge_v2_checkpoints_op.refuses(
    (text("a", shape=()), text("b", shape=())), "Shape must be rank 1 but is rank 0"
)

# --------------------------------------------------------------------------------------------- names of files


def _one_name(*inputs):
    for shape in inputs:
        of_rank(shape, 0)
    return []


def _file_name(basename: np.ndarray, shard: str, num_shards: torch.Tensor) -> np.ndarray:
    count = one_value(num_shards, "num_shards").item()
    return np.array(b"%s-%s-of-%05d" % (one_value(basename, "basename")[()], shard.encode(), count), object)


_BASE = text("a/b", shape=())

sharded_filename_op = Op(
    "ShardedFilename",
    "basename: string, shard: int32, num_shards: int32 -> filename: string",
    on_host=True,
    differentiable=False,
)
sharded_filename_op.shape(_one_name)


@sharded_filename_op.kernel
def _sharded_filename_kernel(basename, shard, num_shards):
    return _file_name(basename, f"{one_value(shard, 'shard').item():05d}", num_shards)


sharded_filename_op.samples(
    (_BASE, np.int32(3), np.int32(12)), against=lambda *_: np.array(b"a/b-00003-of-00012", object)
)
sharded_filename_op.refuses((_BASE, i32(2), i32()), "Shape must be rank 0 but is rank 1")

sharded_filespec_op = Op(
    "ShardedFilespec",
    "basename: string, num_shards: int32 -> filename: string",
    on_host=True,
    differentiable=False,
)
sharded_filespec_op.shape(_one_name)


@sharded_filespec_op.kernel
def _sharded_filespec_kernel(basename, num_shards):
    return _file_name(basename, "?????", num_shards)


sharded_filespec_op.samples((_BASE, np.int32(12)), against=lambda *_: np.array(b"a/b-?????-of-00012", object))
sharded_filespec_op.refuses((_BASE, i32(2)), "Shape must be rank 0 but is rank 1")

# ------------------------------------------------------------------------------------------- the first format


def _save_old(filename: np.ndarray, names: list[str], slices: list[str], data: list, types: list) -> None:
    check_counts(names, slices, len(data))
    parts = []
    for name, spec, tensor, dtype in zip(names, slices, data, types):
        value = to_numpy(tensor)
        whole = value.shape, TensorSlice.whole(value.ndim)
        shape, part = parse_shape_and_slice(spec) if spec else whole
        parts.append((name, shape, part, value, dtype))
    write_old_checkpoint(_string(filename, "filename"), parts)


save_op = Op(
    "Save",
    "filename: string, tensor_names: string, data: T",
    T=attr("list(type)", minimum=1),
    stateful=True,
    on_host=True,
    differentiable=False,
    role="save",
    touches="files",
)


@save_op.shape
def _save_shape(filename, tensor_names, data):
    _vectors(filename, tensor_names, tensor_names, len(data))
    return []


@save_op.kernel
def _save_kernel(filename, tensor_names, data, *, T):
    names = _strings(tensor_names)
    _save_old(filename, names, [""] * len(names), data, T)


save_op.samples(covered_by="tests/ops/files/test_checkpoints.py")

save_slices_op = Op(
    "SaveSlices",
    "filename: string, tensor_names: string, shapes_and_slices: string, data: T",
    T=attr("list(type)", minimum=1),
    stateful=True,
    on_host=True,
    differentiable=False,
    role="save",
    touches="files",
)


@save_slices_op.shape
def _save_slices_shape(filename, tensor_names, shapes_and_slices, data):
    _vectors(filename, tensor_names, shapes_and_slices, len(data))
    return []


@save_slices_op.kernel
def _save_slices_kernel(filename, tensor_names, shapes_and_slices, data, *, T):
    _save_old(filename, _strings(tensor_names), _strings(shapes_and_slices), data, T)


save_slices_op.samples(covered_by="tests/ops/files/test_checkpoints.py")


def _unknown_tensor(*inputs):
    for shape in inputs:
        of_rank(shape, 0)
    return None


def _restore_one(pattern: np.ndarray, tensor_name: np.ndarray, spec: str, dtype: dtypes.DType) -> Any:
    name = _string(tensor_name, "tensor_name")
    with open_checkpoint(_string(pattern, "file_pattern")) as reader:
        return to_torch(reader.read(name, part_to_restore(reader, name, spec, dtype)))


restore_op = Op(
    "Restore",
    "file_pattern: string, tensor_name: string -> tensor: dt",
    dt=attr("type"),
    preferred_shard=-1,
    stateful=True,
    on_host=True,
    differentiable=False,
    role="restore",
    touches="files",
    reads_file="file_pattern",
)
restore_op.shape(_unknown_tensor)


@restore_op.kernel
def _restore_kernel(file_pattern, tensor_name, *, dt):
    return _restore_one(file_pattern, tensor_name, "", dt)


restore_op.samples(covered_by="tests/ops/files/test_checkpoints.py")

restore_slice_op = Op(
    "RestoreSlice",
    "file_pattern: string, tensor_name: string, shape_and_slice: string -> tensor: dt",
    dt=attr("type"),
    preferred_shard=-1,
    stateful=True,
    on_host=True,
    differentiable=False,
    role="restore",
    touches="files",
    reads_file="file_pattern",
)


@restore_slice_op.shape
def _restore_slice_shape(file_pattern, tensor_name, shape_and_slice, *, values):
    _unknown_tensor(file_pattern, tensor_name, shape_and_slice)
    return None if values[2] is None else _restored_shape(values[2])


@restore_slice_op.kernel
def _restore_slice_kernel(file_pattern, tensor_name, shape_and_slice, *, dt):
    return _restore_one(file_pattern, tensor_name, _string(shape_and_slice, "shape_and_slice"), dt)


restore_slice_op.samples(covered_by="tests/ops/files/test_checkpoints.py")
