"""`pandas_input_fn`: features and labels from data frames of pandas."""

from __future__ import annotations

import importlib.util
import uuid
from collections.abc import Callable
from typing import Any

import numpy as np

import tideflow as tf
from tideflow.estimator.inputs.feeding import check_shuffle, dequeue_batch, enqueue_rows
from tideflow.export import export


@export("estimator.inputs.pandas_input_fn")
def pandas_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool | None = None,
    queue_capacity: int | None = 1000,
    num_threads: int = 1,
    target_column: str = "target",
) -> Callable[[], Any]:
    """Makes an input function that gives batches of a data frame's rows.

    Args:
      x: The features: a DataFrame of pandas.
      y: The labels: a Series or a DataFrame with the same index; none if None.
      batch_size: The number of examples in a batch.
      num_epochs: How often the rows are gone through; without end if None.
      shuffle: Whether the examples are shuffled, True or False.
      queue_capacity: The capacity of the queue between rows and batches; by the number of rows if None.
      num_threads: The number of threads that fill the queue.
      target_column: The name of the labels beside the features.

    Returns:
      The function. It returns the features by name, or a tuple of features and labels.

    Raises:
      TypeError: If pandas is not installed, or `target_column` is not a string.
      ValueError: If `shuffle` is not given, or features and labels do not fit.
    """
    if importlib.util.find_spec("pandas") is None:
        raise TypeError("pandas_input_fn should not be called without pandas installed")
    check_shuffle(shuffle)
    if not isinstance(target_column, str):
        raise TypeError("target_column must be a string type")
    frame = x.copy()
    targets = _with_targets(frame, y, target_column)
    if queue_capacity is None:
        queue_capacity = (4 if shuffle else 1) * len(x)
    columns = list(frame.columns)

    def rows(numbers: np.ndarray) -> list[Any]:
        chosen = frame.iloc[numbers]
        return [chosen.index.values, *(chosen[column].values for column in columns)]

    def input_fn() -> Any:
        types = [tf.as_dtype(dtype) for dtype in (frame.index.dtype, *frame.dtypes)]
        queue = enqueue_rows(
            rows,
            len(frame),
            types,
            [()] * len(types),
            queue_capacity,
            shuffle,
            num_threads,
            batch_size,
            num_epochs,
            min_after_dequeue=max(queue_capacity / 4, 1),
        )
        _, *batch = dequeue_batch(queue, batch_size, num_epochs)
        features = dict(zip(columns, batch, strict=True))
        if y is None:
            return features
        labels = {name: features.pop(column) for name, column in targets.items()}
        return features, labels if _is_frame(y) else labels[target_column]

    return input_fn


def _is_frame(y: Any) -> bool:
    return hasattr(y, "columns")


def _with_targets(frame: Any, y: Any, target_column: str) -> dict[str, str]:
    """Adds the labels to the features as columns: their names there, by their own."""
    if y is None:
        return {}
    if target_column in frame:
        raise ValueError(
            f"Cannot use name {target_column} for target column: DataFrame already has a column with that "
            f"name: {frame.columns}"
        )
    if not np.array_equal(frame.index, y.index):
        raise ValueError(
            f"Index for x and y are mismatched.\nIndex for x: {frame.index}\nIndex for y: {y.index}\n"
        )
    if not _is_frame(y):
        frame[target_column] = y
        return {target_column: target_column}
    names = {name: f"{name}_{uuid.uuid4()}" if name in frame else name for name in y.columns}
    for name, column in names.items():
        frame[column] = y[name]
    return names
