"""Learning rates that follow the number of updates. The formulas are those of `tf.train`'s decays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.export import export
from tideflow.layers.argument_docs import described
from tideflow.variables.custom_objects import deserialize_keras_object, serialize_keras_object

if TYPE_CHECKING:
    from tideflow.graph.operation import Tensor
    from tideflow.graph.typing import TensorLike

_WORDS = {
    "initial_learning_rate": "The learning rate at the beginning.",
    "decay_steps": "The number of updates of one decay.",
    "decay_rate": "The factor of one decay.",
    "staircase": "Whether the rate changes only after whole decays.",
    "name": "The name of the operations.",
    "boundaries": "The numbers of updates at which the rate changes.",
    "values": "The rates between them, one more than boundaries.",
    "end_learning_rate": "The learning rate at the end.",
    "power": "The power of the polynomial.",
    "cycle": "Whether the decay begins again after its end.",
    "alpha": "The fraction of the rate that stays at the end.",
    "beta": "A fraction that is added to the decay.",
    "first_decay_steps": "The number of updates of the first decay.",
    "t_mul": "How much longer each decay is than the one before.",
    "m_mul": "How much of its first rate each decay keeps of the one before.",
    "num_periods": "The number of periods of the cosine.",
    "initial_variance": "The variance of the noise at the beginning.",
    "variance_decay": "The decay of that variance.",
}


def _evaluated(decayed: Any) -> Any:
    """The rate; in eager mode `tf.train` gives a function of no arguments that computes it."""
    return decayed() if callable(decayed) else decayed


@export("keras.optimizers.schedules.LearningRateSchedule")
class LearningRateSchedule:
    """The base of learning rates that follow the number of updates."""

    _decay: Callable
    _arguments: tuple[str, ...] = ()

    def _keep(self, given: dict[str, Any]) -> None:
        for name in self._arguments:
            setattr(self, name, given[name])

    def __call__(self, step: TensorLike) -> Tensor:
        """Computes the learning rate.

        Args:
          step: The number of updates so far.

        Returns:
          The learning rate.
        """
        given = {name: getattr(self, name) for name in self._arguments}
        rate = given.pop("initial_learning_rate")
        return _evaluated(type(self)._decay(rate, step, **given))

    def get_config(self) -> dict[str, Any]:
        """The arguments of the constructor, by name."""
        return {name: getattr(self, name) for name in self._arguments}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> LearningRateSchedule:
        """Makes a schedule from the result of `get_config`.

        Args:
          config: The arguments by name.

        Returns:
          The schedule.
        """
        return cls(**config)


@export("keras.optimizers.schedules.ExponentialDecay")
@described("A learning rate that decays exponentially.", **_WORDS)
class ExponentialDecay(LearningRateSchedule):
    _decay = staticmethod(tf.train.exponential_decay)
    _arguments = ("initial_learning_rate", "decay_steps", "decay_rate", "staircase", "name")

    def __init__(
        self,
        initial_learning_rate: TensorLike,
        decay_steps: TensorLike,
        decay_rate: TensorLike,
        staircase: bool = False,
        name: str | None = None,
    ):
        self._keep(locals())


@export("keras.optimizers.schedules.InverseTimeDecay")
@described("A learning rate that decays by the inverse of the time.", **_WORDS)
class InverseTimeDecay(LearningRateSchedule):
    _decay = staticmethod(tf.train.inverse_time_decay)
    _arguments = ("initial_learning_rate", "decay_steps", "decay_rate", "staircase", "name")

    def __init__(
        self,
        initial_learning_rate: TensorLike,
        decay_steps: TensorLike,
        decay_rate: TensorLike,
        staircase: bool = False,
        name: str | None = None,
    ):
        self._keep(locals())


@export("keras.optimizers.schedules.PolynomialDecay")
@described("A learning rate that decays by a polynomial.", **_WORDS)
class PolynomialDecay(LearningRateSchedule):
    _decay = staticmethod(tf.train.polynomial_decay)
    _arguments = ("initial_learning_rate", "decay_steps", "end_learning_rate", "power", "cycle", "name")

    def __init__(
        self,
        initial_learning_rate: TensorLike,
        decay_steps: TensorLike,
        end_learning_rate: TensorLike = 0.0001,
        power: TensorLike = 1.0,
        cycle: bool = False,
        name: str | None = None,
    ):
        self._keep(locals())


@export("keras.optimizers.schedules.PiecewiseConstantDecay")
@described("A learning rate that is constant between boundaries.", **_WORDS)
class PiecewiseConstantDecay(LearningRateSchedule):
    _arguments = ("boundaries", "values", "name")

    def __init__(self, boundaries: Sequence[Any], values: Sequence[Any], name: str | None = None):
        if len(boundaries) != len(values) - 1:
            raise ValueError("The length of boundaries should be 1 less than the length of values")
        self._keep(locals())

    def __call__(self, step: TensorLike) -> Tensor:
        step = tf.convert_to_tensor(step)
        edges = [tf.cast(edge, step.dtype.base_dtype) for edge in self.boundaries]
        return _evaluated(
            tf.train.piecewise_constant(step, edges, self.values, self.name or "PiecewiseConstant")
        )


@export("keras.experimental.CosineDecay")
@described("A learning rate that decays by a cosine.", **_WORDS)
class CosineDecay(LearningRateSchedule):
    _decay = staticmethod(tf.train.cosine_decay)
    _arguments = ("initial_learning_rate", "decay_steps", "alpha", "name")

    def __init__(
        self,
        initial_learning_rate: TensorLike,
        decay_steps: TensorLike,
        alpha: TensorLike = 0.0,
        name: str | None = None,
    ):
        self._keep(locals())


@export("keras.experimental.CosineDecayRestarts")
@described("A learning rate that decays by a cosine, again and again.", **_WORDS)
class CosineDecayRestarts(LearningRateSchedule):
    _decay = staticmethod(tf.train.cosine_decay_restarts)
    _arguments = ("initial_learning_rate", "first_decay_steps", "t_mul", "m_mul", "alpha", "name")

    def __init__(
        self,
        initial_learning_rate: TensorLike,
        first_decay_steps: TensorLike,
        t_mul: TensorLike = 2.0,
        m_mul: TensorLike = 1.0,
        alpha: TensorLike = 0.0,
        name: str | None = None,
    ):
        self._keep(locals())


@export("keras.experimental.LinearCosineDecay")
@described("A learning rate that decays by a line times a cosine.", **_WORDS)
class LinearCosineDecay(LearningRateSchedule):
    _decay = staticmethod(tf.train.linear_cosine_decay)
    _arguments = ("initial_learning_rate", "decay_steps", "num_periods", "alpha", "beta", "name")

    def __init__(
        self,
        initial_learning_rate: TensorLike,
        decay_steps: TensorLike,
        num_periods: TensorLike = 0.5,
        alpha: TensorLike = 0.0,
        beta: TensorLike = 0.001,
        name: str | None = None,
    ):
        self._keep(locals())


@export("keras.experimental.NoisyLinearCosineDecay")
@described("A learning rate that decays by a line with noise, times a cosine.", **_WORDS)
class NoisyLinearCosineDecay(LearningRateSchedule):
    _decay = staticmethod(tf.train.noisy_linear_cosine_decay)
    _arguments = (
        "initial_learning_rate",
        "decay_steps",
        "initial_variance",
        "variance_decay",
        "num_periods",
        "alpha",
        "beta",
        "name",
    )

    def __init__(
        self,
        initial_learning_rate: TensorLike,
        decay_steps: TensorLike,
        initial_variance: TensorLike = 1.0,
        variance_decay: TensorLike = 0.55,
        num_periods: TensorLike = 0.5,
        alpha: TensorLike = 0.0,
        beta: TensorLike = 0.001,
        name: str | None = None,
    ):
        self._keep(locals())


_BY_NAME = {
    cls.__name__: cls
    for cls in (
        ExponentialDecay,
        InverseTimeDecay,
        PolynomialDecay,
        PiecewiseConstantDecay,
        CosineDecay,
        CosineDecayRestarts,
        LinearCosineDecay,
        NoisyLinearCosineDecay,
    )
}


@export("keras.optimizers.schedules.serialize")
def serialize(learning_rate_schedule: LearningRateSchedule) -> dict[str, Any]:
    """Converts a schedule to a dictionary.

    Args:
      learning_rate_schedule: The schedule.

    Returns:
      A dictionary of the class name and the arguments.
    """
    return serialize_keras_object(learning_rate_schedule)


@export("keras.optimizers.schedules.deserialize")
def deserialize(config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Any:
    """Makes a schedule from a dictionary that `serialize` has returned.

    Args:
      config: The dictionary.
      custom_objects: The program's own schedules, by class name.

    Returns:
      The schedule.
    """
    return deserialize_keras_object(config, _BY_NAME, custom_objects, "decay")
