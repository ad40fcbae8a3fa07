"""Values of metrics: their differences, their confidence intervals, and the messages they are written as."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tideflow.pipeline.evaluation.binary_metrics import Matrices
from tideflow.pipeline.evaluation.class_metrics import ClassMatrices
from tideflow.pipeline.messages import evaluation as messages

SAMPLES = 20  # of the jackknife and of the bootstrap
# The 97.5 % quantile of Student's t distribution of SAMPLES - 1 degrees of freedom.
_T_QUANTILE = 2.093024054408263


@dataclass(frozen=True)
class Interval:
    """A value with its 95 % confidence interval.

    Args:
      value: The value of all rows.
      mean: The mean over the samples.
      standard_error: The standard error.
      degrees_of_freedom: Of Student's t distribution.
    """

    value: Any
    mean: Any
    standard_error: Any
    degrees_of_freedom: int = SAMPLES - 1

    def bounds(self) -> tuple[Any, Any]:
        """The lower and the upper bound."""
        lower = combine(lambda mean, error: mean - _T_QUANTILE * error, self.mean, self.standard_error)
        upper = combine(lambda mean, error: mean + _T_QUANTILE * error, self.mean, self.standard_error)
        return lower, upper


def is_numeric(value: Any) -> bool:
    """Whether differences and intervals can be taken of a value."""
    return isinstance(value, (int, float, Matrices, ClassMatrices, np.number)) or (
        isinstance(value, np.ndarray) and value.dtype.kind in "iuf"
    )


def combine(function: Callable[..., Any], *values: Any) -> Any:
    """A function of values of one kind, element by element. Entries that a matrix does not have are 0."""
    first = values[0]
    if isinstance(first, Matrices):
        return Matrices(
            first.thresholds, *(function(*columns) for columns in zip(*(v[1:] for v in values), strict=True))
        )
    if isinstance(first, ClassMatrices):
        entries = sorted(set().union(*values))
        return ClassMatrices(
            {entry: function(*(each.get(entry, 0.0) for each in values)) for entry in entries}
        )
    return function(*values)


def _mean(*values: Any) -> Any:
    return np.mean(values, axis=0) if isinstance(values[0], np.ndarray) else float(np.mean(values))


def _deviation(*values: Any) -> Any:
    deviation = np.std(values, axis=0, ddof=1)
    return deviation if isinstance(values[0], np.ndarray) else float(deviation)


def bootstrap_interval(value: Any, samples: Sequence[Any]) -> Interval:
    """The interval of a value by its values of samples with replacement."""
    return Interval(value, combine(_mean, *samples), combine(_deviation, *samples))


def jackknife_interval(value: Any, samples: Sequence[Any]) -> Interval:
    """The interval of a value by its values where one part of the rows is left out."""
    count = len(samples)
    pseudo = [
        combine(lambda whole, part: whole * count - part * (count - 1), value, each) for each in samples
    ]
    error = combine(lambda *each: _deviation(*each) / count**0.5, *pseudo)
    return Interval(value, combine(_mean, *samples), error)


def difference(one: Any, other: Any) -> Any:
    """One value less another; a NaN for thresholds that only one has."""
    if isinstance(one, Matrices) and len(one.thresholds) != len(other.thresholds):
        return Matrices(one.thresholds, *(np.full(len(one.thresholds), np.nan) for _ in range(4)))
    return combine(lambda a, b: a - b, one, other)


# -------------------------------------------------------------------------------------------------- messages

_ARRAY_TYPES = {"int32": "INT32", "int64": "INT64", "float32": "FLOAT32", "float64": "FLOAT64"}


def value_message(value: Any) -> Any:
    """A value as a MetricValue."""
    if isinstance(value, (Matrices, ClassMatrices)):
        return value.message()
    message = messages.MetricValue()
    if isinstance(value, (bytes, str)):
        message.bytes_value = value if isinstance(value, bytes) else value.encode()
    elif isinstance(value, np.ndarray):
        _set_array(message.array_value, value)
    else:
        message.double_value.value = float(value)
    return message


def _set_array(message: Any, array: np.ndarray) -> None:
    message.shape.extend(array.shape)
    kind = _ARRAY_TYPES.get(array.dtype.name)
    message.data_type = messages.ArrayValue.DataType.Value(kind or "BYTES")
    if kind:
        getattr(message, f"{array.dtype.name}_values").extend(array.reshape(-1).tolist())
    else:
        flat = array.reshape(-1).tolist()
        message.bytes_values.extend(each if isinstance(each, bytes) else str(each).encode() for each in flat)


def interval_message(interval: Interval) -> Any:
    """A confidence interval as a message."""
    lower, upper = interval.bounds()
    message = messages.ConfidenceInterval(
        lower_bound=value_message(lower),
        upper_bound=value_message(upper),
        standard_error=value_message(interval.standard_error),
    )
    message.degrees_of_freedom.value = interval.degrees_of_freedom
    return message


def point(value: Any) -> Any:
    """The value itself, of one with an interval too."""
    return value.value if isinstance(value, Interval) else value
