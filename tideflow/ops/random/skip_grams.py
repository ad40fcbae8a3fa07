"""Pairs of words that stand near each other, at random distances."""

from __future__ import annotations

from typing import Any

import numpy as np

from tideflow.graph import errors
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op
from tideflow.ops.helpers.axes import of_rank, scalar
from tideflow.ops.helpers.samples import i32, int32s, text
from tideflow.ops.random.sources import SEEDS
from tideflow.runtime.candidates import draw_below
from tideflow.runtime.philox import Stream
from tideflow.runtime.values import to_numpy, to_torch

skip_gram_generate_candidates_op = Op(
    "SkipGramGenerateCandidates",
    "input_tensor: T, min_skips: int32, max_skips: int32, start: int32, limit: int32, "
    "emit_self_as_target: bool -> tokens: T, labels: T",
    host="min_skips max_skips start limit emit_self_as_target",
    stateful=True,
    on_host=True,
    differentiable=False,
    **SEEDS,
)


@skip_gram_generate_candidates_op.shape
def _skip_grams_shape(input_tensor, min_skips, max_skips, start, limit, emit_self_as_target):
    of_rank(input_tensor, 1)
    for value in (min_skips, max_skips, start, limit, emit_self_as_target):
        scalar(value)
    return [[None], [None]]


def _pairs(
    count: int, min_skips: int, max_skips: int, start: int, limit: int, with_self: bool, stream: Stream
) -> tuple[np.ndarray, np.ndarray]:
    """The places of the words and of their neighbours."""
    if min_skips < 0 or max_skips < 0:
        raise errors.invalid_argument("Both min_skips and max_skips must be >= 0.")
    if min_skips > max_skips:
        raise errors.invalid_argument("min_skips must be <= max_skips.")
    if start < 0:
        raise errors.invalid_argument(
            f"start must be >= 0, but is {start}: there are no words before the first"
        )
    end = count if limit < 0 else min(start + limit, count)
    if end <= start:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    words = stream.reserve_blocks(-(-(end - start + 1) // 4))
    skips = min_skips + draw_below(max_skips - min_skips + 1, end - start, words)
    reach = np.arange(-max_skips, max_skips + 1)
    places = np.arange(start, end)[:, None]
    others = places + reach
    near = (np.abs(reach) <= skips[:, None]) & (others >= start) & (others < end) & (with_self | (reach != 0))
    return np.broadcast_to(places, near.shape)[near], others[near]


@skip_gram_generate_candidates_op.kernel
def _skip_grams_kernel(
    input_tensor, min_skips, max_skips, start, limit, emit_self_as_target, *, seed, seed2, state
):
    stream = state.setdefault("stream", Stream(seed, seed2))
    values = to_numpy(input_tensor)
    chosen = _pairs(len(values), min_skips, max_skips, start, limit, emit_self_as_target, stream)
    return tuple(to_torch(values[places]) for places in chosen)


@skip_gram_generate_candidates_op.kernel("string")
def _skip_grams_string_kernel(
    input_tensor, min_skips, max_skips, start, limit, emit_self_as_target, *, seed, seed2, state
):
    stream = state.setdefault("stream", Stream(seed, seed2))
    chosen = _pairs(len(input_tensor), min_skips, max_skips, start, limit, emit_self_as_target, stream)
    return tuple(input_tensor[places] for places in chosen)


def _at_one_distance(words: Any, least: Any, most: Any, start: Any, limit: Any, with_self: Any) -> Any:
    """What comes out where every word reaches equally far."""
    end = len(words) if limit < 0 else min(start + limit, len(words))
    near = [
        (i, j)
        for i in range(start, end)
        for j in range(max(start, i - least), min(end, i + least + 1))
        if with_self or i != j
    ]
    return tuple(words[[pair[side] for pair in near]] for side in (0, 1))


_NO, _YES = np.array(False), np.array(True)
skip_gram_generate_candidates_op.samples(
    (i32(6), *int32s(2, 2, 0, -1), _NO),
    (text("a", "b", "c", "d"), *int32s(1, 1, 1, 2), _YES),
    against=_at_one_distance,
)
skip_gram_generate_candidates_op.refuses(
    (i32(6), *int32s(-1, 2, 0, -1), _NO), "Both min_skips and max_skips must be >= 0", InvalidArgumentError
)
skip_gram_generate_candidates_op.refuses(
    (i32(6), *int32s(3, 2, 0, -1), _NO), "min_skips must be <= max_skips", InvalidArgumentError
)
skip_gram_generate_candidates_op.refuses(
    (i32(6), *int32s(1, 2, -1, -1), _NO), "start must be >= 0", InvalidArgumentError
)
skip_gram_generate_candidates_op.refuses(
    (i32(2, 3), *int32s(1, 2, 0, -1), _NO), "Shape must be rank 1 but is rank 2"
)
