"""What time series models have in common: losses of batches, predictions, features beside the series."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import tideflow as tf
from tideflow.contrib.timeseries.keys import STATE, TIMES, VALUES

if TYPE_CHECKING:
    from tideflow.contrib.timeseries.statistics import InputStatistics
    from tideflow.graph.dtypes import DType
    from tideflow.graph.operation import Tensor

_OF_THE_SERIES = (TIMES, VALUES, STATE)


class ModelOutputs(NamedTuple):
    """What a model makes of a batch."""

    loss: Any
    end_state: Any
    predictions: dict[str, Any]
    prediction_times: Any


def per_series(state: Any, batch_size: Any) -> Any:
    """A state for each series of a batch."""

    def repeat(part: Any) -> Tensor:
        part = tf.convert_to_tensor(part)
        ones = tf.ones([tf.rank(part)], tf.int32)
        return tf.tile(part[None], tf.concat([[batch_size], ones], axis=0))

    return tf.nest.map_structure(repeat, state)


def beside_the_series(features: Mapping[str, Any]) -> dict[str, Any]:
    """The features that are not the series itself."""
    return {name: value for name, value in features.items() if name not in _OF_THE_SERIES}


class TimeSeriesModel(abc.ABC):
    """A model of a series. Subclasses say how a batch is scored and how predictions are made.

    Args:
      num_features: The number of values at a time.
      exogenous_feature_columns: Columns of features that are known beside the series.
      dtype: The type that the model computes in.
    """

    def __init__(
        self,
        num_features: int,
        exogenous_feature_columns: Sequence[Any] | None = None,
        dtype: DType = tf.float32,
    ):
        self._exogenous_feature_columns = exogenous_feature_columns or []
        self.num_features = num_features
        self.dtype = dtype
        self._input_statistics: InputStatistics | None = None
        self._graph_initialized = False
        self._means = self._sigmas = None

    @property
    def exogenous_feature_columns(self) -> Sequence[Any]:
        """The columns of features that are known beside the series."""
        return self._exogenous_feature_columns

    def initialize_graph(self, input_statistics: InputStatistics | None = None) -> None:
        """Makes the model's variables in the default graph.

        Args:
          input_statistics: What is known of the series; values are scaled by it.
        """
        self._graph_initialized = True
        self._input_statistics = input_statistics
        if input_statistics is not None:
            self._means = input_statistics.overall_feature_moments.mean
            self._sigmas = tf.sqrt(input_statistics.overall_feature_moments.variance)

    @abc.abstractmethod
    def get_start_state(self) -> Any:
        """The state before the first observation, of one series."""

    @abc.abstractmethod
    def get_batch_loss(self, features: Mapping[str, Any], mode: str, state: Any) -> ModelOutputs:
        """Scores a batch.

        Args:
          features: Tensors by name, `"times"` [batch, window] and `"values"` among them.
          mode: A key of `tf.estimator.ModeKeys`.
          state: The state before, of each series of the batch.
        """

    @abc.abstractmethod
    def predict(self, features: Mapping[str, Any]) -> dict[str, Tensor]:
        """Predicts means and covariances.

        Args:
          features: The times, the state to start from, and features beside the series.
        """

    def define_loss(self, features: Mapping[str, Any], mode: str) -> ModelOutputs:
        """Scores a batch from the model's own start.

        Args:
          features: Tensors by name, `"times"` [batch, window] and `"values"` among them.
          mode: A key of `tf.estimator.ModeKeys`.
        """
        self._check_graph_initialized()
        state = per_series(self.get_start_state(), tf.shape(features[TIMES])[0])
        return self.get_batch_loss(features=features, mode=mode, state=state)

    def _check_graph_initialized(self) -> None:
        if not self._graph_initialized:
            raise ValueError(
                "TimeSeriesModels require initialize_graph() to be called before use. This defines variables "
                "and ops in the default graph, and allows Tensor-valued input statistics to be specified."
            )

    def _scale_data(self, data: Tensor) -> Tensor:
        return data if self._input_statistics is None else (data - self._means) / self._sigmas

    def _scale_back_data(self, data: Tensor) -> Tensor:
        return data if self._input_statistics is None else data * self._sigmas + self._means

    def _scale_variance(self, variance: Tensor) -> Tensor:
        if self._input_statistics is None:
            return variance
        return variance / self._input_statistics.overall_feature_moments.variance

    def _scale_back_variance(self, variance: Tensor) -> Tensor:
        if self._input_statistics is None:
            return variance
        return variance * self._input_statistics.overall_feature_moments.variance

    def _exogenous_size(self) -> int:
        """How many numbers the columns beside the series come to."""
        if not self._exogenous_feature_columns:
            return 0
        with tf.Graph().as_default():
            spec = tf.feature_column.make_parse_example_spec(self._exogenous_feature_columns)
            parsed = tf.parse_example(tf.placeholder(tf.string, [None]), spec)
            return tf.feature_column.input_layer(parsed, self._exogenous_feature_columns).shape.as_list()[-1]

    def _process_exogenous_features(self, times: Tensor, features: Mapping[str, Any]) -> Tensor | None:
        """The columns beside the series as numbers [batch, window, size]; None if there are no columns."""
        if not self._exogenous_feature_columns:
            return None
        flat = {name: _one_batch_axis(name, value) for name, value in features.items()}
        embedded = tf.feature_column.input_layer(flat, self._exogenous_feature_columns)
        outer = tf.concat([tf.shape(times), tf.shape(embedded)[1:]], axis=0)
        regressors = tf.reshape(embedded, outer)
        regressors.set_shape(times.shape.concatenate(embedded.shape[1:]))
        return tf.cast(regressors, self.dtype)


def _one_batch_axis(name: str, feature: Tensor) -> Tensor:
    """A feature [batch, window, ...] as columns take it: [batch * window, ...], numbers with a last axis."""
    if feature.shape.ndims is None:
        raise ValueError(
            f"Features with unknown rank are not supported. Got shape {feature.shape} for feature {name}."
        )
    shape = tf.shape(feature)
    flat = tf.reshape(feature, tf.concat([[shape[0] * shape[1]], shape[2:]], axis=0))
    return flat[:, None] if flat.shape.ndims == 1 and flat.dtype != tf.string else flat


class SequentialTimeSeriesModel(TimeSeriesModel):
    """A model that goes through a series time by time. Subclasses say what happens at one.

    Args:
      train_output_names: What `_filtering_step` returns beside the loss.
      predict_output_names: What `_prediction_step` returns.
      num_features: The number of values at a time.
      dtype: The type that the model computes in.
      exogenous_feature_columns: Columns of features that are known beside the series.
      exogenous_update_condition: A function of times and features that says which series take them in.
    """

    def __init__(
        self,
        train_output_names: Sequence[str],
        predict_output_names: Sequence[str],
        num_features: int,
        dtype: DType = tf.float32,
        exogenous_feature_columns: Sequence[Any] | None = None,
        exogenous_update_condition: Callable | None = None,
    ):
        super().__init__(num_features, exogenous_feature_columns, dtype)
        self._exogenous_update_condition = exogenous_update_condition
        self._train_output_names = train_output_names
        self._predict_output_names = predict_output_names

    @abc.abstractmethod
    def _scale_back_predictions(self, predictions: dict[str, Tensor]) -> dict[str, Tensor]:
        """Predictions in the scale of the series."""

    @abc.abstractmethod
    def _imputation_step(self, current_times: Tensor, state: Any) -> Any:
        """The state, brought on to the current times without observations."""

    @abc.abstractmethod
    def _exogenous_input_step(self, current_times: Tensor, regressors: Tensor, state: Any) -> Any:
        """The state after features beside the series are taken in."""

    @abc.abstractmethod
    def _prediction_step(self, current_times: Tensor, state: Any) -> tuple[Any, dict[str, Tensor]]:
        """The state, and what is predicted for the current times."""

    @abc.abstractmethod
    def _filtering_step(
        self, current_times: Tensor, current_values: Tensor, state: Any, predictions: dict[str, Tensor]
    ) -> tuple[Any, dict[str, Tensor]]:
        """The state after values are taken in, and predictions with their `"loss"`."""

    def _loss_additions(self, times: Tensor, values: Tensor, mode: str) -> Any:
        """What is added to the loss of a batch."""
        return 0.0

    def _window_initializer(self, times: Tensor, state: Any) -> None:
        """Makes what the steps of a window share, before them."""

    def get_batch_loss(self, features: Mapping[str, Any], mode: str, state: Any) -> ModelOutputs:
        """Scores a batch.

        Args:
          features: Tensors by name, `"times"` [batch, window] and `"values"` among them.
          mode: A key of `tf.estimator.ModeKeys`.
          state: The state before, of each series of the batch.
        """
        loss, states, outputs = self.per_step_batch_loss(features, mode, state)
        end = tf.nest.map_structure(lambda part: part[:, -1], states)
        outputs["observed"] = features[VALUES]
        return ModelOutputs(loss, end, outputs, features[TIMES])

    def per_step_batch_loss(
        self, features: Mapping[str, Any], mode: str, state: Any
    ) -> tuple[Any, Any, dict]:
        """The mean loss of an observation, the state after each, [batch, window, ...], and predictions."""
        self._check_graph_initialized()
        times = tf.cast(features[TIMES], tf.int64)
        values = self._scale_data(tf.cast(features[VALUES], self.dtype))
        regressors = self._process_exogenous_features(times, beside_the_series(features))

        def filter_one(step: Tensor, current_times: Tensor, state: Any) -> tuple[Any, dict[str, Tensor]]:
            state = self._with_exogenous(current_times, step, state, features, regressors)
            state, predictions = self._prediction_step(current_times, state)
            return self._filtering_step(current_times, values[:, step, :], state, predictions)

        states, outputs = self._each_time(times, state, filter_one, ["loss", *self._train_output_names])
        losses = outputs.pop("loss")
        losses.set_shape(times.shape)
        loss = tf.reduce_sum(losses) / tf.cast(tf.reduce_prod(tf.shape(times)), self.dtype)
        loss += self._loss_additions(times, values, mode)
        return loss, states, self._scale_back_predictions(outputs)

    def predict(self, features: Mapping[str, Any]) -> dict[str, Tensor]:
        """Predicts means and covariances.

        Args:
          features: The times, the state to start from, and features beside the series.
        """
        times = tf.convert_to_tensor(features[TIMES], tf.int64)
        regressors = self._process_exogenous_features(times, beside_the_series(features))

        def predict_one(step: Tensor, current_times: Tensor, state: Any) -> tuple[Any, dict[str, Tensor]]:
            state = self._with_exogenous(current_times, step, state, features, regressors)
            return self._prediction_step(current_times, state)

        _, predictions = self._each_time(times, features[STATE], predict_one, self._predict_output_names)
        return self._scale_back_predictions(predictions)

    def _with_exogenous(
        self, current_times: Tensor, step: Tensor, state: Any, features: Mapping[str, Any], regressors: Any
    ) -> Any:
        """The state after features beside the series are taken in, by the series that do so now."""
        if regressors is None:
            return state
        updated = self._exogenous_input_step(current_times, regressors[:, step, :], state)
        if self._exogenous_update_condition is None:
            return updated
        current = {name: value[:, step] for name, value in beside_the_series(features).items()}
        takes = self._exogenous_update_condition(times=current_times, features=current)
        return tf.nest.map_structure(lambda new, old: tf.where(takes, new, old), updated, state)

    def _each_time(
        self, times: Tensor, state: Any, step_fn: Callable, outputs: Sequence[str]
    ) -> tuple[Any, dict[str, Tensor]]:
        """Goes through the times: the states after each and the outputs at each, [batch, window, ...]."""
        times = tf.convert_to_tensor(times, tf.int64)
        state = tf.nest.map_structure(tf.convert_to_tensor, state)
        self._window_initializer(times, state)
        size = tf.shape(times)[1]

        def step(number: Tensor, state: Any, states: list, collected: list) -> tuple:
            with tf.variable_scope("state_update_step"):
                now = times[:, number]
                imputed = self._imputation_step(now, state)
                after, values = step_fn(number, now, imputed)
            for new, old in zip(tf.nest.flatten(after), tf.nest.flatten(state), strict=True):
                new.set_shape(old.shape)
            states = [a.write(number, part) for a, part in zip(states, tf.nest.flatten(after), strict=True)]
            collected = [a.write(number, values[name]) for a, name in zip(collected, outputs, strict=True)]
            return number + 1, tf.nest.pack_sequence_as(state, tf.nest.flatten(after)), states, collected

        state_arrays = [tf.TensorArray(part.dtype, size) for part in tf.nest.flatten(state)]
        output_arrays = [tf.TensorArray(self.dtype, size) for _ in outputs]
        _, _, states, collected = tf.while_loop(
            lambda number, *_: number < size, step, [tf.constant(0), state, state_arrays, output_arrays]
        )
        whole = tf.nest.pack_sequence_as(state, [_batch_first(array) for array in states])
        return whole, {name: _batch_first(array) for name, array in zip(outputs, collected, strict=True)}


def _batch_first(array: Any) -> Tensor:
    stacked = array.stack()
    return tf.transpose(stacked, tf.concat([[1, 0], tf.range(2, tf.rank(stacked))], axis=0))
