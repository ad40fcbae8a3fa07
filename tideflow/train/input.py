"""Batches of examples by queues: threads evaluate tensors ahead of time, and a step dequeues a batch.

Each function adds a queue to the graph and a QueueRunner to the collection that `start_queue_runners` starts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.composite import SparseTensor
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import name_scope, refuse_eagerly
from tideflow.graph.shapes import TensorShape, as_shape
from tideflow.ops.arrays import constants, creation, indexing, stitching
from tideflow.ops.arrays import shapes as shape_ops
from tideflow.ops.control_flow import conditionals, grouping
from tideflow.ops.math import binary, casting
from tideflow.ops.sparse import construction as sparse_ops
from tideflow.ops.sparse import serialization
from tideflow.queues.base import FIFOQueue, PaddingFIFOQueue, QueueBase, RandomShuffleQueue
from tideflow.train.input_producers import QUEUES_ARE_OF_GRAPHS, fill_summary
from tideflow.train.queue_runner import QueueRunner, add_queue_runner

if TYPE_CHECKING:
    from tideflow.graph.typing import AnyTensor, ShapeLike, TensorLike


@export("train.batch")
def batch(
    tensors: Sequence[AnyTensor] | Mapping[str, AnyTensor],
    batch_size: TensorLike,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Sequence[ShapeLike] | Mapping[str, ShapeLike] | None = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches examples: threads of a queue runner evaluate tensors ahead of time and put them into a queue.

    Args:
      tensors: A list or a dictionary of tensors: one example.
      batch_size: The number of examples in a batch.
      num_threads: The number of threads that enqueue examples. With more than one, the order is not
        determined.
      capacity: The capacity of the queue.
      enqueue_many: Whether each tensor has several examples, along its first axis, instead of one.
      shapes: The shapes of an example's tensors; those of the tensors themselves if None.
      dynamic_pad: Whether examples of different sizes are padded to the largest of the batch.
      allow_smaller_final_batch: Whether the last batch may have fewer examples if the queue is closed.
      shared_name: The name under which sessions share the queue.
      name: The name of the operations.

    Returns:
      The batches: a list of tensors, or a dictionary if the argument is one.

    Raises:
      ValueError: If shapes are not known and cannot be padded, or arguments contradict each other.
    """
    return maybe_batch(
        tensors,
        True,
        batch_size,
        num_threads,
        capacity,
        enqueue_many,
        shapes,
        dynamic_pad,
        allow_smaller_final_batch,
        shared_name,
        name,
    )


