"""Ragged tensors as ops see them: values, and for each ragged dimension the splits that cut them into rows.

Row i is `values[splits[i] : splits[i + 1]]`. Of several splits, each but the last cuts the rows of the next.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from tideflow.graph import dtypes, errors
from tideflow.graph.composite import IndexedSlices
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.schema import attr
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import creation, indexing, shapes
from tideflow.ops.helpers.axes import as_sizes, brackets, of_rank, of_rank_at_least, size_product, size_sum
from tideflow.ops.helpers.samples import f32, text
from tideflow.ops.helpers.types import INDICES, types
from tideflow.ops.helpers.unbroadcast import ways_back
from tideflow.ops.math import casting, segments
from tideflow.ops.sparse.index_rows import parts_of
from tideflow.runtime.values import to_numpy, to_torch

_TSPLITS = attr("type", dtypes.int64, allowed=INDICES)


def _column_of_each(lengths: np.ndarray) -> np.ndarray:
    """The place that each value has in its row."""
    return np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)


def _splits_of(lengths: np.ndarray, dtype: Any) -> Any:
    return to_torch(np.cumsum([0, *lengths]).astype(dtype.as_numpy_dtype))


def _nested(splits: Sequence[np.ndarray], values: np.ndarray) -> list:
    """The rows of a ragged tensor as lists, for references."""
    rows = list(values)
    for one in reversed(splits):
        rows = [rows[start:end] for start, end in pairwise(one)]
    return rows


def _flattened(rows: list, ragged_rank: int, values: np.ndarray) -> list[np.ndarray]:
    """Splits and values of rows as lists; the values are like these."""
    splits = []
    for _ in range(ragged_rank):
        splits.append(np.cumsum([0, *map(len, rows)]))
        rows = [item for row in rows for item in row]
    return [*splits, np.array(rows, values.dtype).reshape(-1, *values.shape[1:])]


ragged_range_op = Op(
    "RaggedRange",
    "starts: T, limits: T, deltas: T -> rt_nested_splits: Tsplits, rt_dense_values: T",
    T=attr("type", dtypes.int32, allowed=types("bfloat16 float double int32 int64")),
    Tsplits=_TSPLITS,
    on_host=True,
    differentiable=False,
)


@ragged_range_op.shape
def _ragged_range_shape(starts, limits, deltas):
    rows = 1
    for name, shape in (("starts", starts), ("limits", limits), ("deltas", deltas)):
        if shape.ndims is None:
            rows = None if rows == 1 else rows
        elif shape.ndims > 1:
            raise ShapeError(
                f"Shape must be at most rank 1 but is rank {shape.ndims}",
                f"{name} must be a scalar or vector",
            )
    given = [shape.tuple[0] for shape in (starts, limits, deltas) if shape.ndims == 1]
    known = {size for size in given if size is not None}
    if len(known) > 1:
        raise ShapeError(f"Dimensions must be equal, but are {' and '.join(map(str, sorted(known)))}")
    if given:
        rows = known.pop() if known else None
    return [[size_sum(rows, 1)], [None]]


@ragged_range_op.kernel
def _ragged_range_kernel(starts, limits, deltas, *, T, Tsplits):
    exact = np.int64 if T.is_integer else np.float64
    parts = [to_numpy(part).astype(exact) for part in (starts, limits, deltas)]
    sizes = {part.shape[0] for part in parts if part.ndim}
    if len(sizes) > 1:
        raise ShapeError("starts, limits, and deltas must have the same shape")
    starts, limits, deltas = np.broadcast_arrays(*(np.atleast_1d(part) for part in parts))
    if (deltas == 0).any():
        raise ShapeError("Requires delta != 0")
    spans = (limits.astype(np.float64) - starts) / deltas
    if not (spans < 2**62).all() or np.maximum(spans, 0).sum() >= 2**62:
        raise ShapeError(f"Requires ((limit - start) / delta) <= {2**62} in all, but it is {spans.tolist()}")
    counts = -((starts - limits) // deltas) if T.is_integer else np.ceil((limits - starts) / deltas)
    lengths = np.maximum(counts, 0).astype(np.int64)
    values = np.repeat(starts, lengths) + _column_of_each(lengths) * np.repeat(deltas, lengths)
    return _splits_of(lengths, Tsplits), to_torch(values.astype(T.as_numpy_dtype))


def _ragged_range_reference(starts, limits, deltas):
    rows = [np.arange(*row) for row in np.nditer([starts, limits, deltas], ["zerosize_ok"])]
    return _flattened(rows, 1, np.zeros(0, starts.dtype))


ragged_range_op.samples(
    (np.int32([0, 5, 8]), np.int32([3, 5, 12]), np.int32(1)),
    (np.int32(9), np.int32([3, 0]), np.int32(-2), {"Tsplits": dtypes.int32}),
    (np.float32([0, 1]), np.float32([3, -1.5]), np.float32([0.7, -0.5]), {"T": dtypes.float32}),
    (np.int64(0), np.int64(3), np.int64(1), {"T": dtypes.int64}),
    (np.zeros(0, np.int32), np.int32(3), np.int32(1)),
    against=_ragged_range_reference,
)
ragged_range_op.refuses(
    (np.int32([0, 1]), np.int32([3]), np.int32(1)), "Dimensions must be equal, but are 1 and 2"
)
ragged_range_op.refuses(
    (np.int64(-(2**63)), np.int64(2**63 - 1), np.int64(1), {"T": dtypes.int64}),
    "Requires ((limit - start) / delta) <= ",
    InvalidArgumentError,
)
ragged_range_op.refuses((np.int32(0), np.int32(1), np.int32(0)), "Requires delta != 0", InvalidArgumentError)

_SPLITS = np.array([0, 2, 2, 5])

ragged_gather_op = Op(
    "RaggedGather",
    "params_nested_splits: PARAMS_RAGGED_RANK * Tsplits, params_dense_values: Tvalues, indices: Tindices "
    "-> output_nested_splits: OUTPUT_RAGGED_RANK * Tsplits, output_dense_values: Tvalues",
    Tindices=INDICES,
    Tsplits=_TSPLITS,
    PARAMS_RAGGED_RANK=attr("int", minimum=1),
    OUTPUT_RAGGED_RANK=attr("int", minimum=0),
    on_host=True,
)


@ragged_gather_op.shape
def _ragged_gather_shape(params_nested_splits, params_dense_values, indices, *, OUTPUT_RAGGED_RANK):
    for shape in params_nested_splits:
        of_rank(shape, 1)
    of_rank(indices, OUTPUT_RAGGED_RANK - len(params_nested_splits) + 1)
    values = of_rank_at_least(params_dense_values, 1, "params.rank must be nonzero")
    rows = None if values.ndims is None else [None, *values.tuple[1:]]
    return [[None]] * OUTPUT_RAGGED_RANK + [rows]


def _uniform_rows(sizes: tuple[int, ...]) -> list[tuple[tuple[int, ...], int]]:
    """For each dimension but the first: the sizes before it, and its own."""
    return [(sizes[: axis + 1], size) for axis, size in enumerate(sizes[1:])]


@ragged_gather_op.kernel
@ragged_gather_op.kernel("string")
def _ragged_gather_kernel(params_nested_splits, params_dense_values, indices, *, Tsplits):
    values, indices = to_numpy(params_dense_values), to_numpy(indices)
    nested = [to_numpy(one).astype(np.int64) for one in params_nested_splits]
    rows = indices.reshape(-1).astype(np.int64)
    wrong = (rows < 0) | (rows >= len(nested[0]) - 1)
    if wrong.any():
        at = brackets(np.unravel_index(int(wrong.argmax()), indices.shape)) if indices.ndim else ""
        raise ShapeError(f"indices{at} = {rows[wrong][0]} is not in [0, {len(nested[0]) - 1})")
    made = [_splits_of(np.full(math.prod(a), b), Tsplits) for a, b in _uniform_rows(indices.shape)]
    for splits, end in zip(nested, [*(len(inner) - 1 for inner in nested[1:]), len(values)], strict=True):
        if (splits[1:] < splits[:-1]).any():  # a difference of the two may overflow
            raise ShapeError("Ragged splits must be sorted")
        if splits[:1].sum() < 0 or splits[-1:].sum() > end:
            raise ShapeError("Ragged splits must not point past values")
        lengths = splits[rows + 1] - splits[rows]
        made.append(_splits_of(lengths, Tsplits))
        rows = np.repeat(splits[rows], lengths) + _column_of_each(lengths)
    first = 0 if indices.ndim else 1  # a scalar index takes one row, whose length needs no splits
    return [*made[first:], to_torch(values[rows])]


@ragged_gather_op.gradient
def _ragged_gather_gradient(op, *grads):
    """Each gradient goes to the value it came from, which is found by gathering the values' numbers."""
    *splits, values, indices = op.inputs
    numbers = creation.range(shapes.shape(values, out_type=dtypes.int64)[0])
    came_from = ragged_gather_op(
        splits, numbers, indices, OUTPUT_RAGGED_RANK=op.attrs["OUTPUT_RAGGED_RANK"]
    ).output_dense_values
    return [*[None] * len(splits), IndexedSlices(grads[-1], came_from, shapes.shape(values)), None]


