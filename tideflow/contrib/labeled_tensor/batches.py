"""Batches of labeled tensors, by queues."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import tideflow as tf
from tideflow.contrib.labeled_tensor import checks
from tideflow.contrib.labeled_tensor.axes import Axes
from tideflow.contrib.labeled_tensor.tensors import LABELED, LabeledTensor, convert_to_labeled_tensor
from tideflow.export import export

_TENSORS = checks.collection(LABELED)


@export("contrib.labeled_tensor.batch")
@checks.accepts(
    _TENSORS, checks.INTEGER, checks.INTEGER, checks.INTEGER, checks.BOOLEAN, checks.BOOLEAN, checks.NAME
)
def batch(
    labeled_tensors: Collection,
    batch_size: int,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    allow_smaller_final_batch: bool = False,
    name: str | None = None,
) -> list[LabeledTensor]:
    """Gathers labeled tensors in batches, along a first axis "batch".

    Args:
      labeled_tensors: The labeled tensors.
      batch_size: How many elements a batch has.
      num_threads: How many threads fill the queue.
      capacity: How many elements the queue holds.
      enqueue_many: Whether each is a batch already, whose first axis is "batch".
      allow_smaller_final_batch: Whether the last batch may be smaller; the size of the axis is unknown then.
      name: A name for the operations.

    Returns:
      The batches, one for each labeled tensor.

    Raises:
      ValueError: If `enqueue_many` and a first axis is not "batch".
    """
    return _batched(
        "lt_batch",
        lambda tensors, scope: tf.train.batch(
            tensors,
            batch_size=batch_size,
            num_threads=num_threads,
            capacity=capacity,
            enqueue_many=enqueue_many,
            allow_smaller_final_batch=allow_smaller_final_batch,
            name=scope,
        ),
        None if allow_smaller_final_batch else batch_size,
        enqueue_many,
        labeled_tensors,
        name,
    )


@export("contrib.labeled_tensor.shuffle_batch")
@checks.accepts(
    _TENSORS,
    checks.INTEGER,
    checks.INTEGER,
    checks.INTEGER,
    checks.BOOLEAN,
    checks.INTEGER,
    checks.optional(checks.INTEGER),
    checks.BOOLEAN,
    checks.NAME,
)
def shuffle_batch(
    labeled_tensors: Collection,
    batch_size: int,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    min_after_dequeue: int = 0,
    seed: int | None = None,
    allow_smaller_final_batch: bool = False,
    name: str | None = None,
) -> list[LabeledTensor]:
    """Gathers labeled tensors in shuffled batches, along a first axis "batch".

    Args:
      labeled_tensors: The labeled tensors.
      batch_size: How many elements a batch has.
      num_threads: How many threads fill the queue.
      capacity: How many elements the queue holds.
      enqueue_many: Whether each is a batch already, whose first axis is "batch".
      min_after_dequeue: How many elements stay in the queue, to choose from.
      seed: The seed of the choices.
      allow_smaller_final_batch: Whether the last batch may be smaller; the size of the axis is unknown then.
      name: A name for the operations.

    Returns:
      The batches, one for each labeled tensor.

    Raises:
      ValueError: If `enqueue_many` and a first axis is not "batch".
    """
    return _batched(
        "lt_shuffle_batch",
        lambda tensors, scope: tf.train.shuffle_batch(
            tensors,
            batch_size=batch_size,
            num_threads=num_threads,
            capacity=capacity,
            enqueue_many=enqueue_many,
            min_after_dequeue=min_after_dequeue,
            seed=seed,
            allow_smaller_final_batch=allow_smaller_final_batch,
            name=scope,
        ),
        None if allow_smaller_final_batch else batch_size,
        enqueue_many,
        labeled_tensors,
        name,
    )


def _batched(
    default_name: str,
    batch_fn: Callable[[list, str], Any],
    size: int | None,
    enqueue_many: bool,
    labeled_tensors: Collection,
    name: str | None,
) -> list[LabeledTensor]:
    with tf.name_scope(name, default_name, labeled_tensors) as scope:
        given = [convert_to_labeled_tensor(each) for each in labeled_tensors]
        batches = batch_fn([each.tensor for each in given], scope)
        batches = batches if isinstance(batches, list) else [batches]
        return [
            LabeledTensor(tensor, _axes(each.axes, size, enqueue_many))
            for tensor, each in zip(batches, given, strict=True)
        ]


def _axes(axes: Axes, size: int | None, enqueue_many: bool) -> Axes:
    if enqueue_many:
        if next(iter(axes), None) != "batch":
            raise ValueError(
                'When enqueue_many is True, input tensors must have an axis called "batch" as their first '
                f"dimension, but axes were {axes}"
            )
        axes = axes.remove("batch")
    return Axes([("batch", size), *axes.values()])
