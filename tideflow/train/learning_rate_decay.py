"""Learning rates that change with the global step."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from tideflow.export import export
from tideflow.graph import dtypes, nest
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.ops.arrays import constants
from tideflow.ops.control_flow import conditionals
from tideflow.ops.math import binary, casting, powers, unary
from tideflow.ops.random import distributions


def _start(learning_rate: Any) -> Tensor:
    return convert_to_tensor(learning_rate, name="initial_learning_rate")


def _require(global_step: Any, function: str) -> None:
    if global_step is None:
        raise ValueError(f"global_step is required for {function}.")


def _cosine(fraction: Tensor) -> Tensor:
    """cos(pi * fraction)"""
    return unary.cos(constants.constant(math.pi, dtype=fraction.dtype) * fraction)


# -------------------------------------------------------------------------------- exponents and powers


@export("train.exponential_decay")
def exponential_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor:
    """learning_rate * decay_rate ** (global_step / decay_steps); a staircase rounds the exponent down."""
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
def natural_exp_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor:
    """learning_rate * exp(-decay_rate * global_step / decay_steps)"""
    _require(global_step, "natural_exp_decay")
    rate = unary.exp(unary.negative(decay_rate))
    return exponential_decay(learning_rate, global_step, decay_steps, rate, staircase, name)


@export("train.inverse_time_decay")
def inverse_time_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor:
    """learning_rate / (1 + decay_rate * global_step / decay_steps)"""
    _require(global_step, "inverse_time_decay")
    with name_scope(name or "InverseTimeDecay") as scope:
        rate = _start(learning_rate)
        decay_steps, decay_rate = casting.cast(decay_steps, rate.dtype), casting.cast(decay_rate, rate.dtype)
        periods = _periods(global_step, decay_steps, staircase)
        one = casting.cast(constants.constant(1), rate.dtype)
        return binary.divide(rate, binary.add(one, binary.multiply(decay_rate, periods)), name=scope)


@export("train.polynomial_decay")
def polynomial_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    end_learning_rate: Any = 0.0001,
    power: Any = 1.0,
    cycle: bool = False,
    name: str | None = None,
) -> Tensor:
    """From learning_rate to end_learning_rate in decay_steps, along a power of what is left of them.

    A cycle starts anew each time, over a period that is the next multiple of decay_steps.
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
def cosine_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, alpha: float = 0.0, name: str | None = None
) -> Tensor:
    """Half a cosine from learning_rate down to alpha * learning_rate (Loshchilov, Hutter 2016)."""
    _require(global_step, "cosine_decay")
    with name_scope(name or "CosineDecay"):
        rate = _start(learning_rate)
        decay_steps = casting.cast(decay_steps, rate.dtype)
        step = binary.minimum(casting.cast(global_step, rate.dtype), decay_steps)
        falling = 0.5 * (1.0 + _cosine(step / decay_steps))
        return binary.multiply(rate, (1 - alpha) * falling + alpha)


@export("train.cosine_decay_restarts")
def cosine_decay_restarts(
    learning_rate: Any,
    global_step: Any,
    first_decay_steps: Any,
    t_mul: Any = 2.0,
    m_mul: Any = 1.0,
    alpha: Any = 0.0,
    name: str | None = None,
) -> Tensor:
    """Half cosines in a row, each `t_mul` times as long and `m_mul` times as high as the one before."""
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
def linear_cosine_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    num_periods: Any = 0.5,
    alpha: Any = 0.0,
    beta: Any = 0.001,
    name: str | None = None,
) -> Tensor:
    """A cosine of `num_periods` under a falling line (Bello and others 2017)."""
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
def noisy_linear_cosine_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    initial_variance: Any = 1.0,
    variance_decay: Any = 0.55,
    num_periods: Any = 0.5,
    alpha: Any = 0.0,
    beta: Any = 0.001,
    name: str | None = None,
) -> Tensor:
    """`linear_cosine_decay` with noise on the line, less of it with every step."""
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
def piecewise_constant(
    x: Any, boundaries: Sequence[Any], values: Sequence[Any], name: str | None = None
) -> Tensor:
    """values[0] up to boundaries[0], values[1] above it up to boundaries[1], and so on."""
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