def _ragged_gather_reference(splits, values, indices, OUTPUT_RAGGED_RANK):
    rows = _nested(splits, values)

    def taken(at: Any) -> list:
        return [taken(each) for each in at] if isinstance(at, list) else rows[at]

    return _flattened(taken(indices.tolist()), OUTPUT_RAGGED_RANK, values)


ragged_gather_op.samples(
    ([_SPLITS], text(*"abcde"), np.int32([2, 0, 2]), {"OUTPUT_RAGGED_RANK": 1}),
    ([_SPLITS], f32(5, 2), np.array([[2, 0], [1, 1]]), {"OUTPUT_RAGGED_RANK": 2}),
    ([np.array([0, 2, 3]), _SPLITS], f32(5), np.int32([1, 0, 1]), {"OUTPUT_RAGGED_RANK": 2}),
    ([np.int32([0, 2, 2, 5])], f32(5), np.array(2), {"OUTPUT_RAGGED_RANK": 0}),
    ([_SPLITS], f32(5), np.zeros((0, 3), np.int32), {"OUTPUT_RAGGED_RANK": 2}),
    against=_ragged_gather_reference,
)
ragged_gather_op.refuses(
    ([_SPLITS], f32(5), np.int32([1, 3]), {"OUTPUT_RAGGED_RANK": 1}),
    "indices[1] = 3 is not in [0, 3)",
    InvalidArgumentError,
)


