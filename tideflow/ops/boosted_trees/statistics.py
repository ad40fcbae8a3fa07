"""Sums of gradients and hessians over examples: those in one node of a tree and one bucket of a feature."""

from __future__ import annotations

import numpy as np

from tideflow.graph import dtypes, errors
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.memory import check_memory
from tideflow.graph.op import Op
from tideflow.graph.schema import attr
from tideflow.ops.helpers.axes import merged, of_rank, of_size, same_size
from tideflow.ops.helpers.samples import f32, i32, int32s
from tideflow.runtime.values import to_numpy, to_torch

_COUNT = attr("int", minimum=1)


def _in_range(values: np.ndarray, size: int, name: str) -> None:
    if values.size and not 0 <= values.min() <= values.max() < size:
        raise errors.invalid_argument(
            f"{name} must be in [0, {size}), but contains {values.min()} or {values.max()}"
        )


def _examples(
    node_ids: np.ndarray, gradients: np.ndarray, hessians: np.ndarray, columns: int = 0
) -> np.ndarray:
    """What is summed: a row of gradients and hessians for each example."""
    for name, rows in (("gradients", gradients), ("hessians", hessians)):
        if len(node_ids) != len(rows):
            raise errors.invalid_argument(
                f"node_ids size should match 0th dim of {name}. node ids size: {len(node_ids)}, {name} "
                f"dim0: {len(rows)}"
            )
    columns = columns or max(gradients.shape[1], hessians.shape[1])
    if min(gradients.shape[1], hessians.shape[1]) < 1:
        raise errors.invalid_argument("gradients and hessians must have at least one column")
    return np.concatenate([gradients[:, :columns], hessians[:, :columns]], 1)


def _sums(places: np.ndarray, count: int, statistics: np.ndarray) -> np.ndarray:
    """The sums of the rows at each place, added up in double precision.

    Quantiles may give a numeric feature more buckets than there is room for. TensorFlow then counts examples
    for the first buckets of the next node, or for none behind the last node.
    """
    inside = places < count
    places, statistics = places[inside], statistics[inside]
    summed = [np.bincount(places, column, minlength=count) for column in statistics.T]
    return np.stack(summed, 1).astype(np.float32)


make_stats_summary_op = Op(
    "BoostedTreesMakeStatsSummary",
    "node_ids: int32, gradients: float, hessians: float, bucketized_features_list: num_features * int32 -> "
    "stats_summary: float",
    max_splits=_COUNT,
    num_buckets=_COUNT,
    num_features=_COUNT,
    on_host=True,
    differentiable=None,
)


@make_stats_summary_op.shape
def _make_stats_summary_shape(
    node_ids, gradients, hessians, bucketized_features_list, *, max_splits, num_buckets
):
    batch = of_rank(node_ids, 1).as_list()[0]
    rows = of_rank(gradients, 2).as_list()[0]
    said = f"node_ids size should match 0th dim of gradients. node ids size: {batch}, gradients dim0: {rows}"
    same_size(batch, rows, said)
    merged(gradients, of_rank(hessians, 2))
    for feature in bucketized_features_list:
        same_size(batch, of_rank(feature, 1).as_list()[0])
    return [len(bucketized_features_list), max_splits, num_buckets, 2]


@make_stats_summary_op.kernel
def _make_stats_summary_kernel(
    node_ids, gradients, hessians, bucketized_features_list, *, max_splits, num_buckets
):
    shape = (len(bucketized_features_list), max_splits, num_buckets, 2)
    check_memory(shape, dtypes.float64)
    nodes = to_numpy(node_ids).astype(np.int64)
    statistics = _examples(nodes, to_numpy(gradients), to_numpy(hessians), columns=1)
    _in_range(nodes, max_splits, "node_ids")
    summaries = []
    for feature in bucketized_features_list:
        buckets = to_numpy(feature)
        if len(buckets) != len(nodes):
            raise errors.invalid_argument(
                f"a feature must have a bucket for each of {len(nodes)} examples, but has {len(buckets)}"
            )
        _in_range(buckets, np.iinfo(np.int32).max, "bucketized_features_list")
        summaries.append(_sums(nodes * num_buckets + buckets, max_splits * num_buckets, statistics))
    return to_torch(np.stack(summaries).reshape(shape))


def _make_stats_summary_reference(node_ids, gradients, hessians, features, max_splits, num_buckets):
    """Example by example."""
    summary = np.zeros((len(features), max_splits, num_buckets, 2))
    for feature, buckets in enumerate(features):
        for example, (node, bucket) in enumerate(zip(node_ids, buckets, strict=True)):
            summary[feature, node, bucket] += gradients[example, 0], hessians[example, 0]
    return summary.astype(np.float32)


