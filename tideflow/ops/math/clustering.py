"""Clusters of points: the nearest centers, and random points to begin with."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch

from tideflow.graph import errors
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op
from tideflow.ops.helpers.axes import of_rank, scalar
from tideflow.ops.helpers.samples import f32
from tideflow.runtime.dataset_random import random_words
from tideflow.runtime.values import to_numpy, to_torch

# ------------------------------------------------------------------------------------------ nearest centers

nearest_neighbors_op = Op(
    "NearestNeighbors",
    "points: float, centers: float, k: int64 -> nearest_center_indices: int64, "
    "nearest_center_distances: float",
    host="k",
    differentiable=False,
)


@nearest_neighbors_op.shape
def _nearest_neighbors_shape(points, centers, k):
    rows, count = of_rank(points, 2).as_list()[0], of_rank(centers, 2).as_list()[0]
    known = scalar(k, "Input k should be a scalar. Its shape is ") is not None and count is not None
    return [[rows, min(k, count) if known else None]] * 2


@nearest_neighbors_op.kernel
def _nearest_neighbors_kernel(points, centers, k):
    for name, matrix in (("points", points), ("centers", centers)):
        if matrix.ndim != 2:
            raise errors.invalid_argument(
                f"Input {name} should be a matrix. Its shape is {list(matrix.shape)}."
            )
    if points.shape[1] != centers.shape[1]:
        raise errors.invalid_argument(
            f"Expected point_dimensions == center_dimensions: {points.shape[1]} vs {centers.shape[1]}."
        )
    halves = 0.5 * centers.square().sum(1) - points @ centers.T  # half the distance, but for the point's norm
    order = torch.sort(halves, dim=1, stable=True)
    count = min(k, len(centers))
    norms = points.square().sum(1, keepdim=True)
    distances = (2 * order.values[:, :count] + norms).clamp(min=0)
    return order.indices[:, :count], distances


def _nearest_reference(points, centers, k):
    distances = np.square(points[:, None] - centers[None]).sum(2)
    order = np.argsort(distances, 1, kind="stable")[:, : int(k)]
    return order, np.take_along_axis(distances, order, 1)


nearest_neighbors_op.samples(
    (f32(5, 3), f32(4, 3), np.int64(2)),
    (f32(2, 3), f32(3, 3), np.int64(7)),
    (f32(2, 3), f32(0, 3), np.int64(1)),
    against=_nearest_reference,
)
nearest_neighbors_op.refuses(
    (f32(5, 3), f32(4, 2), np.int64(1)),
    "Expected point_dimensions == center_dimensions: 3 vs 2",
    InvalidArgumentError,
)

# ------------------------------------------------------------------------------------------------ k-means++


class _RandomNumbers:
    """Numbers of a seed, in the order in which TensorFlow's kernels draw them."""

    def __init__(self, seed: int):
        self._words: Iterator[int] = random_words(seed, 0)

    def fraction(self) -> np.float32:
        """A number in [0, 1): 23 bits of a word."""
        bits = np.uint32(next(self._words) & 0x7FFFFF | 0x3F800000)
        return bits.view(np.float32) - np.float32(1)

    def below(self, count: int) -> int:
        """An integer below a count, each with the same probability."""
        surplus = 0 if count & (count - 1) == 0 else (2**64 - 1) % count + 1
        while (drawn := next(self._words) | next(self._words) << 32) < surplus:
            pass
        return drawn % count


_MOST_RETRIES = 1000  # each is a pass over all points
_MOST_DRAWS = 1000  # for one point that is not chosen yet
kmeans_plus_plus_op = Op(
    "KmeansPlusPlusInitialization",
    "points: float, num_to_sample: int64, seed: int64, num_retries_per_sample: int64 -> samples: float",
    host="num_to_sample seed num_retries_per_sample",
    on_host=True,
    differentiable=False,
)


@kmeans_plus_plus_op.shape
def _kmeans_plus_plus_shape(points, num_to_sample, seed, num_retries_per_sample):
    for name, value in (
        ("num_to_sample", num_to_sample),
        ("seed", seed),
        ("num_retries_per_sample", num_retries_per_sample),
    ):
        scalar(value, f"Input {name} should be a scalar. Its shape is ")
    columns = of_rank(points, 2, "Input points should be a matrix.").as_list()[1]
    return [num_to_sample, columns]


