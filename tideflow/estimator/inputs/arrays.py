"""`numpy_input_fn`: features and labels from arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tideflow as tf
from tideflow.estimator.inputs.feeding import check_shuffle, dequeue_batch, enqueue_rows
from tideflow.export import export


@export("estimator.inputs.numpy_input_fn")
def numpy_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool | None = None,
    queue_capacity: int = 1000,
    num_threads: int = 1,
) -> Callable[[], Any]:
    """Makes an input function that gives batches of arrays.

    Args:
      x: The features: an array, or arrays by name.
      y: The labels: an array, or arrays by name; none if None.
      batch_size: The number of examples in a batch.
      num_epochs: How often the arrays are gone through; without end if None.
      shuffle: Whether the examples are shuffled, True or False.
      queue_capacity: The capacity of the queue between arrays and batches.
      num_threads: The number of threads that fill the queue.

    Returns:
      The function. It returns the features, or a tuple of features and labels.

    Raises:
      ValueError: If `shuffle` is not given.
    """
    check_shuffle(shuffle)

    def input_fn() -> Any:
        features, labels = _by_name(x), _labels_by_name(y)
        both = features.keys() & labels.keys()
        if both:
            raise ValueError(f"{len(both)} duplicate keys are found in both x and y: {both}")
        columns = [*features.values(), *labels.values()]
        length = len(columns[0])
        if any(len(column) != length for column in columns):
            raise ValueError(
                "Length of tensors in x and y is mismatched. All elements in x and y must have the same "
                f"length.\nShapes in x: { {key: each.shape for key, each in features.items()} }\n"
                f"Shapes in y: {_shapes(y)}\n"
            )
        queue = enqueue_rows(
            lambda numbers: [numbers, *(column[numbers] for column in columns)],
            length,
            [tf.int64, *(tf.as_dtype(column.dtype) for column in columns)],
            [(), *(column.shape[1:] for column in columns)],
            queue_capacity,
            shuffle,
            num_threads,
            batch_size,
            num_epochs,
        )
        _, *batch = dequeue_batch(queue, batch_size, num_epochs)
        given = dict(zip(features, batch[: len(features)], strict=True)) if isinstance(x, dict) else batch[0]
        if y is None:
            return given
        if isinstance(y, dict):
            return given, dict(zip(labels, batch[len(features) :], strict=True))
        return given, batch[-1]

    return input_fn


def _by_name(x: Any) -> dict[Any, np.ndarray]:
    if isinstance(x, dict):
        if not x:
            raise ValueError("x cannot be an empty dict")
        return dict(sorted(x.items()))
    if isinstance(x, np.ndarray):
        if not x.size:
            raise ValueError("x cannot be an empty array")
        return {"__direct_np_input__": x}
    raise TypeError(f"x must be a dict or array; got {type(x).__name__}")


def _labels_by_name(y: Any) -> dict[Any, np.ndarray]:
    if y is None:
        return {}
    if not isinstance(y, dict):
        return {object(): y}  # a name that no feature has
    if not y:
        raise ValueError("y cannot be empty dict, use None instead.")
    return dict(sorted(y.items()))


def _shapes(y: Any) -> Any:
    return {key: each.shape for key, each in y.items()} if isinstance(y, dict) else getattr(y, "shape", None)