_NODES, _BUCKETS = i32(7, low=0, high=3), i32(7, low=0, high=4)
_SIZES = {"max_splits": 3, "num_buckets": 4}
make_stats_summary_op.samples(
    (_NODES, f32(7, 1), f32(7, 1), [_BUCKETS, i32(7, low=0, high=2)], _SIZES),
    (i32(0), f32(0, 1), f32(0, 1), [i32(0)], _SIZES),
    against=_make_stats_summary_reference,
)
make_stats_summary_op.refuses(
    (i32(3), f32(2, 1), f32(3, 1), [i32(3, low=0, high=4)], _SIZES),
    "Dimensions must be equal, but are 3 and 2",
)
make_stats_summary_op.refuses(
    (*int32s([0, 3]), f32(2, 1), f32(2, 1), [i32(2, low=0, high=4)], _SIZES),
    "node_ids must be in [0, 3)",
    InvalidArgumentError,
)

aggregate_stats_op = Op(
    "BoostedTreesAggregateStats",
    "node_ids: int32, gradients: float, hessians: float, feature: int32 -> stats_summary: float",
    max_splits=_COUNT,
    num_buckets=_COUNT,
    on_host=True,
    differentiable=None,
)


def _columns(*matrices):
    """The number of columns of all matrices together, or None."""
    sizes = [of_rank(matrix, 2).as_list()[1] for matrix in matrices]
    return None if None in sizes else sum(sizes)


def _check_rows(node_ids, gradients, *others):
    """Every matrix has a row for each example."""
    batch = same_size(of_rank(gradients, 2).tuple[0], of_rank(node_ids, 1).tuple[0])
    for matrix in others:
        same_size(of_rank(matrix, 2).tuple[0], batch)


@aggregate_stats_op.shape
def _aggregate_stats_shape(node_ids, gradients, hessians, feature, *, max_splits, num_buckets):
    _check_rows(node_ids, gradients, hessians, feature)
    return [max_splits, _columns(feature), num_buckets + 1, _columns(gradients, hessians)]


@aggregate_stats_op.kernel
def _aggregate_stats_kernel(node_ids, gradients, hessians, feature, *, max_splits, num_buckets):
    nodes = to_numpy(node_ids).astype(np.int64)
    statistics = _examples(nodes, to_numpy(gradients), to_numpy(hessians))
    buckets = to_numpy(feature)
    if len(buckets) != len(nodes):
        raise errors.invalid_argument(
            f"feature must have a row for each of {len(nodes)} examples, but has {len(buckets)}"
        )
    dimensions = buckets.shape[1]
    shape = (max_splits, dimensions, num_buckets + 1, statistics.shape[1])
    check_memory(shape, dtypes.float64)
    _in_range(nodes, max_splits, "node_ids")
    buckets = np.where(buckets == -1, num_buckets, buckets)  # a missing value
    _in_range(buckets, num_buckets + 1, "feature")
    places = (nodes[:, None] * dimensions + np.arange(dimensions)) * (num_buckets + 1) + buckets
    sums = _sums(
        places.reshape(-1), max_splits * dimensions * (num_buckets + 1), statistics.repeat(dimensions, 0)
    )
    return to_torch(sums.reshape(shape))


def _aggregate_stats_reference(node_ids, gradients, hessians, feature, max_splits, num_buckets):
    """Example by example."""
    width = gradients.shape[1] + hessians.shape[1]
    summary = np.zeros((max_splits, feature.shape[1], num_buckets + 1, width))
    for example, node in enumerate(node_ids):
        for dimension, bucket in enumerate(feature[example]):
            summary[node, dimension, bucket] += np.concatenate([gradients[example], hessians[example]])
    return summary.astype(np.float32)


aggregate_stats_op.samples(
    (_NODES, f32(7, 1), f32(7, 1), i32(7, 2, low=-1, high=4), _SIZES),
    (_NODES, f32(7, 2), f32(7, 4), i32(7, 1, low=0, high=4), _SIZES),
    against=_aggregate_stats_reference,
)
aggregate_stats_op.refuses(
    (*int32s([0, 1]), f32(2, 1), f32(2, 1), *int32s([[0], [5]]), _SIZES),
    "feature must be in [0, 5)",
    InvalidArgumentError,
)

sparse_aggregate_stats_op = Op(
    "BoostedTreesSparseAggregateStats",
    "node_ids: int32, gradients: float, hessians: float, feature_indices: int32, feature_values: int32, "
    "feature_shape: int32 -> stats_summary_indices: int32, stats_summary_values: float, "
    "stats_summary_shape: int32",
    max_splits=_COUNT,
    num_buckets=_COUNT,
    on_host=True,
    differentiable=None,
)


