"""Broadcasting: the shape that two operands make together. `unbroadcast` has the way back, for gradients."""

from __future__ import annotations

from tideflow.graph.op import ShapeError
from tideflow.graph.shapes import TensorShape, brackets, from_sizes


def broadcast_shapes(a: TensorShape, b: TensorShape) -> TensorShape:
    """The shape of an element-wise op on two, as far as it is known; ShapeError where they do not fit."""
    first, second = a.tuple, b.tuple
    if first == second:
        return a
    if first is None or second is None:
        return from_sizes(None)
    if len(first) < len(second):
        longer, shorter = second, first
    else:
        longer, shorter = first, second
    whole = len(longer) - len(shorter)
    sizes = [_together(x, y) for x, y in zip(longer[whole:], shorter, strict=True)]
    if -1 in sizes:
        axis = sizes.index(-1) - len(sizes)
        raise ShapeError(
            f"Dimensions must be equal, but are {first[axis]} and {second[axis]} along axis {axis}",
            f"Incompatible shapes: {brackets(first)} vs. {brackets(second)}",
        )
    return from_sizes((*longer[:whole], *sizes))


def _together(x: int | None, y: int | None) -> int | None:
    """The size that two sizes broadcast to; None where it is not known, -1 where they do not fit."""
    if x == y or y == 1:
        return x
    if x == 1:
        return y
    if x is None or y is None:
        known = y if x is None else x
        return known if known > 1 else None
    return -1
