"""Estimators of time series."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.contrib.timeseries.anomalies import AnomalyDetector
from tideflow.contrib.timeseries.autoregression import AnomalyMixtureARModel, ARModel, FlatPredictionModel
from tideflow.contrib.timeseries.components import structural_ensemble
from tideflow.contrib.timeseries.heads import TimeSeriesRegressionHead, state_to_dictionary
from tideflow.contrib.timeseries.keys import TIMES, VALUES
from tideflow.contrib.timeseries.models import TimeSeriesModel
from tideflow.contrib.timeseries.state_space import StateSpaceSettings
from tideflow.contrib.timeseries.states import (
    ChainingStateManager,
    FilteringOnlyStateManager,
    PassthroughStateManager,
)
from tideflow.contrib.timeseries.statistics import InputStatisticsFromMiniBatch
from tideflow.export import export

if TYPE_CHECKING:
    from tideflow.graph.operation import Tensor
    from tideflow.graph.typing import DTypeLike
    from tideflow.train.optimizer import Optimizer


@export("contrib.timeseries.TimeSeriesRegressor")
class TimeSeriesRegressor(tf.estimator.Estimator):
    """An estimator of a time series model.

    Args:
      model: The model.
      state_manager: What gives batches a state to start from; by the kind of the model if None.
      optimizer: An optimizer; Adam with a rate of 0.02 if None.
      model_dir: The directory of the model.
      config: A `tf.estimator.RunConfig`.
      head_type: The class of the head.
    """

    def __init__(
        self,
        model: TimeSeriesModel,
        state_manager: PassthroughStateManager | None = None,
        optimizer: Optimizer | None = None,
        model_dir: str | None = None,
        config: Any = None,
        head_type: type[TimeSeriesRegressionHead] = TimeSeriesRegressionHead,
    ):
        if state_manager is None:
            is_windowed = isinstance(model, ARModel)
            state_manager = FilteringOnlyStateManager() if is_windowed else PassthroughStateManager()
        self._model = model
        head = head_type(
            model=model,
            state_manager=state_manager,
            optimizer=optimizer or tf.train.AdamOptimizer(0.02),
            input_statistics_generator=InputStatisticsFromMiniBatch(model.num_features, model.dtype),
        )
        super().__init__(model_fn=head.create_estimator_spec, model_dir=model_dir, config=config)

    def build_raw_serving_input_receiver_fn(
        self, default_batch_size: int | None = None, default_series_length: int | None = None
    ) -> Callable[[], Any]:
        """Makes a function for `export_saved_model`, whose model takes arrays.

        Args:
          default_batch_size: The one size of batches that is taken; any if None.
          default_series_length: The one length of windows that is taken; any if None.

        Returns:
          A function that makes placeholders of times, values, features beside the series, and the state.
        """
        outer = [default_batch_size, default_series_length]

        def receiver() -> Any:
            shape = [*outer, self._model.num_features]
            zeros = tf.zeros([size or 0 for size in shape], self._model.dtype)
            placeholders = {
                TIMES: tf.placeholder(tf.int64, outer, name=TIMES),
                VALUES: tf.placeholder_with_default(zeros, shape, name=VALUES),
            }
            for name, feature in self._parsed_columns().items():
                inner = feature.shape.with_rank_at_least(1)[1:]
                placeholders[name] = tf.placeholder(
                    feature.dtype, tf.TensorShape(outer).concatenate(inner), name
                )
            batch = tf.shape(placeholders[TIMES])[0]
            placeholders.update(self._state_placeholders(batch, default_batch_size))
            return tf.estimator.export.ServingInputReceiver(placeholders, placeholders)

        return receiver

    def build_one_shot_parsing_serving_input_receiver_fn(
        self,
        filtering_length: int,
        prediction_length: int,
        default_batch_size: int | None = None,
        values_input_dtype: DTypeLike | None = None,
        truncate_values: bool = False,
    ) -> Callable[[], Any]:
        """Makes a function for `export_saved_model`, whose model takes `tf.train.Example`s.

        It goes with `OneShotPredictionHead`.

        Args:
          filtering_length: For how many times values are given.
          prediction_length: How many times are predicted.
          default_batch_size: The one size of batches that is taken; any if None.
          values_input_dtype: The type of values in examples; float32 if None.
          truncate_values: Whether examples have values for the times that are predicted, to be ignored.

        Returns:
          A function that makes a placeholder of serialized examples, and parses them.
        """
        whole = filtering_length + prediction_length
        lengths = {VALUES: whole if truncate_values else filtering_length}

        def receiver() -> Any:
            columns = [
                *self._model.exogenous_feature_columns,
                tf.feature_column.numeric_column(TIMES, dtype=tf.int64),
                tf.feature_column.numeric_column(
                    VALUES, (self._model.num_features,), dtype=values_input_dtype or tf.float32
                ),
            ]
            spec = {
                name: _as_sequence(name, feature, lengths.get(name, whole))
                for name, feature in tf.feature_column.make_parse_example_spec(columns).items()
            }
            examples = tf.placeholder(tf.string, [default_batch_size], name="input")
            features = tf.parse_example(examples, spec)
            features[TIMES] = tf.squeeze(features[TIMES], axis=-1)
            features[VALUES] = tf.cast(features[VALUES], self._model.dtype)[:, :filtering_length]
            batch = tf.shape(features[TIMES])[0]
            features.update(self._state_placeholders(batch, default_batch_size))
            return tf.estimator.export.ServingInputReceiver(features, {"examples": examples})

        return receiver

    def _parsed_columns(self) -> dict[str, Any]:
        """What the columns beside the series take, in a graph of its own: only shapes and types count."""
        if not self._model.exogenous_feature_columns:
            return {}
        with tf.Graph().as_default():
            spec = tf.feature_column.make_parse_example_spec(self._model.exogenous_feature_columns)
            return tf.parse_example(tf.placeholder(tf.string, [None]), spec)

    def _state_placeholders(self, batch: Tensor, static_batch: int | None) -> dict[str, Tensor]:
        """Placeholders of the state, zero where nothing is fed."""
        with tf.Graph().as_default():
            self._model.initialize_graph()
            start = tf.nest.map_structure(tf.convert_to_tensor, self._model.get_start_state())
        placeholders = {}
        for name, part in state_to_dictionary(start).items():
            shape = part.shape.as_list()
            zeros = tf.zeros(tf.concat([batch[None], shape], axis=0) if shape else batch[None], part.dtype)
            placeholders[name] = tf.placeholder_with_default(zeros, [static_batch, *shape], name)
        return placeholders


def _as_sequence(name: str, feature: Any, length: int) -> Any:
    """How to parse a feature of each time of a window."""
    if isinstance(feature, tf.FixedLenFeature):
        return feature._replace(shape=(length, *feature.shape))
    if feature.dtype == tf.string:
        return tf.FixedLenFeature((length,), tf.string)
    raise ValueError(f"VarLenFeatures not supported, got {feature} for key {name}")


@export("contrib.timeseries.ARRegressor")
class ARRegressor(TimeSeriesRegressor):
    """An estimator of an autoregression: a window of a series from the window before it.

    Args:
      periodicities: A period of the series, or several, in units of time.
      input_window_size: The length of the window before; with 0, only times and features count.
      output_window_size: The length of the window that is predicted.
      num_features: The number of values at a time.
      exogenous_feature_columns: Columns of features that are known beside the series.
      num_time_buckets: Into how many buckets a period is divided.
      loss: `ARModel.NORMAL_LIKELIHOOD_LOSS` or `ARModel.SQUARED_LOSS`.
      hidden_layer_sizes: Sizes of layers between the windows.
      anomaly_prior_probability: How probable an anomaly is; None if there are none.
      anomaly_distribution: `"gaussian"` or `"cauchy"`.
      optimizer: An optimizer; Adagrad with a rate of 0.1 if None.
      model_dir: The directory of the model.
      config: A `tf.estimator.RunConfig`.

    Raises:
      ValueError: If anomalies have a distribution but no probability, or go with the squared loss.
    """

    def __init__(
        self,
        periodicities: Any,
        input_window_size: int,
        output_window_size: int,
        num_features: int,
        exogenous_feature_columns: Sequence[Any] | None = None,
        num_time_buckets: int = 10,
        loss: str = ARModel.NORMAL_LIKELIHOOD_LOSS,
        hidden_layer_sizes: Sequence[int] | None = None,
        anomaly_prior_probability: float | None = None,
        anomaly_distribution: str | None = None,
        optimizer: Optimizer | None = None,
        model_dir: str | None = None,
        config: Any = None,
    ):
        shared = {
            "periodicities": periodicities,
            "input_window_size": input_window_size,
            "output_window_size": output_window_size,
            "num_features": num_features,
            "prediction_model_factory": functools.partial(
                FlatPredictionModel, hidden_layer_sizes=hidden_layer_sizes
            ),
            "num_time_buckets": num_time_buckets,
            "exogenous_feature_columns": exogenous_feature_columns,
        }
        if anomaly_prior_probability is None:
            if anomaly_distribution is not None:
                raise ValueError(
                    "anomaly_prior_probability is required if anomaly_distribution is specified."
                )
            model = ARModel(loss=loss, **shared)
        else:
            if loss != ARModel.NORMAL_LIKELIHOOD_LOSS:
                raise ValueError(
                    "AnomalyMixtureARModel only supports ar_model.ARModel.NORMAL_LIKELIHOOD_LOSS for its "
                    "loss argument."
                )
            model = AnomalyMixtureARModel(
                anomaly_prior_probability=anomaly_prior_probability,
                anomaly_distribution=anomaly_distribution,
                **shared,
            )
        super().__init__(
            model, FilteringOnlyStateManager(), optimizer or tf.train.AdagradOptimizer(0.1), model_dir, config
        )


@export("contrib.timeseries.StructuralEnsembleRegressor")
class StructuralEnsembleRegressor(TimeSeriesRegressor):
    """An estimator of a state space model of level, trend, cycles and moving averages of noise.

    Args:
      periodicities: A period of the series, or several, in units of time.
      num_features: The number of values at a time.
      cycle_num_latent_values: Of how many values a cycle is made, odd; a list for several periods.
      moving_average_order: How many noises before count.
      autoregressive_order: How many times before count in an autoregression.
      exogenous_feature_columns: Columns of features that are known beside the series.
      exogenous_update_condition: A function of `times` [batch] and `features` that says which series take
        features in; all if None.
      dtype: The type that the model computes in.
      anomaly_prior_probability: How probable an anomaly is; None if there are none.
      optimizer: An optimizer; Adam with a rate of 0.02 if None.
      model_dir: The directory of the model.
      config: A `tf.estimator.RunConfig`.
      head_type: The class of the head.
    """

    def __init__(
        self,
        periodicities: Any,
        num_features: int,
        cycle_num_latent_values: int | Sequence[int] = 11,
        moving_average_order: int = 4,
        autoregressive_order: int = 0,
        exogenous_feature_columns: Sequence[Any] | None = None,
        exogenous_update_condition: Callable | None = None,
        dtype: Any = tf.float64,
        anomaly_prior_probability: float | None = None,
        optimizer: Optimizer | None = None,
        model_dir: str | None = None,
        config: Any = None,
        head_type: type[TimeSeriesRegressionHead] = TimeSeriesRegressionHead,
    ):
        settings = StateSpaceSettings(
            num_features=num_features,
            dtype=dtype,
            anomaly_detector=AnomalyDetector(anomaly_prior_probability)
            if anomaly_prior_probability
            else None,
            exogenous_feature_columns=exogenous_feature_columns or (),
            exogenous_update_condition=exogenous_update_condition,
        )
        model = structural_ensemble(
            cycle_num_latent_values, moving_average_order, autoregressive_order, periodicities, settings
        )
        super().__init__(model, ChainingStateManager(), optimizer, model_dir, config, head_type)
