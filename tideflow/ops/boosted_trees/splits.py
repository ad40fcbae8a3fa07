"""The best split of each leaf, by the sums of gradients and hessians in the buckets of features.

A leaf with the sums g and h has the logits w that minimize (h + l2) w**2 / 2 + g w + l1 |w|; its gain is
twice what that saves. A split gains what its leaves gain beyond their parent. Of splits with equal gains, the
first one counts. Gains are computed as TensorFlow computes them, in single precision, in its order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tideflow.graph import errors
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op
from tideflow.graph.schema import attr
from tideflow.graph.shapes import TensorShape
from tideflow.ops.helpers.axes import merged, of_rank
from tideflow.ops.helpers.samples import f32, int32s
from tideflow.runtime.tree_ensembles import (
    EQUALITY_DEFAULT_RIGHT,
    INEQUALITY_DEFAULT_LEFT,
    INEQUALITY_DEFAULT_RIGHT,
    SPLIT_TYPES,
)
from tideflow.runtime.values import to_numpy, to_torch

_TOLERANCE = np.float32(1e-15)  # gains that differ by less are equal
_LEAST = np.finfo(np.float32).min


def weights_and_gains(g: np.ndarray, h: np.ndarray, l1: np.float32, l2: np.float32) -> tuple[Any, Any]:
    """The logits and the gains of leaves; the last axis is that of the logits.

    Hessians are numbers, diagonals of matrices, or whole matrices whose elements are on the last axis.
    """
    size = g.shape[-1]
    if size == 1:
        denominator = h + l2
        shrunk = np.where(g > l1, g - l1, np.where(g < -l1, g + l1, np.float32(0))) if l1 > 0 else g
        with np.errstate(all="ignore"):
            weights = np.where(denominator <= _TOLERANCE, np.float32(0), -shrunk / denominator)
            return weights, (-shrunk * weights)[..., 0]
    if h.shape[-1] == size:
        diagonal = h + l2
        with np.errstate(all="ignore"):
            weights = np.where(diagonal == 0, np.float32(0), -(np.float32(1) / diagonal) * g)
    else:
        matrices = h.reshape(*h.shape[:-1], size, size) + l2 * np.eye(size, dtype=np.float32)
        weights = -_solved(matrices, g)
    return weights, (-g * weights).sum(-1, dtype=np.float32)


def _solved(matrices: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solutions of equations. Where a matrix is singular, unknowns beyond its rank are zero.

    Columns are made orthogonal to each other one by one, always the longest of those that are left.
    """
    size = right.shape[-1]
    columns = np.swapaxes(matrices, -1, -2).astype(np.float64).copy()  # [..., column, row]
    rest, order, basis = right.astype(np.float64), [], []
    taken = np.zeros(columns.shape[:-1], bool)
    first_length, is_regular = None, True
    for _ in range(size):
        lengths = np.where(taken, -1, np.square(columns).sum(-1))
        chosen = lengths.argmax(-1)
        length = np.sqrt(np.take_along_axis(lengths, chosen[..., None], -1)[..., 0].clip(min=0))
        first_length = length if first_length is None else first_length
        is_regular = is_regular & (length > first_length * np.finfo(np.float32).eps * size)
        column = np.take_along_axis(columns, chosen[..., None, None], -2)[..., 0, :]
        with np.errstate(all="ignore"):
            unit = np.where(is_regular[..., None], column / length[..., None], 0)
        np.put_along_axis(taken, chosen[..., None], True, -1)
        columns -= np.where(
            taken[..., None], 0, (columns * unit[..., None, :]).sum(-1, keepdims=True) * unit[..., None, :]
        )
        order.append(chosen)
        basis.append(unit)
    original = np.swapaxes(matrices, -1, -2).astype(np.float64)
    solution = np.zeros_like(rest)
    for chosen, unit in zip(reversed(order), reversed(basis), strict=True):
        column = np.take_along_axis(original, chosen[..., None, None], -2)[..., 0, :]
        with np.errstate(all="ignore"):
            found = np.where(unit.any(-1), (rest * unit).sum(-1) / (column * unit).sum(-1), 0)
        np.put_along_axis(solution, chosen[..., None], found[..., None], -1)
        rest = rest - found[..., None] * column
    return solution.astype(np.float32)


