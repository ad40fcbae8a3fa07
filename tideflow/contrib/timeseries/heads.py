"""Heads of time series: what a model makes of its features, as an estimator takes it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.contrib.timeseries import keys
from tideflow.contrib.timeseries.keys import STATE, TIMES, VALUES
from tideflow.contrib.timeseries.models import ModelOutputs, TimeSeriesModel
from tideflow.export import export
from tideflow.variables.global_step import get_global_step

if TYPE_CHECKING:
    from tideflow.contrib.timeseries.states import PassthroughStateManager
    from tideflow.contrib.timeseries.statistics import InputStatisticsFromMiniBatch
    from tideflow.train.optimizer import Optimizer

_Modes = tf.estimator.ModeKeys


class _StatelessPredictOutput(tf.estimator.export.PredictOutput):
    """Predictions of a signature that takes no state."""

    def as_signature_def(self, receiver_tensors: Any) -> Any:
        """The signature.

        Args:
          receiver_tensors: What is fed, by name.
        """
        return super().as_signature_def(_without_state(receiver_tensors))


def _without_state(features: Any) -> dict[str, Any]:
    return {name: value for name, value in features.items() if not name.startswith(keys.STATE_PREFIX)}


def state_to_dictionary(state: Any) -> dict[str, Any]:
    """The parts of a state by names that a signature can have."""
    return {f"{keys.STATE_PREFIX}_{number:02d}": part for number, part in enumerate(tf.nest.flatten(state))}


class TimeSeriesRegressionHead:
    """What a time series model trains, evaluates, predicts and exports.

    Args:
      model: The model.
      state_manager: What gives batches a state to start from.
      optimizer: An optimizer of the model's variables.
      input_statistics_generator: What keeps statistics of the series; values are scaled by them.
      name: The name of the head.
    """

    def __init__(
        self,
        model: TimeSeriesModel,
        state_manager: PassthroughStateManager,
        optimizer: Optimizer,
        input_statistics_generator: InputStatisticsFromMiniBatch | None = None,
        name: str | None = None,
    ):
        self.model, self.state_manager, self.optimizer = model, state_manager, optimizer
        self.input_statistics_generator = input_statistics_generator
        self._name = name

    @property
    def name(self) -> str | None:
        """The name of the head."""
        return self._name

    @property
    def logits_dimension(self) -> int:
        """How many numbers a model would have to give: heads of time series ask for none."""
        return 1

    def create_loss(
        self, features: dict[str, Any], mode: str, logits: Any = None, labels: Any = None
    ) -> ModelOutputs:
        """Scores a batch.

        Args:
          features: What it has, by name.
          mode: A key of `tf.estimator.ModeKeys`.
          logits: Not used.
          labels: Not used.

        Returns:
          The loss, the state after the batch, predictions and their times.
        """
        outputs = self.state_manager.define_loss(self.model, features, mode)
        tf.summary.scalar(f"loss/{self._name}" if self._name else "loss", outputs.loss)
        return outputs

    def create_estimator_spec(self, features: dict[str, Any], mode: str, labels: Any = None) -> Any:
        """Makes what an estimator runs; it is a `model_fn`.

        Args:
          features: What a batch has, by name.
          mode: A key of `tf.estimator.ModeKeys`.
          labels: None.

        Returns:
          A `tf.estimator.EstimatorSpec`.

        Raises:
          ValueError: If there are labels, or features lack something or have wrong shapes.
        """
        with tf.name_scope(self._name, "head"):
            if labels is not None and labels != {}:
                raise ValueError(
                    f"The model received a `labels`, which is not supported. Pass '{TIMES}' and '{VALUES}' "
                    "as features."
                )
            features = {name: self._as_tensor(name, value) for name, value in features.items()}
            statistics = None
            if self.input_statistics_generator is not None:
                statistics = self.input_statistics_generator.initialize_graph(
                    features, update_statistics=mode == _Modes.TRAIN
                )
            self.model.initialize_graph(input_statistics=statistics)
            features, is_served = self._gather_state(features)
            if mode in (_Modes.TRAIN, _Modes.EVAL):
                _check_observed(features, self.model)
            elif mode == _Modes.PREDICT:
                self._check_predict_features(features)
            else:
                raise ValueError(f"Unknown mode '{mode}' passed to model_fn.")
            self.state_manager.initialize_graph(model=self.model, input_statistics=statistics)
            if mode == _Modes.TRAIN:
                return self._train_ops(features)
            if mode == _Modes.EVAL:
                return self._evaluate_ops(features)
            return self._serving_ops(features) if is_served else self._predict_ops(features)

    def _as_tensor(self, name: str, value: Any) -> Any:
        if name == TIMES:
            return tf.cast(value, tf.int64)
        if name == VALUES:
            return tf.cast(value, self.model.dtype)
        if name == STATE:
            return value
        return tf.convert_to_tensor_or_sparse_tensor(value)

    def _gather_state(self, features: dict[str, Any]) -> tuple[dict[str, Any], bool]:
        """Features with the numbered parts of a state as one, and whether there were any."""
        pattern = re.compile(rf"^{keys.STATE_PREFIX}_(\d+)$")
        parts = {int(found[1]): name for name in features if (found := pattern.search(name))}
        if not parts:
            return features, False
        rest = {name: value for name, value in features.items() if name not in parts.values()}
        flat = [features[parts[number]] for number in sorted(parts)]
        rest[STATE] = tf.nest.pack_sequence_as(self.model.get_start_state(), flat)
        return rest, True

    def _train_ops(self, features: dict[str, Any]) -> Any:
        with tf.variable_scope("model", use_resource=True):
            outputs = self.create_loss(features, _Modes.TRAIN)
        train_op = self.optimizer.minimize(outputs.loss, global_step=get_global_step())
        return tf.estimator.EstimatorSpec(_Modes.TRAIN, loss=outputs.loss, train_op=train_op)

    def _evaluate_ops(self, features: dict[str, Any]) -> Any:
        with tf.variable_scope("model", use_resource=True):
            outputs = self.create_loss(features, _Modes.EVAL)
        metrics = {name: _last_value(name, value) for name, value in outputs.predictions.items()}
        metrics[TIMES] = _last_value(TIMES, outputs.prediction_times)
        metrics[STATE] = _last_values(STATE, outputs.end_state)
        metrics["average_loss"] = tf.metrics.mean(outputs.loss, name="average_loss")
        return tf.estimator.EstimatorSpec(
            _Modes.EVAL, loss=outputs.loss, eval_metric_ops=metrics, predictions=outputs.predictions
        )

    def _predict_ops(self, features: dict[str, Any]) -> Any:
        with tf.variable_scope("model", use_resource=True):
            predictions = self.model.predict(features=features)
        return tf.estimator.EstimatorSpec(_Modes.PREDICT, {**predictions, TIMES: features[TIMES]})

    def _serving_ops(self, features: dict[str, Any]) -> Any:
        with tf.variable_scope("model", use_resource=True):
            predictions = self.model.predict(features=features)
        with tf.variable_scope("model", reuse=True):
            filtered = self.create_loss(dict(features), _Modes.EVAL)
        with tf.variable_scope("model", reuse=True):
            observed = {name: value for name, value in features.items() if name != STATE}
            cold = self.model.define_loss(observed, _Modes.EVAL)
        outputs = {
            keys.PREDICT: tf.estimator.export.PredictOutput(predictions),
            keys.FILTER: tf.estimator.export.PredictOutput(state_to_dictionary(filtered.end_state)),
            keys.COLD_START_FILTER: _StatelessPredictOutput(state_to_dictionary(cold.end_state)),
        }
        return tf.estimator.EstimatorSpec(_Modes.PREDICT, predictions={}, export_outputs=outputs)

    def _check_predict_features(self, features: dict[str, Any]) -> None:
        _check_there(features, "prediction", TIMES, STATE)
        _check_windows(features, ignore=(STATE,))


@export("contrib.timeseries.OneShotPredictionHead")
class OneShotPredictionHead(TimeSeriesRegressionHead):
    """A head whose exported model filters and predicts at once, so that its clients keep no state.

    Args:
      model: The model.
      state_manager: What gives batches a state to start from.
      optimizer: An optimizer of the model's variables.
      input_statistics_generator: What keeps statistics of the series; values are scaled by them.
      name: The name of the head.
    """

    def _check_predict_features(self, features: dict[str, Any]) -> None:
        _check_there(features, "prediction", TIMES, VALUES, STATE)
        _check_windows(features, ignore=(STATE, VALUES))

    def _evaluate_ops(self, features: dict[str, Any]) -> Any:
        spec = super()._evaluate_ops(features)
        del spec.eval_metric_ops[STATE]
        return spec

    def _serving_ops(self, features: dict[str, Any]) -> Any:
        with tf.variable_scope("model", use_resource=True):
            known = tf.shape(features[VALUES])[1]
            rest = {name: value for name, value in features.items() if name not in (STATE, VALUES)}
            before = {name: value[:, :known] for name, value in rest.items()}
            filtered = self.model.define_loss({**before, VALUES: features[VALUES]}, _Modes.EVAL)
            after = {name: value[:, known:] for name, value in rest.items()}
        with tf.variable_scope("model", reuse=True):
            predictions = self.model.predict({**after, STATE: filtered.end_state})
        outputs = {keys.PREDICT: _StatelessPredictOutput(predictions)}
        return tf.estimator.EstimatorSpec(_Modes.PREDICT, predictions={}, export_outputs=outputs)


def _check_there(features: dict[str, Any], purpose: str, *names: str) -> None:
    for name in names:
        if name not in features:
            raise ValueError(f"Expected a '{name}' feature for {purpose}.")


def _check_windows(features: dict[str, Any], ignore: tuple[str, ...]) -> None:
    """Every feature is [batch, window, ...], as the times are."""
    times = features[TIMES].shape
    if not times.is_compatible_with([None, None]):
        raise ValueError(
            f"Expected shape (batch dimension, window size) for feature '{TIMES}' (got shape {times})"
        )
    for name, value in features.items():
        if name in ignore or value.shape.ndims is None:
            continue
        if value.shape.ndims < 2:
            raise ValueError(
                "Features must have shape (batch dimension, window size, ...) (got rank "
                f"{value.shape.ndims} for feature '{name}')"
            )
        if not value.shape[:2].is_compatible_with(times):
            raise ValueError(
                "Features must have shape (batch dimension, window size, ...) where batch dimension and "
                f"window size match the '{TIMES}' feature (got shape {value.shape} for feature '{name}' "
                f"but shape {times} for feature '{TIMES}')"
            )


def _check_observed(features: dict[str, Any], model: TimeSeriesModel) -> None:
    _check_there(features, "training/evaluation", TIMES, VALUES)
    _check_windows({TIMES: features[TIMES]}, ignore=())
    if not features[VALUES].shape.is_compatible_with([None, None, model.num_features]):
        raise ValueError(
            f"Expected shape (batch dimension, window size, {model.num_features}) for feature '{VALUES}', "
            f"since the model was configured with num_features={model.num_features} (got shape "
            f"{features[VALUES].shape})"
        )
    _check_windows(features, ignore=(STATE,))


def _last_value(name: str, tensor: Any) -> tuple[Any, Any]:
    """A metric that is what it was given last."""
    kept = tf.Variable(
        tf.zeros([], tensor.dtype),
        name=f"{name}_identity_metric",
        collections=["local_variables"],
        validate_shape=False,
        trainable=False,
    )
    update = tf.assign(kept, tensor, validate_shape=False)
    kept.set_shape(tensor.shape)
    return kept.value(), update


def _last_values(name: str, tensors: Any) -> tuple[Any, Any]:
    """`_last_value` of each tensor of a structure."""
    pairs = [
        _last_value(f"{name}_{number}", tensor) for number, tensor in enumerate(tf.nest.flatten(tensors))
    ]
    values = tf.nest.pack_sequence_as(tensors, [value for value, _ in pairs])
    return values, tf.group(*[update for _, update in pairs])