def _row_of_each(lengths: np.ndarray) -> np.ndarray:
    """The row that each value belongs to."""
    return np.repeat(np.arange(len(lengths)), lengths)


def _places(splits: list[np.ndarray]) -> np.ndarray:
    """The row, and the column in each ragged dimension, of every value."""
    places = np.arange(len(splits[0]) - 1)[:, None]
    for one in splits:
        lengths = np.diff(one)
        places = np.concatenate([places[_row_of_each(lengths)], _column_of_each(lengths)[:, None]], axis=1)
    return places


def _checked_splits(nested: Sequence[Any], values: np.ndarray) -> list[np.ndarray]:
    """Splits from the outermost in, each of which must cut up all that the next one stands for."""
    splits = [to_numpy(one).astype(np.int64) for one in nested]
    ends = [*(len(inner) - 1 for inner in splits[1:]), len(values)]
    for one, end in zip(splits, ends, strict=True):
        if not one.size:
            raise ShapeError("ragged splits may not be empty.")
        if one[0] != 0:
            raise ShapeError("First value of ragged splits must be 0.")
        if one[-1] != end:
            raise ShapeError(
                "Final value of ragged splits must match the length the corresponding ragged values."
            )
        if (np.diff(one) < 0).any():
            raise ShapeError("Ragged splits must be sorted")
    return splits


ragged_tensor_to_sparse_op = Op(
    "RaggedTensorToSparse",
    "rt_nested_splits: RAGGED_RANK * Tsplits, rt_dense_values: T "
    "-> sparse_indices: int64, sparse_values: T, sparse_dense_shape: int64",
    RAGGED_RANK=attr("int", minimum=1),
    Tsplits=_TSPLITS,
    on_host=True,
)