def _best(gains: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each row the place of the first of its greatest gains, and that gain."""
    best = np.full(len(gains), _LEAST, np.float32)
    places = np.zeros(len(gains), np.int64)
    with np.errstate(all="ignore"):
        for place, gain in enumerate(gains.T):
            better = gain - best >= _TOLERANCE
            best[better], places[better] = gain[better], place
    return places, best


def _at(values: np.ndarray, places: np.ndarray) -> np.ndarray:
    return values[np.arange(len(places)), places]


def _numbers(*scalars: Any) -> list[np.float32]:
    return [np.float32(to_numpy(scalar).item()) for scalar in scalars]


def _nodes_between(node_id_range: Any, count: int) -> np.ndarray:
    limits = to_numpy(node_id_range)
    if limits.shape != (2,):
        raise errors.invalid_argument(
            f"node_id_range must be a rank 1 tensor with shape=[2], but has shape {list(limits.shape)}"
        )
    first, last = limits.tolist()
    if first < last and not 0 <= first < last <= count:
        raise errors.invalid_argument(
            f"node_id_range must be in [0, {count}], as the statistics, but it is [{first}, {last}]"
        )
    return np.arange(first, max(first, last), dtype=np.int32)


def _check_scalars(*scalars):
    for scalar in scalars:
        of_rank(scalar, 0)


_RANGE_SHAPE = TensorShape([2])  # of nodes: the first, and the one after the last

best_gains_op = Op(
    "BoostedTreesCalculateBestGainsPerFeature",
    "node_id_range: int32, stats_summary_list: num_features * float, l1: float, l2: float, "
    "tree_complexity: float, min_node_weight: float -> node_ids_list: num_features * int32, gains_list: "
    "num_features * float, thresholds_list: num_features * int32, left_node_contribs_list: num_features * "
    "float, right_node_contribs_list: num_features * float",
    max_splits=attr("int", minimum=1),
    num_features=attr("int", minimum=1),
    on_host=True,
    differentiable=None,
)


@best_gains_op.shape
def _best_gains_shape(
    node_id_range, stats_summary_list, l1, l2, tree_complexity, min_node_weight, *, max_splits
):
    merged(node_id_range, _RANGE_SHAPE)
    shape = TensorShape([max_splits, None, 2])
    for summary in stats_summary_list:
        merged(of_rank(summary, 3), shape)
    _check_scalars(l1, l2, tree_complexity, min_node_weight)
    count = len(stats_summary_list)
    return [[None]] * (3 * count) + [[None, 1]] * (2 * count)


@best_gains_op.kernel
def _best_gains_kernel(node_id_range, stats_summary_list, l1, l2, tree_complexity, min_node_weight):
    l1, l2, complexity, least = _numbers(l1, l2, tree_complexity, min_node_weight)
    shapes = {tuple(summary.shape) for summary in stats_summary_list}
    if len(shapes) > 1 or stats_summary_list[0].shape[2] != 2:
        raise errors.invalid_argument(
            f"every stats_summary must have one shape, which ends with 2, but they have {sorted(shapes)}"
        )
    nodes = _nodes_between(node_id_range, stats_summary_list[0].shape[0])
    results = [
        _best_of_feature(to_numpy(s)[nodes], nodes, l1, l2, complexity, least) for s in stats_summary_list
    ]
    return [to_torch(value) for values in zip(*results, strict=True) for value in values]


def _best_of_feature(statistics, nodes, l1, l2, complexity, least):
    sums = np.cumsum(statistics, 1, dtype=np.float32)
    total = sums[:, -1] if sums.shape[1] else np.zeros((len(sums), 2), np.float32)
    is_heavy = ~(total[:, 1] < least)
    sums, total, nodes = sums[is_heavy], total[is_heavy], nodes[is_heavy]
    left, left_gains = weights_and_gains(sums[:, :, :1], sums[:, :, 1:], l1, l2)
    others = total[:, None] - sums
    right, right_gains = weights_and_gains(others[:, :, :1], others[:, :, 1:], l1, l2)
    _, parent_gains = weights_and_gains(total[:, :1], total[:, 1:], l1, l2)
    places, best = _best(left_gains + right_gains)
    if not sums.shape[1]:
        left = right = np.zeros((len(nodes), 1, 1), np.float32)
    gains = best - parent_gains - complexity
    return nodes, gains, places.astype(np.int32), _at(left, places), _at(right, places)


def _best_gains_reference(node_id_range, summaries, l1, l2, tree_complexity, min_node_weight):
    """Split by split, in double precision."""

    def leaf(g, h):
        g = max(g - l1, 0) if g > 0 else min(g + l1, 0)
        return (-g / (h + l2), g * g / (h + l2)) if h + l2 > 1e-15 else (0, 0)

    outputs = [[], [], [], [], []]
    for summary in summaries:
        rows = []
        for node in range(*node_id_range):
            statistics = summary[node].astype(np.float64)
            total = statistics.sum(0)
            if total[1] < min_node_weight:
                continue
            splits = []
            for bucket in range(len(statistics)):
                sums = statistics[: bucket + 1].sum(0)
                left, right = leaf(*sums), leaf(*(total - sums))
                gain = np.float32(left[1] + right[1] - leaf(*total)[1] - tree_complexity)
                splits.append((gain, bucket, [left[0]], [right[0]]))
            rows.append((node, *max(splits, key=lambda split: split[0])))
        for output, column in zip(outputs, zip(*rows, strict=True), strict=True):
            output.append(np.array(column))
    ids, gains, thresholds, left, right = outputs
    return [
        *(np.int32(value) for value in ids),
        *(np.float32(value) for value in gains),
        *(np.int32(value) for value in thresholds),
        *(np.float32(value) for value in (*left, *right)),
    ]


_RANGE = int32s([1, 3])[0]
_NONE, _SOME = np.float32(0), np.float32(0.25)
_STATISTICS = np.float32(
    [
        [[9, 9], [9, 9], [9, 9]],
        [[1, 2], [-3, 1], [0.5, 3]],
        [[2, 1], [2, 3], [-4, 0.5]],
        [[9, 9], [9, 9], [9, 9]],
    ]
)
best_gains_op.samples(
    (_RANGE, [_STATISTICS], _NONE, _NONE, _NONE, _NONE, {"max_splits": 4}),
    (
        _RANGE,
        [_STATISTICS, _STATISTICS[:, ::-1].copy()],
        _SOME,
        _SOME,
        _SOME,
        np.float32(1),
        {"max_splits": 4},
    ),
    against=_best_gains_reference,
)
best_gains_op.refuses(
    (*int32s([0, 5]), [_STATISTICS], _NONE, _NONE, _NONE, _NONE, {"max_splits": 4}),
    "node_id_range must be in [0, 4]",
    InvalidArgumentError,
)

_SPLIT = (
    "node_ids: int32, gains: float, feature_dimensions: int32, thresholds: int32, left_node_contribs: float, "
    "right_node_contribs: float, split_with_default_directions: string"
)


def _split_shapes(logits_dimension):
    return [[None]] * 4 + [[None, logits_dimension]] * 2 + [[None]]


best_feature_split_op = Op(
    "BoostedTreesCalculateBestFeatureSplit",
    "node_id_range: int32, stats_summary: float, l1: float, l2: float, tree_complexity: float, "
    f"min_node_weight: float -> {_SPLIT}",
    logits_dimension=attr("int", minimum=1),
    split_type=attr("string", "inequality", allowed=("inequality", "equality")),
    on_host=True,
    differentiable=None,
)


@best_feature_split_op.shape
def _best_feature_split_shape(
    node_id_range, stats_summary, l1, l2, tree_complexity, min_node_weight, *, logits_dimension
):
    merged(node_id_range, _RANGE_SHAPE)
    of_rank(stats_summary, 4)
    _check_scalars(l1, l2, tree_complexity, min_node_weight)
    return _split_shapes(logits_dimension)


@best_feature_split_op.kernel
def _best_feature_split_kernel(
    node_id_range,
    stats_summary,
    l1,
    l2,
    tree_complexity,
    min_node_weight,
    *,
    logits_dimension,
    split_type,
):
    l1, l2, complexity, least = _numbers(l1, l2, tree_complexity, min_node_weight)
    statistics = to_numpy(stats_summary)
    hessians = statistics.shape[3] - logits_dimension
    if hessians not in (logits_dimension, logits_dimension**2):
        raise errors.invalid_argument(
            f"stats_summary must have {logits_dimension} gradients and {logits_dimension} or "
            f"{logits_dimension**2} hessians for each bucket, but has {statistics.shape[3]} numbers"
        )
    if statistics.shape[1] < 1 or statistics.shape[2] < 2:
        raise errors.invalid_argument(
            f"stats_summary must have a dimension and two buckets, but has shape {list(statistics.shape)}"
        )
    nodes = _nodes_between(node_id_range, len(statistics))
    statistics = statistics[nodes]
    total = np.cumsum(statistics[:, 0], 1, dtype=np.float32)[:, -1]
    is_heavy = ~(np.sqrt(np.square(total[:, logits_dimension:]).sum(1, dtype=np.float32)) < least)
    nodes, statistics, total = nodes[is_heavy], statistics[is_heavy], total[is_heavy]
    left, right, kinds = _candidates(statistics, total, split_type)

    def leaves(sums):
        return weights_and_gains(sums[..., :logits_dimension], sums[..., logits_dimension:], l1, l2)

    (left_logits, left_gains), (right_logits, right_gains) = leaves(left), leaves(right)
    count = left_gains[0].size if len(nodes) else 1
    places, best = _best((left_gains + right_gains).reshape(len(nodes), count))
    gains = best - leaves(total)[1] - complexity
    buckets = statistics.shape[2] - 1
    in_dimension, kind = np.divmod(places, len(kinds))
    dimension, bucket = np.divmod(in_dimension, buckets)
    found = best != _LEAST
    flat = len(nodes), count, logits_dimension
    outputs = (
        nodes,
        gains,
        dimension.astype(np.int32),
        bucket.astype(np.int32),
        _at(left_logits.reshape(flat), places),
        _at(right_logits.reshape(flat), places),
        np.array(kinds, object)[kind],
    )
    return [to_torch(output[found]) for output in outputs]


def _candidates(statistics, total, split_type):
    """The sums of both leaves of all splits: by node, dimension, bucket, and the side of missing values."""
    known, missing = statistics[:, :, :-1], statistics[:, :, -1:]
    if split_type == "equality":
        return known[:, :, :, None], (total[:, None, None] - known)[:, :, :, None], [EQUALITY_DEFAULT_RIGHT]
    sums = np.cumsum(statistics, 2, dtype=np.float32)
    left = np.stack([sums[:, :, :-1] + missing, sums[:, :, :-1]], 3)
    return left, sums[:, :, -1:, None] - left, [INEQUALITY_DEFAULT_LEFT, INEQUALITY_DEFAULT_RIGHT]


def _leaf_reference(statistics, size, l2):
    """The logits and the gain of a leaf with these examples, in double precision."""
    g, h = np.split(statistics.sum(0), [size])
    matrix = np.diag(h) if len(h) == size else h.reshape(size, size)
    logits = -np.linalg.solve(matrix + l2 * np.eye(size), g)
    return logits.astype(np.float32), -g @ logits


def _splits_reference(statistics, split_type, size, l2):
    """Every split of a node: its gain, and what the op says of it."""
    for dimension, of_dimension in enumerate(statistics):
        for bucket in range(len(of_dimension) - 1):
            for kind in SPLIT_TYPES:
                if (kind == EQUALITY_DEFAULT_RIGHT) != (split_type == "equality"):
                    continue
                goes_left = np.arange(len(of_dimension)) <= bucket
                goes_left[-1] = kind == INEQUALITY_DEFAULT_LEFT
                if split_type == "equality":
                    goes_left = np.arange(len(of_dimension)) == bucket
                left, left_gain = _leaf_reference(of_dimension[goes_left], size, l2)
                right, right_gain = _leaf_reference(of_dimension[~goes_left], size, l2)
                gain = np.float32(left_gain + right_gain - _leaf_reference(of_dimension, size, l2)[1])
                yield gain, dimension, bucket, left, right, kind


def _best_split_law(
    node_id_range,
    stats_summary,
    l1,
    l2,
    tree_complexity,
    min_node_weight,
    *found,
    logits_dimension,
    split_type,
):
    """The splits that were found are what they are said to be, and none gains more."""
    claims = []
    for node, gain, dimension, threshold, left, right, kind in zip(*found, strict=True):
        statistics = stats_summary[node].astype(np.float64)
        splits = list(_splits_reference(statistics, split_type, logits_dimension, l2))
        (same,) = (split for split in splits if split[1:3] == (dimension, threshold) and split[5] == kind)
        claims += [(gain, same[0] - tree_complexity), (left, same[3]), (right, same[4])]
        claims += [same[0] > max(split[0] for split in splits) - 1e-4]
    return claims


_BY_BUCKET = np.float32(np.arange(24).reshape(2, 1, 4, 3) * 7 % 11 + 1)
_BY_DIMENSION = np.concatenate([_BY_BUCKET, _BY_BUCKET[:, :, ::-1]], 1)  # the same examples in both
_ROWS = int32s([0, 2])[0]
_DIAGONAL = np.concatenate([_BY_DIMENSION, _BY_DIMENSION[..., :1] + 1], -1)
_WHOLE = np.concatenate([_BY_DIMENSION[..., :2], *(np.full((2, 2, 4, 1), x, "f") for x in (3, 1, 1, 2))], -1)
best_feature_split_op.samples(
    (_ROWS, _BY_DIMENSION[..., :2], _NONE, _SOME, _NONE, _NONE, {"logits_dimension": 1}),
    (
        _ROWS,
        _BY_DIMENSION[..., 1:],
        _NONE,
        _SOME,
        _SOME,
        _NONE,
        {"logits_dimension": 1, "split_type": "equality"},
    ),
    (_ROWS, _DIAGONAL, _NONE, _SOME, _NONE, _NONE, {"logits_dimension": 2}),
    (_ROWS, _WHOLE, _NONE, _SOME, _NONE, _NONE, {"logits_dimension": 2}),
    law=_best_split_law,
)
best_feature_split_op.refuses(
    (_ROWS, _BY_DIMENSION, _NONE, _NONE, _NONE, _NONE, {"logits_dimension": 1}),
    "stats_summary must have 1 gradients and 1 or 1 hessians",
    InvalidArgumentError,
)

sparse_best_feature_split_op = Op(
    "BoostedTreesSparseCalculateBestFeatureSplit",
    "node_id_range: int32, stats_summary_indices: int32, stats_summary_values: float, "
    "stats_summary_shape: int32, l1: float, l2: float, tree_complexity: float, min_node_weight: float -> "
    f"{_SPLIT}",
    logits_dimension=attr("int", minimum=1),
    split_type=attr("string", "inequality", allowed=("inequality",)),
    on_host=True,
    differentiable=None,
)


@sparse_best_feature_split_op.shape
def _sparse_best_feature_split_shape(
    node_id_range,
    stats_summary_indices,
    stats_summary_values,
    stats_summary_shape,
    l1,
    l2,
    tree_complexity,
    min_node_weight,
):
    merged(node_id_range, _RANGE_SHAPE)
    of_rank(stats_summary_indices, 2)
    of_rank(stats_summary_values, 1)
    of_rank(stats_summary_shape, 1)
    _check_scalars(l1, l2, tree_complexity, min_node_weight)
    return _split_shapes(1)


@sparse_best_feature_split_op.kernel
def _sparse_best_feature_split_kernel(
    node_id_range,
    stats_summary_indices,
    stats_summary_values,
    stats_summary_shape,
    l1,
    l2,
    tree_complexity,
    min_node_weight,
):
    l1, l2, complexity, least = _numbers(l1, l2, tree_complexity, min_node_weight)
    indices, values = to_numpy(stats_summary_indices), to_numpy(stats_summary_values)
    sizes = to_numpy(stats_summary_shape).tolist()
    if len(sizes) != 4 or indices.shape != (len(values), 4):
        raise errors.invalid_argument(
            "stats_summary_shape must be four sizes, and stats_summary_indices a row of four for each of "
            f"{len(values)} values, but they are {sizes} and of shape {list(indices.shape)}"
        )
    _nodes_between(node_id_range, sizes[0])
    if indices.size and not 0 <= indices[:, 3].min() <= indices[:, 3].max() < max(2, sizes[3]):
        raise errors.invalid_argument(
            "Stat dim, the sum of logits dim and hessian dim in stats_summary_indices, cannot be greater "
            f"than stats dims, the last value in stats_summary_shape, which was {sizes[3]}."
        )
    borders = np.flatnonzero(np.diff(indices[:, 0])) + 1
    rows = []
    for of_node in np.split(np.arange(len(values)), borders):
        if len(of_node):
            found = _best_sparse_split(indices[of_node], values[of_node], sizes[2] - 1, l1, l2, least)
            rows += [(indices[of_node[0], 0], *found)] if found else []
    nodes, gains, dimensions, thresholds, left, right, kinds = zip(*rows, strict=True) if rows else ((),) * 7
    outputs = [
        np.array(nodes, np.int32),
        np.array(gains, np.float32) - complexity,
        np.array(dimensions, np.int32),
        np.array(thresholds, np.int32),
        np.array(left, np.float32).reshape(-1, 1),
        np.array(right, np.float32).reshape(-1, 1),
        np.array(kinds, object),
    ]
    return [to_torch(output) for output in outputs]


def _best_sparse_split(indices, values, missing_bucket, l1, l2, least):
    """The best split of a node, or None: gain, dimension, bucket, logits of the leaves, kind."""
    cells, cell_of = np.unique(indices[:, 1:3], axis=0, return_inverse=True)
    statistics = np.zeros((len(cells), 2), np.float32)
    counted = indices[:, 3] < 2
    statistics[cell_of.reshape(-1)[counted], indices[counted, 3]] = values[counted]
    groups = np.split(np.arange(len(cells)), np.flatnonzero(np.diff(cells[:, 0])) + 1)
    total = np.cumsum(statistics[groups[0]], 0, dtype=np.float32)[-1]
    if total[1] < least:
        return None
    left, right, owners = [], [], []
    for group in groups:
        known = group[cells[group, 1] < missing_bucket]
        missing = statistics[group[cells[group, 1] == missing_bucket]].sum(0, dtype=np.float32)
        sums = np.cumsum(statistics[known], 0, dtype=np.float32)
        left += [np.stack([sums, sums + missing], 1)]
        right += [np.stack([total - sums, total - missing - sums], 1)]
        owners += [cells[known]]
    left, right, owners = (np.concatenate(parts) for parts in (left, right, owners))
    left, right = left.reshape(-1, 2), right.reshape(-1, 2)
    left_logits, left_gains = weights_and_gains(left[:, :1], left[:, 1:], l1, l2)
    right_logits, right_gains = weights_and_gains(right[:, :1], right[:, 1:], l1, l2)
    (place,), (best,) = _best((left_gains + right_gains)[None])
    if best == _LEAST:
        return None
    parent = weights_and_gains(total[None, :1], total[None, 1:], l1, l2)[1][0]
    kind = (INEQUALITY_DEFAULT_RIGHT, INEQUALITY_DEFAULT_LEFT)[place % 2]
    return best - parent, *owners[place // 2], left_logits[place, 0], right_logits[place, 0], kind


def _sparse_best_law(
    node_id_range, indices, values, shape, l1, l2, tree_complexity, min_node_weight, *found, logits_dimension
):
    """What holds for the dense op holds for the same statistics."""
    dense = np.zeros(tuple(shape), np.float32)
    dense[tuple(indices.T)] = values
    limits = l1, l2, tree_complexity, min_node_weight
    options = {"logits_dimension": logits_dimension, "split_type": "inequality"}
    return _best_split_law(node_id_range, dense, *limits, *found, **options)


_CELLS = np.argwhere(np.ones((2, 2, 4, 2))).astype(np.int32)
_FILLED = int32s([2, 2, 4, 2])[0]
sparse_best_feature_split_op.samples(
    (
        _ROWS,
        _CELLS,
        _BY_DIMENSION[..., :2].reshape(-1),
        _FILLED,
        _NONE,
        _SOME,
        _NONE,
        _NONE,
        {"logits_dimension": 1},
    ),
    (_ROWS, _CELLS[:0], f32(0), _FILLED, _NONE, _SOME, _NONE, _NONE, {"logits_dimension": 1}),
    law=_sparse_best_law,
)
sparse_best_feature_split_op.refuses(
    (_ROWS, _CELLS + 1, f32(32), _FILLED, _NONE, _NONE, _NONE, _NONE, {"logits_dimension": 1}),
    "cannot be greater than stats dims",
    InvalidArgumentError,
)
