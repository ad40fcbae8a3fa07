"""What tests and libraries take from `keras.utils.metrics_utils`."""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable
from typing import Any

import tideflow as tf
from tideflow.keras.metrics import confusion

NEG_INF = -1e10


class Reduction(enum.Enum):
    """How a metric puts values together."""

    SUM = "sum"
    SUM_OVER_BATCH_SIZE = "sum_over_batch_size"
    WEIGHTED_MEAN = "weighted_mean"


class ConfusionMatrix(enum.Enum):
    """The four cells of a confusion matrix of two classes."""

    TRUE_POSITIVES = "tp"
    FALSE_POSITIVES = "fp"
    TRUE_NEGATIVES = "tn"
    FALSE_NEGATIVES = "fn"


class AUCCurve(enum.Enum):
    """The curve under which an area is measured."""

    ROC = "ROC"
    PR = "PR"

    @staticmethod
    def from_str(key: str) -> AUCCurve:
        """The curve of a name; ValueError for another."""
        if key.upper() not in ("ROC", "PR") or key not in (key.lower(), key.upper()):
            raise ValueError(f'Invalid AUC curve value "{key}".')
        return AUCCurve(key.upper())


class AUCSummationMethod(enum.Enum):
    """How the area under a curve is put together."""

    INTERPOLATION = "interpolation"
    MAJORING = "majoring"
    MINORING = "minoring"

    @staticmethod
    def from_str(key: str) -> AUCSummationMethod:
        """The method of a name; ValueError for another."""
        if key not in {name for each in AUCSummationMethod for name in (each.value, each.value.capitalize())}:
            raise ValueError(f'Invalid AUC summation method value "{key}".')
        return AUCSummationMethod(key.lower())


def assert_thresholds_range(thresholds: Any) -> None:
    """Refuses thresholds that are not between 0 and 1.

    Args:
      thresholds: The thresholds; None for none.

    Raises:
      ValueError: If one is not.
    """
    if thresholds is not None:
        confusion._checked(thresholds)


def parse_init_thresholds(thresholds: Any, default_threshold: float = 0.5) -> list[float]:
    """Thresholds as a list.

    Args:
      thresholds: One, or a list; None for the default.
      default_threshold: The default.

    Returns:
      The list.
    """
    return confusion._checked(default_threshold if thresholds is None else thresholds)


def update_confusion_matrix_variables(
    variables_to_update: dict[ConfusionMatrix, Any] | None,
    y_true: Any,
    y_pred: Any,
    thresholds: Any,
    top_k: int | None = None,
    class_id: int | None = None,
    sample_weight: Any = None,
) -> Any:
    """Adds to the counts of a confusion matrix.

    Args:
      variables_to_update: The variable of each cell that is counted.
      y_true: The true values.
      y_pred: The predictions, from 0 to 1.
      thresholds: The thresholds above which a prediction is positive.
      top_k: If given, only the largest predictions of a sample count as positive.
      class_id: If given, only this class counts.
      sample_weight: The weights of samples.

    Returns:
      The operation of the updates.

    Raises:
      ValueError: If a key is no cell of the matrix, or there is none.
    """
    if variables_to_update is None:
        return None
    cells = list(ConfusionMatrix)
    invalid = [key for key in variables_to_update if key not in cells]
    if len(invalid) == len(variables_to_update):
        raise ValueError(
            "Please provide at least one valid confusion matrix variable to update. Valid variable key "
            "options "
            f'are: "{cells}". Received: "{variables_to_update.keys()}"'
        )
    if invalid:
        raise ValueError(f'Invalid keys: {invalid}. Valid variable key options are: "{cells}"')
    kinds = {cell: cell.name.lower() for cell in variables_to_update}
    limits = list(thresholds) if isinstance(thresholds, (list, tuple)) else [thresholds]
    found = confusion.counted(y_true, y_pred, limits, list(kinds.values()), sample_weight, top_k, class_id)
    updates = [variable.assign_add(found[kinds[cell]]) for cell, variable in variables_to_update.items()]
    return None if tf.executing_eagerly() else tf.group(*updates)


def update_state_wrapper(update_state_fn: Callable) -> Callable:
    """Has a metric know the updates that a function of it makes.

    Args:
      update_state_fn: The function.

    Returns:
      A function of the metric and the arguments.
    """

    @functools.wraps(update_state_fn)
    def decorated(metric_obj: Any, *args: Any, **kwargs: Any) -> Any:
        made = update_state_fn(*args, **kwargs)
        if made is not None:
            metric_obj.add_update(made)
        return made

    return decorated


def result_wrapper(result_fn: Callable) -> Callable:
    """Has a metric keep the result that a function of it computes.

    Args:
      result_fn: The function.

    Returns:
      A function of the metric and the arguments.
    """

    @functools.wraps(result_fn)
    def decorated(metric_obj: Any, *args: Any) -> Any:
        metric_obj._call_result = tf.identity(result_fn(*args))
        return metric_obj._call_result

    return decorated


def ragged_assert_compatible_and_get_flat_values(values: Any, mask: Any = None) -> tuple[Any, Any]:
    """The flat values of ragged tensors, which have the same rows.

    Args:
      values: A tensor, or a list of them.
      mask: A mask for them.

    Returns:
      The flat values, and those of the mask; what is not ragged as it is.

    Raises:
      TypeError: If only some are ragged.
      ValueError: If their ragged ranks differ.
    """
    given = values if isinstance(values, list) else [values]
    if not any(isinstance(each, tf.RaggedTensor) for each in given):
        return (given if isinstance(values, list) else given[0]), mask
    if not all(isinstance(each, tf.RaggedTensor) for each in given):
        raise TypeError("One of the inputs does not have acceptable types.")
    if len({each.ragged_rank for each in given}) > 1:
        raise ValueError("One of the inputs does not have acceptable types.")
    if isinstance(mask, tf.RaggedTensor):
        mask = mask.flat_values
    flat = [each.flat_values for each in given]
    return (flat if isinstance(values, list) else flat[0]), mask
