"""Crosses of features: every combination of the values that a row has in each of several columns."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.composite import SparseTensor
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.ops.helpers.axes import of_rank
from tideflow.ops.helpers.types import types
from tideflow.ops.math import casting
from tideflow.ops.sparse.index_rows import check_parts, parts_of
from tideflow.runtime.fingerprints import fingerprint64, fingerprints
from tideflow.runtime.values import to_numpy, to_torch

FEATURES = types("int64 string")

sparse_cross_op = Op(
    "SparseCross",
    "indices: N * int64, values: sparse_types, shapes: N * int64, dense_inputs: dense_types "
    "-> output_indices: int64, output_values: out_type, output_shape: int64",
    N=attr("int", minimum=0),
    hashed_output=attr("bool"),
    num_buckets=attr("int", minimum=0),
    hash_key=attr("int"),
    sparse_types=attr("list(type)", allowed=FEATURES, minimum=0),
    dense_types=attr("list(type)", allowed=FEATURES, minimum=0),
    out_type=attr("type", allowed=FEATURES),
    internal_type=attr("type", allowed=FEATURES),
    host="shapes",
    on_host=True,
    differentiable=False,
)


@sparse_cross_op.shape
def crosses_shape(indices, values, shapes, dense_inputs):
    """A sparse matrix."""
    for matrix in indices:
        of_rank(matrix, 2)
    return [[None, 2], [None], [2]]


class _Column(NamedTuple):
    """The features of all rows, one row after the other: how many each has, and where they start."""

    features: np.ndarray
    counts: np.ndarray

    @property
    def starts(self) -> np.ndarray:
        return np.cumsum(self.counts) - self.counts


def _sparse_column(indices: Any, values: Any, sizes: list[int], batch: int, position: int) -> _Column:
    check_parts(indices, values, sizes)
    if len(sizes) != 2:
        raise ShapeError(f"Expected D2 of index to be 2 got {len(sizes)} at position {position}")
    if sizes[0] != batch:
        raise ShapeError(f"Expected batch size {batch} got {sizes[0]} at position {position}")
    rows = to_numpy(indices)[:, 0]
    if ((rows < 0) | (rows >= batch)).any():
        raise ShapeError(f"The rows of the input at position {position} must be in [0, {batch})")
    by_row = np.argsort(rows, kind="stable")
    return _Column(to_numpy(values)[by_row], np.bincount(rows, minlength=batch))


def _dense_column(values: Any, batch: int, position: int) -> _Column:
    array = to_numpy(values)
    if array.ndim != 2:
        raise ShapeError(
            f"Dense inputs should be a matrix but the one at position {position} has rank {array.ndim}"
        )
    if len(array) != batch:
        raise ShapeError(f"Expected batch size {batch} got {len(array)} at dense tensor {position}")
    return _Column(array.reshape(-1), np.full(batch, array.shape[1]))


def _combinations(columns: list[_Column], rows: np.ndarray, numbers: np.ndarray) -> list[np.ndarray]:
    """For each column, the feature that each cross takes of it: the last column's change fastest."""
    chosen = []
    for column in reversed(columns):
        counts = column.counts[rows]
        chosen.append(column.features[column.starts[rows] + numbers % counts])
        numbers = numbers // counts
    return chosen[::-1]


_SEPARATOR = b"_X_"


def _as_text(features: np.ndarray) -> np.ndarray:
    if features.dtype == object:
        return features
    texts = np.empty(len(features), dtype=object)
    texts[:] = [b"%d" % number for number in features.tolist()]
    return texts


def joined(chosen: list[np.ndarray], count: int) -> np.ndarray:
    """Crosses as texts: those of their features, one after the other."""
    texts = [_as_text(features) for features in chosen]
    if not texts:
        return np.zeros(count, dtype=object)
    crosses = texts[0]
    for text in texts[1:]:
        crosses = crosses + _SEPARATOR + text
    return crosses


_MULTIPLIER = np.uint64(0xC6A4A7935BD1E995)


def _shift_mixed(words: np.ndarray) -> np.ndarray:
    return words ^ (words >> np.uint64(47))


