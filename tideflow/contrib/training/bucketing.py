"""Batches of elements that belong together, from queues: one for each bucket, and one for the batches."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.errors import CancelledError, OutOfRangeError
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.partial import constant_value
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import constants, indexing
from tideflow.ops.control_flow import conditionals, grouping
from tideflow.ops.math import binary, casting, reductions
from tideflow.queues.base import FIFOQueue, PaddingFIFOQueue, QueueBase
from tideflow.summary import functions as summary
from tideflow.train import input as pipelines
from tideflow.train.queue_runner import QueueRunner, add_queue_runner

if TYPE_CHECKING:
    from tideflow.graph.typing import AnyTensor, ShapeLike, TensorLike

_CLOSED = (OutOfRangeError, CancelledError)


@export("contrib.training.bucket")
def bucket(
    tensors: Sequence[AnyTensor] | Mapping[str, AnyTensor],
    which_bucket: TensorLike,
    batch_size: int | Tensor | Sequence[int],
    num_buckets: int,
    num_threads: int = 1,
    capacity: int = 32,
    bucket_capacities: Sequence[int] | None = None,
    shapes: Sequence[ShapeLike] | Mapping[str, ShapeLike] | None = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    keep_input: TensorLike = True,
    shared_name: str | None = None,
    name: str | None = None,
) -> tuple[Tensor, Any]:
    """Makes batches of elements of one bucket each.

    Args:
      tensors: A list or a dictionary of tensors: one element.
      which_bucket: The number of the element's bucket, an int32 scalar.
      batch_size: The size of a batch, or that of each bucket's.
      num_buckets: The number of buckets, at least 2.
      num_threads: The number of threads that enqueue.
      capacity: The largest number of elements that wait.
      bucket_capacities: The largest number of elements that wait in each bucket; `capacity` for all if None.
      shapes: The shapes of an element's tensors; those of the tensors themselves if None.
      dynamic_pad: Whether the elements of a batch are padded to one shape.
      allow_smaller_final_batch: Whether the last batch of a bucket may be smaller.
      keep_input: Whether the element is kept, a bool or a scalar bool tensor.
      shared_name: The name by which queues of several sessions are one.
      name: The name scope of the operations.

    Returns:
      The number of the bucket, and the batch in the structure of `tensors`.

    Raises:
      ValueError: If there are fewer than two buckets, or sizes do not fit them.
    """
    each_its_own = isinstance(batch_size, (list, tuple))
    if each_its_own and len(batch_size) != num_buckets:
        raise ValueError("If batch_size is a list it must have num_buckets elements")
    sizes = list(batch_size) if each_its_own else [batch_size] * num_buckets
    capacities = [capacity] * num_buckets if bucket_capacities is None else bucket_capacities
    if len(capacities) != num_buckets:
        raise ValueError(
            f"The list bucket_capacities ({bucket_capacities}) must have exactly num_buckets ({num_buckets}) "
            "elements."
        )
    components = pipelines.as_list(tensors)
    with name_scope(name, "bucket", components):
        components = pipelines.converted(components, "bucket")
        keep = pipelines.checked_keep(keep_input, enqueue_many=False)
        (components,), restores = pipelines.with_sparse_stored([components], False, keep)
        sizes = [_known(size) for size in sizes]
        types = pipelines.common_types([components])
        rows = pipelines.row_shapes([components], shapes, enqueue_many=False)
        chosen = convert_to_tensor(which_bucket, dtype=dtypes.int32, name="which_bucket")
        kind = PaddingFIFOQueue if dynamic_pad else FIFOQueue
        buckets = [
            kind(
                capacity=capacities[i],
                dtypes=types,
                shapes=rows,
                shared_name=None if shared_name is None else f"{shared_name}_{i}",
                name=f"bucket_queue_{i}",
            )
            for i in range(num_buckets)
        ]
        fixed = not allow_smaller_final_batch and not each_its_own and isinstance(sizes[-1], int)
        batches = TensorShape([sizes[-1] if fixed else None])
        top = PaddingFIFOQueue(
            capacity=capacity,
            dtypes=[dtypes.int32, *types],
            shapes=[TensorShape([]), *(batches.concatenate(row) for row in buckets[0].shapes)],
            shared_name=shared_name,
            name="top_queue",
        )
        put = conditionals.smart_cond(
            keep, lambda: _put_into_one(buckets, components, chosen), constants.no_operation
        )
        moves = _moves(buckets, sizes, top, allow_smaller_final_batch)
        _add_runners(buckets, top, moves, [put] * num_threads)
        _add_summaries(buckets, top, capacity)
        number, *batch = top.dequeue(name="dequeue_top")
        return number, pipelines.as_given(tensors, pipelines.restored(batch, restores))


def _known(size: Any) -> Any:
    """A batch's size: a number, where the graph alone says it."""
    tensor = convert_to_tensor(size, dtype=dtypes.int32, name="batch_size")
    value = constant_value(tensor)
    return tensor if value is None else int(value)


def _put_into_one(buckets: list[QueueBase], components: list[Tensor], chosen: Tensor) -> Operation:
    puts = [
        conditionals.cond(
            binary.equal(chosen, i), lambda queue=queue: queue.enqueue(components), constants.no_operation
        )
        for i, queue in enumerate(buckets)
    ]
    return grouping.group(*puts, name="group_enqueues")


