"""Rows of buffers that indices point to: checked, counted, changed."""

from __future__ import annotations

import math

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


def have_repeats(indices: torch.Tensor) -> bool:
    """Whether an index occurs more than once."""
    in_order = indices.sort().values
    return bool((in_order[1:] == in_order[:-1]).any())


def _first_bad(bad: torch.Tensor) -> tuple[int, ...]:
    return tuple(bad.nonzero()[0].tolist())


def check_not_empty(indices: int | None, updates: int | None, output: int | None) -> None:
    """Refuses to change slices of what has no elements; given are numbers of elements, None where unknown."""
    if output == 0 and (indices or updates):
        raise ShapeError("Indices and updates specified for empty output shape")


def linear_rows(indices: torch.Tensor, shape: tuple[int, ...], into: str = "shape") -> torch.Tensor:
    """The number of the row that each index vector (the last axis of `indices`) means."""
    depth = indices.shape[-1]
    indices = indices.long()
    if not can_look():
        strides = [math.prod(shape[i + 1 : depth]) for i in range(depth)]  # maybe with symbols
        columns = (indices[..., i] * stride for i, stride in enumerate(strides))
        return sum(columns, indices.new_zeros(indices.shape[:-1]))
    sizes = torch.tensor(shape[:depth], dtype=torch.int64, device=indices.device)
    bad = ((indices < 0) | (indices >= sizes)).any(-1)
    if bad.any():
        at = _first_bad(bad)
        raise errors.invalid_argument(
            f"indices{shape_text(at)} = {indices[at].tolist()} does not index into {into} {shape_text(shape)}"
        )
    strides = [math.prod(shape[i + 1 : depth]) for i in range(depth)]
    return (indices * torch.tensor(strides, dtype=torch.int64, device=indices.device)).sum(-1)


def add_rows(rows: torch.Tensor, at: torch.Tensor, updates: torch.Tensor) -> None:
    """rows[at] += updates, as often as a row occurs."""
    as_signed(rows).index_add_(0, at, as_signed(updates))


def subtract_rows(rows: torch.Tensor, at: torch.Tensor, updates: torch.Tensor) -> None:
    """rows[at] -= updates, as often as a row occurs."""
    as_signed(rows).index_add_(0, at, as_signed(updates), alpha=-1)
