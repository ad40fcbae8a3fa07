"""Running sums and products along an axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.ops.arrays import indexing
from tideflow.ops.helpers import unsigned
from tideflow.ops.helpers.axes import host_rank
from tideflow.ops.helpers.samples import f32, i32
from tideflow.ops.helpers.types import FLOATS, INDEX, NUMERIC
from tideflow.ops.math import binary, unary

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


def _cumulative(name: str, allowed: tuple) -> Op:
    return Op(
        name, "x: T, axis: Tidx -> out: T", T=allowed, Tidx=INDEX, exclusive=False, reverse=False, host="axis"
    )


def shape_of_first(x, axis):
    """The shape rule of all of them."""
    return x


def _along(
    x: torch.Tensor, axis: Any, exclusive: bool, reverse: bool, scan: Any, of_nothing: Any
) -> torch.Tensor:
    """The scan in the asked direction; an exclusive one begins with nothing and ends before the last."""
    rank = x.dim()
    if isinstance(axis, list):
        raise ShapeError(f"ScanOp: axis must be a scalar, not a value of rank {host_rank(axis)}")
    if not -rank <= axis < rank:
        raise ShapeError(f"ScanOp: Expected scan axis in the range [{-rank}, {rank}), but got {axis}")
    axis %= rank
    if not x.numel():
        return x
    if reverse:
        x = torch.flip(x, (axis,))
    if exclusive:
        first = x.narrow(axis, 0, 1)
        x = torch.cat(
            [torch.full_like(first, of_nothing), scan(x.narrow(axis, 0, x.shape[axis] - 1), axis)], axis
        )
    else:
        x = scan(x, axis)
    return torch.flip(x, (axis,)) if reverse else x


def _running(by_torch: Callable, by_numpy: Callable) -> Callable:
    """A scan whose every step is rounded to the type. Where ATen keeps more digits in between, which it does
    for halves on a CPU, it is NumPy's.
    """

    def scan(part: torch.Tensor, axis: int) -> torch.Tensor:
        if part.dtype is torch.half and not part.is_cuda:
            return torch.from_numpy(by_numpy(part.numpy(), axis, dtype=np.float16))
        return by_torch(part, axis, dtype=part.dtype)

    return scan


def _by_array(scan: Any, of_nothing: float) -> Any:
    """A reference by NumPy's scan of an array along an axis."""

    def reference(x, axis, exclusive, reverse):
        turned = np.flip(x, axis) if reverse else x
        scanned = scan(turned, axis=axis, dtype=x.dtype)
        if exclusive:
            kept = np.take(scanned, np.arange(x.shape[axis] - 1), axis)
            scanned = np.concatenate([np.full_like(np.take(x, [0], axis), of_nothing), kept], axis)
        return np.flip(scanned, axis) if reverse else scanned

    return reference


SAMPLES = (
    (f32(2, 3, low=0.5), 0),
    (f32(2, 3, low=0.5), -1, {"reverse": True}),
    (f32(4, low=0.5), 0, {"exclusive": True}),
    (f32(2, 3, low=0.5), 1, {"exclusive": True, "reverse": True}),
    (f32(0, 3), 1),
)


def _add_refusals(op: Op) -> None:
    op.refuses((f32(2, 3), 2), "Expected scan axis in the range [-2, 2), but got 2", InvalidArgumentError)
    op.refuses((f32(2, 3), [0]), "axis must be a scalar", InvalidArgumentError)


cumsum_op = _cumulative("Cumsum", NUMERIC)
cumsum_op.shape(shape_of_first)


@cumsum_op.kernel
@unsigned.modular
def _cumsum_kernel(x, axis, *, exclusive, reverse):
    return _along(x, axis, exclusive, reverse, _running(torch.cumsum, np.cumsum), 0)


@cumsum_op.gradient
def _cumsum_gradient(op, grad):
    options = {"exclusive": op.attrs["exclusive"], "reverse": not op.attrs["reverse"]}
    return [cumsum(grad, op.inputs[1], **options), None]


cumsum_op.samples(*SAMPLES, (i32(2, 3), 1), against=_by_array(np.cumsum, 0))
_add_refusals(cumsum_op)


