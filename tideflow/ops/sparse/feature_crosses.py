"""Crosses as `tf.contrib.layers` makes them: with a weaker hash, or with that of `tf.sparse.cross`."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tideflow.export import expose
from tideflow.graph import dtypes
from tideflow.graph.composite import SparseTensor
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op
from tideflow.graph.schema import attr
from tideflow.ops.sparse.crosses import (
    BOTH,
    DEFAULT_HASH_KEY,
    FEATURES,
    HASH,
    INDICES,
    NUMBERS,
    SIZES,
    TEXT,
    Features,
    crossed,
    crosses_reference,
    crosses_shape,
    in_buckets,
    joined,
    joined_or_hashed,
    words_of,
)

expose(DEFAULT_HASH_KEY, "contrib.layers.SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY")

_SCHEMA = (
    "indices: N * int64, values: sparse_types, shapes: N * int64, dense: dense_types "
    "-> output_indices: int64, output_values: out_type, output_shape: int64"
)
_ATTRS = {
    "N": attr("int", minimum=0),
    "hashed_output": attr("bool"),
    "num_buckets": attr("int", minimum=0),
    "sparse_types": attr("list(type)", allowed=FEATURES, minimum=0),
    "dense_types": attr("list(type)", allowed=FEATURES, minimum=0),
    "out_type": attr("type", allowed=FEATURES),
    "internal_type": attr("type", allowed=FEATURES),
}
_TRAITS = {"host": "shapes", "on_host": True, "differentiable": False}

sparse_feature_cross_op = Op("SparseFeatureCross", _SCHEMA, **_ATTRS, **_TRAITS)

sparse_feature_cross_op.shape(crosses_shape)


def _combined(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """A hash with the next word mixed in. The hash is shifted with its sign, as TensorFlow does it."""
    shifted = (first.view(np.int64) >> 4).view(np.uint64)
    return first ^ (second + np.uint64(0x9E3779B97F4A7800) + (first << np.uint64(10)) + shifted)


def _weakly_hashed(chosen: list[np.ndarray], count: int, num_buckets: int) -> np.ndarray:
    hashes = np.full(count, np.uint64(DEFAULT_HASH_KEY))
    for features in chosen:
        hashes = _combined(hashes, words_of(features))
    return in_buckets(hashes, num_buckets)


@sparse_feature_cross_op.kernel
def _sparse_feature_cross_kernel(indices, values, shapes, dense, *, hashed_output, num_buckets):
    cross = partial(_weakly_hashed, num_buckets=num_buckets) if hashed_output else joined
    return crossed(indices, values, shapes, dense, cross)


def _combined_pair(first: int, second: int) -> int:
    """The same of Python's integers."""
    signed = first - 2**64 if first >= 2**63 else first
    return (first ^ (second + 0x9E3779B97F4A7800 + (first << 10) + (signed >> 4)) % 2**64) % 2**64


def _reference(indices, values, shapes, dense, hashed_output, num_buckets):
    return crosses_reference(
        indices, values, shapes, dense, hashed_output, num_buckets, DEFAULT_HASH_KEY, _combined_pair
    )


def _keyless(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name != "hash_key"}


sparse_feature_cross_op.samples(
    (*BOTH, [np.array([[b"d"], [b"e"]], dtype=object)], _keyless(TEXT)),
    (*BOTH, [np.array([[7, 8], [9, 10]])], _keyless({**HASH, "num_buckets": 100})),
    ([INDICES], [NUMBERS], [SIZES], [], _keyless(HASH)),
    against=_reference,
)
sparse_feature_cross_op.refuses(
    (BOTH[0], BOTH[1], [SIZES, np.array([3, 2])], [], _keyless(TEXT)),
    "Expected batch size 2 got 3 at position 1",
    InvalidArgumentError,
)

sparse_feature_cross_v2_op = Op("SparseFeatureCrossV2", _SCHEMA, hash_key=attr("int"), **_ATTRS, **_TRAITS)

sparse_feature_cross_v2_op.shape(crosses_shape)


@sparse_feature_cross_v2_op.kernel
def _sparse_feature_cross_v2_kernel(indices, values, shapes, dense, *, hashed_output, num_buckets, hash_key):
    return crossed(indices, values, shapes, dense, joined_or_hashed(hashed_output, num_buckets, hash_key))


sparse_feature_cross_v2_op.samples(
    (*BOTH, [np.array([[b"d"], [b"e"]], dtype=object)], TEXT),
    (*BOTH, [np.array([[7, 8], [9, 10]])], {**HASH, "num_buckets": 100}),
    against=crosses_reference,
)
sparse_feature_cross_v2_op.refuses(
    (BOTH[0], BOTH[1], [SIZES, np.array([3, 2])], [], TEXT),
    "Expected batch size 2 got 3 at position 1",
    InvalidArgumentError,
)


def sparse_feature_cross(
    inputs: list[Any],
    hashed_output: bool = False,
    num_buckets: int = 0,
    name: str | None = None,
    hash_key: int | None = None,
) -> SparseTensor:
    """Every combination of the features that a row has in several columns; see `tf.sparse.cross`.

    With a key, hashes are those of `tf.sparse.cross_hashed`.
    """
    features = Features.of(inputs)
    keyed = {"hash_key": hash_key} if hash_key else {}
    op = sparse_feature_cross_v2_op if hash_key else sparse_feature_cross_op
    return SparseTensor(
        *op(
            features.indices,
            features.values,
            features.shapes,
            features.dense,
            hashed_output=hashed_output,
            num_buckets=num_buckets,
            out_type=dtypes.int64 if hashed_output else dtypes.string,
            internal_type=features.internal_type,
            name=name,
            **keyed,
        )
    )
