"""Models that predict a window of a series from the window before it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.contrib.timeseries.densities import cauchy_log_prob, normal_log_prob
from tideflow.contrib.timeseries.keys import STATE, TIMES, VALUES
from tideflow.contrib.timeseries.models import ModelOutputs, TimeSeriesModel, beside_the_series
from tideflow.export import export

if TYPE_CHECKING:
    from tideflow.contrib.timeseries.statistics import InputStatistics
    from tideflow.graph.operation import Tensor

_LEAST_VARIANCE = 1e-5


class FlatPredictionModel(tf.keras.Model):
    """Means and variances of the output window as dense layers of all features of both windows.

    Args:
      num_features: The number of values at a time.
      input_window_size: The length of the window before.
      output_window_size: The length of the window that is predicted.
      hidden_layer_sizes: Sizes of layers between.
    """

    def __init__(
        self,
        num_features: int,
        input_window_size: int,
        output_window_size: int,
        hidden_layer_sizes: Sequence[int] | None = None,
    ):
        super().__init__()
        size = num_features * output_window_size
        self._input_flatten, self._output_flatten = tf.keras.layers.Flatten(), tf.keras.layers.Flatten()
        layers = [tf.keras.layers.Dense(each, activation=tf.nn.relu) for each in hidden_layer_sizes or ()]
        self._hidden_layers = tf.keras.Sequential(layers) if layers else None
        self._mean_transform = tf.keras.layers.Dense(size, name="predicted_mean")
        self._covariance_transform = tf.keras.layers.Dense(size, name="log_sigma_square")
        self._prediction_shape = [-1, output_window_size, num_features]

    def call(self, input_window_features: Tensor, output_window_features: Tensor) -> dict[str, Tensor]:
        """Predicts the output window.

        Args:
          input_window_features: What is known of the window before, [batch, input window, size].
          output_window_features: What is known of the output window, [batch, output window, size].
        """
        if input_window_features.shape[1].value == 0:
            flat = self._output_flatten(output_window_features)
        elif output_window_features.shape[2].value == 0:
            flat = self._input_flatten(input_window_features)
        else:
            both = self._input_flatten(input_window_features), self._output_flatten(output_window_features)
            flat = tf.concat(both, axis=1)
        if self._hidden_layers is not None:
            flat = self._hidden_layers(flat)
        variance = tf.exp(self._covariance_transform(flat))
        return {
            "mean": tf.reshape(self._mean_transform(flat), self._prediction_shape),
            "covariance": tf.reshape(variance, self._prediction_shape),
        }


@export("contrib.timeseries.ARModel")
class ARModel(TimeSeriesModel):
    """Predicts a window of a series from the window before it, the times, and features beside the series.

    Args:
      periodicities: A period of the series, or several, in units of time.
      input_window_size: The length of the window before; with 0, only times and features count.
      output_window_size: The length of the window that is predicted.
      num_features: The number of values at a time.
      prediction_model_factory: Makes the Keras model that predicts, of the number of features and both sizes.
      num_time_buckets: Into how many buckets a period is divided.
      loss: `ARModel.NORMAL_LIKELIHOOD_LOSS` or `ARModel.SQUARED_LOSS`.
      exogenous_feature_columns: Columns of features that are known beside the series.
    """

    SQUARED_LOSS = "squared_loss"
    NORMAL_LIKELIHOOD_LOSS = "normal_likelihood_loss"

    def __init__(
        self,
        periodicities: Any,
        input_window_size: int,
        output_window_size: int,
        num_features: int,
        prediction_model_factory: Callable[..., Any] = FlatPredictionModel,
        num_time_buckets: int = 10,
        loss: str = NORMAL_LIKELIHOOD_LOSS,
        exogenous_feature_columns: Sequence[Any] | None = None,
    ):
        super().__init__(num_features, exogenous_feature_columns)
        self._model_factory = prediction_model_factory
        self.input_window_size, self.output_window_size = input_window_size, output_window_size
        self.window_size = input_window_size + output_window_size
        self.loss = loss
        self.exogenous_size = self._exogenous_size()
        self._buckets = int(num_time_buckets)
        given = periodicities if isinstance(periodicities, (list, tuple)) else [periodicities or 0]
        self._periodicities = [int(period) for period in given if given != [0]]
        assert num_time_buckets > 0, num_time_buckets
        assert all(period > 0 for period in self._periodicities), self._periodicities
        assert self._periodicities or input_window_size, "neither periodicities nor an input window"
        assert output_window_size > 0, output_window_size

    def initialize_graph(self, input_statistics: InputStatistics | None = None) -> None:
        """Makes the Keras model that predicts, in the default graph.

        Args:
          input_statistics: What is known of the series; values are scaled by it.
        """
        super().initialize_graph(input_statistics)
        self._model_scope = tf.variable_scope("model/", use_resource=True)
        self._model_instance = self._model_factory(
            num_features=self.num_features,
            input_window_size=self.input_window_size,
            output_window_size=self.output_window_size,
        )

    def get_start_state(self) -> tuple[Tensor, Tensor, Tensor]:
        """Times, values and features of an input window of zeros."""
        size = self.input_window_size
        return (
            tf.zeros([size], tf.int64),
            tf.zeros([size, self.num_features], self.dtype),
            tf.zeros([size, self.exogenous_size], self.dtype),
        )

    # ------------------------------------------------------------------------------------------ one window

    def prediction_ops(self, times: Tensor, values: Any, exogenous_regressors: Any) -> dict[str, Tensor]:
        """Predicts an output window.

        Args:
          times: A tensor of the times of both windows, [batch, window].
          values: The scaled values of the input window, [batch, input window, features].
          exogenous_regressors: Features beside the series, of both windows.

        Returns:
          Tensors `"mean"` and `"covariance"`, scaled, [batch, output window, features].
        """
        times.shape.assert_is_compatible_with([None, self.window_size])
        batch = tf.shape(times)[0]
        sizes = [self.input_window_size, self.output_window_size]
        known, ahead = [], []
        if self._periodicities:
            of_times = tf.reshape(
                self._time_features(times),
                [batch, self.window_size, self._buckets * len(self._periodicities)],
            )
            before, after = tf.split(of_times, sizes, axis=1)
            known.append(before)
            ahead.append(after)
        if self.input_window_size:
            values.shape.assert_is_compatible_with([None, self.input_window_size, self.num_features])
            known.append(tf.reshape(values, [batch, self.input_window_size, self.num_features]))
        if self.exogenous_size:
            before, after = tf.split(exogenous_regressors, sizes, axis=1)
            known.append(before)
            ahead.append(after)
        inputs = tf.concat(known, axis=2)
        outputs = tf.concat(ahead, axis=2) if ahead else tf.zeros([batch, sizes[1], 0], self.dtype)
        for features, size, parts in ((inputs, sizes[0], known), (outputs, sizes[1], ahead)):
            features.set_shape([times.shape[0].value, size, sum(part.shape[2].value for part in parts)])
        with self._model_scope:
            predictions = self._model_instance(inputs, outputs)
        for prediction in predictions.values():
            prediction.set_shape([None, self.output_window_size, self.num_features])
        return predictions

    def _time_features(self, times: Tensor) -> Tensor:
        """How far each time is in the bucket of each period that it falls in; 0 in the other buckets."""
        periods = tf.constant(self._periodicities, times.dtype, [1, 1, len(self._periodicities), 1])
        times = tf.reshape(times, [tf.shape(times)[0], -1, 1, 1])
        position = tf.cast(times % periods, self.dtype) * self._buckets / tf.cast(periods, self.dtype)
        into = tf.nn.relu(position - tf.reshape(tf.range(self._buckets, dtype=self.dtype), [1, 1, 1, -1]))
        return tf.where_v2(into < 1.0, into, tf.zeros_like(into))

    def loss_op(self, targets: Tensor, prediction_ops: dict[str, Tensor]) -> Tensor:
        """The mean loss of a value.

        Args:
          targets: A tensor of scaled values of the output window.
          prediction_ops: What `prediction_ops` returned for it.
        """
        mean = prediction_ops["mean"]
        if self.loss == ARModel.NORMAL_LIKELIHOOD_LOSS:
            sigma = tf.sqrt(tf.maximum(prediction_ops["covariance"], _LEAST_VARIANCE))
            total = -tf.reduce_sum(normal_log_prob(targets, sigma, mean))
        else:
            assert self.loss == ARModel.SQUARED_LOSS, self.loss
            total = tf.reduce_sum(tf.squared_difference(mean, targets))
        return total / tf.cast(tf.reduce_prod(tf.shape(targets)), total.dtype)

    def _process_exogenous_features(self, times: Tensor, features: Mapping[str, Any]) -> Tensor:
        embedded = super()._process_exogenous_features(times, features)
        return tf.zeros(tf.concat([tf.shape(times), [0]], axis=0)) if embedded is None else embedded

    def _process_window(self, features: Mapping[str, Any], mode: str, regressors: Tensor) -> ModelOutputs:
        times = tf.cast(features[TIMES], tf.int64)
        observed = tf.cast(features[VALUES], self.dtype)
        regressors = tf.cast(regressors, self.dtype)
        if not times.shape.is_compatible_with([None, self.window_size]):
            raise ValueError(
                f"ARModel with input_window_size={self.input_window_size} and "
                f"output_window_size={self.output_window_size} expects feature '{TIMES}' to have shape "
                f"(batch_size, {self.window_size}) (for any batch_size), but got shape {times.shape}. If "
                f"you are using RandomWindowInputFn, set window_size={self.window_size} or adjust the "
                "input_window_size and output_window_size arguments to ARModel."
            )
        size = self.input_window_size
        values = self._scale_data(observed)
        predicted = self.prediction_ops(times, values[:, :size, :] if size else None, regressors)
        targets = values[:, size:, :]
        targets.shape.assert_is_compatible_with(predicted["mean"].shape)
        if mode == tf.estimator.ModeKeys.EVAL and self.loss == ARModel.SQUARED_LOSS:
            unscaled = {"mean": self._scale_back_data(predicted["mean"])}
            loss = self.loss_op(self._scale_back_data(targets), unscaled)
        else:
            loss = self.loss_op(targets, predicted)
        return ModelOutputs(
            loss,
            (times[:, -size:], values[:, -size:, :], regressors[:, -size:, :]),
            {
                "mean": self._scale_back_data(predicted["mean"]),
                "covariance": self._scale_back_variance(predicted["covariance"]),
                "observed": observed[:, -self.output_window_size :],
            },
            times[:, -self.output_window_size :],
        )

    # --------------------------------------------------------------------------------------- many windows

    def get_batch_loss(self, features: Mapping[str, Any], mode: str, state: Any) -> ModelOutputs:
        """Scores a batch: one window in training, all windows that fit in evaluation.

        Args:
          features: Tensors by name, `"times"` [batch, window] and `"values"` among them.
          mode: A key of `tf.estimator.ModeKeys`.
          state: The state before, of each series of the batch.
        """
        features = {name: tf.convert_to_tensor(value) for name, value in features.items()}
        regressors = self._process_exogenous_features(features[TIMES], beside_the_series(features))
        if mode == tf.estimator.ModeKeys.TRAIN:
            return self._process_window(features, mode, regressors)
        if mode == tf.estimator.ModeKeys.EVAL:
            return self._all_windows(features, state, regressors)
        raise ValueError(f"Unknown mode '{mode}' passed to get_batch_loss.")

    def _all_windows(self, features: dict[str, Tensor], state: Any, regressors: Tensor) -> ModelOutputs:
        times = features[TIMES]
        times.shape.assert_has_rank(2)
        if times.shape[1].value is not None and times.shape[1].value < self.window_size:
            raise ValueError(
                "ARModel requires a window of at least input_window_size + output_window_size to evaluate on "
                f"(input_window_size={self.input_window_size}, output_window_size={self.output_window_size}, "
                f"and got shape {times.shape} for feature '{TIMES}' (batch size, window size))."
            )
        count = (tf.shape(times)[1] - self.input_window_size) // self.output_window_size
        ahead = count * self.output_window_size
        cropped = {name: value[:, -(ahead + self.input_window_size) :] for name, value in features.items()}

        def window(number: Tensor, losses: Any, means: Any, variances: Any) -> tuple:
            start = number * self.output_window_size
            part = {name: value[:, start : start + self.window_size] for name, value in cropped.items()}
            # TensorFlow slices the columns from the start of what was given, not of what is left of it.
            outputs = self._process_window(
                part, tf.estimator.ModeKeys.EVAL, regressors[:, start : start + self.window_size]
            )
            predicted = outputs.predictions
            return (
                number + 1,
                losses.write(number, outputs.loss),
                means.write(number, predicted["mean"]),
                variances.write(number, predicted["covariance"]),
            )

        arrays = [tf.TensorArray(self.dtype, count) for _ in range(3)]
        _, losses, means, variances = tf.while_loop(lambda number, *_: number < count, window, [0, *arrays])
        values = tf.cast(cropped[VALUES], self.dtype)
        return ModelOutputs(
            tf.reduce_mean(losses.stack(), axis=0),
            self._end_state(state, times, values, regressors),
            {
                "mean": self._joined(means, times, ahead),
                "covariance": self._joined(variances, times, ahead),
                "observed": values[:, -ahead:],
            },
            times[:, -ahead:],
        )

    def _joined(self, windows: Any, times: Tensor, length: Tensor) -> Tensor:
        """Windows [count, batch, window, features], one after the other in time."""
        shape = [tf.shape(times)[0], length, self.num_features]
        return tf.reshape(tf.transpose(windows.stack(), [1, 0, 2, 3]), shape)

    def _end_state(self, state: Any, times: Tensor, values: Tensor, regressors: Tensor) -> Any:
        """The last input window of what came before and what was seen."""
        size = self.input_window_size
        if not size:
            return state
        seen = (tf.cast(times, tf.int64), self._scale_data(values), regressors)
        last = tuple(tf.concat(both, axis=1)[:, -size:] for both in zip(state, seen, strict=True))
        for part, inner in zip(last, ((), (self.num_features,), (self.exogenous_size,)), strict=True):
            part.set_shape((None, size, *inner))
        return last

    def _whole_windows(self, features: Mapping[str, Any]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Times and regressors, padded to whole windows; how many times were asked for, and the windows."""
        ahead = self.output_window_size
        times = tf.cast(tf.convert_to_tensor(features[TIMES]), tf.int32)
        regressors = self._process_exogenous_features(times, beside_the_series(features))
        lengths = tf.shape(times)[1], tf.shape(regressors)[1]
        with tf.control_dependencies([tf.assert_equal(*lengths)]):
            regressors = tf.identity(regressors)
        asked = lengths[0]
        count = (asked + ahead - 1) // ahead
        missing = count * ahead - asked
        times = tf.pad(times, [[0, 0], [0, missing]])
        return times, tf.pad(regressors, [[0, 0], [0, missing], [0, 0]]), asked, count

    def predict(self, features: Mapping[str, Any]) -> dict[str, Tensor]:
        """Predicts window after window; each takes the means of the ones before as values.

        Args:
          features: The times, the state to start from, and features beside the series.
        """
        if not self._graph_initialized:
            self.initialize_graph()
        ahead, size = self.output_window_size, self.input_window_size
        times, regressors, asked, count = self._whole_windows(features)
        before_times, before_values, before_regressors = features[STATE]
        before_times = tf.cast(tf.convert_to_tensor(before_times), tf.int32)
        before_values = tf.convert_to_tensor(before_values, self.dtype)
        before_regressors = tf.convert_to_tensor(before_regressors, self.dtype)
        if size:
            known = [
                tf.assert_greater_equal(tf.shape(before_values)[1], size),
                tf.assert_equal(tf.shape(before_values)[1], tf.shape(before_times)[1]),
            ]
            with tf.control_dependencies(known):
                window_values: Any = before_values[:, -size:, :]
            times = tf.concat([before_times[:, -size:], times], axis=1)
            regressors = tf.concat([before_regressors[:, -size:, :], regressors], axis=1)
        else:
            window_values = tf.constant(0.0)

        def window(number: Tensor, window_values: Any, means: Any, variances: Any) -> tuple:
            start = number * ahead
            window_times = times[:, start : start + self.window_size]
            window_times.set_shape([features[TIMES].shape[0], self.window_size])
            window_regressors = regressors[:, start : start + self.window_size, :]
            window_regressors.set_shape([None, self.window_size, self.exogenous_size])
            predicted = self.prediction_ops(window_times, window_values, window_regressors)
            if size:
                seen = tf.concat([window_values, predicted["mean"]], axis=1)[:, -size:, :]
                seen.set_shape(window_values.shape)
                window_values = seen
            variances = variances.write(number, predicted["covariance"])
            return number + 1, window_values, means.write(number, predicted["mean"]), variances

        arrays = [tf.TensorArray(self.dtype, count) for _ in range(2)]
        *_, means, variances = tf.while_loop(
            lambda number, *_: number < count, window, [0, window_values, *arrays]
        )
        mean, variance = (
            self._joined(array, times, count * ahead)[:, :asked, :] for array in (means, variances)
        )
        if self.loss == ARModel.SQUARED_LOSS:  # which fits no variance
            variance = tf.ones_like(mean)
        return {"mean": self._scale_back_data(mean), "covariance": self._scale_back_variance(variance)}


