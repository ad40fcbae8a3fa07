"""Factors of matrices of which few elements are known: weighted sums over these elements."""

from __future__ import annotations

import numpy as np
import torch

from tideflow.graph import errors
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op
from tideflow.ops.helpers.axes import of_rank
from tideflow.ops.helpers.samples import f32


def _check_places(places: torch.Tensor, size: int, name: str) -> None:
    if places.numel() and not 0 <= int(places.min()) <= int(places.max()) < size:
        raise errors.invalid_argument(f"{name} must be in [0, {size})")


wals_partial_op = Op(
    "WALSComputePartialLhsAndRhs",
    "factors: float, factor_weights: float, unobserved_weights: float, input_weights: float, "
    "input_indices: int64, input_values: float, entry_weights: float, input_block_size: int64, "
    "input_is_transpose: bool -> partial_lhs: float, partial_rhs: float",
    host="input_block_size input_is_transpose",
    differentiable=False,
)


@wals_partial_op.shape
def _wals_partial_shape(
    factors,
    factor_weights,
    unobserved_weights,
    input_weights,
    input_indices,
    input_values,
    entry_weights,
    input_block_size,
    input_is_transpose,
):
    size = of_rank(factors, 2).as_list()[1]
    of_rank(input_indices, 2)
    return [input_block_size, size, size], [input_block_size, size]


@wals_partial_op.kernel
def _wals_partial_kernel(
    factors,
    factor_weights,
    unobserved_weights,
    input_weights,
    input_indices,
    input_values,
    entry_weights,
    input_block_size,
    input_is_transpose,
):
    if len(input_indices) != len(input_values):
        raise errors.invalid_argument(
            "Input input_values' length should match the first dimension of Input input_indices"
        )
    by_entry = len(entry_weights) == len(input_values) and len(factor_weights) == len(input_weights) == 0
    by_factor = len(entry_weights) == 0 and len(factor_weights) == len(factors) and len(input_weights) > 0
    if not (by_entry or by_factor):
        raise errors.invalid_argument(
            "To specify the weights for observed entries, either (1) entry_weights must be set or (2) "
            "input_weights and factor_weights must be set, but not both."
        )
    columns = (1, 0) if input_is_transpose else (0, 1)
    rows, places = (input_indices[:, column] for column in columns)
    _check_places(rows, input_block_size, "the rows of input_indices")
    _check_places(places, len(factors), "the factors of input_indices")
    if by_factor:
        _check_places(rows, len(input_weights), "the rows of input_indices")
        entry_weights = input_weights[rows] * factor_weights[places]
    taken = factors[places]
    size = factors.shape[1]
    weighted = entry_weights[:, None] * taken
    lhs = torch.zeros(input_block_size, size, size, device=factors.device)
    lhs.index_add_(0, rows, weighted[:, :, None] * taken[:, None, :])
    rhs = torch.zeros(input_block_size, size, device=factors.device)
    rhs.index_add_(0, rows, input_values[:, None] * (weighted + unobserved_weights * taken))
    return lhs, rhs


def _wals_partial_reference(
    factors, factor_weights, unobserved, input_weights, indices, values, entry_weights, count, transpose
):
    """Entry by entry."""
    size = factors.shape[1]
    lhs, rhs = np.zeros((count, size, size), np.float32), np.zeros((count, size), np.float32)
    for entry, place in enumerate(indices):
        row, column = place[::-1] if transpose else place
        factor = factors[column]
        if len(entry_weights):
            weight = entry_weights[entry]
        else:
            weight = input_weights[row] * factor_weights[column]
        lhs[row] += weight * np.outer(factor, factor)
        rhs[row] += values[entry] * (weight + unobserved) * factor
    return lhs, rhs


_PLACES = np.array([[0, 0], [0, 2], [1, 1], [1, 2]])
_FACTORS, _VALUES = f32(3, 2), f32(4)
_NONE, _ROWS = f32(0), np.int64(2)
_UNOBSERVED, _PLAIN, _TURNED = np.float32(0.5), np.array(False), np.array(True)
wals_partial_op.samples(
    (_FACTORS, f32(3), _UNOBSERVED, f32(2), _PLACES, _VALUES, _NONE, _ROWS, _PLAIN),
    (_FACTORS, f32(3), _UNOBSERVED, f32(2), _PLACES[:, ::-1].copy(), _VALUES, _NONE, _ROWS, _TURNED),
    (_FACTORS, _NONE, _UNOBSERVED, _NONE, _PLACES, _VALUES, f32(4), np.int64(3), _PLAIN),
    against=_wals_partial_reference,
)
wals_partial_op.refuses(
    (_FACTORS, f32(3), _UNOBSERVED, f32(2), _PLACES, _VALUES, f32(4), _ROWS, _PLAIN),
    "To specify the weights for observed entries",
    InvalidArgumentError,
)

masked_matmul_op = Op(
    "MaskedMatmul",
    "a: float, b: float, mask_indices: int64, transpose_a: bool, transpose_b: bool -> prod_values: float",
    host="transpose_a transpose_b",
    differentiable=False,
)


@masked_matmul_op.shape
def _masked_matmul_shape(a, b, mask_indices, transpose_a, transpose_b):
    of_rank(a, 2)
    of_rank(b, 2)
    return [of_rank(mask_indices, 2).as_list()[0]]


@masked_matmul_op.kernel
def _masked_matmul_kernel(a, b, mask_indices, transpose_a, transpose_b):
    left, right = a.T if transpose_a else a, b if transpose_b else b.T
    if left.shape[1] != right.shape[1]:
        raise errors.invalid_argument(
            f"Matrix shapes are incompatible: a has shape {list(a.shape)}, while b has shape {list(b.shape)}."
        )
    if mask_indices.shape[1] != 2:
        raise errors.invalid_argument(
            f"mask_indices must have two columns, but it has shape {list(mask_indices.shape)}."
        )
    rows, columns = mask_indices[:, 0], mask_indices[:, 1]
    _check_places(rows, len(left), "the rows of mask_indices")
    _check_places(columns, len(right), "the columns of mask_indices")
    return (left[rows] * right[columns]).sum(1)


def _masked_matmul_reference(a, b, mask_indices, transpose_a, transpose_b):
    whole = (a.T if transpose_a else a) @ (b.T if transpose_b else b)
    return whole[mask_indices[:, 0], mask_indices[:, 1]]


_MASK = np.array([[0, 1], [1, 3], [1, 0]])
masked_matmul_op.samples(
    (f32(2, 3), f32(3, 4), _MASK, _PLAIN, _PLAIN),
    (f32(3, 2), f32(4, 3), _MASK, _TURNED, _TURNED),
    (f32(2, 3), f32(3, 4), np.zeros((0, 2), np.int64), _PLAIN, _PLAIN),
    against=_masked_matmul_reference,
)
masked_matmul_op.refuses(
    (f32(2, 3), f32(4, 3), _MASK, _PLAIN, _PLAIN), "Matrix shapes are incompatible", InvalidArgumentError
)
masked_matmul_op.refuses(
    (f32(2, 3), f32(3, 4), np.array([[0, 4]]), _PLAIN, _PLAIN),
    "the columns of mask_indices must be in",
    InvalidArgumentError,
)
