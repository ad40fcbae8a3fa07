"""Matrices of a checkpoint whose rows or columns stand for words, in the order of another vocabulary."""

from __future__ import annotations

import numpy as np
import torch

from tideflow.graph import errors
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.schema import attr
from tideflow.graph.shapes import brackets
from tideflow.io.local_files import read_bytes
from tideflow.io.old_checkpoints import open_checkpoint
from tideflow.ops.helpers.axes import of_rank, one_value
from tideflow.ops.helpers.samples import f32, i64, text


def _path(file: np.ndarray) -> str:
    return file[()].decode(errors="surrogateescape")


def _words(file: np.ndarray) -> list[bytes]:
    """The lines of a file; one that ends the file needs no newline."""
    return read_bytes(file[()]).removesuffix(b"\n").split(b"\n")


generate_vocab_remapping_op = Op(
    "GenerateVocabRemapping",
    "new_vocab_file: string, old_vocab_file: string -> remapping: int64, num_present: int32",
    new_vocab_offset=attr("int", minimum=0),
    num_new_vocab=attr("int", minimum=0),
    old_vocab_size=attr("int", default=-1, minimum=-1),
    on_host=True,
    differentiable=False,
    touches="files",
)


@generate_vocab_remapping_op.shape
def _generate_vocab_remapping_shape(
    new_vocab_file, old_vocab_file, *, new_vocab_offset, num_new_vocab, old_vocab_size
):
    of_rank(new_vocab_file, 0)
    of_rank(old_vocab_file, 0)
    return [(num_new_vocab,), ()]


@generate_vocab_remapping_op.kernel
def _generate_vocab_remapping_kernel(
    new_vocab_file, old_vocab_file, *, new_vocab_offset, num_new_vocab, old_vocab_size
):
    for name, value in (("new_vocab_file", new_vocab_file), ("old_vocab_file", old_vocab_file)):
        if value.ndim:
            raise ShapeError(f"{name} should be a single string, but got {brackets(value.shape)}")
    old = _words(old_vocab_file)
    lines = {word: line for line, word in enumerate(old[:old_vocab_size] if old_vocab_size >= 0 else old)}
    new = _words(new_vocab_file)
    if new_vocab_offset + num_new_vocab > len(new):
        raise errors.invalid_argument(
            f"The new vocabulary {_path(new_vocab_file)} has {len(new)} lines, but lines {new_vocab_offset} "
            f"to {new_vocab_offset + num_new_vocab} are asked for",
        )
    wanted = new[new_vocab_offset : new_vocab_offset + num_new_vocab]
    remapping = torch.tensor([lines.get(word, -1) for word in wanted], dtype=torch.int64)
    return remapping, (remapping >= 0).sum(dtype=torch.int32)


generate_vocab_remapping_op.samples(covered_by="tests/ops/state/test_vocabulary_remapping.py")
generate_vocab_remapping_op.refuses(
    (text("a"), text("a", shape=()), {"new_vocab_offset": 0, "num_new_vocab": 1}),
    "Shape must be rank 0 but is rank 1",
)


def _sources(remapping: torch.Tensor, name: str, count: int, size: int) -> torch.Tensor:
    """Where each row or column comes from: -1 for nowhere, and no source twice."""
    if remapping.numel() != count:
        raise errors.invalid_argument(
            f"Size of {name} is {remapping.numel()} instead of being equal to {count}"
        )
    used = remapping[remapping >= 0]
    if used.numel() and int(used.max()) >= size:
        raise errors.invalid_argument(f"{name} has {int(used.max())}, which is not below {size}")
    if used.unique().numel() < used.numel():
        raise errors.invalid_argument(f"{name} takes the same row or column twice")
    return remapping


load_and_remap_matrix_op = Op(
    "LoadAndRemapMatrix",
    "ckpt_path: string, old_tensor_name: string, row_remapping: int64, col_remapping: int64, "
    "initializing_values: float -> output_matrix: float",
    num_rows=attr("int", minimum=0),
    num_cols=attr("int", minimum=1),
    max_rows_in_memory=attr("int", default=-1),
    stateful=True,
    on_host=True,
    differentiable=False,
    touches="files",
)


@load_and_remap_matrix_op.shape
def _load_and_remap_matrix_shape(
    ckpt_path,
    old_tensor_name,
    row_remapping,
    col_remapping,
    initializing_values,
    *,
    num_rows,
    num_cols,
    max_rows_in_memory,
):
    of_rank(old_tensor_name, 0)
    of_rank(row_remapping, 1)
    of_rank(col_remapping, 1)
    return (num_rows, num_cols)


@load_and_remap_matrix_op.kernel
def _load_and_remap_matrix_kernel(
    ckpt_path,
    old_tensor_name,
    row_remapping,
    col_remapping,
    initializing_values,
    *,
    num_rows,
    num_cols,
    max_rows_in_memory,
):
    name = one_value(old_tensor_name, "old_tensor_name")[()].decode(errors="surrogateescape")
    if row_remapping.ndim != 1 or col_remapping.ndim != 1:
        raise errors.invalid_argument("row_remapping and col_remapping must be vectors")
    if ckpt_path.size != 1:
        raise errors.invalid_argument(
            "The `ckpt_path` tensor must have exactly one element, got tensor of shape "
            f"{list(ckpt_path.shape)}"
        )
    with open_checkpoint(ckpt_path.item()) as reader:
        entry = reader.entry(name)
        if len(entry.shape) != 2:
            raise errors.invalid_argument(
                f"Old tensor {name!r} must have 2 dimensions, not shape {list(entry.shape)}"
            )
        old = torch.from_numpy(reader.read(name)).to(torch.float32)
    rows = _sources(row_remapping, "row_remapping", num_rows, old.shape[0])
    columns = col_remapping if col_remapping.numel() else torch.arange(old.shape[1])
    columns = _sources(columns, "col_remapping", num_cols, old.shape[1])
    there = (rows >= 0)[:, None] & (columns >= 0)[None]
    missing = there.numel() - int(there.sum())
    if initializing_values.numel() != missing:
        raise errors.invalid_argument(
            f"{initializing_values.numel()} initializing_values for {missing} missing values"
        )
    matrix = old[rows.clamp(min=0)][:, columns.clamp(min=0)] if old.numel() else torch.zeros(there.shape)
    matrix[~there] = initializing_values.reshape(-1)
    return matrix


load_and_remap_matrix_op.samples(covered_by="tests/ops/state/test_vocabulary_remapping.py")
load_and_remap_matrix_op.refuses(
    (text("a", shape=()), text("a", shape=()), i64(2, 2), i64(0), f32(0), {"num_rows": 2, "num_cols": 1}),
    "Shape must be rank 1 but is rank 2",
)
