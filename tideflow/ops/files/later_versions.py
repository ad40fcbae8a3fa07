"""Op types of TensorFlow after 1.15, which nothing here makes: inference graphs of its later versions use
them.
"""

from __future__ import annotations

import math

import numpy as np
import torch

from tideflow.graph import dtypes
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.schema import attr
from tideflow.io.examples import Blame, read_columns
from tideflow.ops.arrays import diagonals
from tideflow.ops.files import parsing
from tideflow.ops.helpers.samples import f32, i32, int32s, text
from tideflow.ops.helpers.types import INDICES, types
from tideflow.ops.math import counting
from tideflow.runtime.values import to_torch

# ---------------------------------------------------------------------------------- counting rows

dense_bincount_op = Op(
    "DenseBincount",
    "input: Tidx, size: Tidx, weights: T -> output: T",
    Tidx=INDICES,
    T=types("int32 int64 float double"),
    binary_output=False,
    host="size",
    differentiable=False,
)


@dense_bincount_op.shape
def _dense_bincount_shape(input, size, weights):
    if input.ndims is not None and input.ndims not in (1, 2):
        raise ShapeError(f"Shape must be at most rank 2 but is rank {input.ndims}")
    return None if input.tuple is None else [*input.tuple[:-1], size]


@dense_bincount_op.kernel
def _dense_bincount_kernel(input, size, weights, *, binary_output):
    """Each row of a matrix is counted by itself; what has no bin is not counted."""
    rows = input.reshape(math.prod(input.shape[:-1]), input.shape[-1]).long()
    if size < 0:
        raise ShapeError(f"size ({size}) must be non-negative")
    if rows.numel() and int(rows.min()) < 0:
        raise ShapeError("Input arr must be non-negative!")
    counted = rows < size
    if binary_output or not weights.numel():
        weights = torch.ones_like(rows, dtype=weights.dtype)
    values = torch.where(counted, weights.reshape(rows.shape), 0)
    bins = weights.new_zeros(len(rows), size + 1)  # the last is for what has none
    places = torch.where(counted, rows, size)
    if binary_output:
        bins.scatter_(1, places, values)
    else:
        bins.scatter_add_(1, places, values)
    return bins[:, :size].reshape(*input.shape[:-1], size)


def _row_counts(input: np.ndarray, size: int, weights: np.ndarray, binary_output: bool = False) -> np.ndarray:
    rows = input.reshape(math.prod(input.shape[:-1]), input.shape[-1])
    given = weights.reshape(rows.shape) if weights.size else [np.zeros(0, weights.dtype)] * len(rows)
    counts = [counting.reference(row, size, one) for row, one in zip(rows, given, strict=True)]
    result = np.array(counts, weights.dtype).reshape(*input.shape[:-1], size)
    return (result > 0).astype(weights.dtype) if binary_output else result


dense_bincount_op.samples(
    (i32(6, low=0, high=4), np.int32(3), f32(6)),
    (i32(2, 3, low=0, high=4), np.int32(6), np.zeros(0, np.int64)),
    (i32(2, 3, low=0, high=4), np.int32(3), np.zeros(0, np.float32), {"binary_output": True}),
    against=_row_counts,
)
dense_bincount_op.refuses((i32(2, 2, 2, low=0), np.int32(2), f32(0)), "Shape must be at most rank 2")

# ---------------------------------------------------------------------------------- diagonals, aligned

_ALIGN = attr("string", "RIGHT_LEFT", allowed=["LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT"])

matrix_diag_v3_op = Op(
    "MatrixDiagV3",
    "diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T -> output: T",
    align=_ALIGN,
    host="k, num_rows, num_cols",
)
matrix_diag_v3_op.shape(diagonals.matrix_diag_v2_op.shape_rule)


@matrix_diag_v3_op.kernel
def _matrix_diag_v3_kernel(diagonal, k, num_rows, num_cols, padding_value, *, align):
    return diagonals.with_diagonals(diagonal, k, num_rows, num_cols, padding_value, align)


matrix_diag_part_v3_op = Op(
    "MatrixDiagPartV3",
    "input: T, k: int32, padding_value: T -> diagonal: T",
    align=_ALIGN,
    host="k",
)
matrix_diag_part_v3_op.shape(diagonals.matrix_diag_part_v2_op.shape_rule)


@matrix_diag_part_v3_op.kernel
def _matrix_diag_part_v3_kernel(input, k, padding_value, *, align):
    return diagonals.diagonals_of(input, k, padding_value, align)


matrix_set_diag_v3_op = Op(
    "MatrixSetDiagV3", "input: T, diagonal: T, k: int32 -> output: T", align=_ALIGN, host="k"
)
matrix_set_diag_v3_op.shape(diagonals.matrix_set_diag_v2_op.shape_rule)


@matrix_set_diag_v3_op.kernel
def _matrix_set_diag_v3_kernel(input, diagonal, k, *, align):
    return diagonals.diagonals_replaced(input, diagonal, k, align)


