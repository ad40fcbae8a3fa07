"""Buckets of numeric features: approximate quantiles of their values, collected batch by batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from tideflow.graph import dtypes, errors
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.memory import check_memory
from tideflow.graph.op import Op
from tideflow.graph.schema import attr
from tideflow.ops.helpers.axes import of_rank, same_size
from tideflow.ops.helpers.samples import f32
from tideflow.ops.helpers.session_objects import NAMED, found
from tideflow.runtime.quantile_streams import QuantileStream, QuantileStreams
from tideflow.runtime.values import to_numpy, to_torch

_TESTS = "tests/ops/boosted_trees/test_quantiles.py"
_ANY_COUNT = attr("int", minimum=0)

make_quantile_summaries_op = Op(
    "BoostedTreesMakeQuantileSummaries",
    "float_values: num_features * float, example_weights: float, epsilon: float -> summaries: "
    "num_features * float",
    num_features=_ANY_COUNT,
    on_host=True,
    differentiable=None,
)


@make_quantile_summaries_op.shape
def _make_quantile_summaries_shape(float_values, example_weights, epsilon):
    for values in float_values:
        of_rank(values, 1, "Weights should be a single value or same size as features.")
    of_rank(example_weights, 1)
    of_rank(epsilon, 0)
    return [[None, 4]] * len(float_values)


@make_quantile_summaries_op.kernel
def _make_quantile_summaries_kernel(float_values, example_weights, epsilon):
    weights = to_numpy(example_weights).reshape(-1)
    summaries = []
    for values in map(to_numpy, float_values):
        if weights.size not in (1, len(values)):
            raise errors.invalid_argument("Weights should be a single value or same size as features.")
        stream = QuantileStream(epsilon.item(), len(values) + 1)
        stream.push_values(values, np.broadcast_to(weights, values.shape))
        summaries.append(to_torch(stream.summary()))
    return summaries


def _exact_summary(float_values, example_weights, epsilon):
    """The exact ranks, which few values keep."""
    summaries = []
    for values in float_values:
        weights = np.broadcast_to(example_weights, values.shape)
        unique, places = np.unique(values[weights > 0], return_inverse=True)
        total = np.bincount(places, weights[weights > 0])
        ranks = np.cumsum(total)
        summaries.append(np.stack([unique, total, ranks - total, ranks], 1).astype(np.float32))
    return summaries


make_quantile_summaries_op.samples(
    ([f32(9), np.float32([3, 1, 3, 2, 1, 1, 0, 4, 3])], f32(9, low=0.5, high=2.0), np.float32(0.01)),
    ([f32(5)], np.float32([2.0]), np.float32(0.25)),
    ([np.float32([1, 2, 3])], np.float32([1.0, 0.0, -1.0]), np.float32(0.5)),
    against=_exact_summary,
)
make_quantile_summaries_op.refuses(
    ([f32(4)], f32(3), np.float32(0.1)),
    "Weights should be a single value or same size as features.",
    InvalidArgumentError,
)

bucketize_op = Op(
    "BoostedTreesBucketize",
    "float_values: num_features * float, bucket_boundaries: num_features * float -> buckets: "
    "num_features * int32",
    num_features=_ANY_COUNT,
    differentiable=False,
)


@bucketize_op.shape
def _bucketize_shape(float_values, bucket_boundaries):
    count = None
    for values in float_values:
        count = same_size(count, of_rank(values, 1).as_list()[0])
    return [[count]] * len(float_values)


@bucketize_op.kernel
def _bucketize_kernel(float_values, bucket_boundaries):
    buckets = []
    for values, boundaries in zip(float_values, bucket_boundaries, strict=True):
        if boundaries.ndim != 1 or values.ndim != 1:
            raise errors.invalid_argument("Buckets should be flat vectors.")
        places = torch.searchsorted(boundaries.contiguous(), values.contiguous(), out_int32=True)
        places = places.clamp(max=max(len(boundaries) - 1, 0))
        buckets.append(torch.where(values.isnan(), 0, places))  # nothing is less than NaN
    return buckets


bucketize_op.samples(
    ([f32(7), f32(7)], [np.float32([-0.5, 0, 0.5]), np.float32([0.0])]),
    ([np.float32([-3, 1, 2, 9, np.nan])], [np.float32([1, 2, 3])]),
    ([f32(3)], [f32(0)]),
    against=lambda float_values, bucket_boundaries: [
        np.array([min(sum(b < x for b in boundaries), max(len(boundaries) - 1, 0)) for x in values], np.int32)
        for values, boundaries in zip(float_values, bucket_boundaries, strict=True)
    ],
)
bucketize_op.refuses(([f32(3)], [f32(2, 2)]), "Buckets should be flat vectors.", InvalidArgumentError)

# ---------------------------------------------------------------------------------------------- the resource

quantile_stream_handle_op = Op(
    "BoostedTreesQuantileStreamResourceHandleOp",
    " -> resource: resource",
    stateful=True,
    handle=True,
    differentiable=False,
    is_model_state=True,
    **NAMED,
)
quantile_stream_handle_op.shape(lambda: [])


@quantile_stream_handle_op.kernel
def _quantile_stream_handle_kernel(*, resources, node):
    return found("quantile stream", QuantileStreams, resources, node)


quantile_stream_handle_op.samples(covered_by=_TESTS)


def _on_streams(name: str, signature: str, **options: Any) -> Op:
    """An op that does something with the quantile streams of a model."""
    op = Op(
        name,
        f"quantile_stream_resource_handle: resource{signature}",
        stateful=True,
        on_host=True,
        differentiable=False,
        **options,
    )
    op.samples(covered_by=_TESTS)
    return op


def _created(streams: QuantileStreams, count: int | None = None) -> QuantileStreams:
    if not streams.initialized:
        raise errors.not_found(
            f"Resource localhost/{streams.name}/N10tensorflow34BoostedTreesQuantileStreamResourceE does "
            "not exist."
        )
    if count is not None and count != streams.count:
        raise errors.invalid_argument(
            f"There are {streams.count} quantile streams, but {count} were asked for"
        )
    return streams


is_quantile_stream_initialized_op = _on_streams(
    "IsBoostedTreesQuantileStreamResourceInitialized", " -> is_initialized: bool"
)
is_quantile_stream_initialized_op.shape(lambda quantile_stream_resource_handle: [])


@is_quantile_stream_initialized_op.kernel
def _is_quantile_stream_initialized_kernel(quantile_stream_resource_handle):
    return torch.tensor(quantile_stream_resource_handle.initialized)


create_quantile_stream_op = _on_streams(
    "BoostedTreesCreateQuantileStreamResource",
    ", epsilon: float, num_streams: int64",
    max_elements=1099511627776,
)


@create_quantile_stream_op.shape
def _create_quantile_stream_shape(quantile_stream_resource_handle, epsilon, num_streams):
    of_rank(epsilon, 0)
    of_rank(num_streams, 0)
    return []


@create_quantile_stream_op.kernel
def _create_quantile_stream_kernel(quantile_stream_resource_handle, epsilon, num_streams, *, max_elements):
    if not epsilon.item() > 0:
        raise errors.invalid_argument("An epsilon value of zero is not allowed.")
    if num_streams.item() < 0:
        raise errors.invalid_argument("Num_streams input cannot be a negative integer")
    quantile_stream_resource_handle.create(epsilon.item(), max_elements, num_streams.item())


add_summaries_op = _on_streams(
    "BoostedTreesQuantileStreamResourceAddSummaries",
    ", summaries: num_features * float",
    num_features=_ANY_COUNT,
)


@add_summaries_op.shape
def _add_summaries_shape(quantile_stream_resource_handle, summaries):
    for summary in summaries:
        of_rank(summary, 2)
    return []


@add_summaries_op.kernel
def _add_summaries_kernel(quantile_stream_resource_handle, summaries):
    if any(summary.ndim != 2 or summary.shape[1] != 4 for summary in summaries):
        raise errors.invalid_argument("Each of the summaries must be a matrix of four columns")
    streams = _created(quantile_stream_resource_handle, len(summaries))
    streams.push_summaries([to_numpy(summary).copy() for summary in summaries])


flush_summaries_op = _on_streams(
    "BoostedTreesFlushQuantileSummaries", " -> summaries: num_features * float", num_features=_ANY_COUNT
)
flush_summaries_op.shape(lambda quantile_stream_resource_handle, *, num_features: [[None, 4]] * num_features)


@flush_summaries_op.kernel
def _flush_summaries_kernel(quantile_stream_resource_handle, *, num_features):
    streams = _created(quantile_stream_resource_handle)
    if num_features > streams.count:
        raise errors.invalid_argument(f"There are {streams.count} quantile streams, not {num_features}")
    return [to_torch(summary) for summary in streams.take_summaries(num_features)]


flush_op = _on_streams(
    "BoostedTreesQuantileStreamResourceFlush", ", num_buckets: int64", generate_quantiles=False
)


@flush_op.shape
def _flush_shape(quantile_stream_resource_handle, num_buckets):
    of_rank(num_buckets, 0)
    return []


@flush_op.kernel
def _flush_kernel(quantile_stream_resource_handle, num_buckets, *, generate_quantiles):
    if generate_quantiles:
        check_memory([max(num_buckets.item(), 0), 8], dtypes.int64)
    _created(quantile_stream_resource_handle).flush(num_buckets.item(), generate_quantiles)


bucket_boundaries_op = _on_streams(
    "BoostedTreesQuantileStreamResourceGetBucketBoundaries",
    " -> bucket_boundaries: num_features * float",
    num_features=_ANY_COUNT,
)
bucket_boundaries_op.shape(lambda quantile_stream_resource_handle, *, num_features: [[None]] * num_features)


@bucket_boundaries_op.kernel
def _bucket_boundaries_kernel(quantile_stream_resource_handle, *, num_features):
    streams = _created(quantile_stream_resource_handle, num_features)
    return [to_torch(boundaries) for boundaries in streams.boundaries()]


deserialize_streams_op = _on_streams(
    "BoostedTreesQuantileStreamResourceDeserialize",
    ", bucket_boundaries: num_streams * float",
    num_streams=attr("int", minimum=1),
)


@deserialize_streams_op.shape
def _deserialize_streams_shape(quantile_stream_resource_handle, bucket_boundaries):
    for boundaries in bucket_boundaries:
        of_rank(boundaries, 1)
    return []


@deserialize_streams_op.kernel
def _deserialize_streams_kernel(quantile_stream_resource_handle, bucket_boundaries):
    streams = _created(quantile_stream_resource_handle, len(bucket_boundaries))
    streams.set_boundaries([to_numpy(boundaries).copy() for boundaries in bucket_boundaries])
