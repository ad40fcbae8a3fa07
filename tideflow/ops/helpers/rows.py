"""Rows of buffers that indices point to: checked, counted, changed.

On a CPU, an index that points to no row is an error. To find one on a GPU, the step would wait for it: there,
as in TensorFlow, nothing is put at such an index, and what is taken from it is 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tideflow.graph import errors
from tideflow.graph.op import ShapeError
from tideflow.ops.helpers.looking import can_look
from tideflow.ops.helpers.variables import as_signed, shape_text


def check_rows(indices: torch.Tensor, size: int) -> None:
    """InvalidArgumentError for the first index that is not one of `size` rows."""
    if not can_look() or not indices.numel():
        return
    low, high = torch.aminmax(indices)
    if low.item() < 0 or high.item() >= size:
        at = _first_bad((indices < 0) | (indices >= size))
        place = ",".join(map(str, at))
        value = indices[at].item()
        raise errors.invalid_argument(
            f"indices{f'[{place}]' if place else ''} = {value} is not in [0, {size})"
        )


def rows_at(indices: torch.Tensor, size: int) -> tuple[torch.Tensor, torch.Tensor | None]:
    """The rows of `size` that indices point to; and, on a GPU, which of the indices point to none."""
    if not indices.is_cuda or not size:
        check_rows(indices, size)
        return indices, None
    return indices.clamp(0, size - 1), (indices < 0) | (indices >= size)


def is_for_numpy(rows: torch.Tensor) -> bool:
    """Whether NumPy has the type of rows, which lie in the processor's memory."""
    return type(rows) is torch.Tensor and rows.is_cpu and rows.dtype is not torch.bfloat16


def have_repeats(indices: torch.Tensor) -> bool:
    """Whether an index occurs more than once."""
    if is_for_numpy(indices):
        numbers = np.sort(indices.numpy(), axis=None)
        return bool((numbers[1:] == numbers[:-1]).any())
    in_order = indices.sort().values
    return bool((in_order[1:] == in_order[:-1]).any())


def _first_bad(bad: torch.Tensor) -> tuple[int, ...]:
    return tuple(bad.nonzero()[0].tolist())


def check_not_empty(indices: int | None, updates: int | None, output: int | None) -> None:
    """Refuses to change slices of what has no elements; given are numbers of elements, None where unknown."""
    if output == 0 and (indices or updates):
        raise ShapeError("Indices and updates specified for empty output shape")


def linear_rows(
    indices: torch.Tensor, shape: tuple[int, ...], into: str = "shape"
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """The number of the row that each index vector (the last axis of `indices`) means; and, on a GPU, which
    of the vectors mean none.
    """
    indices = indices.long()
    columns, sizes = indices.unbind(-1), shape[: indices.shape[-1]]
    nothing, is_missing = indices.new_zeros(indices.shape[:-1]), None
    if can_look():
        bad = sum(((at < 0) | (at >= size) for at, size in zip(columns, sizes)), nothing.bool())
        if indices.is_cuda and math.prod(sizes):
            columns = tuple([at.clamp(0, size - 1) for at, size in zip(columns, sizes)])
            is_missing = bad
        elif bad.any():
            first = _first_bad(bad)
            raise errors.invalid_argument(
                f"indices{shape_text(first)} = {indices[first].tolist()} does not index into {into} "
                f"{shape_text(shape)}"
            )
    strides = (math.prod(sizes[i + 1 :]) for i in range(len(sizes)))  # maybe with symbols
    return sum((at * stride for at, stride in zip(columns, strides)), nothing), is_missing


def without_missing(values: torch.Tensor, is_missing: torch.Tensor | None, rank: int) -> torch.Tensor:
    """Slices of this rank that were taken, with zeros where an index pointed to none."""
    if is_missing is None:
        return values
    return values.masked_fill(is_missing.reshape([*is_missing.shape, *[1] * rank]), 0)


Change = Callable[[Any, torch.Tensor, Any], None]


def change_rows(
    change: Change, rows: Any, at: torch.Tensor, updates: Any, is_missing: torch.Tensor | None
) -> None:
    """Applies `change(rows, at, updates)`, with an update for each index, where indices point to rows."""
    at = at.reshape(-1)
    if is_missing is not None:
        is_missing = is_missing.reshape(-1)
        if change in (add_rows, subtract_rows):
            updates = without_missing(updates, is_missing, updates.ndim - 1)
        else:
            at, updates = at[~is_missing], updates[~is_missing]
    change(rows, at, updates)


def add_rows(rows: torch.Tensor, at: torch.Tensor, updates: torch.Tensor) -> None:
    """rows[at] += updates, as often as a row occurs."""
    if rows.dtype == torch.bool:
        rows.view(torch.uint8).index_reduce_(0, at, updates.to(torch.uint8), "amax")
    else:
        as_signed(rows).index_add_(0, at, as_signed(updates))


def subtract_rows(rows: torch.Tensor, at: torch.Tensor, updates: torch.Tensor) -> None:
    """rows[at] -= updates, as often as a row occurs."""
    as_signed(rows).index_add_(0, at, as_signed(updates), alpha=-1)