matrix_diag_v3_op.gradient(
    lambda op, grad: diagonals.with_diagonals_gradient(
        op, grad, matrix_diag_part_v3_op, matrix_set_diag_v3_op
    )
)
matrix_diag_part_v3_op.gradient(
    lambda op, grad: diagonals.diagonals_of_gradient(op, grad, matrix_set_diag_v3_op)
)
matrix_set_diag_v3_op.gradient(
    lambda op, grad: diagonals.diagonals_replaced_gradient(
        op, grad, matrix_diag_part_v3_op, matrix_set_diag_v3_op
    )
)
for _align in _ALIGN.allowed:
    _side = {"align": _align}
    matrix_diag_v3_op.samples((f32(2, 3, 3), *int32s([-1, 1], -1, -1), f32(), _side))
    matrix_diag_part_v3_op.samples((f32(3, 4), *int32s([-2, 2]), f32(), _side))
    matrix_set_diag_v3_op.samples((f32(3, 3), f32(3, 3), *int32s([-1, 1]), _side))

# ---------------------------------------------------------------------------------- variables

disable_copy_on_read_op = Op("DisableCopyOnRead", "resource: resource", stateful=True, differentiable=False)
disable_copy_on_read_op.shape(lambda resource: [])
disable_copy_on_read_op.kernel(lambda resource: None)  # reads copy nothing here
disable_copy_on_read_op.samples(covered_by="tests/saved_model/test_loading.py")

# ---------------------------------------------------------------------------------- examples

parse_example_v2_op = Op(
    "ParseExampleV2",
    "serialized: string, names: string, sparse_keys: string, dense_keys: string, ragged_keys: string, "
    "dense_defaults: Tdense -> sparse_indices: num_sparse * int64, sparse_values: sparse_types, "
    "sparse_shapes: num_sparse * int64, dense_values: Tdense, ragged_values: ragged_value_types, "
    "ragged_row_splits: ragged_split_types",
    Tdense=parsing.FEATURE_TYPES,
    num_sparse=attr("int", minimum=0),
    sparse_types=parsing.FEATURE_TYPES,
    ragged_value_types=parsing.FEATURE_TYPES,
    ragged_split_types=attr("list(type)", allowed=INDICES, minimum=0),
    dense_shapes=attr("list(shape)", minimum=0),
    on_host=True,
    differentiable=False,
)


@parse_example_v2_op.shape
def _parse_example_v2_shape(
    serialized,
    names,
    sparse_keys,
    dense_keys,
    ragged_keys,
    dense_defaults,
    *,
    num_sparse,
    sparse_types,
    Tdense,
    dense_shapes,
    ragged_value_types,
    ragged_split_types,
):
    parsing.check_counts(num_sparse=[None] * num_sparse, sparse_types=sparse_types)
    parsing.check_counts(dense_types=Tdense, dense_shapes=dense_shapes)
    parsing.check_counts(ragged_value_types=ragged_value_types, ragged_split_types=ragged_split_types)
    if serialized.ndims not in (None, 0, 1):
        raise ShapeError(f"serialized must be a scalar or a vector, but has shape {serialized}")
    if serialized.tuple is None:
        return [None] * (3 * num_sparse + len(Tdense) + 2 * len(ragged_value_types))
    batch = list(serialized.tuple)
    return [
        *parsing.sparse_shapes_of(num_sparse, len(batch) + 1),
        *([*batch, *shape.tuple] for shape in dense_shapes),
        *([[None]] * (2 * len(ragged_value_types))),
    ]


@parse_example_v2_op.kernel
def _parse_example_v2_kernel(
    serialized,
    names,
    sparse_keys,
    dense_keys,
    ragged_keys,
    dense_defaults,
    *,
    sparse_types,
    Tdense,
    dense_shapes,
    ragged_value_types,
    ragged_split_types,
):
    keys = [[key.decode() for key in given.ravel()] for given in (sparse_keys, dense_keys, ragged_keys)]
    wanted = [
        *parsing.sparse_wanted(keys[0], sparse_types),
        *parsing.dense_wanted(keys[1], Tdense, dense_shapes, dense_defaults),
    ]
    messages, blame = serialized.ravel().tolist(), Blame(names.ravel().tolist())
    ragged = read_columns(messages, parsing.sparse_wanted(keys[2], ragged_value_types), blame)
    splits = [
        np.concatenate([[0], np.cumsum(np.maximum(counts, 0))]).astype(dtype.numpy)
        for (counts, _), dtype in zip(ragged, ragged_split_types, strict=True)
    ]
    return [
        *parsing.tensors(messages, wanted, blame, single=not serialized.ndim),
        *(to_torch(values) for _, values in ragged),
        *map(to_torch, splits),
    ]


_KEYS = text("c"), text("a", "b"), text("b")
parse_example_v2_op.samples(
    (
        text(*parsing.MESSAGES),
        text(),
        *_KEYS,
        [np.zeros(0, np.int64), np.float32(-1).reshape(())],
        {
            "num_sparse": 1,
            "sparse_types": [dtypes.string],
            "dense_shapes": [[2], [None]],
            "Tdense": [dtypes.int64, dtypes.float32],
            "ragged_value_types": [dtypes.float32],
            "ragged_split_types": [dtypes.int32],
        },
    )
)
