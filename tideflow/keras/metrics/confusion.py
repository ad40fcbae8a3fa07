"""Metrics of the confusion matrix: how many positives and negatives are right at a threshold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import tideflow as tf
from tideflow.export import export
from tideflow.keras import losses
from tideflow.keras.metrics.metric import WORDS, Metric
from tideflow.layers.argument_docs import described
from tideflow.layers.keras_session import batch_set_value
from tideflow.layers.keras_state import epsilon

if TYPE_CHECKING:
    from tideflow.graph.operation import Tensor
    from tideflow.graph.typing import DTypeLike, TensorLike

_WORDS = {
    **WORDS,
    "thresholds": "The prediction above which a sample counts as positive, or a list; 0.5 if None.",
    "top_k": "If given, only the largest predictions of a sample count as positive.",
    "class_id": "If given, only this class counts.",
    "num_thresholds": "The number of thresholds between 0 and 1.",
    "curve": '`"ROC"` or `"PR"`, precision over recall.',
    "summation_method": '`"interpolation"`, `"minoring"` or `"majoring"`.',
    "sensitivity": "The sensitivity, from 0 to 1.",
    "specificity": "The specificity, from 0 to 1.",
}
_KINDS = {
    "true_positives": (1, 1),
    "false_positives": (0, 1),
    "true_negatives": (0, 0),
    "false_negatives": (1, 0),
}


def _checked(thresholds: Any) -> list[float]:
    thresholds = list(thresholds) if isinstance(thresholds, (list, tuple)) else [thresholds]
    wrong = [value for value in thresholds if value is None or not 0 <= value <= 1]
    if wrong:
        raise ValueError(f"Threshold values must be in [0, 1]. Invalid values: {wrong}")
    return thresholds


def _with_margins(inner: Sequence[float]) -> list[float]:
    """Thresholds that have all predictions between the first and the last one."""
    return [0.0 - epsilon(), *inner, 1.0 + epsilon()]


def _evenly(number: int) -> list[float]:
    return _with_margins([(i + 1) * 1.0 / (number - 1) for i in range(number - 2)])


def counted(
    y_true: Any,
    y_pred: Any,
    thresholds: Sequence[float],
    kinds: Sequence[str],
    sample_weight: Any = None,
    top_k: int | None = None,
    class_id: int | None = None,
) -> dict[str, Tensor]:
    """The weighted number of samples of each kind, at each threshold."""
    y_true, y_pred = tf.cast(y_true, tf.float32), tf.cast(y_pred, tf.float32)
    y_pred.shape.assert_is_compatible_with(y_true.shape)
    y_pred = _as_probabilities(y_pred)
    y_pred, y_true, sample_weight = losses.squeeze_or_expand(
        y_pred, y_true, None if sample_weight is None else tf.cast(sample_weight, tf.float32)
    )
    if top_k is not None:
        _, best = tf.nn.top_k(y_pred, top_k)
        chosen = tf.reduce_sum(tf.one_hot(best, tf.shape(y_pred)[-1], axis=-1), axis=-2)
        y_pred = y_pred * chosen + -1e10 * (1 - chosen)
    if class_id is not None:
        y_true, y_pred = y_true[..., class_id], y_pred[..., class_id]
    limits = tf.reshape(tf.constant(list(thresholds), tf.float32), [-1, 1])
    predicted = tf.greater(tf.reshape(y_pred, [1, -1]), limits)
    labels = tf.tile(tf.cast(tf.reshape(y_true, [1, -1]), tf.bool), [len(thresholds), 1])
    weight: Any = 1.0
    if sample_weight is not None:
        weight = losses.broadcast_weights(sample_weight, y_pred)
        weight = tf.reshape(weight, [1, -1])
    found = {}
    for kind in kinds:
        is_true, is_positive = _KINDS[kind]
        a = labels if is_true else tf.logical_not(labels)
        b = predicted if is_positive else tf.logical_not(predicted)
        found[kind] = tf.reduce_sum(tf.cast(tf.logical_and(a, b), tf.float32) * weight, 1)
    return found


def _as_probabilities(y_pred: Tensor) -> Tensor:
    """Predictions, which are between 0 and 1 wherever they are computed."""
    checks = [
        tf.debugging.assert_greater_equal(y_pred, 0.0, message="predictions must be >= 0"),
        tf.debugging.assert_less_equal(y_pred, 1.0, message="predictions must be <= 1"),
    ]
    with tf.control_dependencies([check for check in checks if check is not None]):
        return tf.identity(y_pred)


class _Counting(Metric):
    """A metric whose state is counts at thresholds."""

    _kinds: tuple[str, ...]

    def _add_counts(self, thresholds: Sequence[float]) -> None:
        self._limits = list(thresholds)
        for kind in self._kinds:
            shape = (len(self._limits),)
            setattr(self, kind, self.add_weight(kind, shape=shape, initializer=tf.zeros_initializer()))

    def update_state(
        self, y_true: TensorLike, y_pred: TensorLike, sample_weight: TensorLike | None = None
    ) -> Any:
        """Adds to the state.

        Args:
          y_true: The true values.
          y_pred: The predictions.
          sample_weight: The weights of the samples.

        Returns:
          The operation that does so.
        """
        numbers = counted(
            y_true,
            y_pred,
            self._limits,
            self._kinds,
            sample_weight,
            getattr(self, "top_k", None),
            getattr(self, "class_id", None),
        )
        return tf.group(*[getattr(self, kind).assign_add(number) for kind, number in numbers.items()])

    def reset_states(self) -> None:
        batch_set_value([(variable, np.zeros(variable.shape.as_list())) for variable in self.variables])


class _Count(_Counting):
    """The number of one kind, at one threshold or several."""

    def __init__(self, thresholds: Any = None, name: str | None = None, dtype: DTypeLike | None = None):
        super().__init__(name=name, dtype=dtype)
        self.init_thresholds = thresholds
        self.thresholds = _checked(0.5 if thresholds is None else thresholds)
        self._kinds = (self._kind,)
        self._limits = self.thresholds
        self.accumulator = self.add_weight(
            "accumulator", shape=(len(self.thresholds),), initializer=tf.zeros_initializer()
        )

    def update_state(
        self, y_true: TensorLike, y_pred: TensorLike, sample_weight: TensorLike | None = None
    ) -> Any:
        number = counted(y_true, y_pred, self.thresholds, self._kinds, sample_weight)[self._kind]
        return self.accumulator.assign_add(number)

    def result(self) -> Any:
        found = self.accumulator[0] if len(self.thresholds) == 1 else self.accumulator
        return tf.convert_to_tensor(found)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "thresholds": self.init_thresholds}


@export("keras.metrics.FalsePositives")
@described("The number of negatives that are taken for positives.", **_WORDS)
class FalsePositives(_Count):
    _kind = "false_positives"


@export("keras.metrics.FalseNegatives")
@described("The number of positives that are taken for negatives.", **_WORDS)
class FalseNegatives(_Count):
    _kind = "false_negatives"


@export("keras.metrics.TruePositives")
@described("The number of positives that are recognized.", **_WORDS)
class TruePositives(_Count):
    _kind = "true_positives"


@export("keras.metrics.TrueNegatives")
@described("The number of negatives that are recognized.", **_WORDS)
class TrueNegatives(_Count):
    _kind = "true_negatives"


class _Share(_Counting):
    """The share of true positives in a sum of two counts."""

    def __init__(
        self,
        thresholds: Any = None,
        top_k: int | None = None,
        class_id: int | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
    ):
        super().__init__(name=name, dtype=dtype)
        self.init_thresholds = thresholds
        self.top_k = top_k
        self.class_id = class_id
        default = 0.5 if top_k is None else -1e10
        self.thresholds = [default] if thresholds is None else _checked(thresholds)
        self._add_counts(self.thresholds)

    def result(self) -> Any:
        right, other = (getattr(self, kind) for kind in self._kinds)
        share = tf.div_no_nan(right, right + other)
        return share[0] if len(self.thresholds) == 1 else share

    def get_config(self) -> dict[str, Any]:
        own = {"thresholds": self.init_thresholds, "top_k": self.top_k, "class_id": self.class_id}
        return {**super().get_config(), **own}


@export("keras.metrics.Precision")
@described("The share of what is taken for positive that is positive.", **_WORDS)
class Precision(_Share):
    _kinds = ("true_positives", "false_positives")


@export("keras.metrics.Recall")
@described("The share of positives that is recognized.", **_WORDS)
class Recall(_Share):
    _kinds = ("true_positives", "false_negatives")


class _AtBest(_Counting):
    """One rate at the threshold where the other is nearest to a value."""

    _kinds = ("true_positives", "true_negatives", "false_positives", "false_negatives")

    def __init__(self, value: float, num_thresholds: int, name: str | None, dtype: DTypeLike | None):
        super().__init__(name=name, dtype=dtype)
        if num_thresholds <= 0:
            raise ValueError("`num_thresholds` must be > 0.")
        self.value = value
        self.num_thresholds = num_thresholds
        inner = [(i + 1) * 1.0 / (num_thresholds - 1) for i in range(num_thresholds - 2)]
        self.thresholds = [0.5] if num_thresholds == 1 else [0.0, *inner, 1.0]
        self._add_counts(self.thresholds)

    def _rates(self) -> tuple[Any, Any]:
        sensitivity = tf.div_no_nan(self.true_positives, self.true_positives + self.false_negatives)
        specificity = tf.div_no_nan(self.true_negatives, self.true_negatives + self.false_positives)
        return sensitivity, specificity

    def _at_nearest(self, given: Any, wanted: Any) -> Any:
        return wanted[tf.cast(tf.argmin(tf.abs(given - self.value)), tf.int32)]


@export("keras.metrics.SensitivityAtSpecificity")
@described("The sensitivity where the specificity has a value.", **_WORDS)
class SensitivityAtSpecificity(_AtBest):
    def __init__(
        self,
        specificity: float,
        num_thresholds: int = 200,
        name: str | None = None,
        dtype: DTypeLike | None = None,
    ):
        if not 0 <= specificity <= 1:
            raise ValueError("`specificity` must be in the range [0, 1].")
        self.specificity = specificity
        super().__init__(specificity, num_thresholds, name, dtype)

    def result(self) -> Any:
        sensitivity, specificity = self._rates()
        return self._at_nearest(specificity, sensitivity)

    def get_config(self) -> dict[str, Any]:
        own = {"num_thresholds": self.num_thresholds, "specificity": self.specificity}
        return {**super().get_config(), **own}


@export("keras.metrics.SpecificityAtSensitivity")
@described("The specificity where the sensitivity has a value.", **_WORDS)
class SpecificityAtSensitivity(_AtBest):
    def __init__(
        self,
        sensitivity: float,
        num_thresholds: int = 200,
        name: str | None = None,
        dtype: DTypeLike | None = None,
    ):
        if not 0 <= sensitivity <= 1:
            raise ValueError("`sensitivity` must be in the range [0, 1].")
        self.sensitivity = sensitivity
        super().__init__(sensitivity, num_thresholds, name, dtype)

    def result(self) -> Any:
        sensitivity, specificity = self._rates()
        return self._at_nearest(sensitivity, specificity)

    def get_config(self) -> dict[str, Any]:
        own = {"num_thresholds": self.num_thresholds, "sensitivity": self.sensitivity}
        return {**super().get_config(), **own}


@export("keras.metrics.AUC")
@described("The area under a curve of rates over all thresholds.", **_WORDS)
class AUC(_Counting):
    _kinds = ("true_positives", "true_negatives", "false_positives", "false_negatives")

    def __init__(
        self,
        num_thresholds: int = 200,
        curve: str = "ROC",
        summation_method: str = "interpolation",
        name: str | None = None,
        dtype: DTypeLike | None = None,
        thresholds: Sequence[float] | None = None,
    ):
        if curve not in ("ROC", "PR"):
            raise ValueError(f'Invalid AUC curve value "{curve}".')
        if summation_method not in ("interpolation", "minoring", "majoring"):
            raise ValueError(f'Invalid AUC summation method value "{summation_method}".')
        if thresholds is None:
            if num_thresholds <= 1:
                raise ValueError("`num_thresholds` must be > 1.")
            limits = _evenly(num_thresholds)
        else:
            limits = _with_margins(sorted(_checked(list(thresholds))))
        super().__init__(name=name, dtype=dtype)
        self.num_thresholds = len(limits)
        self.thresholds = limits
        self.curve = curve
        self.summation_method = summation_method
        self._add_counts(limits)

    def interpolate_pr_auc(self) -> Any:
        """The area under precision over recall, where counts grow linearly between thresholds."""
        tp, positives = self.true_positives, self.true_positives + self.false_positives
        d_tp = tp[: self.num_thresholds - 1] - tp[1:]
        d_positives = positives[: self.num_thresholds - 1] - positives[1:]
        slope = tf.div_no_nan(d_tp, tf.maximum(d_positives, 0))
        intercept = tp[1:] - tf.multiply(slope, positives[1:])
        ratio = tf.where(
            tf.logical_and(positives[: self.num_thresholds - 1] > 0, positives[1:] > 0),
            tf.div_no_nan(positives[: self.num_thresholds - 1], tf.maximum(positives[1:], 0)),
            tf.ones_like(positives[1:]),
        )
        total = tf.maximum(tp[1:] + self.false_negatives[1:], 0)
        return tf.reduce_sum(tf.div_no_nan(slope * (d_tp + intercept * tf.log(ratio)), total))

    def result(self) -> Any:
        if self.curve == "PR" and self.summation_method == "interpolation":
            return self.interpolate_pr_auc()
        recall = tf.div_no_nan(self.true_positives, self.true_positives + self.false_negatives)
        if self.curve == "ROC":
            x = tf.div_no_nan(self.false_positives, self.false_positives + self.true_negatives)
            y = recall
        else:
            x = recall
            y = tf.div_no_nan(self.true_positives, self.true_positives + self.false_positives)
        before, after = y[: self.num_thresholds - 1], y[1:]
        heights = {
            "interpolation": lambda: (before + after) / 2.0,
            "minoring": lambda: tf.minimum(before, after),
            "majoring": lambda: tf.maximum(before, after),
        }[self.summation_method]()
        return tf.reduce_sum(tf.multiply(x[: self.num_thresholds - 1] - x[1:], heights))

    def get_config(self) -> dict[str, Any]:
        own = {
            "num_thresholds": self.num_thresholds,
            "curve": self.curve,
            "summation_method": self.summation_method,
            "thresholds": self.thresholds[1:-1],
        }
        return {**super().get_config(), **own}
