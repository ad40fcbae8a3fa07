"""State space models: a hidden state moves on with time, and what is observed follows from it, with noise."""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import tideflow as tf
from tideflow.contrib.timeseries import kalman
from tideflow.contrib.timeseries.matrices import (
    block_diagonal,
    clip_covariance,
    log_noninformative_covariance_prior,
    matrix_to_powers,
    power_sums_tensor,
    transform_to_covariance_matrices,
    variable_covariance_matrix,
)
from tideflow.contrib.timeseries.models import SequentialTimeSeriesModel

if TYPE_CHECKING:
    from tideflow.contrib.timeseries.anomalies import AnomalyDetector
    from tideflow.contrib.timeseries.statistics import InputStatistics
    from tideflow.graph.dtypes import DType
    from tideflow.graph.operation import Tensor

State = tuple[Any, Any, Any]  # mean, covariance, time
LEAST_VARIANCE = 1e-5
_MOST_VARIANCE_RATIO = 1e6
_INITIAL_TRADEOFF_LOG = 5.0  # of noise of observations to noise of transitions


class StateSpaceSettings(NamedTuple):
    """What the parts of a state space model have in common."""

    num_features: int
    dtype: DType
    use_observation_noise: bool = True
    anomaly_detector: AnomalyDetector | None = None
    exogenous_feature_columns: Sequence[Any] = ()
    exogenous_update_condition: Callable | None = None


