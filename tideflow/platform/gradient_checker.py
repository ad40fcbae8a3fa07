"""`tf.test.compute_gradient`: the gradient of a graph beside the one that small steps of its input show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.autodiff.gradients import gradients
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import get_default_session
from tideflow.ops.arrays import constants

if TYPE_CHECKING:
    from tideflow.graph.typing import ShapeLike, TensorLike

_ALLOWED = (
    dtypes.float16,
    dtypes.bfloat16,
    dtypes.float32,
    dtypes.float64,
    dtypes.complex64,
    dtypes.complex128,
)
Jacobians = tuple[np.ndarray, np.ndarray]


@export("test.compute_gradient")
def compute_gradient(
    x: Tensor | Sequence[Tensor],
    x_shape: ShapeLike | Sequence[ShapeLike],
    y: Tensor,
    y_shape: Sequence[int],
    x_init_value: TensorLike | None = None,
    delta: float = 1e-3,
    init_targets: Sequence[Any] | None = None,
    extra_feed_dict: dict | None = None,
) -> Jacobians | list[Jacobians]:
    """Computes the Jacobian of a tensor, by gradients of the graph and numerically.

    Args:
      x: A tensor, or a list of tensors.
      x_shape: The shape of `x`, or a list of shapes.
      y: A tensor.
      y_shape: Its shape.
      x_init_value: The value of `x`, or a list of values; random if None.
      delta: The difference for numeric differentiation.
      init_targets: Operations to run first.
      extra_feed_dict: Further values to feed.

    Returns:
      Two matrices with a row for each element of `x` and a column for each element of `y`; complex numbers
      count as two. For a list of x, a list of such pairs.
    """
    for target in init_targets or ():
        target.run()
    feeds = extra_feed_dict or {}
    if not isinstance(x, list):
        return _compare(x, x_shape, y, y_shape, x_init_value, delta, feeds)
    values = [None] * len(x) if x_init_value is None else x_init_value
    return [
        _compare(one, shape, y, y_shape, value, delta, feeds) for one, shape, value in zip(x, x_shape, values)
    ]


@export("test.compute_gradient_error")
def compute_gradient_error(
    x: Tensor | Sequence[Tensor],
    x_shape: ShapeLike | Sequence[ShapeLike],
    y: Tensor,
    y_shape: Sequence[int],
    x_init_value: TensorLike | None = None,
    delta: float = 1e-3,
    init_targets: Sequence[Any] | None = None,
    extra_feed_dict: dict | None = None,
) -> float:
    """Computes the largest difference of the two Jacobians of `tf.test.compute_gradient`.

    Args:
      x: A tensor, or a list of tensors.
      x_shape: The shape of `x`, or a list of shapes.
      y: A tensor.
      y_shape: Its shape.
      x_init_value: The value of `x`, or a list of values; random if None.
      delta: The difference for numeric differentiation.
      init_targets: Operations to run first.
      extra_feed_dict: Further values to feed.

    Returns:
      The difference.
    """
    found = compute_gradient(x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict)
    pairs = found if isinstance(found, list) else [found]
    return max((np.abs(graph - numeric).max() for graph, numeric in pairs if graph.size), default=0)


def _compare(
    x: Tensor, x_shape: Any, y: Tensor, y_shape: Any, x_value: Any, delta: float, feeds: dict
) -> Jacobians:
    for tensor, label in ((x, "x"), (y, "y")):
        if tensor.dtype.base_dtype not in _ALLOWED:
            raise AssertionError(f"Don't support type {tensor.dtype.name} for {label}")
    if x_value is None:
        x_value = _random(x_shape, x.dtype)
    elif list(x_value.shape) != list(x_shape):
        raise AssertionError(f"x_shape = {x_shape}, init_data shape = {list(x_value.shape)}")
    x_value = np.asarray(x_value, x.dtype.as_numpy_dtype)
    return (
        _by_gradient(x, x_value, y, y_shape, feeds),
        _by_steps(x, x_value, y, y_shape, delta, feeds),
    )


def _random(shape: Any, dtype: dtypes.DType) -> np.ndarray:
    value = np.random.random_sample(shape).astype(dtype.as_numpy_dtype)
    if dtype.is_complex:
        value.imag = np.random.random_sample(shape)
    return value


def reals(array: np.ndarray, dtype: dtypes.DType) -> np.ndarray:
    """The elements one after the other, real and imaginary parts apart; shares memory where it can."""
    return array.reshape(-1).view(dtype.real_dtype.as_numpy_dtype)


def _by_gradient(x: Tensor, x_value: np.ndarray, y: Tensor, y_shape: Any, feeds: dict) -> np.ndarray:
    """Column by column: the gradient of one element of y."""
    with x.graph.as_default():
        fed = constants.constant(1.0, shape=y_shape, dtype=y.dtype)
        # Behind an identity: the gradient may be dy itself, and what is fed cannot be fetched.
        (dx,) = gradients(y, [x], constants.identity(fed))
        if dx is None:
            raise ValueError(f"{y} does not depend on {x} by differentiable operations")
        dx = convert_to_tensor(dx)
    dy = np.zeros(y_shape, y.dtype.as_numpy_dtype)
    session = get_default_session()
    columns = [
        reals(session.run(dx, {**feeds, x: x_value, fed: chosen}), x.dtype).copy()
        for chosen in each_bumped(dy, y.dtype, 1)
    ]
    if not columns:
        check_empty(session.run(dx, {**feeds, x: x_value, fed: dy}), x_value)
    return stacked(columns, len(reals(x_value, x.dtype)), x.dtype).T


def _by_steps(
    x: Tensor, x_value: np.ndarray, y: Tensor, y_shape: Any, delta: float, feeds: dict
) -> np.ndarray:
    """Row by row: how y changes with one element of x."""
    value_of: Callable = lambda at: get_default_session().run(y, {**feeds, x: at})
    ahead, behind = each_bumped(x_value, x.dtype, delta), each_bumped(x_value, x.dtype, -delta)
    scale = np.asarray(2 * delta, y.dtype.real_dtype.as_numpy_dtype)
    rows = [reals((value_of(a) - value_of(b)) / scale, y.dtype) for a, b in zip(ahead, behind, strict=True)]
    return stacked(rows, len(reals(np.zeros(y_shape, y.dtype.as_numpy_dtype), y.dtype)), x.dtype)


def check_empty(gradient: np.ndarray, x_value: np.ndarray) -> None:
    """Raises ValueError unless the gradient of a result without elements is nothing but zeros."""
    if gradient.shape != x_value.shape:
        raise ValueError(f"Empty gradient has wrong shape: expected {x_value.shape}, got {gradient.shape}")
    if np.any(gradient):
        raise ValueError("Empty tensor with nonzero gradients")


def each_bumped(value: np.ndarray, dtype: dtypes.DType, amount: float) -> Any:
    """The array with `amount` added to one real number of it, for each."""
    for i in range(len(reals(value, dtype))):
        bumped = value.copy()
        reals(bumped, dtype)[i] += amount
        yield bumped


def stacked(rows: list[np.ndarray], width: int, dtype: dtypes.DType) -> np.ndarray:
    return np.array(rows, dtype.real_dtype.as_numpy_dtype).reshape(len(rows), width)
