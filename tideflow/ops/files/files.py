"""Files as tensors: their contents as strings or as memory, and the names of those that match a pattern."""

from __future__ import annotations

import glob
import mmap
import os
from typing import TYPE_CHECKING

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import dtypes, errors
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.schema import attr
from tideflow.graph.shapes import brackets
from tideflow.io.local_files import matching_paths, read_bytes, write_bytes
from tideflow.ops.helpers.axes import of_rank
from tideflow.ops.helpers.samples import scratch, text

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_EMPTY_FILE = text(os.devnull, shape=())

read_file_op = Op(
    "ReadFile",
    "filename: string -> contents: string",
    on_host=True,
    differentiable=False,
    touches="files",
    reads_file="filename",
)
read_file_op.effects = True  # the file may have other contents in the next step


@read_file_op.shape
def _read_file_shape(filename):
    return of_rank(filename, 0)


def _single(value: np.ndarray, name: str) -> bytes:
    if value.ndim:
        raise ShapeError(f"{name} tensor must be scalar, but had shape: {brackets(value.shape)}")
    return value[()]


@read_file_op.kernel
def _read_file_kernel(filename):
    return np.array(read_bytes(_single(filename, "Input filename")), dtype=object)


def _contents(filename: np.ndarray) -> bytes:
    with open(filename.item(), "rb") as file:
        return file.read()


read_file_op.samples((_EMPTY_FILE,), (text(__file__, shape=()),), against=_contents)
read_file_op.refuses((text(os.devnull),), "Shape must be rank 0 but is rank 1")


@export("io.read_file", "read_file")
def read_file(filename: TensorLike, name: str | None = None) -> Tensor:
    """The whole contents of a file, read anew in each step.

    Args:
      filename: A scalar string.
      name: A name for the operation.

    Returns:
      A scalar string.

    Raises:
      NotFoundError: When the step runs and there is no such file.
    """
    return read_file_op(filename, name=name)


write_file_op = Op(
    "WriteFile",
    "filename: string, contents: string",
    stateful=True,
    on_host=True,
    differentiable=False,
    touches="files",
)


@write_file_op.shape
def _write_file_shape(filename, contents):
    of_rank(filename, 0)
    of_rank(contents, 0)
    return []


@write_file_op.kernel
def _write_file_kernel(filename, contents):
    write_bytes(_single(filename, "Input filename"), _single(contents, "Contents"))


write_file_op.samples(
    (text(scratch("file"), shape=()), text(b"\x00 and \xff", shape=())),
    law=lambda filename, contents: _contents(filename) == contents.item(),
)
write_file_op.refuses((_EMPTY_FILE, text("a")), "Shape must be rank 0 but is rank 1")


@export("io.write_file", "write_file")
def write_file(filename: TensorLike, contents: TensorLike, name: str | None = None) -> Operation:
    """An operation that writes a file; directories are made where they are missing.

    Args:
      filename: A scalar string. A file of that name is replaced.
      contents: A scalar string, the bytes to write.
      name: A name for the operation.

    Returns:
      The operation.
    """
    return write_file_op(filename, contents, name=name)


matching_files_op = Op(
    "MatchingFiles",
    "pattern: string -> filenames: string",
    on_host=True,
    differentiable=False,
    touches="files",
)
matching_files_op.effects = True  # there may be other files in the next step


def _check_patterns(rank: int | None) -> None:
    if rank is not None and rank > 1:
        raise ShapeError(
            f"Shape must be at most rank 1 but is rank {rank}",
            "Input patterns tensor must be scalar or vector, but had shape",
        )


@matching_files_op.shape
def _matching_files_shape(pattern):
    _check_patterns(pattern.ndims)
    return [None]


@matching_files_op.kernel
def _matching_files_kernel(pattern):
    _check_patterns(pattern.ndim)
    found = sorted(os.fsencode(path) for one in pattern.reshape(-1) for path in matching_paths(one))
    names = np.empty(len(found), dtype=object)
    names[:] = found
    return names


matching_files_op.samples(
    (text(f"{os.devnull[:-1]}?", shape=()),),
    (text(os.devnull, os.devnull),),
    (text(f"{os.path.dirname(__file__)}/*.py"),),
    (text(),),
    against=lambda pattern: np.array(
        sorted(path for one in pattern.reshape(-1) for path in glob.glob(one)), object
    ),
)
matching_files_op.refuses((text("a", shape=(1, 1)),), "Shape must be at most rank 1 but is rank 2")


@export("io.matching_files", "matching_files")
def matching_files(pattern: TensorLike, name: str | None = None) -> Tensor:
    """The names of the files that match a pattern when the step runs.

    Args:
      pattern: A path with wildcards (`*`, `?`, `[a-z]`, `[!a]`), or a vector of such patterns.
      name: A name for the operation.

    Returns:
      A vector of strings, sorted.

    Raises:
      NotFoundError: When the step runs and the folder before the first wildcard is not there.
    """
    return matching_files_op(pattern, name=name)


immutable_const_op = Op(
    "ImmutableConst",
    " -> tensor: dtype",
    shape=attr("shape"),
    memory_region_name=attr("string"),
    differentiable=False,
)


@immutable_const_op.shape
def _immutable_const_shape(*, shape):
    return shape


def _mapped(path, dtype, sizes):
    """The file's bytes as a tensor, which nobody may write to."""
    if dtype.torch is None:
        raise errors.unimplemented(f"Sorry, {dtype.name} is not currently supported")
    try:
        with open(path, "rb") as file:
            wanted = int(np.prod(sizes)) * dtype.size
            found = os.fstat(file.fileno()).st_size
            if found < wanted:
                raise errors.internal(
                    f"Readonly memory region has wrong length ({found}) when allocating {wanted}"
                )
            # A private copy on write, because torch has no read-only tensors.
            memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY) if wanted else b""
    except FileNotFoundError:
        raise errors.not_found(f"{path}; No such file or directory") from None
    if not wanted:
        return torch.zeros(sizes, dtype=dtype.torch)
    return torch.frombuffer(memory, dtype=dtype.torch, count=int(np.prod(sizes))).reshape(sizes)


@immutable_const_op.kernel
def _immutable_const_kernel(*, dtype, shape, memory_region_name, state, device):
    if "value" not in state:
        state["value"] = _mapped(memory_region_name, dtype, shape.as_list()).to(device)
    return state["value"]


immutable_const_op.samples(
    ({"dtype": dtypes.uint8, "shape": [5, 2], "memory_region_name": __file__},),
    against=lambda memory_region_name: np.fromfile(memory_region_name, np.uint8, 10).reshape(5, 2),
)