class AnomalyMixtureARModel(ARModel):
    """An autoregression in which each value may be an anomaly, of a wider distribution.

    Args:
      periodicities: See `ARModel`.
      anomaly_prior_probability: How probable an anomaly is.
      input_window_size: See `ARModel`.
      output_window_size: See `ARModel`.
      num_features: See `ARModel`.
      prediction_model_factory: See `ARModel`.
      anomaly_distribution: `GAUSSIAN_ANOMALY` or `CAUCHY_ANOMALY`.
      num_time_buckets: See `ARModel`.
      exogenous_feature_columns: See `ARModel`.
    """

    GAUSSIAN_ANOMALY = "gaussian"
    CAUCHY_ANOMALY = "cauchy"

    def __init__(
        self,
        periodicities: Any,
        anomaly_prior_probability: float,
        input_window_size: int,
        output_window_size: int,
        num_features: int,
        prediction_model_factory: Callable[..., Any] = FlatPredictionModel,
        anomaly_distribution: str = GAUSSIAN_ANOMALY,
        num_time_buckets: int = 10,
        exogenous_feature_columns: Sequence[Any] | None = None,
    ):
        assert 0.0 < anomaly_prior_probability < 1.0, anomaly_prior_probability
        assert anomaly_distribution in (self.GAUSSIAN_ANOMALY, self.CAUCHY_ANOMALY), anomaly_distribution
        self._anomaly_prior_probability = anomaly_prior_probability
        self._anomaly_distribution = anomaly_distribution
        super().__init__(
            periodicities,
            input_window_size,
            output_window_size,
            num_features,
            prediction_model_factory,
            num_time_buckets,
            exogenous_feature_columns=exogenous_feature_columns,
        )

    def prediction_ops(self, times: Tensor, values: Any, exogenous_regressors: Any) -> dict[str, Tensor]:
        """Predicts an output window; `"anomaly_params"` is the width of anomalies.

        Args:
          times: A tensor of the times of both windows, [batch, window].
          values: The scaled values of the input window, [batch, input window, features].
          exogenous_regressors: Features beside the series, of both windows.
        """
        predictions = super().prediction_ops(times, values, exogenous_regressors)
        width = tf.get_variable("anomaly_log_param", [], self.dtype, tf.zeros_initializer())
        return {**predictions, "anomaly_params": tf.exp(width)}

    def loss_op(self, targets: Tensor, prediction_ops: dict[str, Tensor]) -> Tensor:
        """The mean loss of a value, which is an anomaly or is not.

        Args:
          targets: A tensor of scaled values of the output window.
          prediction_ops: What `prediction_ops` returned for it.
        """
        mean, width = prediction_ops["mean"], prediction_ops["anomaly_params"]
        sigma = tf.sqrt(tf.maximum(prediction_ops["covariance"], _LEAST_VARIANCE))
        if self._anomaly_distribution == self.GAUSSIAN_ANOMALY:
            anomaly = normal_log_prob(targets, tf.sqrt(tf.maximum(width, _LEAST_VARIANCE)), mean)
        else:
            anomaly = cauchy_log_prob(targets, width, mean)
        usual = normal_log_prob(targets, sigma, mean) + tf.log(1 - self._anomaly_prior_probability)
        anomaly += tf.log(self._anomaly_prior_probability)
        less, more = tf.minimum(usual, anomaly), tf.maximum(usual, anomaly)
        total = -tf.reduce_sum(more + tf.log(1 + tf.exp(less - more)))
        return total / tf.cast(tf.reduce_prod(tf.shape(targets)), self.dtype)