class StateSpaceModel(SequentialTimeSeriesModel):
    """A state space model. Subclasses say how states move and what is observed of them.

    Args:
      settings: What the parts of the model have in common.
    """

    def __init__(self, settings: StateSpaceSettings):
        detector = settings.anomaly_detector
        super().__init__(
            train_output_names=[
                "mean",
                "covariance",
                "log_likelihood",
                *(detector.output_names if detector else ()),
            ],
            predict_output_names=["mean", "covariance"],
            num_features=settings.num_features,
            dtype=settings.dtype,
            exogenous_feature_columns=settings.exogenous_feature_columns,
            exogenous_update_condition=settings.exogenous_update_condition,
        )
        self._settings = settings
        self._variable_scope = tf.get_variable_scope()

    # ---------------------------------------------------------------------------- what subclasses say

    @abc.abstractmethod
    def get_state_transition(self) -> Any:
        """The matrix that takes a state to the next time."""

    @abc.abstractmethod
    def get_noise_transform(self) -> Any:
        """The matrix that takes noise to a state, [state size, noise size]."""

    @abc.abstractmethod
    def get_observation_model(self, times: Tensor) -> Tensor:
        """What is observed of a state, [features, state size], or [state size] of one feature."""

    def transition_to_powers(self, powers: Tensor) -> Tensor:
        """The transition over each number of times."""
        return matrix_to_powers(tf.convert_to_tensor(self.get_state_transition(), self.dtype), powers)

    def transition_power_noise_accumulator(self, num_steps: Tensor) -> Tensor:
        """The covariance of the noise that each number of times adds."""
        transform = tf.convert_to_tensor(self.get_noise_transform(), self.dtype)
        noise = tf.matmul(
            tf.matmul(transform, self.state_transition_noise_covariance), transform, transpose_b=True
        )
        transition = tf.convert_to_tensor(self.get_state_transition(), self.dtype)
        return tf.gather(power_sums_tensor(tf.reduce_max(num_steps) + 1, transition, noise), num_steps)

    # ---------------------------------------------------------------------------------- its variables

    def initialize_graph(self, input_statistics: InputStatistics | None = None) -> None:
        """Makes the model's variables in the default graph.

        Args:
          input_statistics: What is known of the series; values are scaled by it.
        """
        self._set_input_statistics(input_statistics)
        self._define_parameters()
        with tf.variable_scope(self._variable_scope):
            self._observation_noise = self._observation_noise_covariance()
        self._prior_covariance = self.get_prior_covariance()
        self._prior_mean = self.get_prior_mean()

    def _set_input_statistics(self, input_statistics: InputStatistics | None) -> None:
        super().initialize_graph(input_statistics)

    def _define_parameters(self, tradeoff_log: Any = None) -> None:
        with tf.variable_scope(self._variable_scope):
            self._tradeoff_log = self._tradeoff_variable() if tradeoff_log is None else tradeoff_log
            self.state_transition_noise_covariance = self.get_state_transition_noise_covariance()

    def _tradeoff_variable(self) -> Any:
        start = tf.constant(_INITIAL_TRADEOFF_LOG, self.dtype)
        name = "observation_transition_tradeoff_log_scale"
        return tf.get_variable(name, dtype=self.dtype, initializer=start)

    def _start_variance(self) -> Tensor | None:
        if self._input_statistics is None:
            return None
        return self._scale_variance(self._input_statistics.series_start_moments.variance)

    def _noise_size(self) -> int:
        return tf.convert_to_tensor(self.get_noise_transform(), self.dtype).shape[1].value

    def _state_size(self) -> int:
        return tf.convert_to_tensor(self.get_state_transition(), self.dtype).shape[0].value

    def get_state_transition_noise_covariance(self) -> Tensor:
        """The covariance of the noise of a transition, learned."""
        scale: Any = 0.0
        variance = self._start_variance()
        if variance is not None:
            count = tf.cast(self._input_statistics.total_observation_count, self.dtype)
            scale = tf.log(tf.maximum(tf.reduce_mean(variance) / count, LEAST_VARIANCE))
        return variable_covariance_matrix(
            self._noise_size(),
            "state_transition_noise",
            self.dtype,
            initial_overall_scale_log=scale - self._tradeoff_log,
        )

    def _observation_noise_covariance(self) -> Tensor:
        size, name = self.num_features, "observation_noise_covariance"
        if not self._settings.use_observation_noise:
            return tf.zeros([size, size], self.dtype, name=name)
        variance = self._start_variance()
        if variance is not None:
            variance = tf.maximum(variance, LEAST_VARIANCE)
        return variable_covariance_matrix(size, name, self.dtype, variance, self._tradeoff_log)

    def get_prior_covariance(self) -> Tensor:
        """The covariance of the first state."""
        return tf.eye(self._state_size(), dtype=self.dtype)

    def get_prior_mean(self) -> Any:
        """The mean of the first state."""
        with tf.variable_scope(self._variable_scope):
            return tf.get_variable("prior_state_mean", [self._state_size()], self.dtype, trainable=False)

    def get_start_state(self) -> State:
        """The state before the first observation, of one series."""
        statistics = self._input_statistics
        start = tf.zeros([], tf.int64) if statistics is None else statistics.start_time
        return self._prior_mean, self._prior_covariance, start - 1

    def get_broadcasted_observation_model(self, times: Tensor) -> Tensor:
        """What is observed of a state at each time, [batch, features, state size]."""
        model = tf.convert_to_tensor(self.get_observation_model(times), self.dtype)
        if model.shape.ndims == 1:
            return tf.tile(tf.reshape(model, [1, 1, -1]), [tf.shape(times)[0], self.num_features, 1])
        return tf.tile(model[None], [tf.shape(times)[0], 1, 1])

    # ----------------------------------------------------------------------------------- at one time

    def _window_initializer(self, times: Tensor, state: State) -> None:
        """Transitions over all gaps between times of the window, so that a step only looks them up."""
        gaps = tf.reshape(times[:, 1:] - times[:, :-1], [-1])
        before = tf.maximum(times[:, 0] - state[2], 0)
        self._gaps, _ = tf.unique(tf.concat([gaps, before], axis=0))
        self._gap_noise = self.transition_power_noise_accumulator(self._gaps)
        self._gap_transitions = self.transition_to_powers(self._gaps)

    def _over_gaps(self, gaps: Tensor) -> list[Tensor]:
        """Transitions over gaps of this window, and their noise."""
        _, places = tf.unique(tf.concat([self._gaps, gaps], axis=0))
        found = []
        for cache in (self._gap_transitions, self._gap_noise):
            each = tf.gather(cache, places[-tf.shape(gaps)[0] :])
            each.set_shape(gaps.shape.concatenate(each.shape[-2:]))
            found.append(each)
        return found

    def _imputation_step(self, current_times: Tensor, state: State) -> State:
        mean, covariance, times = state
        gaps = tf.maximum(current_times - times, 0)
        mean, covariance = kalman.advanced(mean, covariance, *self._over_gaps(gaps))
        return mean, covariance, times + gaps

    def _prediction_step(self, current_times: Tensor, state: State) -> tuple[State, dict[str, Tensor]]:
        mean, covariance, times = state
        is_there = tf.Assert(
            tf.reduce_all(current_times <= times), ["Attempted to predict without imputation"]
        )
        with tf.control_dependencies([is_there]):
            model = self.get_broadcasted_observation_model(current_times)
            seen, spread = kalman.observed(mean, covariance, model, self._observation_noise)
        seen.set_shape(current_times.shape.concatenate([self.num_features]))
        spread.set_shape(current_times.shape.concatenate([self.num_features] * 2))
        return (mean, covariance, current_times), {"mean": seen, "covariance": spread}

    def _filtering_step(
        self, current_times: Tensor, current_values: Tensor, state: State, predictions: dict[str, Tensor]
    ) -> tuple[State, dict[str, Tensor]]:
        mean, covariance, times = state
        model = self.get_broadcasted_observation_model(current_times)
        is_there = tf.Assert(
            tf.reduce_all(tf.equal(current_times, times)),
            ["Attempted to perform filtering without imputation/prediction"],
        )
        predicted = predictions["mean"], predictions["covariance"]
        with tf.control_dependencies([is_there]):
            covariance = clip_covariance(covariance, _MOST_VARIANCE_RATIO, 0.0)
            likelihood = kalman.log_likelihood(current_values, *predicted)
            after = kalman.posterior(
                mean, covariance, current_values, model, predicted, self._observation_noise
            )
        likelihood.set_shape(current_times.shape)
        outputs = {**predictions, "loss": -likelihood, "log_likelihood": likelihood}
        filtered = (*after, current_times)
        detector = self._settings.anomaly_detector
        if detector is None:
            return filtered, outputs
        return detector.process_filtering_step(current_values, state, filtered, outputs)

    def _exogenous_input_step(self, current_times: Tensor, regressors: Tensor, state: State) -> State:
        mean, covariance, times = state
        size = mean.shape[1].value
        with tf.variable_scope("exogenous_noise_increasing_mean"):
            moved = tf.contrib.layers.fully_connected(regressors, size, activation_fn=None)
        with tf.variable_scope("exogenous_noise_increasing_covariance"):
            added = transform_to_covariance_matrices(regressors, size)
        return mean + moved, covariance + added, times

    def _scale_back_predictions(self, predictions: dict[str, Tensor]) -> dict[str, Tensor]:
        return {
            **predictions,
            "mean": self._scale_back_data(predictions["mean"]),
            "covariance": self._scale_back_variance(predictions["covariance"]),
        }

    def _loss_additions(self, times: Tensor, values: Tensor, mode: str) -> Tensor:
        """The prior of the covariances, as one observation's part of it."""
        if mode != tf.estimator.ModeKeys.TRAIN:
            return tf.zeros([], self.dtype)
        statistics = self._input_statistics
        count = tf.shape(times)[1] if statistics is None else statistics.total_observation_count
        prior = log_noninformative_covariance_prior(self.state_transition_noise_covariance)
        if self._settings.use_observation_noise:
            prior += log_noninformative_covariance_prior(self._observation_noise)
        return -1.0 / tf.cast(count, self.dtype) * prior