@ragged_tensor_to_sparse_op.shape
def _ragged_tensor_to_sparse_shape(rt_nested_splits, rt_dense_values):
    last = "Final value of ragged splits must match the length the corresponding ragged values."
    for shape in rt_nested_splits:
        of_rank(shape, 1, last)
    sizes = of_rank_at_least(rt_dense_values, 1, last).tuple
    if sizes is None:
        return [[None, None], [None], [None]]
    rank = len(rt_nested_splits) + len(sizes)
    count = size_product(*sizes)
    return [[count, rank], [count], [rank]]


@ragged_tensor_to_sparse_op.kernel
@ragged_tensor_to_sparse_op.kernel("string")
def _ragged_tensor_to_sparse_kernel(rt_nested_splits, rt_dense_values):
    values = to_numpy(rt_dense_values)
    splits = _checked_splits(rt_nested_splits, values)
    inner = values.shape[1:]
    rows = np.repeat(_places(splits), math.prod(inner), axis=0)
    inside = np.indices(inner).reshape(len(inner), math.prod(inner)).T
    indices = np.concatenate([rows, np.tile(inside, (len(values), 1))], axis=1)
    widest = [np.diff(one).max(initial=0) for one in splits]
    shape = np.array([len(splits[0]) - 1, *widest, *inner], np.int64)
    return to_torch(indices.astype(np.int64)), to_torch(values.reshape(-1)), to_torch(shape)


@ragged_tensor_to_sparse_op.gradient
def _ragged_tensor_to_sparse_gradient(op, *grads):
    values = op.inputs[-1]
    return [*[None] * (len(op.inputs) - 1), shapes.reshape(grads[1], shapes.shape(values))]


def _ragged_tensor_to_sparse_reference(splits, values):
    """Element by element of the nested lists."""
    found = {}

    def visit(item: Any, place: tuple[int, ...]) -> None:
        if isinstance(item, (list, np.ndarray)):
            for i, part in enumerate(item):
                visit(part, (*place, i))
        else:
            found[place] = item

    visit(_nested(splits, values), ())
    widest = [max(np.diff(one), default=0) for one in splits]
    sizes = [len(splits[0]) - 1, *widest, *values.shape[1:]]
    return *parts_of(found, len(sizes), values.dtype), np.array(sizes)


ragged_tensor_to_sparse_op.samples(
    ([_SPLITS], text(*"abcde")),
    ([np.array([0, 2, 3]), _SPLITS], f32(5)),
    ([np.int32([0, 2, 2, 5])], f32(5, 2)),
    ([np.array([0])], f32(0)),
    against=_ragged_tensor_to_sparse_reference,
)
ragged_tensor_to_sparse_op.refuses(
    ([np.array([0, 2, 4])], f32(5)), "Final value of ragged splits must match", InvalidArgumentError
)
ragged_tensor_to_sparse_op.refuses(
    ([np.array([1, 5])], f32(5)), "First value of ragged splits", InvalidArgumentError
)

_PARTITIONS = ("FIRST_DIM_SIZE", "VALUE_ROWIDS", "ROW_SPLITS")


def _ragged_dimensions(kinds: Sequence[str]) -> int:
    for kind in kinds:
        if kind not in _PARTITIONS:
            raise ShapeError(f"Unknown string for partition info type: {kind}")
    return sum(kind != "FIRST_DIM_SIZE" for kind in kinds)


def _as_message(sizes: Iterable[int | None]) -> str:
    """Sizes in the text format of a TensorShapeProto, as TensorFlow shows them here."""
    return "".join(f"dim {{\n  size: {-1 if size is None else size}\n}}\n" for size in sizes)