def _concatenated(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """TensorFlow's fingerprint of two fingerprints, modulo 2**64."""
    mixed = (first ^ _MULTIPLIER ^ _shift_mixed(second * _MULTIPLIER) * _MULTIPLIER) * _MULTIPLIER
    return _shift_mixed(_shift_mixed(mixed) * _MULTIPLIER)


def words_of(features: np.ndarray) -> np.ndarray:
    """Each feature as 64 bits: the fingerprint of a text, a number as it is."""
    return fingerprints(features) if features.dtype == object else features.view(np.uint64)


def in_buckets(hashes: np.ndarray, num_buckets: int) -> np.ndarray:
    """Hashes below the number of buckets, or below the largest int64 where that is 0."""
    return (hashes % np.uint64(num_buckets or np.iinfo(np.int64).max)).astype(np.int64)


def hashed(chosen: list[np.ndarray], count: int, num_buckets: int, hash_key: int) -> np.ndarray:
    """Crosses as hashes: fingerprints of the fingerprints of their features."""
    hashes = np.full(count, np.int64(hash_key)).view(np.uint64)
    for features in chosen:
        hashes = _concatenated(hashes, words_of(features))
    return in_buckets(hashes, num_buckets)


def crossed(
    indices: Any, values: Any, shapes: list[list[int]], dense_inputs: Any, cross: Callable
) -> tuple[Any, Any, Any]:
    """The parts of the sparse tensor of all crosses; `cross` makes them of each column's chosen features."""
    if shapes and not shapes[0]:
        raise ShapeError("Expected D2 of index to be 2 got 0 at position 0")
    batch = shapes[0][0] if shapes else dense_inputs[0].shape[0] if dense_inputs else 0
    sparse = zip(indices, values, shapes, strict=True)
    columns = [_sparse_column(*parts, batch, i) for i, parts in enumerate(sparse)]
    columns += [_dense_column(part, batch, i) for i, part in enumerate(dense_inputs)]
    counts = np.prod([column.counts for column in columns], axis=0) if columns else np.zeros(0, np.int64)
    rows = np.repeat(np.arange(batch), counts)
    numbers = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    crosses = cross(_combinations(columns, rows, numbers), len(rows))
    return (
        to_torch(np.stack([rows, numbers], axis=1)),
        to_torch(crosses),
        to_torch(np.array([batch, counts.max(initial=0)])),
    )


def joined_or_hashed(hashed_output: bool, num_buckets: int, hash_key: int) -> Callable:
    """How features become one: as a text, or as the fingerprint of their fingerprints."""
    return partial(hashed, num_buckets=num_buckets, hash_key=hash_key) if hashed_output else joined


@sparse_cross_op.kernel
def _sparse_cross_kernel(indices, values, shapes, dense_inputs, *, hashed_output, num_buckets, hash_key):
    cross = joined_or_hashed(hashed_output, num_buckets, hash_key)
    return crossed(indices, values, shapes, dense_inputs, cross)


def _hash_pair(first: int, second: int) -> int:
    """The fingerprint of two fingerprints, one number after the other."""
    bits, multiplier = 2**64, 0xC6A4A7935BD1E995
    mixed = second * multiplier % bits
    mixed = first ^ multiplier ^ (mixed ^ mixed >> 47) * multiplier % bits
    mixed = mixed * multiplier % bits
    mixed = (mixed ^ mixed >> 47) * multiplier % bits
    return mixed ^ mixed >> 47


def crosses_reference(
    indices, values, shapes, dense_inputs, hashed_output, num_buckets, hash_key, pair=_hash_pair
):
    """Row by row, every combination."""

    def word(feature: Any) -> bytes:
        return feature if isinstance(feature, bytes) else str(feature).encode()

    def bits(feature: Any) -> int:
        return fingerprint64(feature) if isinstance(feature, bytes) else int(feature) % 2**64

    batch = shapes[0][0] if shapes else len(dense_inputs[0]) if dense_inputs else 0
    crosses = {}
    for row in range(batch):
        columns = [[value for at, value in zip(*column) if at[0] == row] for column in zip(indices, values)]
        columns += [dense[row].tolist() for dense in dense_inputs]
        for number, features in enumerate(product(*columns)):
            hashed = reduce(pair, map(bits, features), hash_key)
            bucket = hashed % (num_buckets or 2**63 - 1)
            crosses[row, number] = bucket if hashed_output else b"_X_".join(map(word, features))
    widest = max((number + 1 for _, number in crosses), default=0)
    return *parts_of(crosses, 2, np.int64 if hashed_output else object), np.array([batch, widest])


INDICES, SIZES = np.array([[0, 0], [1, 0], [1, 1]]), np.array([2, 2])
NUMBERS = np.array([1, -2, 3])
TEXT = {
    "hashed_output": False,
    "num_buckets": 0,
    "hash_key": 1,
    "out_type": dtypes.string,
    "internal_type": dtypes.string,
}
HASH = {**TEXT, "hashed_output": True, "out_type": dtypes.int64, "internal_type": dtypes.int64}
WORDS = np.array([b"a", b"b", b"c"], dtype=object)
BOTH = [INDICES, INDICES], [WORDS, NUMBERS], [SIZES, SIZES]
sparse_cross_op.samples(
    (*BOTH, [np.array([[b"d"], [b"e"]], dtype=object)], TEXT),
    (*BOTH, [np.array([[7, 8], [9, 10]])], {**HASH, "num_buckets": 100}),
    ([INDICES], [NUMBERS], [SIZES], [], HASH),
    ([], [], [], [], TEXT),
    against=crosses_reference,
)
sparse_cross_op.refuses(
    (BOTH[0], BOTH[1], [SIZES, np.array([3, 2])], [], TEXT),
    "Expected batch size 2 got 3 at position 1",
    InvalidArgumentError,
)

DEFAULT_HASH_KEY = 0xDECAFCAFFE


def as_feature(value: Tensor) -> Tensor:
    """A feature as it is hashed and joined: a text, or an int64."""
    return value if value.dtype is dtypes.string else casting.cast(value, dtypes.int64)


class Features(NamedTuple):
    """What is crossed, as ops take it."""

    indices: list[Tensor]
    values: list[Tensor]
    shapes: list[Tensor]
    dense: list[Tensor]
    internal_type: dtypes.DType

    @classmethod
    def of(cls, inputs: list[Any]) -> Features:
        """The parts of a list of SparseTensors and tensors."""
        if not isinstance(inputs, list):
            raise TypeError("Inputs must be a list")
        if not all(isinstance(value, (SparseTensor, Tensor)) for value in inputs):
            raise TypeError("All inputs must be SparseTensors")
        sparse = [value for value in inputs if isinstance(value, SparseTensor)]
        dense = [as_feature(value) for value in inputs if not isinstance(value, SparseTensor)]
        values = [as_feature(value.values) for value in sparse]
        has_numbers = any(value.dtype is dtypes.int64 for value in (*values, *dense))
        return cls(
            [value.indices for value in sparse],
            values,
            [value.dense_shape for value in sparse],
            dense,
            dtypes.int64 if has_numbers else dtypes.string,
        )


def _cross(
    inputs: list[Any], hashed: bool, num_buckets: int, hash_key: int | None, name: str | None
) -> SparseTensor:
    features = Features.of(inputs)
    return SparseTensor(
        *sparse_cross_op(
            features.indices,
            features.values,
            features.shapes,
            features.dense,
            hashed_output=hashed,
            num_buckets=num_buckets,
            hash_key=hash_key or DEFAULT_HASH_KEY,
            out_type=dtypes.int64 if hashed else dtypes.string,
            internal_type=features.internal_type,
            name=name,
        )
    )


@export("sparse.cross")
def sparse_cross(inputs: list[Any], name: str | None = None) -> SparseTensor:
    """Makes every combination of the features that a row has in several columns, as text joined by "_X_".

    Args:
      inputs: A list of SparseTensors or tensors [batch, features] of strings or integers.
      name: A name for the operation.

    Returns:
      A SparseTensor [batch, combinations] of strings.

    Raises:
      TypeError: Where `inputs` is not a list of that kind.
      InvalidArgumentError: In a step in which the inputs differ in their number of rows.
    """
    return _cross(inputs, False, 0, None, name)


@export("sparse.cross_hashed")
def sparse_cross_hashed(
    inputs: list[Any], num_buckets: int = 0, hash_key: int | None = None, name: str | None = None
) -> SparseTensor:
    """Makes every combination of the features that a row has in several columns, as hashes.

    Args:
      inputs: A list of SparseTensors or tensors [batch, features] of strings or integers.
      num_buckets: If not 0, the number that hashes are below.
      hash_key: The key that the hash begins with.
      name: A name for the operation.

    Returns:
      A SparseTensor [batch, combinations] of int64.

    Raises:
      TypeError: Where `inputs` is not a list of that kind.
      InvalidArgumentError: In a step in which the inputs differ in their number of rows.
    """
    return _cross(inputs, True, num_buckets, hash_key, name)
