"""`tensorflow.python.ops.gradient_checker_v2`: a function's derivatives beside differences of its values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tideflow.autodiff.gradients import gradients
from tideflow.graph.composite import IndexedSlices
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.graph import Graph
from tideflow.graph.scopes import executing_eagerly, get_default_graph
from tideflow.ops.arrays.constants import placeholder
from tideflow.session.session import Session


def compute_gradient(f: Callable, x: Sequence[Any], delta: float | None = None) -> tuple[list, list]:
    """The Jacobians of a function by its gradients and by differences, one for each argument.

    Args:
      f: A function of tensors that returns one tensor.
      x: Its arguments, tensors that are constants, or arrays.
      delta: The step of the differences.

    Returns:
      Two lists of matrices, a row for each element of the result and a column for each of the argument.
    """
    if not isinstance(x, (list, tuple)):
        raise ValueError("`x` must be a list or tuple of Tensors.")
    values = [_value(each) for each in x]
    graph = Graph() if executing_eagerly() else get_default_graph()
    with graph.as_default(), Session() as session:
        places = [placeholder(value.dtype, value.shape) for value in values]
        y = convert_to_tensor(f(*places))
        feeds = dict(zip(places, values, strict=True))
        sizes = np.shape(session.run(y, feeds))
        seed = placeholder(y.dtype, sizes)
        found = [_dense(part, place) for part, place in zip(gradients(y, places, seed), places, strict=True)]
        theoretical, numerical = [], []
        for place, value, part in zip(places, values, found, strict=True):
            rows = [session.run(part, {**feeds, seed: unit}) for unit in _units(sizes, y.dtype)]
            theoretical.append(_matrix(rows, int(np.prod(sizes)), value.size, value.dtype))
            step = delta or 1 / 1024
            columns = []
            for unit in _units(value.shape, place.dtype):
                after, before = (session.run(y, {**feeds, place: value + unit * s}) for s in (step, -step))
                columns.append((after - before) / (2 * step))
            numerical.append(_matrix(columns, value.size, int(np.prod(sizes)), value.dtype).T)
    return theoretical, numerical


def _value(given: Any) -> np.ndarray:
    if isinstance(given, np.ndarray):
        return given
    if hasattr(given, "numpy"):
        return given.numpy()
    tensor = convert_to_tensor(given)
    with Session(graph=tensor.graph) as session:
        return np.asarray(session.run(tensor))


def _dense(gradient: Any, like: Any) -> Any:
    if gradient is None:
        return np.zeros(like.shape.as_list())
    return convert_to_tensor(gradient) if isinstance(gradient, IndexedSlices) else gradient


def _units(sizes: Sequence[int], dtype: Any) -> Any:
    """Arrays of zeros and one 1, in each place in turn."""
    for place in range(int(np.prod(sizes))):
        unit = np.zeros(int(np.prod(sizes)), dtype.as_numpy_dtype)
        unit[place] = 1
        yield unit.reshape(sizes)


def _matrix(rows: list[Any], count: int, width: int, dtype: Any) -> np.ndarray:
    return np.array([np.ravel(row) for row in rows], dtype).reshape(count, width)


def max_error(grad1: Sequence[Any], grad2: Sequence[Any]) -> float:
    """The largest difference between elements of two lists of Jacobians."""
    return max((np.fabs(a - b).max() for a, b in zip(grad1, grad2, strict=True) if a.size), default=0)