def _moves(
    buckets: list[QueueBase], sizes: list[Any], top: QueueBase, allow_smaller: bool
) -> list[Operation]:
    """A batch from each bucket to the queue of batches."""
    moves = []
    for i, (queue, size) in enumerate(zip(buckets, sizes, strict=True)):
        number = constants.constant(i)
        take = queue.dequeue_up_to if allow_smaller else queue.dequeue_many
        batch = take(size, name=f"read_bucket_{i}")
        parts = [batch] if isinstance(batch, Tensor) else list(batch)
        moves.append(top.enqueue([number, *parts], name=f"enqueue_from_bucket_{i}"))
    return moves


def _add_runners(
    buckets: list[QueueBase], top: QueueBase, moves: list[Operation], puts: list[Operation]
) -> None:
    """When the input has ended the buckets are closed, and when these are empty the queue of batches."""
    add_queue_runner(
        QueueRunner(
            buckets[0],
            moves,
            close_op=top.close(),
            cancel_op=top.close(cancel_pending_enqueues=True),
            queue_closed_exception_types=_CLOSED,
        )
    )
    add_queue_runner(
        QueueRunner(
            top,
            puts,
            close_op=grouping.group(*[queue.close() for queue in buckets]),
            cancel_op=grouping.group(*[queue.close(cancel_pending_enqueues=True) for queue in buckets]),
            queue_closed_exception_types=_CLOSED,
        )
    )


def _add_summaries(buckets: list[QueueBase], top: QueueBase, capacity: int) -> None:
    for queue in buckets:
        summary.scalar(f"bucket/{queue.name}/size", casting.cast(top.size(), dtypes.float32))
    full = casting.cast(top.size(), dtypes.float32) * (1.0 / capacity)
    summary.scalar(f"bucket/{top.name}/fraction_of_{capacity}_full", full)


@export("contrib.training.bucket_by_sequence_length")
def bucket_by_sequence_length(
    input_length: TensorLike,
    tensors: Sequence[AnyTensor] | Mapping[str, AnyTensor],
    batch_size: int | Tensor | Sequence[int],
    bucket_boundaries: Sequence[int],
    num_threads: int = 1,
    capacity: int = 32,
    bucket_capacities: Sequence[int] | None = None,
    shapes: Sequence[ShapeLike] | Mapping[str, ShapeLike] | None = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    keep_input: TensorLike = True,
    shared_name: str | None = None,
    name: str | None = None,
) -> tuple[Tensor, Any]:
    """Makes batches of elements whose lengths lie between the same two boundaries.

    Args:
      input_length: The length of the element, an int32 scalar.
      tensors: A list or a dictionary of tensors: one element.
      batch_size: The size of a batch, or that of each bucket's.
      bucket_boundaries: The lengths between buckets, ascending.
      num_threads: The number of threads that enqueue.
      capacity: The largest number of elements that wait.
      bucket_capacities: The largest number of elements that wait in each bucket; `capacity` for all if None.
      shapes: The shapes of an element's tensors; those of the tensors themselves if None.
      dynamic_pad: Whether the elements of a batch are padded to one shape.
      allow_smaller_final_batch: Whether the last batch of a bucket may be smaller.
      keep_input: Whether the element is kept, a bool or a scalar bool tensor.
      shared_name: The name by which queues of several sessions are one.
      name: The name scope of the operations.

    Returns:
      The lengths, and the batch in the structure of `tensors`.

    Raises:
      TypeError: If a boundary is not an integer.
      ValueError: If boundaries are missing or do not ascend.
    """
    _check_boundaries(bucket_boundaries)
    components = pipelines.as_list(tensors)
    with name_scope(name, "bucket_by_sequence_length", [input_length, *components]):
        length = convert_to_tensor(input_length, dtype=dtypes.int32, name="input_length")
        bounds = np.iinfo(np.int32)
        inside = binary.logical_and(
            binary.less_equal([bounds.min, *bucket_boundaries], length),
            binary.less(length, [*bucket_boundaries, bounds.max]),
        )
        chosen = casting.cast(reductions.reduce_min(indexing.where_v2(inside)), dtypes.int32)
        _, (lengths, *batch) = bucket(
            [length, *components],
            chosen,
            batch_size,
            len(bucket_boundaries) + 1,
            num_threads,
            capacity,
            bucket_capacities,
            None if shapes is None else [TensorShape([]), *shapes],
            dynamic_pad,
            allow_smaller_final_batch,
            keep_input,
            shared_name,
        )
        return lengths, pipelines.as_given(tensors, batch) if isinstance(tensors, dict) else batch


def _check_boundaries(boundaries: Any) -> None:
    if not isinstance(boundaries, (list, tuple)):
        raise TypeError(f"bucket_boundaries must be a list or tuple, but received: {boundaries}")
    if not boundaries:
        raise ValueError("bucket_boundaries must not be empty")
    for low, high in itertools.pairwise(boundaries):
        if not isinstance(low, int) or not isinstance(high, int):
            raise TypeError(f"bucket boundaries must be integers, but saw: {low} and {high}")
        if low >= high:
            raise ValueError(
                f"Buckets must contain sequential increasing lengths, but saw: {low} before {high}"
            )