class StateSpaceEnsemble(StateSpaceModel):
    """Several state space models whose observations add up.

    Args:
      ensemble_members: The models.
      settings: What they have in common.
    """

    def __init__(self, ensemble_members: Sequence[StateSpaceModel], settings: StateSpaceSettings):
        self._members = ensemble_members
        super().__init__(settings)

    def _set_input_statistics(self, input_statistics: InputStatistics | None) -> None:
        super()._set_input_statistics(input_statistics)
        for member in self._members:
            member._set_input_statistics(input_statistics)

    def _define_parameters(self, tradeoff_log: Any = None) -> None:
        with tf.variable_scope(self._variable_scope):
            shared = self._tradeoff_variable() if tradeoff_log is None else tradeoff_log
            for member in self._members:
                member._define_parameters(shared)
            super()._define_parameters(shared)

    def _loss_additions(self, times: Tensor, values: Tensor, mode: str) -> Tensor:
        of_members = [member._loss_additions(times, values, mode) for member in self._members]
        return super()._loss_additions(times, values, mode) + tf.add_n(of_members)

    def _blocks(self, of_member: Callable[[StateSpaceModel], Any], name: str) -> Tensor:
        with tf.variable_scope(self._variable_scope):
            return block_diagonal([of_member(member) for member in self._members], self.dtype, name)

    def get_prior_mean(self) -> Tensor:
        """The mean of the first state."""
        means = [member.get_prior_mean() for member in self._members]
        return tf.concat(means, axis=0, name="ensemble_prior_state_mean")

    def get_state_transition(self) -> Tensor:
        """The matrix that takes a state to the next time."""
        return self._blocks(lambda member: member.get_state_transition(), "ensemble_state_transition")

    def get_noise_transform(self) -> Tensor:
        """The matrix that takes noise to a state."""
        return self._blocks(lambda member: member.get_noise_transform(), "ensemble_noise_transform")

    def transition_to_powers(self, powers: Tensor) -> Tensor:
        """The transition over each number of times."""
        name = "ensemble_transition_to_powers"
        return self._blocks(lambda member: member.transition_to_powers(powers), name)

    def get_observation_model(self, times: Tensor) -> Tensor:
        """What is observed of a state: the members' parts, which add up."""
        models = [member.get_broadcasted_observation_model(times) for member in self._members]
        return tf.concat(models, axis=2)

    def get_broadcasted_observation_model(self, times: Tensor) -> Tensor:
        """What is observed of a state at each time, [batch, features, state size]."""
        return self.get_observation_model(times)


