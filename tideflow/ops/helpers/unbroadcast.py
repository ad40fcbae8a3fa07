"""Gradients of ops that broadcast: an operand's gradient is the sum over the places where it was used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import tideflow as tf
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Tensor
from tideflow.graph.partial import partial_value
from tideflow.graph.scopes import graph_of
from tideflow.ops.arrays import broadcasting, shapes

_axes_in: WeakKeyDictionary[Graph, dict] = WeakKeyDictionary()


def known_and_equal(*tensors: Any) -> bool:
    """Whether all are tensors of one fully known shape, so that nothing was broadcast."""
    if not all(isinstance(tensor, Tensor) for tensor in tensors):
        return False
    first = tensors[0].shape
    return first.is_fully_defined() and all(tensor.shape.tuple == first.tuple for tensor in tensors[1:])


def ways_back(shape_x: Tensor, shape_y: Tensor) -> tuple[Callable, Callable]:
    """For operands of two shapes: functions that sum a gradient over what was broadcast, into each shape."""
    axes_x, axes_y = broadcasting.broadcast_gradient_args(shape_x, shape_y)
    return _way_back(axes_x, shape_x), _way_back(axes_y, shape_y)


def short_ways_back(x: Tensor, y: Tensor, grad: Any) -> tuple[Callable, Callable]:
    """The same for the operands themselves; where shapes are known, sums over no axes are left out."""
    if not isinstance(grad, Tensor) or not all(tensor.shape.is_fully_defined() for tensor in (x, y, grad)):
        return ways_back(shapes.shape_of(x, optimize=False), shapes.shape_of(y, optimize=False))
    return tuple(
        _unchanged if operand.shape.tuple == grad.shape.tuple else _way_back(axes, operand.shape.as_list())
        for operand, axes in zip((x, y), _known_axes(x, y), strict=True)
    )


def _known_axes(x: Tensor, y: Tensor) -> tuple[list[int], list[int]]:
    """The axes over which operands of known shapes were broadcast, asked for once for each pair of shapes."""
    known = _axes_in.setdefault(graph_of([x]), {})
    key = x.shape.tuple, y.shape.tuple
    if key not in known:
        axes = broadcasting.broadcast_gradient_args(x.shape.as_list(), y.shape.as_list())
        known[key] = tuple(partial_value(each) for each in axes)
    return known[key]


def _way_back(axes: Any, shape: Any) -> Callable[[Tensor], Tensor]:
    return lambda grad: shapes.reshape(tf.reduce_sum(grad, axes), shape)


def _unchanged(grad: Tensor) -> Tensor:
    return grad
