"""Metrics that are means of a function of true values and predictions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.export import export
from tideflow.keras import losses
from tideflow.keras.metrics.metric import WORDS, Mean, MeanMetricWrapper, Metric
from tideflow.layers.argument_docs import described, explained
from tideflow.layers.keras_state import floatx

if TYPE_CHECKING:
    from tideflow.graph.operation import Tensor
    from tideflow.graph.typing import DTypeLike, TensorLike

_EACH = "1 for each sample that is right, 0 for the others."
_TOP = "How many of the largest predictions count."
_WORDS = {
    **WORDS,
    "threshold": "The prediction above which the class is 1.",
    "k": _TOP,
    "from_logits": "Whether the predictions are logits, not probabilities.",
    "label_smoothing": "How much the true values are moved towards uniform ones, from 0 to 1.",
    "axis": "The axis of the classes, or of the vectors.",
    "num_classes": "The number of classes.",
}


@explained("Whether values are equal.", _EACH)
def accuracy(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    y_pred = tf.convert_to_tensor(y_pred)
    y_pred.shape.assert_is_compatible_with(y_true.shape)
    if y_true.dtype != y_pred.dtype:
        y_pred = tf.cast(y_pred, y_true.dtype)
    return tf.cast(tf.equal(y_true, y_pred), floatx())


@export("keras.metrics.binary_accuracy")
@explained("Computes which share of labels of 0 and 1 is right.", "The share in each sample.", **_WORDS)
def binary_accuracy(y_true: TensorLike, y_pred: TensorLike, threshold: float = 0.5) -> Tensor:
    threshold = tf.cast(threshold, y_pred.dtype)
    y_pred = tf.cast(y_pred > threshold, y_pred.dtype)
    return tf.reduce_mean(tf.cast(tf.equal(y_true, y_pred), floatx()), axis=-1)


@export("keras.metrics.categorical_accuracy")
@explained("Computes whether the largest prediction is that of the right class.", _EACH)
def categorical_accuracy(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    return tf.cast(tf.equal(tf.argmax(y_true, axis=-1), tf.argmax(y_pred, axis=-1)), floatx())


@export("keras.metrics.sparse_categorical_accuracy")
@explained("Computes whether the largest prediction is that of the class that is given as a number.", _EACH)
def sparse_categorical_accuracy(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    y_pred, y_true = tf.convert_to_tensor(y_pred), tf.convert_to_tensor(y_true)
    rank, true_rank = y_pred.shape.ndims, y_true.shape.ndims
    if None not in (rank, true_rank) and len(y_true.shape) == len(y_pred.shape):
        y_true = tf.squeeze(y_true, [-1])
    y_pred = tf.argmax(y_pred, axis=-1)
    if y_pred.dtype.name != floatx():
        y_pred = tf.cast(y_pred, y_true.dtype)
    return tf.cast(tf.equal(y_true, y_pred), floatx())


@export("keras.metrics.top_k_categorical_accuracy")
@explained("Computes whether the right class is among the largest predictions.", _EACH, k=_TOP)
def top_k_categorical_accuracy(y_true: TensorLike, y_pred: TensorLike, k: int = 5) -> Tensor:
    return tf.cast(tf.nn.in_top_k(y_pred, tf.argmax(y_true, axis=-1), k), floatx())


@export("keras.metrics.sparse_top_k_categorical_accuracy")
@explained("Computes whether the class of a number is among the largest predictions.", _EACH, k=_TOP)
def sparse_top_k_categorical_accuracy(y_true: TensorLike, y_pred: TensorLike, k: int = 5) -> Tensor:
    if None not in (y_pred.shape.ndims, y_true.shape.ndims):
        if y_pred.shape.ndims > 2:
            y_pred = tf.reshape(y_pred, [-1, y_pred.shape.as_list()[-1]])
        if y_true.shape.ndims > 1:
            y_true = tf.reshape(y_true, [-1])
    return tf.cast(tf.nn.in_top_k(y_pred, tf.cast(y_true, "int32"), k), floatx())


def _plain(function: Callable, name: str) -> Callable:
    """The constructor of a mean that has no arguments of its own."""

    def __init__(self: Any, name: str = name, dtype: DTypeLike | None = None) -> None:
        MeanMetricWrapper.__init__(self, function, name, dtype)

    return __init__


@export("keras.metrics.Accuracy")
@described("How often predictions equal the true values.", **WORDS)
class Accuracy(MeanMetricWrapper):
    __init__ = _plain(accuracy, "accuracy")


@export("keras.metrics.CategoricalAccuracy")
@described("How often the largest prediction is that of the right class.", **WORDS)
class CategoricalAccuracy(MeanMetricWrapper):
    __init__ = _plain(categorical_accuracy, "categorical_accuracy")


@export("keras.metrics.SparseCategoricalAccuracy")
@described("How often the largest prediction is that of the class that is given as a number.", **WORDS)
class SparseCategoricalAccuracy(MeanMetricWrapper):
    __init__ = _plain(sparse_categorical_accuracy, "sparse_categorical_accuracy")


@export("keras.metrics.MeanSquaredError")
@described("The mean of squared errors.", **WORDS)
class MeanSquaredError(MeanMetricWrapper):
    __init__ = _plain(losses.mean_squared_error, "mean_squared_error")


@export("keras.metrics.MeanAbsoluteError")
@described("The mean of absolute errors.", **WORDS)
class MeanAbsoluteError(MeanMetricWrapper):
    __init__ = _plain(losses.mean_absolute_error, "mean_absolute_error")


@export("keras.metrics.MeanAbsolutePercentageError")
@described("The mean of absolute errors in percent.", **WORDS)
class MeanAbsolutePercentageError(MeanMetricWrapper):
    __init__ = _plain(losses.mean_absolute_percentage_error, "mean_absolute_percentage_error")


@export("keras.metrics.MeanSquaredLogarithmicError")
@described("The mean of squared differences of logarithms.", **WORDS)
class MeanSquaredLogarithmicError(MeanMetricWrapper):
    __init__ = _plain(losses.mean_squared_logarithmic_error, "mean_squared_logarithmic_error")


@export("keras.metrics.Hinge")
@described("The mean of `maximum(1 - y_true * y_pred, 0)`.", **WORDS)
class Hinge(MeanMetricWrapper):
    __init__ = _plain(losses.hinge, "hinge")


@export("keras.metrics.SquaredHinge")
@described("The mean of `maximum(1 - y_true * y_pred, 0)` squared.", **WORDS)
class SquaredHinge(MeanMetricWrapper):
    __init__ = _plain(losses.squared_hinge, "squared_hinge")


@export("keras.metrics.CategoricalHinge")
@described("How far the right class is from leading all others by one, on average.", **WORDS)
class CategoricalHinge(MeanMetricWrapper):
    __init__ = _plain(losses.categorical_hinge, "categorical_hinge")


@export("keras.metrics.LogCoshError")
@described("The mean of the logarithm of the hyperbolic cosine of errors.", **WORDS)
class LogCoshError(MeanMetricWrapper):
    __init__ = _plain(losses.logcosh, "logcosh")


@export("keras.metrics.Poisson")
@described("The mean of `y_pred - y_true * log(y_pred)`.", **WORDS)
class Poisson(MeanMetricWrapper):
    __init__ = _plain(losses.poisson, "poisson")


@export("keras.metrics.KLDivergence")
@described("The mean of the sum of `y_true * log(y_true / y_pred)`.", **WORDS)
class KLDivergence(MeanMetricWrapper):
    __init__ = _plain(losses.kullback_leibler_divergence, "kullback_leibler_divergence")


@export("keras.metrics.BinaryAccuracy")
@described("How often predictions of 0 and 1 are right.", **_WORDS)
class BinaryAccuracy(MeanMetricWrapper):
    def __init__(self, name: str = "binary_accuracy", dtype: DTypeLike | None = None, threshold: float = 0.5):
        super().__init__(binary_accuracy, name, dtype, threshold=threshold)


@export("keras.metrics.TopKCategoricalAccuracy")
@described("How often the right class is among the largest predictions.", **_WORDS)
class TopKCategoricalAccuracy(MeanMetricWrapper):
    def __init__(self, k: int = 5, name: str = "top_k_categorical_accuracy", dtype: DTypeLike | None = None):
        super().__init__(top_k_categorical_accuracy, name, dtype, k=k)


@export("keras.metrics.SparseTopKCategoricalAccuracy")
@described("How often the class of a number is among the largest predictions.", **_WORDS)
class SparseTopKCategoricalAccuracy(MeanMetricWrapper):
    def __init__(
        self, k: int = 5, name: str = "sparse_top_k_categorical_accuracy", dtype: DTypeLike | None = None
    ):
        super().__init__(sparse_top_k_categorical_accuracy, name, dtype, k=k)


@export("keras.metrics.CosineSimilarity")
@described("The mean cosine of the angle between vectors.", **_WORDS)
class CosineSimilarity(MeanMetricWrapper):
    def __init__(self, name: str = "cosine_similarity", dtype: DTypeLike | None = None, axis: int = -1):
        super().__init__(losses.cosine_proximity, name, dtype, axis=axis)


@export("keras.metrics.BinaryCrossentropy")
@described("The mean cross-entropy of labels of 0 and 1.", **_WORDS)
class BinaryCrossentropy(MeanMetricWrapper):
    def __init__(
        self,
        name: str = "binary_crossentropy",
        dtype: DTypeLike | None = None,
        from_logits: bool = False,
        label_smoothing: float = 0,
    ):
        super().__init__(
            losses.binary_crossentropy,
            name,
            dtype,
            from_logits=from_logits,
            label_smoothing=label_smoothing,
        )


@export("keras.metrics.CategoricalCrossentropy")
@described("The mean cross-entropy of one-hot labels.", **_WORDS)
class CategoricalCrossentropy(MeanMetricWrapper):
    def __init__(
        self,
        name: str = "categorical_crossentropy",
        dtype: DTypeLike | None = None,
        from_logits: bool = False,
        label_smoothing: float = 0,
    ):
        super().__init__(
            losses.categorical_crossentropy,
            name,
            dtype,
            from_logits=from_logits,
            label_smoothing=label_smoothing,
        )


@export("keras.metrics.SparseCategoricalCrossentropy")
@described("The mean cross-entropy of labels that are the numbers of classes.", **_WORDS)
class SparseCategoricalCrossentropy(MeanMetricWrapper):
    def __init__(
        self,
        name: str = "sparse_categorical_crossentropy",
        dtype: DTypeLike | None = None,
        from_logits: bool = False,
        axis: int = -1,
    ):
        super().__init__(
            losses.sparse_categorical_crossentropy, name, dtype, from_logits=from_logits, axis=axis
        )


@export("keras.metrics.RootMeanSquaredError")
@described("The root of the mean of squared errors.", **WORDS)
class RootMeanSquaredError(Mean):
    def __init__(self, name: str = "root_mean_squared_error", dtype: DTypeLike | None = None):
        super().__init__(name, dtype)

    def update_state(
        self, y_true: TensorLike, y_pred: TensorLike, sample_weight: TensorLike | None = None
    ) -> Any:
        y_true, y_pred = tf.cast(y_true, self._dtype), tf.cast(y_pred, self._dtype)
        y_pred, y_true, _ = losses.squeeze_or_expand(y_pred, y_true, None)
        return super().update_state(tf.squared_difference(y_pred, y_true), sample_weight)

    def result(self) -> Any:
        return tf.sqrt(tf.div_no_nan(self.total, self.count))


@export("keras.metrics.MeanIoU")
@described("The mean over classes of the intersection over the union.", **_WORDS)
class MeanIoU(Metric):
    def __init__(self, num_classes: int, name: str | None = None, dtype: DTypeLike | None = None):
        super().__init__(name=name, dtype=dtype)
        self.num_classes = num_classes
        self.total_cm = self.add_weight(
            "total_confusion_matrix",
            shape=(num_classes, num_classes),
            initializer=tf.zeros_initializer(),
            dtype=tf.float64,
        )

    def update_state(
        self, y_true: TensorLike, y_pred: TensorLike, sample_weight: TensorLike | None = None
    ) -> Any:
        y_true, y_pred = (tf.reshape(tf.cast(y, self._dtype), [-1]) for y in (y_true, y_pred))
        if sample_weight is not None:
            sample_weight = tf.reshape(tf.cast(sample_weight, self._dtype), [-1])
        matrix = tf.math.confusion_matrix(
            y_true, y_pred, self.num_classes, weights=sample_weight, dtype=tf.float64
        )
        return self.total_cm.assign_add(matrix)

    def result(self) -> Any:
        rows = tf.cast(tf.reduce_sum(self.total_cm, axis=0), self._dtype)
        columns = tf.cast(tf.reduce_sum(self.total_cm, axis=1), self._dtype)
        right = tf.cast(tf.diag_part(self.total_cm), self._dtype)
        union = rows + columns - right
        seen = tf.reduce_sum(tf.cast(tf.not_equal(union, 0), self._dtype))
        return tf.div_no_nan(tf.reduce_sum(tf.div_no_nan(right, union), name="mean_iou"), seen)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "num_classes": self.num_classes}
