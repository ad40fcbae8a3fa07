"""Whole files as strings, and the names of files that match a pattern."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from tideflow.export import export
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Operation, Tensor
from tideflow.io.local_files import matching_paths, read_bytes, write_bytes
from tideflow.ops.helpers.axes import of_rank, one_value
from tideflow.ops.helpers.samples import text

_NOWHERE = text(os.devnull, shape=())

read_file_op = Op("ReadFile", "filename: string -> contents: string", on_host=True, differentiable=False)
matching_files_op = Op(
    "MatchingFiles", "pattern: string -> filenames: string", on_host=True, differentiable=False
)


def _check_patterns(rank: int | None) -> None:
    if rank is not None and rank > 1:
        raise ShapeError(f"Shape must be at most rank 1 but is rank {rank}")


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
    (text(f"{os.devnull[:-1]}?", shape=()),), (text(os.devnull, os.devnull),), (text(),)
)
matching_files_op.refuses((text("a", shape=(1, 1)),), "Shape must be at most rank 1 but is rank 2")


@export("io.matching_files", "matching_files")
def matching_files(pattern: Any, name: str | None = None) -> Tensor:
    """The names, sorted, of files that match a pattern, or any of a vector of patterns."""
    return matching_files_op(pattern, name=name)


read_file_op.effects = matching_files_op.effects = True  # what they find may be another in the next step


@read_file_op.shape
def _read_file_shape(filename):
    return of_rank(filename, 0)


@read_file_op.kernel
def _read_file_kernel(filename):
    return np.array(read_bytes(one_value(filename, "filename")[()]), dtype=object)


read_file_op.samples((_NOWHERE,), against=lambda filename: np.array(b"", object))
read_file_op.refuses((text(os.devnull),), "Shape must be rank 0 but is rank 1")


@export("io.read_file", "read_file")
def read_file(filename: Any, name: str | None = None) -> Tensor:
    """The whole contents of a file, read when the step runs."""
    return read_file_op(filename, name=name)


write_file_op = Op(
    "WriteFile", "filename: string, contents: string", stateful=True, on_host=True, differentiable=False
)


@write_file_op.shape
def _write_file_shape(filename, contents):
    of_rank(filename, 0)
    of_rank(contents, 0)
    return []


@write_file_op.kernel
def _write_file_kernel(filename, contents):
    write_bytes(one_value(filename, "filename")[()], one_value(contents, "contents")[()])


write_file_op.samples((_NOWHERE, text("gone", shape=())))
write_file_op.refuses((_NOWHERE, text("a")), "Shape must be rank 0 but is rank 1")


@export("io.write_file", "write_file")
def write_file(filename: Any, contents: Any, name: str | None = None) -> Operation:
    """An operation that writes a file; directories are made where they are missing."""
    return write_file_op(filename, contents, name=name)