def _dense_shape(asked: list[int | None] | None, values: TensorShape, ragged: int) -> list[int | None] | None:
    """The sizes asked for, with those of a value where these are known; they must agree."""
    inner = None if values.ndims is None else values.tuple[1:]
    if asked is None:
        return None if inner is None else [None] * (1 + ragged) + list(inner)
    if inner is None:
        return asked
    if not values.ndims or len(asked) != 1 + ragged + len(inner):
        raise ShapeError(
            f"Value shape ({_as_message(values.tuple)}), ragged_rank({ragged}) and shape("
            f"{_as_message(asked)}) do not have a consistent number of dimensions"
        )
    for size, found in zip(asked[1 + ragged :], inner, strict=True):
        if None not in (size, found) and size != found:
            raise ShapeError(f"Value and shape dimension are inconsistent: {found} and {size}.")
    tail = [found if size is None else size for size, found in zip(asked[1 + ragged :], inner, strict=True)]
    return [*asked[: 1 + ragged], *tail]


ragged_tensor_to_tensor_op = Op(
    "RaggedTensorToTensor",
    "shape: Tshape, values: T, default_value: T, row_partition_tensors: num_row_partition_tensors * Tindex "
    "-> result: T",
    Tindex=attr("type", allowed=types("int64 int32")),
    Tshape=attr("type", allowed=types("int64 int32")),
    num_row_partition_tensors=attr("int", minimum=1),
    row_partition_types=attr("list(string)"),
    host="shape",
    on_host=True,
)


@ragged_tensor_to_tensor_op.shape
def _ragged_tensor_to_tensor_shape(
    shape, values, default_value, row_partition_tensors, *, row_partition_types
):
    ragged = _ragged_dimensions(row_partition_types)
    for partition, kind in zip(row_partition_tensors, row_partition_types, strict=False):
        if kind != "FIRST_DIM_SIZE" and partition.ndims not in (None, 1):
            raise ShapeError(f"Row partition must be a vector. {kind} has rank {partition.ndims}")
    asked = None if shape == -1 or shape is None else as_sizes(shape)
    return _dense_shape(asked, values, ragged)


def _as_splits(tensors: Sequence[Any], kinds: Sequence[str], count: int) -> list[np.ndarray]:
    """Partitions of any kind as splits, which must fit each other and the number of values."""
    arrays = [to_numpy(tensor).astype(np.int64) for tensor in tensors]
    for array, kind in zip(arrays, kinds, strict=True):
        if array.ndim != (kind != "FIRST_DIM_SIZE") or kind == "ROW_SPLITS" and not len(array):
            raise ShapeError(f"A partition of kind {kind} must not have shape {brackets(array.shape)}")
    rows = int(arrays[0]) if kinds[0] == "FIRST_DIM_SIZE" else len(arrays[0]) - 1
    if not 0 <= rows < 2**62:
        raise ShapeError(f"The first dimension must be in [0, 2**62), but is {rows}")
    splits = []
    for array, kind in zip(arrays, kinds, strict=True):
        if kind == "FIRST_DIM_SIZE":
            continue
        if kind == "VALUE_ROWIDS":
            array = np.searchsorted(array, np.arange(rows + 1))
        if (array < 0).any() or (array[1:] < array[:-1]).any():
            raise ShapeError("Ragged splits must be sorted, and not negative")
        splits.append(array)
        rows = int(array[-1])
    ends = [*(len(inner) - 1 for inner in splits[1:]), count]
    if any(len(one) and one[-1] != end for one, end in zip(splits, ends, strict=True)):
        raise errors.internal("Values and indices must be equal: a partition ends at another value")
    return splits


@ragged_tensor_to_tensor_op.kernel
@ragged_tensor_to_tensor_op.kernel("string")
def _ragged_tensor_to_tensor_kernel(
    shape, values, default_value, row_partition_tensors, *, row_partition_types
):
    values, default_value = to_numpy(values), to_numpy(default_value)
    asked = None if shape == -1 else as_sizes(shape)
    _dense_shape(asked, TensorShape(values.shape), _ragged_dimensions(row_partition_types))
    if not values.ndim:
        raise ShapeError("values must not be a scalar")
    splits = _as_splits(row_partition_tensors, row_partition_types, len(values))
    natural = [len(splits[0]) - 1, *(np.diff(one).max(initial=0) for one in splits), *values.shape[1:]]
    asked = asked or [None] * len(natural)
    sizes = [int(found if size is None else size) for size, found in zip(asked, natural, strict=True)]
    result = np.empty(sizes, values.dtype)
    try:
        result[...] = default_value
    except ValueError:
        raise ShapeError(
            f"default_value of shape {brackets(default_value.shape)} does not broadcast to {brackets(sizes)}"
        ) from None
    if len(splits) == 1 and all(size >= least for size, least in zip(sizes, natural[:2], strict=False)):
        (ends,) = splits
        to_line = np.arange(len(ends) - 1) * sizes[1] - ends[:-1]  # from a value's number to its place
        lines = result.reshape(-1, *sizes[2:])
        lines[np.arange(len(values)) + np.repeat(to_line, np.diff(ends))] = values
        return to_torch(result)
    places = _places(splits)
    kept = (places < sizes[: places.shape[1]]).all(axis=1)
    result[tuple(places[kept].T)] = values[kept]
    return to_torch(result)


