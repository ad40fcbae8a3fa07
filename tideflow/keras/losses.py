"""Losses: functions of true values and predictions, and classes that weigh and reduce them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.distribute.context import has_strategy
from tideflow.export import export
from tideflow.keras.backend import crossentropy
from tideflow.keras.backend.math import clip
from tideflow.layers.argument_docs import described, explained
from tideflow.layers.keras_state import epsilon, floatx
from tideflow.losses.reduction import _num_elements as num_elements
from tideflow.ops.control_flow.conditionals import smart_cond
from tideflow.ops.nn.weights import broadcast_weights
from tideflow.variables.custom_objects import deserialize_keras_object, serialize_keras_object

if TYPE_CHECKING:
    from tideflow.graph.operation import Tensor
    from tideflow.graph.typing import TensorLike

# ------------------------------------------------------------------------------------ weighing and reducing


class Reduction:
    """How the losses of samples become one."""

    AUTO = "auto"
    NONE = "none"
    SUM = "sum"
    SUM_OVER_BATCH_SIZE = "sum_over_batch_size"

    @classmethod
    def validate(cls, key: str) -> None:
        """ValueError unless it is one of the reductions."""
        if key not in (cls.AUTO, cls.NONE, cls.SUM, cls.SUM_OVER_BATCH_SIZE):
            raise ValueError(f"Invalid Reduction Key {key}.")


def squeeze_or_expand(y_pred: Any, y_true: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
    """Gives values and weights the rank of the predictions, where they differ by a last axis of size 1."""
    rank = y_pred.shape.ndims
    if y_true is not None and None not in (rank, y_true.shape.ndims):
        true_rank = y_true.shape.ndims
        if not (rank - true_rank == 1 and y_pred.shape.as_list()[-1] != 1) and rank - true_rank in (1, -1):
            if rank > true_rank:
                y_pred = tf.squeeze(y_pred, [-1])
            elif y_true.shape.as_list()[-1] == 1:
                y_true = tf.squeeze(y_true, [-1])
    if sample_weight is None:
        return y_pred, y_true, None
    weight_rank, rank = sample_weight.shape.ndims, y_pred.shape.ndims
    if weight_rank == 0 or None in (weight_rank, rank):
        return y_pred, y_true, sample_weight
    if weight_rank - rank == 1:
        sample_weight = tf.squeeze(sample_weight, [-1])
    elif rank - weight_rank == 1:
        sample_weight = tf.expand_dims(sample_weight, [-1])
    return y_pred, y_true, sample_weight


def weighted(losses: Any, sample_weight: Any = None, reduction: str = Reduction.NONE) -> Tensor:
    """The losses of samples times their weights, reduced in float32."""
    with tf.name_scope("weighted_loss"):
        losses = tf.convert_to_tensor(losses)
        dtype = losses.dtype
        losses = tf.cast(losses, tf.float32)
        weight = tf.cast(1.0 if sample_weight is None else sample_weight, tf.float32)
        losses, _, weight = squeeze_or_expand(losses, None, weight)
        scaled = tf.multiply(losses, broadcast_weights(weight, losses))
        return tf.cast(reduced(scaled, reduction), dtype)


def reduced(losses: Any, reduction: str) -> Tensor:
    """One loss of the losses of samples."""
    if reduction == Reduction.NONE:
        return losses
    total = tf.reduce_sum(losses)
    if reduction == Reduction.SUM_OVER_BATCH_SIZE:
        number = num_elements(losses)
        return tf.div_no_nan(tf.reduce_sum(total), number, name="value")
    return total


# --------------------------------------------------------------------------------------------- functions

_EACH = "The loss of each sample."
_SMOOTHING = "How much the true values are moved towards uniform ones, from 0 to 1."
_LOGITS = "Whether the predictions are logits, not probabilities."


def _pair(y_true: Any, y_pred: Any) -> tuple[Tensor, Tensor]:
    y_pred = tf.convert_to_tensor(y_pred)
    return tf.cast(y_true, y_pred.dtype), y_pred


@export(
    "keras.losses.mean_squared_error",
    "keras.losses.mse",
    "keras.losses.MSE",
    "keras.metrics.mean_squared_error",
    "keras.metrics.mse",
    "keras.metrics.MSE",
)
@explained("Computes the mean of squared errors.", _EACH)
def mean_squared_error(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    y_true, y_pred = _pair(y_true, y_pred)
    return tf.reduce_mean(tf.squared_difference(y_pred, y_true), axis=-1)


@export(
    "keras.losses.mean_absolute_error",
    "keras.losses.mae",
    "keras.losses.MAE",
    "keras.metrics.mean_absolute_error",
    "keras.metrics.mae",
    "keras.metrics.MAE",
)
@explained("Computes the mean of absolute errors.", _EACH)
def mean_absolute_error(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    y_true, y_pred = _pair(y_true, y_pred)
    return tf.reduce_mean(tf.abs(y_pred - y_true), axis=-1)


@export(
    "keras.losses.mean_absolute_percentage_error",
    "keras.losses.mape",
    "keras.losses.MAPE",
    "keras.metrics.mean_absolute_percentage_error",
    "keras.metrics.mape",
    "keras.metrics.MAPE",
)
@explained("Computes the mean of absolute errors in percent of the true values.", _EACH)
def mean_absolute_percentage_error(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    y_true, y_pred = _pair(y_true, y_pred)
    difference = tf.abs((y_true - y_pred) / clip(tf.abs(y_true), epsilon(), None))
    return 100.0 * tf.reduce_mean(difference, axis=-1)


@export(
    "keras.losses.mean_squared_logarithmic_error",
    "keras.losses.msle",
    "keras.losses.MSLE",
    "keras.metrics.mean_squared_logarithmic_error",
    "keras.metrics.msle",
    "keras.metrics.MSLE",
)
@explained("Computes the mean of squared differences of the logarithms of values plus one.", _EACH)
def mean_squared_logarithmic_error(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    y_pred = tf.convert_to_tensor(y_pred)
    y_true = tf.cast(y_true, y_pred.dtype)
    first = tf.log(clip(y_pred, epsilon(), None) + 1.0)
    second = tf.log(clip(y_true, epsilon(), None) + 1.0)
    return tf.reduce_mean(tf.squared_difference(first, second), axis=-1)


def _as_signs(y_true: Any) -> Tensor:
    """Labels of 0 and 1 as -1 and 1; others stay as they are."""
    zeros, ones = tf.equal(y_true, 0), tf.equal(y_true, 1)
    is_binary = tf.reduce_all(tf.logical_or(zeros, ones))
    return smart_cond(is_binary, lambda: 2.0 * y_true - 1.0, lambda: y_true)


@export("keras.losses.squared_hinge", "keras.metrics.squared_hinge")
@explained("Computes the mean of `maximum(1 - y_true * y_pred, 0)` squared.", _EACH)
def squared_hinge(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    y_true, y_pred = _pair(y_true, y_pred)
    return tf.reduce_mean(tf.square(tf.maximum(1.0 - _as_signs(y_true) * y_pred, 0.0)), axis=-1)


@export("keras.losses.hinge", "keras.metrics.hinge")
@explained("Computes the mean of `maximum(1 - y_true * y_pred, 0)`.", _EACH)
def hinge(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    y_true, y_pred = _pair(y_true, y_pred)
    return tf.reduce_mean(tf.maximum(1.0 - _as_signs(y_true) * y_pred, 0.0), axis=-1)


@export("keras.losses.categorical_hinge")
@explained("Computes how far the right class is from leading all others by one.", _EACH)
def categorical_hinge(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    y_true, y_pred = _pair(y_true, y_pred)
    right = tf.reduce_sum(y_true * y_pred, axis=-1)
    wrong = tf.reduce_max((1.0 - y_true) * y_pred, axis=-1)
    return tf.maximum(0.0, wrong - right + 1.0)


@explained("Computes the squares of small errors and the absolute values of large ones.", delta="The limit.")
def huber_loss(y_true: TensorLike, y_pred: TensorLike, delta: float = 1.0) -> Tensor:
    y_pred = tf.cast(y_pred, floatx())
    error = tf.subtract(y_pred, tf.cast(y_true, floatx()))
    size = tf.abs(error)
    quadratic = tf.minimum(size, delta)
    linear = tf.subtract(size, quadratic)
    half = tf.convert_to_tensor(0.5, dtype=quadratic.dtype)
    return tf.add(tf.multiply(half, tf.multiply(quadratic, quadratic)), tf.multiply(delta, linear))


@export("keras.losses.logcosh")
@explained("Computes the mean of the logarithm of the hyperbolic cosine of errors.", _EACH)
def logcosh(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    y_true, y_pred = _pair(y_true, y_pred)
    x = y_pred - y_true
    return tf.reduce_mean(x + tf.nn.softplus(-2.0 * x) - tf.cast(tf.log(2.0), x.dtype), axis=-1)


def _smoothed(y_true: Tensor, label_smoothing: Any, towards: Callable[[Tensor], Any]) -> Tensor:
    amount = tf.convert_to_tensor(label_smoothing, dtype=floatx())
    return smart_cond(amount, lambda: y_true * (1.0 - amount) + towards(amount), lambda: y_true)


@export("keras.losses.categorical_crossentropy", "keras.metrics.categorical_crossentropy")
@explained(
    "Computes the cross-entropy of one-hot labels.", _EACH, from_logits=_LOGITS, label_smoothing=_SMOOTHING
)
def categorical_crossentropy(
    y_true: TensorLike, y_pred: TensorLike, from_logits: bool = False, label_smoothing: float = 0
) -> Tensor:
    y_true, y_pred = _pair(y_true, y_pred)
    y_true = _smoothed(
        y_true, label_smoothing, lambda amount: amount / tf.cast(tf.shape(y_true)[1], y_pred.dtype)
    )
    return crossentropy.categorical_crossentropy(y_true, y_pred, from_logits=from_logits)


@export("keras.losses.sparse_categorical_crossentropy", "keras.metrics.sparse_categorical_crossentropy")
@explained(
    "Computes the cross-entropy of labels that are the numbers of classes.",
    _EACH,
    from_logits=_LOGITS,
    axis="The axis of the classes.",
)
def sparse_categorical_crossentropy(
    y_true: TensorLike, y_pred: TensorLike, from_logits: bool = False, axis: int = -1
) -> Tensor:
    return crossentropy.sparse_categorical_crossentropy(y_true, y_pred, from_logits=from_logits, axis=axis)


@export("keras.losses.binary_crossentropy", "keras.metrics.binary_crossentropy")
@explained(
    "Computes the cross-entropy of labels of 0 and 1.", _EACH, from_logits=_LOGITS, label_smoothing=_SMOOTHING
)
def binary_crossentropy(
    y_true: TensorLike, y_pred: TensorLike, from_logits: bool = False, label_smoothing: float = 0
) -> Tensor:
    y_true, y_pred = _pair(y_true, y_pred)
    y_true = _smoothed(y_true, label_smoothing, lambda amount: 0.5 * amount)
    return tf.reduce_mean(crossentropy.binary_crossentropy(y_true, y_pred, from_logits=from_logits), axis=-1)


@export(
    "keras.losses.kullback_leibler_divergence",
    "keras.losses.kld",
    "keras.losses.KLD",
    "keras.metrics.kullback_leibler_divergence",
    "keras.metrics.kld",
    "keras.metrics.KLD",
)
@explained("Computes the sum of `y_true * log(y_true / y_pred)`.", _EACH)
def kullback_leibler_divergence(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    y_true, y_pred = _pair(y_true, y_pred)
    y_true, y_pred = clip(y_true, epsilon(), 1), clip(y_pred, epsilon(), 1)
    return tf.reduce_sum(y_true * tf.log(y_true / y_pred), axis=-1)


@export("keras.losses.poisson", "keras.metrics.poisson")
@explained("Computes the mean of `y_pred - y_true * log(y_pred)`.", _EACH)
def poisson(y_true: TensorLike, y_pred: TensorLike) -> Tensor:
    y_true, y_pred = _pair(y_true, y_pred)
    return tf.reduce_mean(y_pred - y_true * tf.log(y_pred + epsilon()), axis=-1)


@export(
    "keras.losses.cosine_proximity",
    "keras.losses.cosine",
    "keras.losses.cosine_similarity",
    "keras.metrics.cosine_proximity",
    "keras.metrics.cosine",
)
@explained("Computes the cosine of the angle between vectors.", _EACH, axis="The axis of the vectors.")
def cosine_proximity(y_true: TensorLike, y_pred: TensorLike, axis: int = -1) -> Tensor:
    y_true = tf.nn.l2_normalize(y_true, axis=axis)
    y_pred = tf.nn.l2_normalize(y_pred, axis=axis)
    return tf.reduce_sum(y_true * y_pred, axis=axis)


# ------------------------------------------------------------------------------------------------- classes

_WORDS = {
    "reduction": "How the losses of samples become one; the mean over the batch in models if `auto`.",
    "name": "The name of the operation.",
    "from_logits": _LOGITS,
    "label_smoothing": _SMOOTHING,
    "axis": "The axis of the vectors.",
    "delta": "The error from which on the loss grows linearly.",
}


@export("keras.losses.Loss")
@described("The base of losses. A subclass has `call(y_true, y_pred)`, the loss of each sample.", **_WORDS)
class Loss:
    def __init__(self, reduction: str = Reduction.AUTO, name: str | None = None):
        Reduction.validate(reduction)
        self.reduction = reduction
        self.name = name

    def __call__(
        self, y_true: TensorLike, y_pred: TensorLike, sample_weight: TensorLike | None = None
    ) -> Any:
        """Computes the loss.

        Args:
          y_true: The true values.
          y_pred: The predictions.
          sample_weight: The weights of the samples.

        Returns:
          The loss: a scalar, or one for each sample if nothing is reduced.
        """
        scope = "lambda" if self.name == "<lambda>" else self.name
        with tf.name_scope(scope or type(self).__name__):
            losses = self.call(y_true, y_pred)
            return weighted(losses, sample_weight, self._get_reduction())

    def _get_reduction(self) -> str:
        """The reduction of a call by itself; no mean where replicas have parts of a batch each."""
        if self.reduction not in (Reduction.AUTO, Reduction.SUM_OVER_BATCH_SIZE):
            return self.reduction
        if has_strategy():
            raise ValueError(
                "Please use `tf.keras.losses.Reduction.SUM` or `tf.keras.losses.Reduction.NONE` for loss "
                "reduction when losses are used with `tf.distribute.Strategy` outside of the built-in "
                "training loops. The mean over the global batch is the sum of the losses of "
                "`Reduction.NONE`, divided by its size: tf.reduce_sum(loss(labels, predictions)) * "
                "(1. / global_batch_size)."
            )
        return Reduction.SUM_OVER_BATCH_SIZE

    def call(self, y_true: TensorLike, y_pred: TensorLike) -> Any:
        """Computes the loss of each sample.

        Args:
          y_true: The true values.
          y_pred: The predictions.

        Returns:
          The losses.
        """
        raise NotImplementedError("Must be implemented in subclasses.")

    def get_config(self) -> dict[str, Any]:
        """The arguments of the constructor, by name."""
        return {"reduction": self.reduction, "name": self.name}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Loss:
        """Makes a loss from the result of `get_config`.

        Args:
          config: The arguments by name.

        Returns:
          The loss.
        """
        return cls(**config)


class LossFunctionWrapper(Loss):
    """A loss of a function of true values and predictions."""

    def __init__(self, fn: Callable, reduction: str = Reduction.AUTO, name: str | None = None, **kwargs: Any):
        super().__init__(reduction, name)
        self.fn = fn
        self._fn_kwargs = kwargs

    def call(self, y_true: TensorLike, y_pred: TensorLike) -> Any:
        return self.fn(y_true, y_pred, **self._fn_kwargs)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **self._fn_kwargs}


def _plain(function: Callable, name: str) -> Callable:
    """The constructor of a loss that has no arguments of its own."""

    def __init__(self: Any, reduction: str = Reduction.AUTO, name: str = name) -> None:
        LossFunctionWrapper.__init__(self, function, reduction, name)

    return __init__


@export("keras.losses.MeanSquaredError")
@described("The mean of squared errors.", **_WORDS)
class MeanSquaredError(LossFunctionWrapper):
    __init__ = _plain(mean_squared_error, "mean_squared_error")


@export("keras.losses.MeanAbsoluteError")
@described("The mean of absolute errors.", **_WORDS)
class MeanAbsoluteError(LossFunctionWrapper):
    __init__ = _plain(mean_absolute_error, "mean_absolute_error")


@export("keras.losses.MeanAbsolutePercentageError")
@described("The mean of absolute errors in percent.", **_WORDS)
class MeanAbsolutePercentageError(LossFunctionWrapper):
    __init__ = _plain(mean_absolute_percentage_error, "mean_absolute_percentage_error")


@export("keras.losses.MeanSquaredLogarithmicError")
@described("The mean of squared differences of logarithms.", **_WORDS)
class MeanSquaredLogarithmicError(LossFunctionWrapper):
    __init__ = _plain(mean_squared_logarithmic_error, "mean_squared_logarithmic_error")


@export("keras.losses.Hinge")
@described("The mean of `maximum(1 - y_true * y_pred, 0)`.", **_WORDS)
class Hinge(LossFunctionWrapper):
    __init__ = _plain(hinge, "hinge")


@export("keras.losses.SquaredHinge")
@described("The mean of `maximum(1 - y_true * y_pred, 0)` squared.", **_WORDS)
class SquaredHinge(LossFunctionWrapper):
    __init__ = _plain(squared_hinge, "squared_hinge")


@export("keras.losses.CategoricalHinge")
@described("How far the right class is from leading all others by one.", **_WORDS)
class CategoricalHinge(LossFunctionWrapper):
    __init__ = _plain(categorical_hinge, "categorical_hinge")


@export("keras.losses.Poisson")
@described("The mean of `y_pred - y_true * log(y_pred)`.", **_WORDS)
class Poisson(LossFunctionWrapper):
    __init__ = _plain(poisson, "poisson")


@export("keras.losses.LogCosh")
@described("The mean of the logarithm of the hyperbolic cosine of errors.", **_WORDS)
class LogCosh(LossFunctionWrapper):
    __init__ = _plain(logcosh, "logcosh")


@export("keras.losses.KLDivergence")
@described("The sum of `y_true * log(y_true / y_pred)`.", **_WORDS)
class KLDivergence(LossFunctionWrapper):
    __init__ = _plain(kullback_leibler_divergence, "kullback_leibler_divergence")


@export("keras.losses.BinaryCrossentropy")
@described("The cross-entropy of labels of 0 and 1.", **_WORDS)
class BinaryCrossentropy(LossFunctionWrapper):
    def __init__(
        self,
        from_logits: bool = False,
        label_smoothing: float = 0,
        reduction: str = Reduction.AUTO,
        name: str = "binary_crossentropy",
    ):
        super().__init__(
            binary_crossentropy, reduction, name, from_logits=from_logits, label_smoothing=label_smoothing
        )
        self.from_logits = from_logits


@export("keras.losses.CategoricalCrossentropy")
@described("The cross-entropy of one-hot labels.", **_WORDS)
class CategoricalCrossentropy(LossFunctionWrapper):
    def __init__(
        self,
        from_logits: bool = False,
        label_smoothing: float = 0,
        reduction: str = Reduction.AUTO,
        name: str = "categorical_crossentropy",
    ):
        super().__init__(
            categorical_crossentropy,
            reduction,
            name,
            from_logits=from_logits,
            label_smoothing=label_smoothing,
        )


@export("keras.losses.SparseCategoricalCrossentropy")
@described("The cross-entropy of labels that are the numbers of classes.", **_WORDS)
class SparseCategoricalCrossentropy(LossFunctionWrapper):
    def __init__(
        self,
        from_logits: bool = False,
        reduction: str = Reduction.AUTO,
        name: str = "sparse_categorical_crossentropy",
    ):
        super().__init__(sparse_categorical_crossentropy, reduction, name, from_logits=from_logits)


@export("keras.losses.CosineSimilarity")
@described("The cosine of the angle between vectors.", **_WORDS)
class CosineSimilarity(LossFunctionWrapper):
    def __init__(self, axis: int = -1, reduction: str = Reduction.AUTO, name: str = "cosine_similarity"):
        super().__init__(cosine_proximity, reduction, name, axis=axis)


@export("keras.losses.Huber")
@described("The squares of small errors and the absolute values of large ones.", **_WORDS)
class Huber(LossFunctionWrapper):
    def __init__(self, delta: float = 1.0, reduction: str = Reduction.AUTO, name: str = "huber_loss"):
        super().__init__(huber_loss, reduction, name, delta=delta)


# --------------------------------------------------------------------------------------------------- names

mse = MSE = mean_squared_error
mae = MAE = mean_absolute_error
mape = MAPE = mean_absolute_percentage_error
msle = MSLE = mean_squared_logarithmic_error
kld = KLD = kullback_leibler_divergence
cosine = cosine_similarity = cosine_proximity


@export("keras.losses.serialize")
def serialize(loss: Any) -> Any:
    """Converts a loss to a config.

    Args:
      loss: A loss object, or a function.

    Returns:
      A dictionary of the class name and the arguments, or the function's name.
    """
    return serialize_keras_object(loss)


@export("keras.losses.deserialize")
def deserialize(name: Any, custom_objects: dict[str, Any] | None = None) -> Any:
    """Makes a loss from what `serialize` has returned.

    Args:
      name: The name or the dictionary.
      custom_objects: The program's own losses, by name.

    Returns:
      The loss.
    """
    return deserialize_keras_object(name, globals(), custom_objects, "loss function")


@export("keras.losses.get")
def get(identifier: Any) -> Any:
    """Gets a loss.

    Args:
      identifier: A name, a dictionary that `serialize` has returned, a function, a loss object, or None.

    Returns:
      The loss, or None for None.

    Raises:
      ValueError: If the argument stands for no loss.
    """
    if identifier is None or (callable(identifier) and not isinstance(identifier, str)):
        return identifier
    if isinstance(identifier, (str, dict)):
        return deserialize(identifier)
    raise ValueError("Could not interpret loss function identifier:", identifier)