@export("train.maybe_batch")
def maybe_batch(
    tensors: Sequence[AnyTensor] | Mapping[str, AnyTensor],
    keep_input: TensorLike,
    batch_size: TensorLike,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Sequence[ShapeLike] | Mapping[str, ShapeLike] | None = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches the examples that a condition keeps.

    Args:
      tensors: A list or a dictionary of tensors: one example.
      keep_input: A bool tensor: whether the example is kept. With `enqueue_many`, a vector with an element
        for each.
      batch_size: The number of examples in a batch.
      num_threads: The number of threads that enqueue examples.
      capacity: The capacity of the queue.
      enqueue_many: Whether each tensor has several examples, along its first axis, instead of one.
      shapes: The shapes of an example's tensors; those of the tensors themselves if None.
      dynamic_pad: Whether examples of different sizes are padded to the largest of the batch.
      allow_smaller_final_batch: Whether the last batch may have fewer examples if the queue is closed.
      shared_name: The name under which sessions share the queue.
      name: The name of the operations.

    Returns:
      The batches: a list of tensors, or a dictionary if the argument is one.

    Raises:
      ValueError: If shapes are not known and cannot be padded, or arguments contradict each other.
    """
    buffer = _fifo(dynamic_pad, capacity, shared_name)
    return _batched(
        "batch",
        [tensors] * num_threads,
        keep_input,
        batch_size,
        enqueue_many,
        shapes,
        buffer,
        allow_smaller_final_batch,
        name,
        same=True,
    )


@export("train.batch_join")
def batch_join(
    tensors_list: Sequence[Any],
    batch_size: TensorLike,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Sequence[ShapeLike] | Mapping[str, ShapeLike] | None = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches the examples of several sources, each of which has a thread.

    Args:
      tensors_list: A list with the tensors of each source: lists or dictionaries of the same types.
      batch_size: The number of examples in a batch.
      capacity: The capacity of the queue.
      enqueue_many: Whether each tensor has several examples, along its first axis, instead of one.
      shapes: The shapes of an example's tensors; those of the tensors themselves if None.
      dynamic_pad: Whether examples of different sizes are padded to the largest of the batch.
      allow_smaller_final_batch: Whether the last batch may have fewer examples if the queue is closed.
      shared_name: The name under which sessions share the queue.
      name: The name of the operations.

    Returns:
      The batches: a list of tensors, or a dictionary if the argument is one.

    Raises:
      ValueError: If shapes are not known and cannot be padded, or arguments contradict each other.
    """
    return maybe_batch_join(
        tensors_list,
        True,
        batch_size,
        capacity,
        enqueue_many,
        shapes,
        dynamic_pad,
        allow_smaller_final_batch,
        shared_name,
        name,
    )


@export("train.maybe_batch_join")
def maybe_batch_join(
    tensors_list: Sequence[Any],
    keep_input: TensorLike,
    batch_size: TensorLike,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Sequence[ShapeLike] | Mapping[str, ShapeLike] | None = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches the examples of several sources that a condition keeps.

    Args:
      tensors_list: A list with the tensors of each source: lists or dictionaries of the same types.
      keep_input: A bool tensor: whether the example is kept. With `enqueue_many`, a vector with an element
        for each.
      batch_size: The number of examples in a batch.
      capacity: The capacity of the queue.
      enqueue_many: Whether each tensor has several examples, along its first axis, instead of one.
      shapes: The shapes of an example's tensors; those of the tensors themselves if None.
      dynamic_pad: Whether examples of different sizes are padded to the largest of the batch.
      allow_smaller_final_batch: Whether the last batch may have fewer examples if the queue is closed.
      shared_name: The name under which sessions share the queue.
      name: The name of the operations.

    Returns:
      The batches: a list of tensors, or a dictionary if the argument is one.

    Raises:
      ValueError: If shapes are not known and cannot be padded, or arguments contradict each other.
    """
    buffer = _fifo(dynamic_pad, capacity, shared_name)
    return _batched(
        "batch_join",
        tensors_list,
        keep_input,
        batch_size,
        enqueue_many,
        shapes,
        buffer,
        allow_smaller_final_batch,
        name,
    )


@export("train.shuffle_batch")
def shuffle_batch(
    tensors: Sequence[AnyTensor] | Mapping[str, AnyTensor],
    batch_size: TensorLike,
    capacity: int,
    min_after_dequeue: int,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Sequence[ShapeLike] | Mapping[str, ShapeLike] | None = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches examples in random order.

    Args:
      tensors: A list or a dictionary of tensors: one example.
      batch_size: The number of examples in a batch.
      capacity: The capacity of the queue.
      min_after_dequeue: The number of examples that stay in the queue: the more, the better they are mixed.
      num_threads: The number of threads that enqueue examples.
      seed: The seed of the order.
      enqueue_many: Whether each tensor has several examples, along its first axis, instead of one.
      shapes: The shapes of an example's tensors; those of the tensors themselves if None.
      allow_smaller_final_batch: Whether the last batch may have fewer examples if the queue is closed.
      shared_name: The name under which sessions share the queue.
      name: The name of the operations.

    Returns:
      The batches: a list of tensors, or a dictionary if the argument is one.

    Raises:
      ValueError: If shapes are not known and cannot be padded, or arguments contradict each other.
    """
    return maybe_shuffle_batch(
        tensors,
        batch_size,
        capacity,
        min_after_dequeue,
        True,
        num_threads,
        seed,
        enqueue_many,
        shapes,
        allow_smaller_final_batch,
        shared_name,
        name,
    )


@export("train.maybe_shuffle_batch")
def maybe_shuffle_batch(
    tensors: Sequence[AnyTensor] | Mapping[str, AnyTensor],
    batch_size: TensorLike,
    capacity: int,
    min_after_dequeue: int,
    keep_input: TensorLike,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Sequence[ShapeLike] | Mapping[str, ShapeLike] | None = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches the examples that a condition keeps, in random order.

    Args:
      tensors: A list or a dictionary of tensors: one example.
      batch_size: The number of examples in a batch.
      capacity: The capacity of the queue.
      min_after_dequeue: The number of examples that stay in the queue: the more, the better they are mixed.
      keep_input: A bool tensor: whether the example is kept. With `enqueue_many`, a vector with an element
        for each.
      num_threads: The number of threads that enqueue examples.
      seed: The seed of the order.
      enqueue_many: Whether each tensor has several examples, along its first axis, instead of one.
      shapes: The shapes of an example's tensors; those of the tensors themselves if None.
      allow_smaller_final_batch: Whether the last batch may have fewer examples if the queue is closed.
      shared_name: The name under which sessions share the queue.
      name: The name of the operations.

    Returns:
      The batches: a list of tensors, or a dictionary if the argument is one.

    Raises:
      ValueError: If shapes are not known and cannot be padded, or arguments contradict each other.
    """
    buffer = _shuffling(capacity, min_after_dequeue, seed, shared_name)
    return _batched(
        "shuffle_batch",
        [tensors] * num_threads,
        keep_input,
        batch_size,
        enqueue_many,
        shapes,
        buffer,
        allow_smaller_final_batch,
        name,
        same=True,
    )


@export("train.shuffle_batch_join")
def shuffle_batch_join(
    tensors_list: Sequence[Any],
    batch_size: TensorLike,
    capacity: int,
    min_after_dequeue: int,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Sequence[ShapeLike] | Mapping[str, ShapeLike] | None = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches the examples of several sources in random order. Each source has a thread.

    Args:
      tensors_list: A list with the tensors of each source: lists or dictionaries of the same types.
      batch_size: The number of examples in a batch.
      capacity: The capacity of the queue.
      min_after_dequeue: The number of examples that stay in the queue: the more, the better they are mixed.
      seed: The seed of the order.
      enqueue_many: Whether each tensor has several examples, along its first axis, instead of one.
      shapes: The shapes of an example's tensors; those of the tensors themselves if None.
      allow_smaller_final_batch: Whether the last batch may have fewer examples if the queue is closed.
      shared_name: The name under which sessions share the queue.
      name: The name of the operations.

    Returns:
      The batches: a list of tensors, or a dictionary if the argument is one.

    Raises:
      ValueError: If shapes are not known and cannot be padded, or arguments contradict each other.
    """
    return maybe_shuffle_batch_join(
        tensors_list,
        batch_size,
        capacity,
        min_after_dequeue,
        True,
        seed,
        enqueue_many,
        shapes,
        allow_smaller_final_batch,
        shared_name,
        name,
    )


@export("train.maybe_shuffle_batch_join")
def maybe_shuffle_batch_join(
    tensors_list: Sequence[Any],
    batch_size: TensorLike,
    capacity: int,
    min_after_dequeue: int,
    keep_input: TensorLike,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Sequence[ShapeLike] | Mapping[str, ShapeLike] | None = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches the examples of several sources that a condition keeps, in random order.

    Args:
      tensors_list: A list with the tensors of each source: lists or dictionaries of the same types.
      batch_size: The number of examples in a batch.
      capacity: The capacity of the queue.
      min_after_dequeue: The number of examples that stay in the queue: the more, the better they are mixed.
      keep_input: A bool tensor: whether the example is kept. With `enqueue_many`, a vector with an element
        for each.
      seed: The seed of the order.
      enqueue_many: Whether each tensor has several examples, along its first axis, instead of one.
      shapes: The shapes of an example's tensors; those of the tensors themselves if None.
      allow_smaller_final_batch: Whether the last batch may have fewer examples if the queue is closed.
      shared_name: The name under which sessions share the queue.
      name: The name of the operations.

    Returns:
      The batches: a list of tensors, or a dictionary if the argument is one.

    Raises:
      ValueError: If shapes are not known and cannot be padded, or arguments contradict each other.
    """
    buffer = _shuffling(capacity, min_after_dequeue, seed, shared_name)
    return _batched(
        "shuffle_batch_join",
        tensors_list,
        keep_input,
        batch_size,
        enqueue_many,
        shapes,
        buffer,
        allow_smaller_final_batch,
        name,
    )


class _Buffer(NamedTuple):
    """How a queue is made from types and shapes, and how it is shown how full one is."""

    make: Callable
    report: Callable


def _fifo(dynamic_pad: bool, capacity: int, shared_name: str | None) -> _Buffer:
    kind = PaddingFIFOQueue if dynamic_pad else FIFOQueue
    return _Buffer(
        lambda types, sizes: kind(capacity=capacity, dtypes=types, shapes=sizes, shared_name=shared_name),
        lambda queue: fill_summary(f"fraction_of_{capacity}_full", queue.size(), capacity),
    )


def _shuffling(capacity: int, min_after_dequeue: int, seed: int | None, shared_name: str | None) -> _Buffer:
    if capacity <= min_after_dequeue:
        raise ValueError(f"capacity {capacity} must be bigger than min_after_dequeue {min_after_dequeue}.")
    spare = capacity - min_after_dequeue

    def make(types: list[dtypes.DType], sizes: list[TensorShape]) -> QueueBase:
        return RandomShuffleQueue(
            capacity=capacity,
            min_after_dequeue=min_after_dequeue,
            seed=seed,
            dtypes=types,
            shapes=sizes,
            shared_name=shared_name,
        )

    def report(queue: QueueBase) -> None:
        over = binary.maximum(0, queue.size() - min_after_dequeue)
        fill_summary(f"fraction_over_{min_after_dequeue}_of_{spare}_full", over, spare)

    return _Buffer(make, report)


def _batched(
    kind: str,
    sources: Sequence[Any],
    keep_input: Any,
    batch_size: Any,
    enqueue_many: bool,
    given_shapes: Any,
    buffer: _Buffer,
    allow_smaller: bool,
    name: str | None,
    same: bool = False,
) -> Any:
    """What all of the above do: a queue, threads that fill it from `sources`, and batches out of it."""
    refuse_eagerly(QUEUES_ARE_OF_GRAPHS, ValueError)
    if not isinstance(sources, (list, tuple)) or not sources:
        raise ValueError(f"Expected at least one set of tensors in {kind}().")
    if len({frozenset(source) for source in sources if isinstance(source, dict)}) > 1:
        raise ValueError(f"All dictionaries in tensors_list must have the same keys: {kind}().")
    lists = [as_list(source) for source in (sources[:1] if same else sources)]
    with name_scope(name, kind, [*(t for each in lists for t in each), keep_input]) as scope:
        lists = [converted(each) for each in lists]
        keep = checked_keep(keep_input, enqueue_many)
        lists, stored = with_sparse_stored(lists, enqueue_many, keep)
        types = common_types(lists)
        queue = buffer.make(types, row_shapes(lists, given_shapes, enqueue_many))
        operations = [_enqueue(queue, each, enqueue_many, keep) for each in lists]
        add_queue_runner(QueueRunner(queue, operations * len(sources) if same else operations))
        buffer.report(queue)
        take = queue.dequeue_up_to if allow_smaller else queue.dequeue_many
        result = take(batch_size, name=scope)
        result = [result] if isinstance(result, Tensor) else list(result)
        return as_given(sources[0], restored(result, stored))


def as_list(tensors: Any) -> list[Any]:
    """The components, those of a dictionary in the order of their keys."""
    return [tensors[key] for key in sorted(tensors)] if isinstance(tensors, dict) else list(tensors)


def as_given(like: Any, tensors: list[Any]) -> Any:
    """The components in the form in which they were given."""
    if isinstance(like, dict):
        return dict(zip(sorted(like), tensors, strict=True))
    return tensors[0] if len(tensors) == 1 else tensors


def converted(tensors: list[Any], kind: str = "batch") -> list[Any]:
    """What is to be enqueued, as tensors."""
    if not tensors:
        raise ValueError(f"Expected at least one tensor in {kind}().")
    return [t if isinstance(t, SparseTensor) else convert_to_tensor(t) for t in tensors]


def checked_keep(keep_input: Any, enqueue_many: bool) -> Tensor:
    """Whether to keep what comes in: one truth value, or one for each row."""
    keep = convert_to_tensor(keep_input)
    if keep.shape.ndims is None:
        raise ValueError("`keep_input` dimensions must be known at graph construction.")
    if not enqueue_many and keep.shape.ndims == 1:
        raise ValueError("`keep_input` cannot be a vector when `enqueue_many=False`.")
    if keep.shape.ndims > 1:
        raise ValueError("`keep_input` must be 0 or 1 dimensions.")
    return keep


def common_types(lists: list[list[Tensor]]) -> list[dtypes.DType]:
    """The dtypes of the components, the same in each list."""
    types = [[tensor.dtype.base_dtype for tensor in each] for each in lists]
    for other in types[1:]:
        if other != types[0]:
            raise TypeError(
                f"Expected types to be consistent: {', '.join(t.name for t in types[0])} vs. "
                f"{', '.join(t.name for t in other)}."
            )
    return types[0]


def row_shapes(lists: list[list[Tensor]], given: Any, enqueue_many: bool) -> list[TensorShape]:
    """The shapes of the components of an element, as far as the lists agree on them."""
    if given is not None:
        return [as_shape(shape) for shape in given]
    for each in lists:
        for tensor in each:
            if tensor.shape.ndims is None:
                raise ValueError(f"Cannot infer Tensor's rank: {tensor}")
    found = []
    for tensors in zip(*lists, strict=True):
        sizes = [t.shape.with_rank_at_least(1)[1:] if enqueue_many else t.shape for t in tensors]
        common = sizes[0]
        for shape in sizes[1:]:
            shape.assert_has_rank(common.ndims)
            pairs = zip(common.tuple, shape.tuple, strict=True)
            common = TensorShape([a if a == b else None for a, b in pairs])
        found.append(common)
    return found


def _enqueue(queue: QueueBase, tensors: list[Tensor], enqueue_many: bool, keep: Tensor) -> Operation:
    put = queue.enqueue_many if enqueue_many else queue.enqueue
    if keep.shape.ndims == 0:
        return conditionals.smart_cond(keep, lambda: put(tensors), constants.no_operation)
    kept = casting.cast(keep, dtypes.int32)
    return put([stitching.dynamic_partition(tensor, kept, 2)[1] for tensor in tensors])


def with_sparse_stored(
    lists: list[list[Any]], enqueue_many: bool, keep: Tensor
) -> tuple[list[list[Tensor]], list[Callable | None]]:
    """Sparse tensors wait outside of the queue, which holds their handles; and how to get them back."""
    restores: list[Callable | None] = []
    stored = [list(each) for each in lists]
    for i, first in enumerate(lists[0]):
        if not isinstance(first, SparseTensor):
            restores.append(None)
            continue
        op = None
        for each in stored:
            each[i], op = _stored(each[i], enqueue_many, keep, op)
        rank = first.shape.ndims
        rank = None if rank is None else rank if enqueue_many else rank + 1
        restores.append(partial(_taken, op, rank))
    return stored, restores


def _stored(
    tensor: SparseTensor, many: bool, keep: Tensor, earlier: Operation | None
) -> tuple[Tensor, Operation]:
    """The handle of a sparse tensor, or those of its rows, and the operation that stored it, where an earlier
    one stored the tensors before it.
    """
    store = serialization.add_many_sparse_to_tensors_map if many else serialization.add_sparse_to_tensors_map
    shared_name = None if earlier is None else earlier.attrs["shared_name"] or earlier.name
    made: list[Operation] = []

    def put() -> Tensor:
        handles = store(tensor, shared_name=shared_name)
        made.append(handles.op)
        return handles

    def nothing() -> Tensor:
        if not many:
            return constants.constant(-1, dtype=dtypes.int64)
        return -1 * creation.ones(tensor.dense_shape[:1], dtypes.int64)

    if keep.shape.ndims:
        rows = indexing.gather(keep, tensor.indices[:, 0])
        tensor = sparse_ops.sparse_retain(tensor, rows)
        handles = put()
    else:
        handles = conditionals.smart_cond(keep, put, nothing)
    return shape_ops.expand_dims(handles, [-1]), made[0]


def _taken(op: Operation, rank: int | None, handles: Tensor) -> SparseTensor:
    return serialization.take_many_sparse_from_tensors_map(op, shape_ops.squeeze(handles, [1]), rank=rank)


def restored(results: list[Tensor], restores: list[Callable | None]) -> list[Any]:
    """What came out of the queue, with sparse tensors for their handles. No part of a batch without all of
    its sparse tensors being taken out of where they wait.
    """
    if not any(restores):
        return results
    results = [t if restore is None else restore(t) for t, restore in zip(results, restores, strict=True)]
    taken = [each.values if isinstance(each, SparseTensor) else each for each in results]

    def after(tensor: Tensor) -> Tensor:
        return grouping.with_dependencies(taken, tensor)

    return [
        SparseTensor(after(each.indices), after(each.values), after(each.dense_shape))
        if isinstance(each, SparseTensor)
        else after(each)
        for each in results
    ]
