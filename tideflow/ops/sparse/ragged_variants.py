"""Ragged tensors as variants: how they pass through datasets, and back."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from tideflow.graph import dtypes, errors
from tideflow.graph.op import Op
from tideflow.graph.schema import attr
from tideflow.ops.helpers.types import types
from tideflow.runtime.tensor_lists import as_variant
from tideflow.runtime.values import empty_like_type

_SPLITS = {"Tsplits": attr("type", dtypes.int64, allowed=types("int32 int64"))}


class Ragged(NamedTuple):
    """A ragged tensor in a variant: row splits from the outermost in, and the values."""

    splits: list[torch.Tensor]
    values: Any


ragged_tensor_to_variant_op = Op(
    "RaggedTensorToVariant",
    "rt_nested_splits: RAGGED_RANK * Tsplits, rt_dense_values: Tvalues -> encoded_ragged: variant",
    RAGGED_RANK=attr("int", minimum=0),
    Tvalues=attr("type"),
    batched_input=attr("bool"),
    on_host=True,
    differentiable=False,
    **_SPLITS,
)


@ragged_tensor_to_variant_op.shape
def _ragged_tensor_to_variant_shape(rt_nested_splits, rt_dense_values, *, batched_input):
    if not batched_input:
        return []
    rows = rt_nested_splits[0] if rt_nested_splits else rt_dense_values
    if rows.ndims is None or rows.tuple[0] is None:
        return [None]
    return [rows.tuple[0] - 1 if rt_nested_splits else rows.tuple[0]]


def _row(splits: Sequence[torch.Tensor], values: Any, start: int, stop: int) -> Ragged:
    """The part of a ragged tensor that lies between two of its outermost rows."""
    made = []
    for each in splits:
        cut = each[start : stop + 1]
        made.append(cut - cut[:1])
        start, stop = int(cut[0]), int(cut[-1])
    return Ragged(made, values[start:stop])


@ragged_tensor_to_variant_op.kernel
def _ragged_tensor_to_variant_kernel(rt_nested_splits, rt_dense_values, *, batched_input):
    if not batched_input:
        return as_variant(Ragged(list(rt_nested_splits), rt_dense_values))
    if not rt_nested_splits:
        rows = [Ragged([], row) for row in rt_dense_values]
    else:
        bounds = rt_nested_splits[0].tolist()
        rows = [_row(rt_nested_splits[1:], rt_dense_values, a, b) for a, b in itertools.pairwise(bounds)]
    cells = np.empty(len(rows), object)
    for i, row in enumerate(rows):
        cells[i] = row
    return cells


ragged_tensor_to_variant_op.samples(covered_by="tests/ragged/test_spec.py")

ragged_tensor_from_variant_op = Op(
    "RaggedTensorFromVariant",
    "encoded_ragged: variant -> output_nested_splits: output_ragged_rank * Tsplits, "
    "output_dense_values: Tvalues",
    input_ragged_rank=attr("int", minimum=-1),
    output_ragged_rank=attr("int", minimum=0),
    Tvalues=attr("type"),
    on_host=True,
    differentiable=False,
    **_SPLITS,
)
ragged_tensor_from_variant_op.shape(
    lambda encoded_ragged, *, output_ragged_rank: [[None]] * output_ragged_rank + [None]
)


def _even_splits(shape: tuple[int, ...], axis: int, dtype: Any) -> torch.Tensor:
    """The splits of a dimension whose rows are all as long."""
    rows = int(np.prod(shape[:axis], dtype=np.int64))
    return torch.arange(rows + 1, dtype=dtype.torch) * shape[axis]


def _behind_each_other(parts: list[Ragged], rank: int, values_type: Any, splits_type: Any) -> Ragged:
    splits = []
    for i in range(rank):
        ends, moved = 0, [torch.zeros(1, dtype=splits_type.torch)]
        for part in parts:
            moved.append(part.splits[i][1:] + ends)
            ends += int(part.splits[i][-1])
        splits.append(torch.cat(moved))
    values = [part.values for part in parts]
    if not values:
        return Ragged(splits, empty_like_type(values_type, (0,)))
    if isinstance(values[0], torch.Tensor):
        return Ragged(splits, torch.cat(values))
    return Ragged(splits, np.concatenate(values))


@ragged_tensor_from_variant_op.kernel
def _ragged_tensor_from_variant_kernel(
    encoded_ragged, *, input_ragged_rank, output_ragged_rank, Tvalues, Tsplits
):
    stacked = np.asarray(encoded_ragged)
    inner = output_ragged_rank - stacked.ndim if input_ragged_rank == -1 else input_ragged_rank
    if inner < 0 or inner + stacked.ndim != output_ragged_rank:
        raise errors.invalid_argument(
            "output_ragged_rank must be equal to input_ragged_rank + encoded_ragged.dims(); "
            f"output_ragged_rank: {output_ragged_rank}, input_ragged_rank: {input_ragged_rank}, "
            f"encoded_ragged.dims(): {stacked.ndim}.",
        )
    parts = stacked.reshape(-1).tolist()
    for part in parts:
        if not isinstance(part, Ragged) or len(part.splits) != inner:
            raise errors.invalid_argument(f"The variant is no ragged tensor with {inner} ragged dimensions.")
    if not stacked.ndim:
        return [*parts[0].splits, parts[0].values]
    joined = _behind_each_other(parts, inner, Tvalues, Tsplits)
    regular = [_even_splits(stacked.shape, axis, Tsplits) for axis in range(1, stacked.ndim)]
    counts = [len(part.splits[0]) - 1 if inner else len(part.values) for part in parts]
    of_parts = torch.tensor([0, *np.cumsum(counts)], dtype=Tsplits.torch)
    return [*regular, of_parts, *joined.splits, joined.values]


ragged_tensor_from_variant_op.samples(covered_by="tests/ragged/test_spec.py")
