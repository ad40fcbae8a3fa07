"""Names that tests of `tensorflow.contrib.learn`'s estimators ask for, beside the estimators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tideflow.contrib.learn.combined import DNNLinearCombinedEstimator
from tideflow.contrib.learn.scikit import check_input_arguments, input_of_arrays
from tideflow.estimator.preparation import device_setter_of

_DNNLinearCombinedEstimator = DNNLinearCombinedEstimator
_get_replica_device_setter = device_setter_of


def _get_input_fn(
    x: Any,
    y: Any,
    input_fn: Callable | None,
    feed_fn: Callable | None,
    batch_size: int | None,
    shuffle: bool = False,
    epochs: int | None = 1,
) -> tuple[Callable, Callable | None]:
    """The function of inputs and that of feeds: those given, or those of arrays."""
    check_input_arguments(x, y, input_fn, feed_fn, batch_size)
    if input_fn is not None:
        return input_fn, feed_fn
    return input_of_arrays(x, y, batch_size, shuffle, epochs)
