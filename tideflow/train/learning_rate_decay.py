"""Learning rates that change with the global step."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes, nest
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import executing_eagerly, name_scope
from tideflow.ops.arrays import constants
from tideflow.ops.control_flow import conditionals
from tideflow.ops.math import binary, casting, powers, unary
from tideflow.ops.random import distributions

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


def _called_when_eager(decay: Callable[..., Any]) -> Callable[..., Any]:
    """In eager mode, a rate is a function without arguments, which gives the rate of the step of its call."""
    signature = inspect.signature(decay)

    @functools.wraps(decay)
    def decide(*args: Any, **kwargs: Any) -> Any:
        if not executing_eagerly():
            return decay(*args, **kwargs)
        _require(signature.bind(*args, **kwargs).arguments.get("global_step", 0), decay.__name__)
        return functools.partial(decay, *args, **kwargs)

    return decide


def _start(learning_rate: Any) -> Tensor:
    return convert_to_tensor(learning_rate, name="initial_learning_rate")


def _require(global_step: Any, function: str) -> None:
    if global_step is None:
        raise ValueError(f"global_step is required for {function}. None values not supported.")


def _cosine(fraction: Tensor) -> Tensor:
    """cos(pi * fraction)"""
    return unary.cos(constants.constant(math.pi, dtype=fraction.dtype) * fraction)


# -------------------------------------------------------------------------------- exponents and powers


@export("train.exponential_decay")
@_called_when_eager
def exponential_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: TensorLike,
    decay_rate: TensorLike,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor:
    """Computes `learning_rate * decay_rate ** (global_step / decay_steps)`.

    Args:
      learning_rate: The initial learning rate.
      global_step: The current step, not negative.
      decay_steps: The number of steps in which the rate is multiplied by `decay_rate`.
      decay_rate: The factor.
      staircase: Whether `global_step / decay_steps` is rounded down, so that the rate changes once in
        `decay_steps`.
      name: The name of the operation.

    Returns:
      The learning rate as a scalar tensor.

    Raises:
      ValueError: If `global_step` is None.
    """
    _require(global_step, "exponential_decay")
    with name_scope(name or "ExponentialDecay") as scope:
        rate = _start(learning_rate)
        decay_steps, decay_rate = casting.cast(decay_steps, rate.dtype), casting.cast(decay_rate, rate.dtype)
        exponent = _periods(global_step, decay_steps, staircase)
        return binary.multiply(rate, powers.pow(decay_rate, exponent), name=scope)


def _periods(global_step: Any, decay_steps: Tensor, staircase: bool) -> Tensor:
    periods = casting.cast(global_step, decay_steps.dtype) / decay_steps
    return unary.floor(periods) if staircase else periods


@export("train.natural_exp_decay")
@_called_when_eager
def natural_exp_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: TensorLike,
    decay_rate: TensorLike,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor:
    """Computes `learning_rate * exp(-decay_rate * global_step / decay_steps)`.

    Args:
      learning_rate: The initial learning rate.
      global_step: The current step, not negative.
      decay_steps: The number of steps in which the rate is multiplied by `exp(-decay_rate)`.
      decay_rate: The rate of the decay.
      staircase: Whether `global_step / decay_steps` is rounded down, so that the rate changes once in
        `decay_steps`.
      name: The name of the operation.

    Returns:
      The learning rate as a scalar tensor.

    Raises:
      ValueError: If `global_step` is None.
    """
    _require(global_step, "natural_exp_decay")
    rate = unary.exp(unary.negative(decay_rate))
    return exponential_decay(learning_rate, global_step, decay_steps, rate, staircase, name)


@export("train.inverse_time_decay")
@_called_when_eager
def inverse_time_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: TensorLike,
    decay_rate: TensorLike,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor:
    """Computes `learning_rate / (1 + decay_rate * global_step / decay_steps)`.

    Args:
      learning_rate: The initial learning rate.
      global_step: The current step, not negative.
      decay_steps: The unit of time, in steps.
      decay_rate: The rate of the decay.
      staircase: Whether `global_step / decay_steps` is rounded down, so that the rate changes once in
        `decay_steps`.
      name: The name of the operation.

    Returns:
      The learning rate as a scalar tensor.

    Raises:
      ValueError: If `global_step` is None.
    """
    _require(global_step, "inverse_time_decay")
    with name_scope(name or "InverseTimeDecay") as scope:
        rate = _start(learning_rate)
        decay_steps, decay_rate = casting.cast(decay_steps, rate.dtype), casting.cast(decay_rate, rate.dtype)
        periods = _periods(global_step, decay_steps, staircase)
        one = casting.cast(constants.constant(1), rate.dtype)
        return binary.divide(rate, binary.add(one, binary.multiply(decay_rate, periods)), name=scope)


@export("train.polynomial_decay")
@_called_when_eager
def polynomial_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: TensorLike,
    end_learning_rate: TensorLike = 0.0001,
    power: TensorLike = 1.0,
    cycle: bool = False,
    name: str | None = None,
) -> Tensor:
    """Computes a learning rate that falls to an end value along a power of the remaining steps.

    Args:
      learning_rate: The initial learning rate.
      global_step: The current step, not negative.
      decay_steps: The number of steps after which the end value is reached.
      end_learning_rate: The end value.
      power: The exponent; 1 is a straight line.
      cycle: Whether the decay begins again, over the next multiple of `decay_steps`, instead of staying at
        the end value.
      name: The name of the operation.

    Returns:
      The learning rate as a scalar tensor.

    Raises:
      ValueError: If `global_step` is None.
    """
    _require(global_step, "polynomial_decay")
    with name_scope(name or "PolynomialDecay") as scope:
        rate = _start(learning_rate)
        end, power = casting.cast(end_learning_rate, rate.dtype), casting.cast(power, rate.dtype)
        step = casting.cast(global_step, rate.dtype)
        period = casting.cast(decay_steps, rate.dtype)
        if cycle:
            passed = conditionals.cond(
                binary.equal(step, 0), lambda: 1.0, lambda: unary.ceil(step / decay_steps)
            )
            period = binary.multiply(period, passed)
        else:
            step = binary.minimum(step, decay_steps)
        done = binary.divide(step, period)
        return binary.add(binary.multiply(rate - end, powers.pow(1 - done, power)), end, name=scope)


# -------------------------------------------------------------------------------- cosines


@export("train.cosine_decay")
@_called_when_eager
def cosine_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: TensorLike,
    alpha: float = 0.0,
    name: str | None = None,
) -> Tensor:
    """Computes a learning rate that falls along half a cosine wave (Loshchilov and Hutter, 2016).

    Args:
      learning_rate: The initial learning rate.
      global_step: The current step, not negative.
      decay_steps: The number of steps of the decay.
      alpha: The end value as a fraction of `learning_rate`.
      name: The name of the operation.

    Returns:
      The learning rate as a scalar tensor.

    Raises:
      ValueError: If `global_step` is None.
    """
    _require(global_step, "cosine_decay")
    with name_scope(name or "CosineDecay"):
        rate = _start(learning_rate)
        decay_steps = casting.cast(decay_steps, rate.dtype)
        step = binary.minimum(casting.cast(global_step, rate.dtype), decay_steps)
        falling = 0.5 * (1.0 + _cosine(step / decay_steps))
        return binary.multiply(rate, (1 - alpha) * falling + alpha)


@export("train.cosine_decay_restarts")
@_called_when_eager
def cosine_decay_restarts(
    learning_rate: TensorLike,
    global_step: TensorLike,
    first_decay_steps: TensorLike,
    t_mul: TensorLike = 2.0,
    m_mul: TensorLike = 1.0,
    alpha: TensorLike = 0.0,
    name: str | None = None,
) -> Tensor:
    """Computes a learning rate that repeatedly falls along half a cosine wave (Loshchilov and Hutter, 2016).

    Args:
      learning_rate: The initial learning rate.
      global_step: The current step, not negative.
      first_decay_steps: The number of steps of the first period.
      t_mul: The factor of the length from one period to the next.
      m_mul: The factor of the initial rate from one period to the next.
      alpha: The end value of a period as a fraction of `learning_rate`.
      name: The name of the operation.

    Returns:
      The learning rate as a scalar tensor.

    Raises:
      ValueError: If `global_step` is None.
    """
    _require(global_step, "cosine_decay_restarts")
    with name_scope(name or "SGDRDecay") as scope:
        rate = _start(learning_rate)
        first, alpha, t_mul, m_mul = (
            casting.cast(number, rate.dtype) for number in (first_decay_steps, alpha, t_mul, m_mul)
        )
        passed = casting.cast(global_step, rate.dtype) / first
        restarts, fraction = conditionals.cond(
            binary.equal(t_mul, 1.0),
            lambda: _equal_periods(passed),
            lambda: _growing_periods(passed, t_mul),
        )
        falling = 0.5 * m_mul**restarts * (1.0 + _cosine(fraction))
        return binary.multiply(rate, (1 - alpha) * falling + alpha, name=scope)


def _equal_periods(passed: Tensor) -> tuple[Tensor, Tensor]:
    """How many whole periods have passed, and which fraction of the current one."""
    restarts = unary.floor(passed)
    return restarts, passed - restarts


def _growing_periods(passed: Tensor, growth: Tensor) -> tuple[Tensor, Tensor]:
    """The same where each period is `growth` times as long as the one before."""
    restarts = unary.floor(unary.log(1.0 - passed * (1.0 - growth)) / unary.log(growth))
    before = (1.0 - growth**restarts) / (1.0 - growth)
    return restarts, (passed - before) / growth**restarts


@export("train.linear_cosine_decay")
@_called_when_eager
def linear_cosine_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: TensorLike,
    num_periods: TensorLike = 0.5,
    alpha: TensorLike = 0.0,
    beta: TensorLike = 0.001,
    name: str | None = None,
) -> Tensor:
    """Computes a learning rate that falls along a line times a cosine wave (Bello and others, 2017).

    Args:
      learning_rate: The initial learning rate.
      global_step: The current step, not negative.
      decay_steps: The number of steps of the decay.
      num_periods: The number of periods of the cosine.
      alpha: A number that is added to the line.
      beta: A number that is added to the product.
      name: The name of the operation.

    Returns:
      The learning rate as a scalar tensor.

    Raises:
      ValueError: If `global_step` is None.
    """
    _require(global_step, "linear_cosine_decay")
    with name_scope(name or "LinearCosineDecay") as scope:
        rate = _start(learning_rate)
        decay_steps, num_periods, alpha, beta = (
            casting.cast(number, rate.dtype) for number in (decay_steps, num_periods, alpha, beta)
        )
        step = binary.minimum(casting.cast(global_step, rate.dtype), decay_steps)
        line = (decay_steps - step) / decay_steps
        wave = _wave(step, decay_steps, num_periods)
        return binary.multiply(rate, (alpha + line) * wave + beta, name=scope)


def _wave(step: Tensor, decay_steps: Tensor, num_periods: Tensor) -> Tensor:
    completed = step / decay_steps
    return 0.5 * (1.0 + _cosine(2.0 * num_periods * completed))


@export("train.noisy_linear_cosine_decay")
@_called_when_eager
def noisy_linear_cosine_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: TensorLike,
    initial_variance: TensorLike = 1.0,
    variance_decay: TensorLike = 0.55,
    num_periods: TensorLike = 0.5,
    alpha: TensorLike = 0.0,
    beta: TensorLike = 0.001,
    name: str | None = None,
) -> Tensor:
    """Computes the rate of `tf.train.linear_cosine_decay` with noise on the line (Bello and others, 2017).

    Args:
      learning_rate: The initial learning rate.
      global_step: The current step, not negative.
      decay_steps: The number of steps of the decay.
      initial_variance: The variance of the noise at the first step.
      variance_decay: The exponent by which the variance falls.
      num_periods: The number of periods of the cosine.
      alpha: A number that is added to the line.
      beta: A number that is added to the product.
      name: The name of the operation.

    Returns:
      The learning rate as a scalar tensor.

    Raises:
      ValueError: If `global_step` is None.
    """
    _require(global_step, "noisy_linear_cosine_decay")
    with name_scope(name or "NoisyLinearCosineDecay") as scope:
        rate = _start(learning_rate)
        decay_steps, initial_variance, variance_decay, num_periods, alpha, beta = (
            casting.cast(number, rate.dtype)
            for number in (decay_steps, initial_variance, variance_decay, num_periods, alpha, beta)
        )
        step = binary.minimum(casting.cast(global_step, rate.dtype), decay_steps)
        line = (decay_steps - step) / decay_steps
        deviation = unary.sqrt(initial_variance / powers.pow(1.0 + step, variance_decay))
        line = line + distributions.random_normal(line.shape, stddev=deviation)
        wave = _wave(step, decay_steps, num_periods)
        return binary.multiply(rate, (alpha + line) * wave + beta, name=scope)


# -------------------------------------------------------------------------------- steps


@export("train.piecewise_constant", "train.piecewise_constant_decay")
@_called_when_eager
def piecewise_constant(
    x: TensorLike, boundaries: Sequence[Any], values: Sequence[Any], name: str | None = None
) -> Tensor:
    """Selects a value by the interval that contains a step.

    Args:
      x: The step.
      boundaries: The upper ends of the intervals, ascending. Each end belongs to its interval.
      values: The values: one more than there are boundaries.
      name: The name of the operation.

    Returns:
      `values[0]` up to `boundaries[0]`, `values[1]` above it up to `boundaries[1]`, and so on; a scalar
      tensor.

    Raises:
      ValueError: If the types or the numbers of boundaries and values do not fit.
    """
    edges = [convert_to_tensor(edge) for edge in nest.flatten(boundaries)]
    choices = [convert_to_tensor(value) for value in nest.flatten(values)]
    x = convert_to_tensor(x)
    if len(edges) != len(choices) - 1:
        raise ValueError("The length of boundaries should be 1 less than the length of values")
    edges = [_as_type_of(x, edge) for edge in edges]
    for choice in choices[1:]:
        if choice.dtype.base_dtype is not choices[0].dtype.base_dtype:
            raise ValueError(
                "Values must have elements all with the same dtype "
                f"({choices[0].dtype.name} vs {choice.dtype.name})."
            )
    with name_scope(name, "PiecewiseConstant", [x, *edges, *choices]):
        pieces = [(x <= edges[0], choices[0]), (x > edges[-1], choices[-1])]
        pieces += [
            (binary.logical_and(x > low, x <= high), choice)
            for low, high, choice in zip(edges[:-1], edges[1:], choices[1:-1])
        ]
        with name_scope("case"):
            return _first_true(pieces, choices[0])


def _as_type_of(x: Tensor, edge: Tensor) -> Tensor:
    """A boundary in the type of x; a small integer may become a large one."""
    wanted, found = x.dtype.base_dtype, edge.dtype.base_dtype
    if found is wanted:
        return edge
    if found is dtypes.int32 and wanted is dtypes.int64:
        return casting.cast(edge, wanted)
    raise ValueError(f"Boundaries ({found.name}) must have the same dtype as x ({wanted.name}).")


def _first_true(pieces: list[tuple[Tensor, Tensor]], default: Tensor) -> Tensor:
    """The value whose condition holds."""
    (condition, value), *rest = pieces
    otherwise: Callable[[], Tensor] = (lambda: _first_true(rest, default)) if rest else (lambda: default)
    return conditionals.cond(condition, lambda: value, otherwise)