@sparse_aggregate_stats_op.shape
def _sparse_aggregate_stats_shape(
    node_ids, gradients, hessians, feature_indices, feature_values, feature_shape
):
    _check_rows(node_ids, gradients, hessians)
    same_size(of_rank(feature_indices, 2).tuple[0], of_rank(feature_values, 1).tuple[0])
    of_size(of_rank(feature_shape, 1).tuple[0], 2)
    return [None, 4], [None], [4]


@sparse_aggregate_stats_op.kernel
def _sparse_aggregate_stats_kernel(
    node_ids,
    gradients,
    hessians,
    feature_indices,
    feature_values,
    feature_shape,
    *,
    max_splits,
    num_buckets,
):
    nodes, indices, values = to_numpy(node_ids), to_numpy(feature_indices), to_numpy(feature_values)
    statistics = _examples(nodes, to_numpy(gradients), to_numpy(hessians))
    if feature_shape.ndim != 1:
        raise errors.invalid_argument(
            f"Input shapes should be a vector but received shapes {list(feature_shape.shape)}"
        )
    sizes = to_numpy(feature_shape).tolist()
    if len(sizes) != 2 or min(sizes) < 0:
        raise errors.invalid_argument(f"feature_shape must be two sizes, but is {sizes}")
    batch, dimensions = len(nodes), sizes[1]
    if indices.shape[1] != 2 or len(indices) != len(values):
        raise errors.invalid_argument(
            f"feature_indices must have two columns and {len(values)} rows, as many as feature_values, but "
            f"has shape {list(indices.shape)}"
        )
    _in_range(indices[:, 0], batch, "the examples of feature_indices")
    _in_range(indices[:, 1], dimensions, "the dimensions of feature_indices")
    if max(max_splits, num_buckets + 1) > np.iinfo(np.int32).max:
        raise errors.invalid_argument("max_splits and num_buckets must fit into int32")
    check_memory((batch, dimensions, 8), dtypes.int64)
    is_missing = np.ones((batch, dimensions), bool)
    is_missing[indices[:, 0], indices[:, 1]] = False
    missing = np.argwhere(is_missing)
    places = np.concatenate([indices, missing])
    buckets = np.r_[values, np.full(len(missing), num_buckets)]
    order = np.argsort(places[:, 0], kind="stable")
    keys = np.stack([nodes[places[order, 0]], places[order, 1], buckets[order]], 1).astype(np.int32)
    cells, cell_of = np.unique(keys, axis=0, return_inverse=True)
    width = statistics.shape[1]
    sums = np.zeros((len(cells), width), np.float32)
    np.add.at(sums, cell_of.reshape(-1), statistics[places[order, 0]])
    columns = np.tile(np.arange(width), len(cells))[:, None]
    found = np.concatenate([cells.repeat(width, 0), columns], 1).astype(np.int32)
    shape = np.array([max_splits, dimensions, num_buckets + 1, width], np.int32)
    return to_torch(found), to_torch(sums.reshape(-1)), to_torch(shape)


def _sparse_aggregate_reference(
    node_ids, gradients, hessians, indices, values, shape, max_splits, num_buckets
):
    """The same sums as of a dense feature, in which -1 is a missing value."""
    dense = np.full(tuple(shape), -1)
    dense[tuple(indices.T)] = values
    sums = _aggregate_stats_reference(node_ids, gradients, hessians, dense, max_splits, num_buckets)
    used = _aggregate_stats_reference(
        node_ids, np.ones_like(gradients), np.ones_like(hessians), dense, max_splits, num_buckets
    )
    places = np.argwhere(used > 0)
    return places.astype(np.int32), sums[used > 0], np.int32(sums.shape)


_INDICES, _VALUES, _SHAPE = int32s([[0, 1], [2, 0], [2, 1], [5, 2]], [3, 0, 1, 3], [7, 3])
sparse_aggregate_stats_op.samples(
    (_NODES, f32(7, 1), f32(7, 1), _INDICES, _VALUES, _SHAPE, _SIZES),
    (_NODES, f32(7, 2), f32(7, 2), _INDICES[:0], _VALUES[:0], _SHAPE, _SIZES),
    against=_sparse_aggregate_reference,
)
sparse_aggregate_stats_op.refuses(
    (_NODES, f32(7, 1), f32(7, 1), _INDICES + 6, _VALUES, _SHAPE, _SIZES),
    "the examples of feature_indices must be in [0, 7)",
    InvalidArgumentError,
)
