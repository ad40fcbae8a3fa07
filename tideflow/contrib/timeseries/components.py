"""Parts of a structural model of a series: level and trend, cycles, and noise with a memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.contrib.timeseries.matrices import variable_covariance_matrix
from tideflow.contrib.timeseries.state_space import (
    LEAST_VARIANCE,
    StateSpaceCorrelatedFeaturesEnsemble,
    StateSpaceIndependentEnsemble,
    StateSpaceModel,
    StateSpaceSettings,
)

if TYPE_CHECKING:
    from tideflow.graph.operation import Tensor

_NEAR_INTEGER = 1e-8


class LevelTrend(StateSpaceModel):
    """A level to which a trend is added at each time; both have noise."""

    def get_state_transition(self) -> Any:
        """The level takes the trend in."""
        return [[1.0, 1.0], [0.0, 1.0]]

    def get_noise_transform(self) -> Any:
        """Each has noise of its own."""
        return [[1.0, 0.0], [0.0, 1.0]]

    def get_observation_model(self, times: Tensor) -> Tensor:
        """The level is observed."""
        return tf.constant([1.0, 0.0], self.dtype)

    def get_prior_mean(self) -> Any:
        """The mean of the start of the series, and no trend."""
        if self._input_statistics is None:
            return super().get_prior_mean()
        with tf.variable_scope(self._variable_scope):
            level = tf.reduce_mean(self._scale_data(self._input_statistics.series_start_moments.mean))
            name, zeros = "prior_state_mean", tf.zeros_initializer()
            return tf.stack([level, 0.0]) + tf.get_variable(name, [2], self.dtype, zeros, trainable=False)

    def transition_to_powers(self, powers: Tensor) -> Tensor:
        """The level takes that many trends in."""
        trend = tf.constant([[0.0, 1.0], [0.0, 0.0]], self.dtype)
        return tf.eye(2, dtype=self.dtype) + tf.cast(powers, self.dtype)[..., None, None] * trend

    def transition_power_noise_accumulator(self, num_steps: Tensor) -> Tensor:
        """Sums of powers of the number of times, which the noise of the trend comes to in the level."""
        steps = tf.cast(num_steps, self.dtype)
        noise = self.state_transition_noise_covariance
        level, across, back, trend = noise[0, 0], noise[0, 1], noise[1, 0], noise[1, 1]
        first = (steps - 1) * steps / 2
        squares = first * (2 * (steps - 1) + 1) / 3
        entries = [
            steps * level + first * (across + back) + squares * trend,
            steps * across + first * trend,
            steps * back + first * trend,
            steps * trend,
        ]
        return tf.reshape(tf.stack(entries, axis=-1), tf.concat([tf.shape(steps), [2, 2]], axis=0))


class Cycle(StateSpaceModel):
    """A cycle of an odd number of values that add up to 0, gone through in a period of any length.

    The state has all values but one. Values between two of the cycle are interpolated by trigonometric
    polynomials, which is what a power of the transition that is no integer comes to.

    Args:
      num_latent_values: The number of values, odd.
      periodicity: The length of a period.
      settings: What the parts of the model have in common.
    """

    def __init__(self, num_latent_values: int, periodicity: Any, settings: StateSpaceSettings):
        if num_latent_values % 2 != 1:
            raise ValueError("Only odd numbers of latent values are supported.")
        self._count, self._period = num_latent_values, periodicity
        super().__init__(settings)

    def get_state_transition(self) -> Tensor:
        """The transition of one time."""
        return self.transition_to_powers(tf.ones([], tf.int32))

    def get_noise_transform(self) -> Tensor:
        """The current value has noise."""
        return tf.one_hot([0], self._count - 1, dtype=self.dtype, axis=0)

    def get_observation_model(self, times: Tensor) -> Tensor:
        """The current value is observed."""
        return tf.one_hot(0, self._count - 1, dtype=self.dtype)

    def _near_integer(self, value: Any) -> Tensor:
        value = tf.cast(value, self.dtype)
        return tf.abs(value - tf.round(value)) < _NEAR_INTEGER

    def _values_passed(self, steps: Tensor) -> Tensor:
        """How many values of the cycle are passed in so many times."""
        per_time = tf.cast(self._count, self.dtype) / tf.cast(self._period, self.dtype)
        return tf.cast(steps, self.dtype) * per_time

    def transition_to_powers(self, powers: Tensor) -> Tensor:
        """The transition over each number of times."""
        passed = self._values_passed(powers)
        whole = self._rotation(tf.cast(tf.round(passed), tf.int64))
        return tf.where(self._near_integer(passed), whole, self._interpolated(passed))

    def _rotation(self, passed: Tensor) -> Tensor:
        """The transition past a whole number of values: a shift, in which all values add up to 0."""
        passed %= self._count
        index = tf.range(self._count - 1, dtype=passed.dtype)
        shifts = (index[:, None] - index[None, :]) % self._count
        moved = tf.cast(tf.equal(shifts, passed[..., None, None]), self.dtype)
        is_last = tf.cast(tf.equal(index + 1, passed[..., None]), self.dtype)
        return moved - is_last[..., None]

    def _interpolated(self, passed: Tensor) -> Tensor:
        """The transition past a number of values that is no integer."""
        count = tf.cast(self._count, self.dtype)
        index = tf.range(self._count - 1)
        sign = tf.cast(1 - 2 * (index % 2), self.dtype)
        index = tf.cast(index, self.dtype)
        angle = math.pi / count
        row = 1.0 / tf.sin(angle * (passed[..., None] - index - 1))
        between = index[None, :] - index[:, None]
        entries = sign[None, :] / tf.sin(angle * (passed[..., None, None] + between))
        amount = (tf.sin(passed * math.pi) / count)[..., None, None]
        return amount * sign[:, None] * (row[..., None] + entries)

    def transition_power_noise_accumulator(self, num_steps: Tensor) -> Tensor:
        """The covariance of the noise that each number of times adds."""
        noise = tf.squeeze(self.state_transition_noise_covariance, axis=[-1, -2])
        is_whole = tf.logical_and(
            self._near_integer(self._period), tf.greater_equal(self._period, self._count)
        )

        def folded() -> tuple[Tensor, Tensor]:
            period = tf.cast(self._period, num_steps.dtype)
            periods = tf.cast(num_steps // period, self.dtype)
            return num_steps % period, periods[..., None, None] * self._noise_of_a_period(noise)

        def unfolded() -> tuple[Tensor, Tensor]:
            size = self._count - 1
            return num_steps, tf.zeros(tf.concat([tf.shape(num_steps), [size, size]], axis=0), self.dtype)

        rest, of_periods = tf.cond(is_whole, folded, unfolded)
        sums = self._noise_sums(tf.reduce_max(rest))
        return of_periods + noise * tf.gather(sums, rest)

    def _noise_of_a_period(self, noise: Tensor) -> Tensor:
        """What a whole period adds: to each value the same, less what the others take from it."""
        each = tf.cast(self._period, self.dtype) / tf.cast(self._count, self.dtype) * noise
        size = self._count - 1
        ones = tf.ones([size, size], self.dtype)
        near = tf.matrix_band_part(ones, 1, 1) - tf.eye(size, dtype=self.dtype)
        return each * (2.0 * tf.eye(size, dtype=self.dtype) - near)

    def _noise_sums(self, steps: Tensor) -> Tensor:
        """The noise, of variance 1, that up to so many times add, [steps + 1, size, size]."""
        count = tf.cast(self._count, self.dtype)
        passed = self._values_passed(tf.range(steps))
        index = tf.range(self._count - 1)
        sign = tf.cast(1 - 2 * (index % 2), self.dtype)
        places = passed[:, None] - tf.cast(index, self.dtype)

        def at_integer(place: Tensor) -> tuple[Tensor, Tensor]:
            turns = place / count
            return self._near_integer(turns), tf.cos(turns * math.pi)

        here, here_sign = at_integer(places)
        next_, next_sign = at_integer(places - 1)
        is_one = tf.logical_or(here, next_)
        ones = tf.where(here, here_sign, next_sign)
        angle = math.pi / count
        mesh = 1.0 / tf.sin(angle * places) + 1.0 / tf.sin(angle * (places - 1.0))
        product = mesh[:, None, :] * mesh[:, :, None]
        product = tf.where(self._near_integer(passed), tf.zeros_like(product), product)
        amount = tf.sin(math.pi * passed) / count
        entries = tf.where(
            tf.logical_and(is_one[:, :, None], is_one[:, None, :]),
            ones[:, :, None] * ones[:, None, :],
            product * amount[:, None, None] ** 2,
        )
        return tf.pad(tf.cumsum(sign[:, None] * sign[None, :] * entries), [(1, 0), (0, 0), (0, 0)])


class Varma(StateSpaceModel):
    """A vector autoregression with a moving average of noise.

    Args:
      autoregressive_order: How many times before count.
      moving_average_order: How many noises before count.
      settings: What the parts of the model have in common.
    """

    def __init__(self, autoregressive_order: int, moving_average_order: int, settings: StateSpaceSettings):
        self._ar_order, self._ma_order = autoregressive_order, moving_average_order
        self._blocks_count = max(autoregressive_order, moving_average_order + 1)
        super().__init__(settings)

    def _define_parameters(self, tradeoff_log: Any = None) -> None:
        size = self.num_features
        with tf.variable_scope(self._variable_scope):
            shape = [size, size, self._ar_order]
            self._ar_coefs = tf.get_variable("ar_coefs", shape, self.dtype, tf.zeros_initializer())
            start = tf.tile(tf.eye(size, dtype=self.dtype)[None], [self._ma_order, 1, 1])
            self._ma_coefs = tf.get_variable("ma_coefs", initializer=start, dtype=self.dtype)
        super()._define_parameters(tradeoff_log)

    def get_state_transition(self) -> Tensor:
        """Blocks move on by one; the first is the autoregression."""
        size, blocks = self.num_features, self._blocks_count
        padded = tf.pad(self._ar_coefs, [[0, 0], [0, 0], [0, blocks - self._ar_order]])
        shift = tf.pad(tf.eye((blocks - 1) * size, dtype=self.dtype), [[0, 0], [0, size]])
        return tf.concat([tf.reshape(padded, [size, blocks * size]), shift], axis=0)

    def get_noise_transform(self) -> Tensor:
        """Noise comes to each block by the coefficients of the moving average."""
        size, blocks = self.num_features, self._blocks_count
        padded = tf.pad(self._ma_coefs, [[blocks - 1 - self._ma_order, 0], [0, 0], [0, 0]])
        moving = tf.reshape(padded, [(blocks - 1) * size, size], name="noise_transform")
        return tf.concat([moving, tf.eye(size, dtype=self.dtype)], axis=0)

    def get_observation_model(self, times: Tensor) -> Tensor:
        """The first block is observed, and the last one where it is noise of the moving average alone."""
        size, blocks = self.num_features, self._blocks_count
        one, none = tf.eye(size, dtype=self.dtype), tf.zeros([size, size], self.dtype)
        last = one if self._ma_order >= self._ar_order and blocks > 1 else none
        parts = [one, *[none] * (blocks - 2), last][:blocks]
        return tf.concat(parts, axis=1, name="observation_model")

    def get_state_transition_noise_covariance(self) -> Tensor:
        """The covariance of the noise of a transition, learned."""
        variance = self._start_variance()
        scale = 0.0 if variance is None else tf.log(tf.maximum(tf.reduce_mean(variance), LEAST_VARIANCE))
        name = "state_transition_noise"
        return variable_covariance_matrix(
            self._noise_size(), name, self.dtype, initial_overall_scale_log=scale
        )


def structural_ensemble(
    cycle_num_latent_values: int | Sequence[int],
    moving_average_order: int,
    autoregressive_order: int,
    periodicities: Any,
    settings: StateSpaceSettings,
) -> StateSpaceIndependentEnsemble:
    """A level with a trend, noise with a memory, and a cycle for each period, which add up."""
    parts = settings._replace(use_observation_noise=False)
    periods = tf.nest.flatten([] if periodicities is None else periodicities)
    counts = tf.nest.flatten(cycle_num_latent_values)
    if len(periods) != len(counts):
        if len(counts) != 1:
            raise ValueError(
                "`cycle_num_latent_values` must either be a list with the same size as `periodicity` or a "
                f"scalar. Received length {len(counts)} `cycle_num_latent_values`, while `periodicities` "
                f"has length {len(periods)}."
            )
        counts *= len(periods)

    def for_each_feature(scope: str, model: Any, *args: Any) -> StateSpaceModel:
        with tf.variable_scope(scope):
            members = []
            for feature in range(settings.num_features):
                with tf.variable_scope(f"feature{feature}"):
                    members.append(model(*args, settings=parts._replace(num_features=1)))
            return StateSpaceCorrelatedFeaturesEnsemble(members, parts)

    members = [for_each_feature("adder", LevelTrend)]
    with tf.variable_scope("varma"):
        members.append(Varma(autoregressive_order, moving_average_order, parts))
    for number, (count, period) in enumerate(zip(counts, periods, strict=True)):
        members.append(for_each_feature(f"cycle{number}", Cycle, count, period))
    return StateSpaceIndependentEnsemble(members, settings)
