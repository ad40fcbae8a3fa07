"""tf.contrib.integrate: ordinary differential equations, by steps of chosen or of fixed size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import tideflow as tf
from tideflow.export import export
from tideflow.graph.operation import Tensor

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

Derivative = Callable[[Tensor, Tensor], Any]


class _Tableau(NamedTuple):
    """The coefficients of a Runge-Kutta method: times and weights of its stages, and of what they make."""

    times: Sequence[float]
    stages: Sequence[Sequence[float]]
    middle: Sequence[float]  # the solution in the middle of a step
    error: Sequence[float]  # the difference from the solution of one order less


# Dormand and Prince's method of order 5, whose last stage is the solution; the middle is Shampine's.
_STAGES = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
_LESS = (1951 / 21600, 0, 22642 / 50085, 451 / 720, -12231 / 42400, 649 / 6300, 1 / 60)
_DORMAND_PRINCE = _Tableau(
    times=(1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0),
    stages=_STAGES,
    middle=tuple(
        weight / 2
        for weight in (
            6025192743 / 30085553152,
            0,
            51252292925 / 65400821598,
            -2691868925 / 45128329728,
            187940372067 / 1594534317056,
            -1776094331 / 19743644256,
            11237099 / 235043384,
        )
    ),
    error=tuple(less - more for less, more in zip(_LESS, (*_STAGES[-1], 0), strict=True)),
)


def _weighted(dt: Tensor, weights: Sequence[float], slopes: Sequence[Tensor]) -> Tensor:
    return tf.add_n([dt * weight * slope for weight, slope in zip(weights, slopes, strict=True) if weight])


def _interp_fit(y0: Any, y1: Any, y_mid: Any, f0: Any, f1: Any, dt: Any) -> list[Any]:
    """The polynomial of degree 4 with these values at both ends and in the middle, and slopes at the ends."""
    known = (f0, f1, y0, y1, y_mid)
    rows = (
        (-2 * dt, 2 * dt, -8, -8, 16),
        (5 * dt, -3 * dt, 18, 14, -32),
        (-4 * dt, dt, -11, -5, 16),
    )
    made = [tf.add_n([factor * each for factor, each in zip(row, known, strict=True)]) for row in rows]
    return [*made, dt * f0, y0]


def _fitted(y0: Tensor, y1: Tensor, slopes: Sequence[Tensor], dt: Tensor) -> list[Tensor]:
    """The polynomial of a step."""
    dt = tf.cast(dt, y0.dtype)
    middle = y0 + _weighted(dt, _DORMAND_PRINCE.middle, slopes)
    return _interp_fit(y0, y1, middle, slopes[0], slopes[-1], dt)


class _Step(NamedTuple):
    """The end of the last step that was taken, its begin, the size of the next, and its polynomial."""

    y: Tensor
    slope: Tensor
    begin: Tensor
    end: Tensor
    size: Tensor
    polynomial: list[Tensor]


class _History(NamedTuple):
    """All ends of steps that were tried, and how large their errors were."""

    points: tf.TensorArray
    ratios: tf.TensorArray


def _interp_evaluate(coefficients: Sequence[Any], t0: Any, t1: Any, t: Any) -> Tensor:
    """The value of a polynomial at a time, which is 0 at t0 and 1 at t1."""
    begin, end, time = (tf.convert_to_tensor(each) for each in (t0, t1, t))
    value = coefficients[0]
    inside = tf.Assert(
        (begin <= time) & (time <= end), ["invalid interpolation, fails `t0 <= t <= t1`:", begin, time, end]
    )
    with tf.control_dependencies([inside]):
        x = tf.cast((time - begin) / (end - begin), value.dtype)
    for coefficient in coefficients[1:]:
        value = value * x + coefficient
    return value


def _optimal_step_size(
    last_step: Tensor,
    error_ratio: Tensor,
    safety: float = 0.9,
    ifactor: float = 10.0,
    dfactor: float = 0.2,
    order: int = 5,
) -> Tensor:
    """The size of the next step, by how much larger the error of the last one was than it may be."""
    factor = tf.cast(error_ratio, last_step.dtype) ** (1 / order) / safety
    return last_step / tf.maximum(tf.minimum(factor, 1 / dfactor), 1 / ifactor)


def _squared(x: Tensor) -> Tensor:
    return tf.square(tf.real(x)) + tf.square(tf.imag(x)) if x.dtype.is_complex else tf.square(x)


def _dopri5(
    func: Derivative,
    y0: Tensor,
    t: Tensor,
    rtol: Tensor,
    atol: Tensor,
    full_output: bool,
    name: str,
    first_step: float | None = None,
    safety: float = 0.9,
    ifactor: float = 10.0,
    dfactor: float = 0.2,
    max_num_steps: int = 1000,
) -> Any:
    def tried(step: _Step, history: _History, count: Tensor) -> tuple[_Step, _History, Tensor]:
        y, slope, _, begin, size, polynomial = step
        checks = [
            tf.Assert(begin + size > begin, ["underflow in dt", size]),
            tf.Assert(count < max_num_steps, ["max_num_steps exceeded"]),
            tf.Assert(tf.reduce_all(tf.is_finite(tf.abs(y))), ["non-finite values in state `y`", y]),
        ]
        with tf.control_dependencies(checks):
            dt = tf.cast(size, y.dtype)
            slopes = [slope]
            for time, weights in zip(_DORMAND_PRINCE.times, _DORMAND_PRINCE.stages, strict=True):
                y1 = y + _weighted(dt, weights, slopes)
                slopes.append(func(y1, begin + time * size))
        tolerance = atol + rtol * tf.maximum(tf.abs(y), tf.abs(y1))
        error = _weighted(dt, _DORMAND_PRINCE.error, slopes)
        ratio = tf.sqrt(tf.reduce_mean(_squared(error) / _squared(tolerance)))
        is_taken = ratio <= 1
        following = _optimal_step_size(size, ratio, safety, ifactor, dfactor)
        ends = tf.cond(is_taken, lambda: (y1, slopes[-1], begin + size), lambda: (y, slope, begin))
        fitted = tf.cond(is_taken, lambda: _fitted(y, y1, slopes, size), lambda: list(polynomial))
        history = _History(
            history.points.write(history.points.size(), begin + size),
            history.ratios.write(history.ratios.size(), ratio),
        )
        return _Step(ends[0], ends[1], begin, ends[2], following, fitted), history, count + 1

    def reached(solution: Any, history: _History, step: _Step, i: Tensor) -> tuple:
        start = (step, history, tf.constant(0))
        step, history, _ = tf.while_loop(lambda step, history, count: t[i] > step.end, tried, start)
        return (
            solution.write(i, _interp_evaluate(step.polynomial, step.begin, step.end, t[i])),
            history,
            step,
            i + 1,
        )

    with tf.control_dependencies([_increasing(t)]):
        count = tf.size(t)
    size = tf.convert_to_tensor(1.0 if first_step is None else first_step, dtype=t.dtype)
    solution = tf.TensorArray(y0.dtype, size=count).write(0, y0)
    history = _History(
        tf.TensorArray(t.dtype, size=0, dynamic_size=True),
        tf.TensorArray(rtol.dtype, size=0, dynamic_size=True),
    )
    step = _Step(y0, func(y0, t[0]), t[0], t[0], size, [y0] * 5)
    solution, history, _, _ = tf.while_loop(
        lambda solution, history, step, i: i < count, reached, (solution, history, step, tf.constant(1))
    )
    y = solution.stack(name=name)
    y.set_shape(t.get_shape().concatenate(y0.get_shape()))
    if not full_output:
        return y
    points = history.points.stack()
    return y, {
        "num_func_evals": 6 * tf.size(points) + 1,
        "integrate_points": points,
        "error_ratio": history.ratios.stack(),
    }


def _increasing(t: Tensor) -> Any:
    return tf.Assert(tf.reduce_all(t[1:] > t[:-1]), ["`t` must be monotonic increasing"])


def _check_types(y0: Tensor, t: Tensor, dt: Tensor | None = None) -> None:
    if not (y0.dtype.is_floating or y0.dtype.is_complex):
        raise TypeError("`y0` must have a floating point or complex floating point dtype")
    for name, tensor in (("t", t), ("dt", dt)):
        if tensor is not None and not tensor.dtype.is_floating:
            raise TypeError(f"`{name}` must have a floating point dtype")


@export("contrib.integrate.odeint")
def odeint(
    func: Derivative,
    y0: TensorLike,
    t: TensorLike,
    rtol: TensorLike = 1e-6,
    atol: TensorLike = 1e-12,
    method: str | None = None,
    options: dict[str, Any] | None = None,
    full_output: bool = False,
    name: str | None = None,
) -> Any:
    """Solves `dy/dt = func(y, t)`, with steps as large as the errors allow.

    Args:
      func: A function from the state and the time to the derivative of the state.
      y0: The state at the first time.
      t: The times, a vector that increases.
      rtol: The greatest relative error of a step.
      atol: The greatest absolute error of a step.
      method: `"dopri5"`.
      options: Of the method: `first_step`, `safety`, `ifactor`, `dfactor`, `max_num_steps`.
      full_output: Whether the steps are returned too.
      name: A name for the operations.

    Returns:
      The states, with the times as first axis; with `full_output` also a dictionary of the number of
      evaluations, of the ends of all steps and of their errors.

    Raises:
      ValueError: If the method is unknown, or there are options without one.
      TypeError: If the state or the times are no floating-point numbers.
    """
    if method not in (None, "dopri5"):
        raise ValueError(f"invalid method: {method!r}")
    if options is not None and method is None:
        raise ValueError("cannot supply `options` without specifying `method`")
    with tf.name_scope(name, "odeint", [y0, t, rtol, atol]) as scope:
        y0 = tf.convert_to_tensor(y0, name="y0")
        t = tf.convert_to_tensor(t, preferred_dtype=tf.float64, name="t")
        _check_types(y0, t)
        error_type = tf.abs(y0).dtype
        rtol = tf.convert_to_tensor(rtol, dtype=error_type, name="rtol")
        atol = tf.convert_to_tensor(atol, dtype=error_type, name="atol")
        return _dopri5(func, y0, t, rtol, atol, full_output, scope, **(options or {}))


def _midpoint(func: Derivative, y: Tensor, t: Tensor, dt: Tensor) -> Tensor:
    own = tf.cast(dt, y.dtype)
    return own * func(y + func(y, t) * own / 2, t + dt / 2)


def _rk4(func: Derivative, y: Tensor, t: Tensor, dt: Tensor) -> Tensor:
    own, half = tf.cast(dt, y.dtype), t + dt / 2
    first = func(y, t)
    second = func(y + own * first / 2, half)
    third = func(y + own * second / 2, half)
    fourth = func(y + own * third, t + dt)
    return tf.add_n([first, 2 * second, 2 * third, fourth]) * (own / 6)


_FIXED = {"midpoint": _midpoint, "rk4": _rk4}


@export("contrib.integrate.odeint_fixed")
def odeint_fixed(
    func: Derivative,
    y0: TensorLike,
    t: TensorLike,
    dt: TensorLike | None = None,
    method: str = "rk4",
    name: str | None = None,
) -> Tensor:
    """Solves `dy/dt = func(y, t)`, with steps of fixed size.

    Args:
      func: A function from the state and the time to the derivative of the state.
      y0: The state at the first time.
      t: The times, a vector that increases.
      dt: The greatest size of a step in each interval, one less than times; the intervals if None.
      method: `"rk4"` or `"midpoint"`.
      name: A name for the operations.

    Returns:
      The states, with the times as first axis.

    Raises:
      ValueError: If the method is unknown, or the sizes do not fit.
      TypeError: If the state or the times are no floating-point numbers.
    """
    with tf.name_scope(name, "odeint_fixed", [y0, t, dt]):
        t = tf.convert_to_tensor(t, preferred_dtype=tf.float64, name="t")
        y0 = tf.convert_to_tensor(y0, name="y0")
        intervals = t[1:] - t[:-1]
        given = tf.convert_to_tensor(intervals if dt is None else dt, preferred_dtype=tf.float64, name="dt")
        counts = tf.ceil(intervals / given)
        sizes = intervals / counts
        _check_types(y0, t, sizes)
        if t.get_shape().ndims != 1 or sizes.get_shape().ndims != 1:
            raise ValueError("t must be a 1D tensor")
        if t.get_shape().as_list()[0] != sizes.get_shape().as_list()[0] + 1:
            raise ValueError("t and dt have incompatible lengths, must be N and N-1")
        if method not in _FIXED:
            raise ValueError(f"method not supported: {method}")
        counts = tf.cast(counts, tf.int32)

        def one(y: Tensor, time: Tensor, number: Tensor, interval: Tensor) -> tuple:
            size = sizes[interval - 1]
            change = tf.cast(_FIXED[method](func, y, time, size), y.dtype)
            return y + change, time + size, number + 1, interval

        def whole(solution: Any, y: Tensor, time: Tensor, interval: Tensor) -> tuple:
            start = (y, time, tf.constant(0), interval)
            y, time, _, _ = tf.while_loop(
                lambda y, time, number, interval: number < counts[interval - 1], one, start
            )
            return solution.write(interval, y), y, time, interval + 1

        with tf.control_dependencies([_increasing(t)]), tf.name_scope(method):
            number = tf.size(t)
            solution = tf.TensorArray(y0.dtype, number).write(0, y0)
            solution, _, _, _ = tf.while_loop(
                lambda solution, y, time, interval: interval < number,
                whole,
                (solution, y0, t[0], tf.constant(1)),
            )
            states = solution.stack()
        states.set_shape(t.get_shape().concatenate(y0.get_shape()))
        return states
