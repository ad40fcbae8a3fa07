"""Metrics that are added up over batches: their state is in variables, and models reset it after an epoch."""

from __future__ import annotations

import functools
from abc import ABCMeta, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

import tideflow as tf
from tideflow.distribute.context import get_replica_context, has_strategy
from tideflow.export import export
from tideflow.keras import losses
from tideflow.layers.argument_docs import described
from tideflow.layers.base import Layer
from tideflow.layers.keras_graph import runs_as_function
from tideflow.layers.keras_session import batch_set_value
from tideflow.layers.keras_state import floatx
from tideflow.ops.nn.weights import broadcast_weights

if TYPE_CHECKING:
    from tideflow.graph.operation import Tensor
    from tideflow.graph.typing import DTypeLike, TensorLike

WORDS = {
    "name": "The name of the metric.",
    "dtype": "The type of the result; the default of Keras if None.",
    "kwargs": "Arguments of `tf.keras.layers.Layer`.",
}


@export("keras.metrics.Metric")
@described(
    "The base of metrics. A subclass makes variables with `add_weight` in its constructor, changes them in "
    "`update_state`, and computes the metric of them in `result`.",
    **WORDS,
)
class Metric(Layer, metaclass=ABCMeta):
    def __init__(self, name: str | None = None, dtype: DTypeLike | None = None, **kwargs: Any):
        super().__init__(name=name, dtype=dtype, **kwargs)
        self.stateful = True
        self.built = True
        self._dtype = floatx() if dtype is None else tf.as_dtype(dtype).name

    def __init_subclass__(cls, **kwargs: Any):
        super().__init_subclass__(**kwargs)
        if "result" in cls.__dict__:
            cls.result = _of_all_replicas(cls.result)  # type: ignore[method-assign]
        if "update_state" in cls.__dict__:
            cls.update_state = _noted(cls.update_state)  # type: ignore[method-assign]

    def __call__(self, *args: Any, **kwargs: Any) -> Tensor:
        """Adds to the state, and computes the metric.

        Args:
          *args: Arguments of `update_state`.
          **kwargs: Keyword arguments of `update_state`.

        Returns:
          The metric.
        """
        update = self.update_state(*args, **kwargs)
        with tf.control_dependencies([update]):
            result = tf.identity(self.result())
        result._metric_obj = self
        if not runs_as_function():
            self._call_result = result  # what steps of models fetch
        return result

    @abstractmethod
    def update_state(self, *args: Any, **kwargs: Any) -> Any:
        """Adds to the state.

        Args:
          *args: What the metric is computed of.
          **kwargs: More of it, by name.

        Returns:
          The operation that does so.
        """

    @abstractmethod
    def result(self) -> Any:
        """Computes the metric of the state."""

    def reset_states(self) -> None:
        """Sets the state to zeros."""
        batch_set_value([(variable, np.zeros(variable.shape.as_list())) for variable in self.variables])

    def add_weight(
        self,
        name: str,
        shape: Any = (),
        aggregation: Any = tf.VariableAggregation.SUM,
        synchronization: Any = tf.VariableSynchronization.ON_READ,
        initializer: Any = None,
        dtype: DTypeLike | None = None,
    ) -> Any:
        """Makes a variable of the metric.

        Args:
          name: The name of the variable.
          shape: The shape.
          aggregation: How the writes of several devices are combined.
          synchronization: When copies on several devices are synchronized.
          initializer: The initializer, or its name.
          dtype: The type of the elements; that of the metric if None.

        Returns:
          The variable.
        """
        return super().add_weight(
            name,
            shape,
            dtype=dtype or self._dtype,
            initializer=initializer,
            trainable=False,
            aggregation=aggregation,
            synchronization=synchronization,
            collections=[],
        )

    def get_config(self) -> dict[str, Any]:
        """The arguments of the constructor, by name."""
        return {"name": self.name, "dtype": self.dtype}


def _noted(update_state: Callable[..., Any]) -> Callable[..., Any]:
    """A method `update_state` whose operation is among the `updates` of the metric, as estimators want it.
    What a subclass calls of its base is a part of it.
    """

    @functools.wraps(update_state)
    def noted(self: Metric, *args: Any, **kwargs: Any) -> Any:
        own = update_state.__get__(self, type(self))
        if self.__dict__.get("_is_updating"):
            return own(*args, **kwargs)
        self.__dict__["_is_updating"] = True
        try:
            update = own(*args, **kwargs)
        finally:
            del self.__dict__["_is_updating"]
        if update is not None:
            self.add_update(update)
        return update

    return noted