@export("cumsum", "math.cumsum")
def cumsum(
    x: TensorLike,
    axis: TensorLike = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Tensor:
    """Running sums along an axis: of the elements up to each one.

    Args:
      x: A tensor of numbers.
      axis: The axis to go along, a scalar.
      exclusive: Whether each sum leaves out the element itself, so that the first is 0.
      reverse: Whether to begin at the end.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `x`.
    """
    return cumsum_op(x, axis, exclusive=exclusive, reverse=reverse, name=name)


cumprod_op = _cumulative("Cumprod", NUMERIC)
cumprod_op.shape(shape_of_first)


@cumprod_op.kernel
@unsigned.modular
def _cumprod_kernel(x, axis, *, exclusive, reverse):
    return _along(x, axis, exclusive, reverse, _running(torch.cumprod, np.cumprod), 1)


@cumprod_op.gradient
def _cumprod_gradient(op, grad):
    """As TensorFlow's, by division: not defined where x is 0."""
    x, axis = op.inputs
    exclusive, reverse = op.attrs["exclusive"], op.attrs["reverse"]
    products = cumprod(x, axis, exclusive=exclusive, reverse=reverse)
    return [cumsum(products * grad, axis, exclusive=exclusive, reverse=not reverse) / x, None]


cumprod_op.samples(*SAMPLES, (i32(2, 3), 1), against=_by_array(np.cumprod, 1))
_add_refusals(cumprod_op)


@export("cumprod", "math.cumprod")
def cumprod(
    x: TensorLike,
    axis: TensorLike = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Tensor:
    """Running products along an axis: of the elements up to each one.

    Args:
      x: A tensor of numbers.
      axis: The axis to go along, a scalar.
      exclusive: Whether each product leaves out the element itself, so that the first is 1.
      reverse: Whether to begin at the end.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `x`.
    """
    return cumprod_op(x, axis, exclusive=exclusive, reverse=reverse, name=name)


cumulative_logsumexp_op = _cumulative("CumulativeLogsumexp", FLOATS)
cumulative_logsumexp_op.shape(shape_of_first)


@cumulative_logsumexp_op.kernel
def _cumulative_logsumexp_kernel(x, axis, *, exclusive, reverse):
    """Where there is nothing to sum, TensorFlow has the lowest finite number for the logarithm of 0."""
    lowest = torch.finfo(x.dtype).min
    return _along(x, axis, exclusive, reverse, torch.logcumsumexp, lowest).clamp_min(lowest)


@cumulative_logsumexp_op.gradient
def _cumulative_logsumexp_gradient(op, grad):
    """The weights exp(x - out) are summed as logarithms, for positive and negative gradients apart."""
    x, axis = op.inputs
    options = {"exclusive": op.attrs["exclusive"], "reverse": not op.attrs["reverse"]}
    lowest = grad.dtype.min

    def weighed(log_grad: Tensor) -> Tensor:
        return unary.exp(cumulative_logsumexp(log_grad - op.outputs[0], axis, **options) + x)

    positive = indexing.where_v2(binary.greater(grad, 0), unary.log(grad), lowest)
    negative = indexing.where_v2(binary.less(grad, 0), unary.log(-grad), lowest)
    return [weighed(positive) - weighed(negative), None]


def _log_sums(x: np.ndarray, axis: int, dtype: Any) -> np.ndarray:
    return np.logaddexp.accumulate(x, axis, dtype)


cumulative_logsumexp_op.samples(*SAMPLES, against=_by_array(_log_sums, np.finfo(np.float32).min))
_add_refusals(cumulative_logsumexp_op)


@export("math.cumulative_logsumexp")
def cumulative_logsumexp(
    x: TensorLike,
    axis: TensorLike = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Tensor:
    """Logarithms of running sums of exp(x) along an axis, computed without overflow.

    Args:
      x: A tensor of floating-point numbers.
      axis: The axis to go along, a scalar.
      exclusive: Whether each sum leaves out the element itself; the first is then the lowest number of the
        type.
      reverse: Whether to begin at the end.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `x`.
    """
    return cumulative_logsumexp_op(x, axis, exclusive=exclusive, reverse=reverse, name=name)