@ragged_tensor_to_tensor_op.gradient
def _ragged_tensor_to_tensor_gradient(op, grad):
    """The numbers of the values, made dense in the same way, tell which value stands where; -1 is none."""
    _, values, default, *partitions = op.inputs
    ragged = _ragged_dimensions(op.attrs["row_partition_types"])
    count = shapes.shape(values, out_type=dtypes.int64)[0]
    outer = shapes.shape(grad)[: 1 + ragged]
    numbers = ragged_tensor_to_tensor_op(
        outer,
        creation.range(count),
        casting.cast(-1, dtypes.int64),
        partitions,
        row_partition_types=op.attrs["row_partition_types"],
    )
    of_values = segments.unsorted_segment_sum(grad, numbers, count)
    filled = indexing.boolean_mask(grad, numbers < 0)
    _, to_default = ways_back(shapes.shape(filled), shapes.shape(default))
    return None, of_values, to_default(filled), *[None] * len(partitions)


def _ragged_tensor_to_tensor_reference(shape, values, default_value, partitions, row_partition_types):
    """Row by row of the nested lists, as far as they fit."""
    if row_partition_types[0] == "FIRST_DIM_SIZE":
        count, ids = partitions
        partitions = [np.cumsum([0, *(np.sum(ids == row) for row in range(count))])]
    widest = [
        len(partitions[0]) - 1,
        *(max(np.diff(one), default=0) for one in partitions),
        *values.shape[1:],
    ]
    sizes = [found if size == -1 else size for size, found in zip(shape, widest)]
    result = np.full(sizes, default_value, values.dtype)

    def fill(part: np.ndarray, rows: list, depth: int) -> None:
        for place, row in enumerate(rows[: len(part)]):
            if depth:
                fill(part[place], row, depth - 1)
            else:
                part[place] = row

    fill(result, _nested(partitions, values), len(partitions))
    return result


ragged_tensor_to_tensor_op.samples(
    ([-1, -1], f32(5), f32(), [_SPLITS], {"row_partition_types": ["ROW_SPLITS"]}),
    ([4, 2], f32(5), f32(), [_SPLITS], {"row_partition_types": ["ROW_SPLITS"]}),
    (
        [-1, 4, 2],
        f32(5, 2),
        f32(2),
        [np.array(3), np.array([0, 0, 2, 2, 2])],
        {"row_partition_types": ["FIRST_DIM_SIZE", "VALUE_ROWIDS"]},
    ),
    (
        [-1, -1, -1],
        text(*"abcde"),
        text("-", shape=()),
        [np.array([0, 2, 3]), _SPLITS],
        {"row_partition_types": ["ROW_SPLITS"] * 2},
    ),
    ([-1, -1], f32(0), f32(), [np.array([0])], {"row_partition_types": ["ROW_SPLITS"]}),
    against=_ragged_tensor_to_tensor_reference,
)
ragged_tensor_to_tensor_op.refuses(
    ([-1, -1, 3], f32(5, 2), f32(), [_SPLITS], {"row_partition_types": ["ROW_SPLITS"]}),
    "Value and shape dimension are inconsistent",
)
ragged_tensor_to_tensor_op.refuses(
    ([-1, -1], f32(5), f32(), [_SPLITS], {"row_partition_types": ["ROWS"]}),
    "Unknown string for partition info type: ROWS",
)
