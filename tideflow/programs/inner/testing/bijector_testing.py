"""`tensorflow.python.ops.distributions.bijector_test_util`: whether the parts of a bijector agree."""

from __future__ import annotations

from typing import Any

import numpy as np

import tideflow as tf


def assert_finite(array: np.ndarray) -> None:
    """No element is infinite or NaN."""
    if not np.isfinite(array).all():
        raise AssertionError(f"array was not all finite. {array[:15]}")


def assert_strictly_increasing(array: np.ndarray) -> None:
    """Each element is larger than the one before."""
    np.testing.assert_array_less(0.0, np.diff(array))


def assert_strictly_decreasing(array: np.ndarray) -> None:
    """Each element is smaller than the one before."""
    np.testing.assert_array_less(np.diff(array), 0.0)


def assert_strictly_monotonic(array: np.ndarray) -> None:
    """One or the other."""
    check = assert_strictly_increasing if array[0] < array[-1] else assert_strictly_decreasing
    check(array)


def assert_scalar_congruency(
    bijector: Any, lower_x: float, upper_x: float, n: int = 10000, rtol: float = 0.01, sess: Any = None
) -> None:
    """A bijector of the line is monotonic, its directions undo each other, and so do its Jacobians.

    Args:
      bijector: The bijector.
      lower_x: From where on it is tested.
      upper_x: Up to where.
      n: How many random numbers are used.
      rtol: How far the length of the interval, as the Jacobian tells it, may be off.
      sess: The session; by default the one that is open.
    """
    session = sess or tf.get_default_session()
    points = np.linspace(lower_x, upper_x, num=10).astype(np.float32)
    if bijector.dtype is not None:
        points = points.astype(bijector.dtype.as_numpy_dtype)
    ends = session.run([bijector.forward(lower_x), bijector.forward(upper_x)])
    lower_y, upper_y = min(ends), max(ends)
    x = tf.distributions.Uniform(low=lower_x, high=upper_x).sample(n, seed=0)
    y = tf.distributions.Uniform(low=lower_y, high=upper_y).sample(n, seed=1)
    inverse_slope = tf.exp(bijector.inverse_log_det_jacobian(y, event_ndims=0))
    found = session.run(
        {
            "curve": bijector.forward(points),
            "x": x,
            "y": y,
            "x again": bijector.inverse(bijector.forward(x)),
            "y again": bijector.forward(bijector.inverse(y)),
            "inverse slope": inverse_slope,
            "slope": tf.exp(bijector.forward_log_det_jacobian(bijector.inverse(y), event_ndims=0)),
            "length": (upper_y - lower_y) * tf.reduce_mean(inverse_slope),
        }
    )
    assert_strictly_monotonic(found["curve"])
    np.testing.assert_allclose(found["x again"], found["x"], atol=1e-5, rtol=1e-3)
    np.testing.assert_allclose(found["y again"], found["y"], atol=1e-5, rtol=1e-3)
    np.testing.assert_allclose(upper_x - lower_x, found["length"], atol=0, rtol=rtol)
    np.testing.assert_allclose(found["inverse slope"], 1.0 / found["slope"], atol=1e-5, rtol=1e-3)


def assert_bijective_and_finite(
    bijector: Any, x: Any, y: Any, event_ndims: int, atol: float = 0, rtol: float = 1e-5, sess: Any = None
) -> None:
    """The directions of a bijector undo each other at some points, and so do its Jacobians; all is finite.

    Args:
      bijector: The bijector.
      x: Points to map forward.
      y: Points to map back.
      event_ndims: How many axes a point has.
      atol: By how much values may differ.
      rtol: By which part of them.
      sess: The session; by default the one that is open.
    """
    assert_finite(x)
    assert_finite(y)
    image, origin = bijector.forward(x), bijector.inverse(y)
    found = (sess or tf.get_default_session()).run(
        {
            "image": image,
            "origin": origin,
            "x again": bijector.inverse(image),
            "y again": bijector.forward(origin),
            "back from image": bijector.inverse_log_det_jacobian(image, event_ndims=event_ndims),
            "there from x": bijector.forward_log_det_jacobian(x, event_ndims=event_ndims),
            "back from y": bijector.inverse_log_det_jacobian(y, event_ndims=event_ndims),
            "there from origin": bijector.forward_log_det_jacobian(origin, event_ndims=event_ndims),
        }
    )
    for values in found.values():
        assert_finite(values)
    pairs = [
        (found["x again"], x),
        (found["y again"], y),
        (-found["back from image"], found["there from x"]),
        (-found["back from y"], found["there from origin"]),
    ]
    for given, wanted in pairs:
        np.testing.assert_allclose(given, wanted, atol=atol, rtol=rtol)