def _spread_points(points: np.ndarray, count: int, seed: int, retries: int) -> list[int]:
    """Random points, each the likelier the farther it is from those before it; the best of some tries."""
    numbers, chosen = _RandomNumbers(seed), []
    norms = np.float32(0.5) * np.square(points).sum(1)
    nearest = np.full(len(points), np.inf, np.float32)
    for _ in range(count):
        sums = np.cumsum(nearest, dtype=np.float32)

        def draw(sums: np.ndarray = sums) -> int:
            if not chosen:
                return numbers.below(len(points))
            for _ in range(_MOST_DRAWS):
                place = int(np.searchsorted(sums, numbers.fraction() * sums[-1], side="right"))
                if min(place, len(points) - 1) not in chosen:
                    return min(place, len(points) - 1)
            return next(i for i in range(len(points)) if i not in chosen)  # all others are like chosen ones

        best, taken, after = None, 0, nearest
        for _ in range(1 + retries):
            drawn = draw()
            halves = np.maximum(norms + norms[drawn] - points @ points[drawn], 0)
            distances = np.minimum(nearest, halves)
            total = distances.sum()
            if best is None or total < best:
                best, taken, after = total, drawn, distances
        chosen.append(taken)
        nearest = after
    return chosen


@kmeans_plus_plus_op.kernel
def _kmeans_plus_plus_kernel(points, num_to_sample, seed, num_retries_per_sample):
    if num_to_sample <= 0:
        raise errors.invalid_argument("Expected num_to_sample > 0.")
    if len(points) == 0:
        raise errors.invalid_argument("Expected points.rows() > 0.")
    if num_to_sample > len(points):
        raise errors.invalid_argument(
            f"Expected num_to_sample <= points.rows(). {num_to_sample} vs {len(points)}."
        )
    if num_retries_per_sample < 0:
        raise errors.invalid_argument("Expected num_retries_per_sample >= 0.")
    if num_retries_per_sample > _MOST_RETRIES:
        raise errors.invalid_argument(
            f"Expected num_retries_per_sample <= {_MOST_RETRIES}, but it is {num_retries_per_sample}."
        )
    return points[_spread_points(to_numpy(points), num_to_sample, seed, num_retries_per_sample)]


_POINTS = (np.arange(20).reshape(10, 2) ** 2 % 17).astype(np.float32)
_FOUND = {(4, 3): [9, 4, 7, 3], (10, 7): [7, 3, 8, 4, 1, 9, 5, 2, 6, 0], (1, 0): [9]}  # by TensorFlow
kmeans_plus_plus_op.samples(
    (_POINTS, np.int64(4), np.int64(3), np.int64(1)),
    (_POINTS, np.int64(10), np.int64(7), np.int64(0)),
    (_POINTS, np.int64(1), np.int64(0), np.int64(2)),
    against=lambda points, count, seed, retries: points[_FOUND[int(count), int(seed)]],
)
kmeans_plus_plus_op.refuses(
    (f32(2, 3), np.int64(3), np.int64(0), np.int64(0)),
    "Expected num_to_sample <= points.rows(). 3 vs 2",
    InvalidArgumentError,
)

# ------------------------------------------------------------------------------------------------- KMC2

kmc2_chain_op = Op(
    "KMC2ChainInitialization",
    "distances: float, seed: int64 -> index: int64",
    host="seed",
    on_host=True,
    differentiable=False,
)


@kmc2_chain_op.shape
def _kmc2_chain_shape(distances, seed):
    of_rank(distances, 1, "Input distances should be a vector.")
    scalar(seed, "Input seed should be a scalar. Its shape is ")
    return []


def _end_of_chain(distances: np.ndarray, seed: int) -> int:
    """A chain over points: the next is taken if it is farther, and with some probability if it is nearer."""
    numbers, place = _RandomNumbers(seed), 0
    for i in range(1, len(distances)):
        if distances[place] * numbers.fraction() < distances[i]:
            place = i
    return place


@kmc2_chain_op.kernel
def _kmc2_chain_kernel(distances, seed):
    if distances.ndim != 1:
        raise errors.invalid_argument(
            f"Input distances should be a vector. Its shape is {list(distances.shape)}."
        )
    if len(distances) == 0:
        raise errors.invalid_argument("Expected distances_tensor.size() > 0.")
    return to_torch(np.array(_end_of_chain(to_numpy(distances), seed), np.int64))


_DISTANCES = (np.arange(30) * 7 % 11 + 1).astype(np.float32)
_ENDS = {0: 29, 1: 0, 3: 28, 5: 29}  # by TensorFlow
kmc2_chain_op.samples(
    (_DISTANCES, np.int64(0)),
    (_DISTANCES, np.int64(3)),
    (_DISTANCES, np.int64(5)),
    (np.float32([4, 0, 0]), np.int64(1)),
    against=lambda distances, seed: np.int64(_ENDS[int(seed)]),
)
kmc2_chain_op.refuses((f32(0), np.int64(0)), "Expected distances_tensor.size() > 0", InvalidArgumentError)
