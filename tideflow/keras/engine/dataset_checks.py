"""What datasets and generators may be given with as data of a model, and how many batches a dataset has."""

from __future__ import annotations

from typing import Any

import tideflow as tf
from tideflow.graph import nest
from tideflow.keras.utils.data_utils import Sequence
from tideflow.layers.keras_session import get_value


def is_generator(x: Any) -> bool:
    """Whether this makes batches: a generator, or a `Sequence`."""
    return isinstance(x, Sequence) or hasattr(x, "__next__") or hasattr(x, "next")


def is_dataset(x: Any) -> bool:
    """Whether this is a dataset, or an iterator over one."""
    return isinstance(x, (tf.data.Dataset, tf.data.Iterator))


def check(x: Any, y: Any, sample_weight: Any, steps: int | None, steps_name: str) -> None:
    """Refuses what batches have in themselves, and to find the end of a dataset that has none.

    Raises:
      ValueError: If true values or weights are given beside a dataset or a generator, or no number of steps
        for a dataset that is repeated for ever.
    """
    if is_dataset(x):
        _check_dataset(x, y, sample_weight)
        endless = tf.data.experimental.INFINITE_CARDINALITY
        if steps is None and isinstance(x, tf.data.Dataset) and _cardinality(x) == endless:
            raise ValueError(
                f"When passing an infinitely repeating dataset, you must specify the `{steps_name}` argument."
            )
    elif steps is None and not tf.executing_eagerly() and (x is None or _has_tensors(x)):
        raise ValueError(
            f"When using data tensors as input to a model, you should specify the `{steps_name}` argument."
        )
    elif is_generator(x):
        _check_generator(y, sample_weight)
        if not tf.executing_eagerly():
            check_steps(x, steps, steps_name)


def _has_tensors(x: Any) -> bool:
    return any(isinstance(leaf, (tf.Tensor, tf.SparseTensor, tf.RaggedTensor)) for leaf in nest.flatten(x))


def _check_dataset(x: Any, y: Any, sample_weight: Any) -> None:
    if y is not None:
        raise ValueError(
            f"You passed a dataset or dataset iterator ({x}) as input `x` to your model. In that case, you "
            "should not specify a target (`y`) argument, since the dataset or dataset iterator generates "
            f"both input data and target data. Received: {y}"
        )
    if sample_weight is not None:
        raise ValueError(
            "`sample_weight` argument is not supported when input `x` is a dataset or a dataset iterator. "
            "Instead, you can provide sample_weight as the third element of your dataset, i.e. (inputs, "
            f"targets, sample_weight). Received: x={x}, sample_weight={sample_weight}"
        )


def _check_generator(y: Any, sample_weight: Any) -> None:
    beside = "using python generator as input" if tf.executing_eagerly() else "data isa generator or Sequence"
    if y is not None:
        raise ValueError(
            f"`y` argument is not supported when {beside} instance. Instead pass targets as the second "
            "element of the generator."
        )
    if sample_weight is not None:
        raise ValueError(
            f"`sample_weight` argument is not supported when {beside} instance. Instead pass sample weights "
            "as the third element of the generator."
        )


def check_steps(generator: Any, steps: int | None, steps_name: str) -> None:
    """ValueError for a generator that goes on for as long as it is asked, with no number of steps."""
    if steps is not None or is_dataset(generator) or isinstance(generator, Sequence):
        return
    if steps_name == "validation_steps":
        raise ValueError("Please specify the `validation_steps` argument.")
    raise ValueError(f"Please specify the number of steps via the `{steps_name}` argument.")


def check_split(x: Any, split: float) -> None:
    """ValueError where a part of batches is to be kept for validation: only arrays can be divided."""
    if not split:
        return
    if is_generator(x):
        raise ValueError(
            "If your data is in the form of a Python generator, you cannot use `validation_split`."
        )
    if is_dataset(x):
        raise ValueError(
            "`validation_split` argument is not supported when input `x` is a dataset or a dataset iterator. "
            f"Received: x={x}, validation_split={split:f}"
        )


def check_batch_size(x: Any, batch_size: int | None) -> None:
    """ValueError where a size is given for batches that have theirs."""
    if batch_size is not None and (is_generator(x) or is_dataset(x)):
        raise ValueError(
            "The `batch_size` argument must not be specified for the given input type. Received "
            f"input: {x}, batch_size: {batch_size}"
        )


def size_of(dataset: Any) -> int | None:
    """How many batches a dataset has; None if that is not known before they are read."""
    size = _cardinality(dataset)
    return size if size >= 0 else None


def _cardinality(dataset: Any) -> int:
    return int(get_value(tf.data.experimental.cardinality(dataset)))
