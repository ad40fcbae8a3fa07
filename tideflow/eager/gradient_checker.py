"""`tf.compat.v2.test.compute_gradient`: the Jacobians of a function, by gradients and by differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tideflow.autodiff.gradients import gradients
from tideflow.eager.tape import GradientTape
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.scopes import executing_eagerly, get_default_session
from tideflow.ops.arrays.constants import placeholder
from tideflow.platform.gradient_checker import check_empty, each_bumped, reals, stacked
from tideflow.session.session import Session

_ALLOWED = (
    dtypes.float16,
    dtypes.bfloat16,
    dtypes.float32,
    dtypes.float64,
    dtypes.complex64,
    dtypes.complex128,
)


def compute_gradient(
    f: Callable[..., Any], x: list[Any], delta: float = 0.001
) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
    """Computes the Jacobians of a function by its gradients, and by differences of its values.

    A complex number counts as two real ones.

    Args:
      f: A function of tensors that returns a tensor.
      x: Its arguments, as a list of tensors or arrays.
      delta: The step of the differences.

    Returns:
      The Jacobians by gradients and those by differences: for each argument a matrix with a row for each
      element of the argument and a column for each element of the result.

    Raises:
      ValueError: If `x` is no list, or if a result without elements has gradients.
      AssertionError: If the argument or the result is not of numbers that have gradients.
    """
    if not isinstance(x, list):
        raise ValueError(f"`x` must be a list of Tensors (arguments to `f`), not a {type(x)}")
    if executing_eagerly():
        return _compared(_Eagerly(f), [np.array(convert_to_tensor(each)) for each in x], delta)
    session = get_default_session()
    if session is not None:
        return _compared_in(session, f, x, delta)
    with Session() as session:
        return _compared_in(session, f, x, delta)


def _compared_in(session: Session, f: Callable[..., Any], x: list[Any], delta: float) -> Any:
    arrays = [np.asarray(value) for value in session.run([convert_to_tensor(each) for each in x])]
    return _compared(_InGraph(f, [dtypes.as_dtype(array.dtype) for array in arrays], session), arrays, delta)


class _Eagerly:
    """A function of arrays whose values and gradients are those of a function of eager tensors."""

    def __init__(self, f: Callable[..., Any]):
        self._f = f

    def value(self, arrays: Sequence[np.ndarray]) -> np.ndarray:
        return np.array(self._f(*map(convert_to_tensor, arrays)))

    def gradient(self, arrays: Sequence[np.ndarray], place: int, dy: np.ndarray) -> np.ndarray:
        tensors = [convert_to_tensor(array) for array in arrays]
        with GradientTape() as tape:
            tape.watch(tensors)
            y = self._f(*tensors)
        found = tape.gradient(y, tensors[place], convert_to_tensor(dy))
        return np.zeros_like(arrays[place]) if found is None else np.array(convert_to_tensor(found))


class _InGraph:
    """A function of arrays whose values and gradients a session computes."""

    def __init__(self, f: Callable[..., Any], types: list[dtypes.DType], session: Session):
        self._session = session
        self._x = [placeholder(dtype) for dtype in types]
        self._y = convert_to_tensor(f(*self._x))
        self._dy = placeholder(self._y.dtype)
        self._dx = gradients(self._y, self._x, self._dy)

    def value(self, arrays: Sequence[np.ndarray]) -> np.ndarray:
        return np.asarray(self._session.run(self._y, self._fed(arrays)))

    def gradient(self, arrays: Sequence[np.ndarray], place: int, dy: np.ndarray) -> np.ndarray:
        dx = self._dx[place]
        if dx is None:
            return np.zeros_like(arrays[place])
        if dx is self._dy:
            return dy.copy()  # a tensor that is fed cannot be fetched
        return np.asarray(self._session.run(convert_to_tensor(dx), {**self._fed(arrays), self._dy: dy}))

    def _fed(self, arrays: Sequence[np.ndarray]) -> dict[Any, Any]:
        return dict(zip(self._x, arrays, strict=True))


def _compared(function: _Eagerly | _InGraph, arrays: list[np.ndarray], delta: float) -> Any:
    result = function.value(arrays)
    for array in (*arrays, result):
        if dtypes.as_dtype(array.dtype) not in _ALLOWED:
            raise AssertionError(f"Cannot compute gradient for unsupported type {array.dtype}")
    places = range(len(arrays))
    return (
        tuple(_by_gradients(function, arrays, place, result) for place in places),
        tuple(_by_differences(function, arrays, place, result, delta) for place in places),
    )


def _by_gradients(
    function: _Eagerly | _InGraph, arrays: list[np.ndarray], place: int, result: np.ndarray
) -> np.ndarray:
    """Column by column: the gradient of one real number of the result."""
    x = arrays[place]
    x_type, y_type = dtypes.as_dtype(x.dtype), dtypes.as_dtype(result.dtype)
    nothing = np.zeros_like(result)
    columns = [
        reals(function.gradient(arrays, place, chosen), x_type).copy()
        for chosen in each_bumped(nothing, y_type, 1)
    ]
    if not columns:
        check_empty(function.gradient(arrays, place, nothing), x)
    return stacked(columns, len(reals(x, x_type)), x_type).T


def _by_differences(
    function: _Eagerly | _InGraph, arrays: list[np.ndarray], place: int, result: np.ndarray, delta: float
) -> np.ndarray:
    """Row by row: how the result changes with one real number of the argument."""
    x = np.ascontiguousarray(arrays[place]).reshape(arrays[place].shape)
    x_type = dtypes.as_dtype(x.dtype)
    y_type = dtypes.as_dtype(np.float32 if result.dtype == dtypes.bfloat16.as_numpy_dtype else result.dtype)

    def value_at(changed: np.ndarray) -> np.ndarray:
        return function.value([*arrays[:place], changed, *arrays[place + 1 :]]).astype(y_type.as_numpy_dtype)

    ahead, behind = each_bumped(x, x_type, delta), each_bumped(x, x_type, -delta)
    scale = np.asarray(2 * delta, y_type.real_dtype.as_numpy_dtype)
    rows = [reals((value_at(a) - value_at(b)) / scale, y_type) for a, b in zip(ahead, behind, strict=True)]
    return stacked(rows, len(reals(np.zeros(result.shape, y_type.as_numpy_dtype), y_type)), x_type)


def max_error(grad1: Sequence[Any], grad2: Sequence[Any]) -> float:
    """The largest difference between elements of two lists of Jacobians."""
    pairs = zip(grad1, grad2, strict=True)
    return max((np.fabs(a - b).max() for a, b in pairs if a.size or b.size), default=0)