def _of_all_replicas(result: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A method `result` that gives every replica the metric of what all of them have added."""

    @functools.wraps(result)
    def together(self: Metric) -> Any:
        replica = get_replica_context()
        if replica is None or not has_strategy():
            return result(self)
        return replica.merge_call(lambda strategy: tf.identity(result(self)))

    return together


def flat_values(values: list[Any], sample_weight: Any) -> tuple[list[Any], Any]:
    """The elements of ragged tensors that have the same rows, and of their weights; others as they are."""
    ragged = [isinstance(value, tf.RaggedTensor) for value in values]
    if not any(ragged):
        return values, sample_weight
    if not all(ragged):
        raise TypeError("One of the inputs does not have acceptable types.")
    others = values[1:] + ([sample_weight] if isinstance(sample_weight, tf.RaggedTensor) else [])
    checks = [
        tf.debugging.assert_equal(split, other, message="Inputs must have identical ragged splits")
        for each in others
        for split, other in zip(values[0].nested_row_splits, each.nested_row_splits, strict=True)
    ]
    with tf.control_dependencies([check for check in checks if check is not None]):
        flat = [tf.identity(value.flat_values) for value in values]
        if isinstance(sample_weight, tf.RaggedTensor):
            sample_weight = tf.identity(sample_weight.flat_values)
    return flat, sample_weight


def weighed(values: Tensor, sample_weight: Any, dtype: Any) -> tuple[Tensor, Any]:
    """Values times their weights; values of more axes than the weights are averaged over those first."""
    if sample_weight is None:
        return values, None
    weight = tf.cast(sample_weight, dtype)
    values, _, weight = losses.squeeze_or_expand(values, None, weight)
    try:
        weight = broadcast_weights(weight, values)
    except ValueError:
        extra = list(range(weight.shape.ndims, values.shape.ndims))
        values = tf.reduce_mean(values, axis=extra)
    return tf.multiply(values, weight), weight


class Reduce(Metric):
    """A metric of one number a sample."""

    def __init__(self, reduction: str, name: str, dtype: DTypeLike | None = None):
        super().__init__(name=name, dtype=dtype)
        self.reduction = reduction
        self.total = self.add_weight("total", initializer=tf.zeros_initializer())
        if reduction != "sum":
            self.count = self.add_weight("count", initializer=tf.zeros_initializer())

    def update_state(self, values: TensorLike, sample_weight: TensorLike | None = None) -> Any:
        """Adds to the state.

        Args:
          values: The values.
          sample_weight: The weights of the values.

        Returns:
          The operation that does so.
        """
        (values,), sample_weight = flat_values([tf.cast(values, self._dtype)], sample_weight)
        values, weight = weighed(values, sample_weight, self._dtype)
        added = self.total.assign_add(tf.reduce_sum(values))
        if self.reduction == "sum":
            return added
        if weight is None or self.reduction == "sum_over_batch_size":
            number = tf.cast(tf.size(values), self._dtype)
        else:
            number = tf.reduce_sum(weight)
        with tf.control_dependencies([added]):
            return self.count.assign_add(number)

    def result(self) -> Any:
        if self.reduction == "sum":
            return tf.identity(self.total)
        return tf.div_no_nan(self.total, self.count)


@export("keras.metrics.Sum")
@described("The weighted sum of values.", **WORDS)
class Sum(Reduce):
    def __init__(self, name: str = "sum", dtype: DTypeLike | None = None):
        super().__init__("sum", name, dtype)


@export("keras.metrics.Mean")
@described("The weighted mean of values.", **WORDS)
class Mean(Reduce):
    def __init__(self, name: str = "mean", dtype: DTypeLike | None = None):
        super().__init__("weighted_mean", name, dtype)


@export("keras.metrics.MeanRelativeError")
@described("The mean of errors, each divided by a number.", normalizer="What errors are divided by.", **WORDS)
class MeanRelativeError(Mean):
    def __init__(self, normalizer: TensorLike, name: str | None = None, dtype: DTypeLike | None = None):
        super().__init__(name, dtype)
        self.normalizer = tf.cast(normalizer, self._dtype)

    def update_state(
        self, y_true: TensorLike, y_pred: TensorLike, sample_weight: TensorLike | None = None
    ) -> Any:
        y_true, y_pred = tf.cast(y_true, self._dtype), tf.cast(y_pred, self._dtype)
        (y_true, y_pred), sample_weight = flat_values([y_true, y_pred], sample_weight)
        y_pred, y_true, _ = losses.squeeze_or_expand(y_pred, y_true, None)
        errors = tf.div_no_nan(tf.abs(y_true - y_pred), self.normalizer)
        return super().update_state(errors, sample_weight)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "normalizer": tf.keras.backend.eval(self.normalizer)}


class MeanMetricWrapper(Mean):
    """The mean of a function of true values and predictions."""

    def __init__(self, fn: Callable, name: str | None = None, dtype: DTypeLike | None = None, **kwargs: Any):
        super().__init__(name, dtype)
        self._fn = fn
        self._fn_kwargs = kwargs

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
        y_true, y_pred = tf.cast(y_true, self._dtype), tf.cast(y_pred, self._dtype)
        (y_true, y_pred), sample_weight = flat_values([y_true, y_pred], sample_weight)
        y_pred, y_true, _ = losses.squeeze_or_expand(y_pred, y_true, None)
        matches = self._fn(y_true, y_pred, **self._fn_kwargs)
        return super().update_state(matches, sample_weight)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **self._fn_kwargs}


class SumOverBatchSizeMetricWrapper(Reduce):
    """The sum of a function of true values and predictions, divided by the number of samples."""

    def __init__(self, fn: Callable, name: str | None = None, dtype: DTypeLike | None = None, **kwargs: Any):
        super().__init__("sum_over_batch_size", name, dtype)
        self._fn = fn
        self._fn_kwargs = kwargs

    def update_state(
        self, y_true: TensorLike, y_pred: TensorLike, sample_weight: TensorLike | None = None
    ) -> Any:
        y_true, y_pred = tf.cast(y_true, self._dtype), tf.cast(y_pred, self._dtype)
        (y_true, y_pred), sample_weight = flat_values([y_true, y_pred], sample_weight)
        y_pred, y_true, _ = losses.squeeze_or_expand(y_pred, y_true, None)
        return super().update_state(self._fn(y_true, y_pred, **self._fn_kwargs), sample_weight)


@export("keras.metrics.MeanTensor")
@described("The weighted mean of tensors, element by element.", **WORDS)
class MeanTensor(Metric):
    def __init__(self, name: str = "mean_tensor", dtype: DTypeLike | None = None):
        super().__init__(name=name, dtype=dtype)
        self._shape: Any = None
        self.built = False

    def _build(self, shape: Any) -> None:
        self._shape = tf.TensorShape(shape)
        self._total = self.add_weight("total", shape=shape, initializer=tf.zeros_initializer())
        self._count = self.add_weight("count", shape=shape, initializer=tf.zeros_initializer())
        self.built = True

    @property
    def total(self) -> Any:
        """The sum of the tensors."""
        return self._total if self.built else None

    @property
    def count(self) -> Any:
        """The sum of the weights."""
        return self._count if self.built else None

    def update_state(self, values: TensorLike, sample_weight: TensorLike | None = None) -> Any:
        values = tf.cast(values, self._dtype)
        if not self.built:
            self._build(values.shape)
        elif values.shape.as_list() != self._shape.as_list():
            raise ValueError(
                "MeanTensor input values must always have the same shape. Expected shape (set during the "
                f"first call): {self._shape}. Got: {values.shape}"
            )
        values, weight = weighed(values, sample_weight, self._dtype)
        number = tf.ones_like(values) if weight is None else weight
        with tf.control_dependencies([self._total.assign_add(values)]):
            return self._count.assign_add(number)

    def result(self) -> Any:
        if not self.built:
            raise ValueError(
                "MeanTensor does not have any result yet. Please call the MeanTensor instance or use "
                "`.update_state(value)` before retrieving the result."
            )
        return tf.div_no_nan(self._total, self._count)

    def reset_states(self) -> None:
        if self.built:
            super().reset_states()