class StateSpaceIndependentEnsemble(StateSpaceEnsemble):
    """An ensemble whose members have noise of their own."""

    def transition_power_noise_accumulator(self, num_steps: Tensor) -> Tensor:
        """The covariance of the noise that each number of times adds."""
        name = "ensemble_power_noise_accumulator"
        return self._blocks(lambda member: member.transition_power_noise_accumulator(num_steps), name)

    def get_prior_covariance(self) -> Tensor:
        """The covariance of the first state."""
        return self._blocks(lambda member: member.get_prior_covariance(), "ensemble_prior_state_covariance")

    def get_state_transition_noise_covariance(self) -> Tensor:
        """The covariance of the noise of a transition."""
        name = "ensemble_state_transition_noise"
        return self._blocks(lambda member: member.state_transition_noise_covariance, name)


class StateSpaceCorrelatedFeaturesEnsemble(StateSpaceEnsemble):
    """An ensemble with a member for each feature, whose noises are correlated."""

    def transition_power_noise_accumulator(self, num_steps: Tensor) -> Tensor:
        """The covariance of the noise that each number of times adds."""
        if len(self._members) == 1:
            return self._members[0].transition_power_noise_accumulator(num_steps)
        return super().transition_power_noise_accumulator(num_steps)

    def get_observation_model(self, times: Tensor) -> Tensor:
        """What is observed of a state: each feature of its member."""
        name = "feature_ensemble_observation_model"
        return self._blocks(lambda member: member.get_broadcasted_observation_model(times), name)
