"""A tensor rearranged by periods along its axes: the ops of `tf.contrib.periodic_resample`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import errors
from tideflow.graph.op import Op
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.ops.helpers.axes import brackets
from tideflow.ops.helpers.references import pulled_back
from tideflow.ops.helpers.samples import f32
from tideflow.ops.helpers.types import NUMERIC_OF_CONTRIB

if TYPE_CHECKING:
    from tideflow.graph.typing import ShapeLike, TensorLike


def _sizes(shape: Any) -> list[int | None]:
    """The sizes of an attribute of shape: None for the one that adjusts itself."""
    return list(shape.tuple) if hasattr(shape, "tuple") else list(shape)


def _places(sizes: list[int], wanted: list[int | None]) -> tuple[list[int], torch.Tensor]:
    """The sizes of the result, and for each of its elements the place in the flat input that it shows."""
    free = [axis for axis, size in enumerate(wanted) if size is None]
    if len(sizes) != len(wanted):
        raise errors.invalid_argument(
            f"periodic_resample expects the rank of the input tensor, {len(sizes)}, to be the same as the "
            f"length of the desired shape, {len(wanted)}."
        )
    for axis, (size, want) in enumerate(zip(sizes, wanted, strict=True)):
        if want is not None and want < size:
            raise errors.invalid_argument(
                "periodic_resample expects the size of non-adjustable dimensions be at least as large as "
                f"size of input tensor. Dimension {axis} input tensor has size {size}, desired shape has "
                f"size {want}."
            )
    if len(free) != 1:
        how_many = "only" if free else "at least"
        raise errors.invalid_argument(
            f"periodic_resample expects {how_many} one index to be marked as adjustable."
        )
    (free_axis,) = free
    result = [size for size in wanted if size is not None]
    result.insert(free_axis, math.prod(sizes) // max(math.prod(result), 1))
    grid = np.indices(result)
    along_free, period = grid[free_axis].copy(), 1
    chosen = list(grid)
    for axis, (size, want) in enumerate(zip(sizes, wanted, strict=True)):
        if want is not None:
            factor = -(-want // size) if size else 1
            along_free += result[free_axis] * period * (grid[axis] % factor)
            chosen[axis] = grid[axis] // factor
            period *= factor
    chosen[free_axis] = along_free
    flat = np.zeros(result, np.int64)
    for size, places in zip(sizes, chosen, strict=True):
        flat = flat * size + places
    return result, torch.from_numpy(flat.reshape(-1))


periodic_resample_op = Op(
    "PeriodicResample", "values: T -> output: T", T=NUMERIC_OF_CONTRIB, shape=attr("shape")
)


@periodic_resample_op.shape
def _periodic_resample_shape(values, *, shape):
    wanted = _sizes(shape)
    count = values.num_elements()
    if count is not None and wanted.count(None) == 1:
        others = math.prod(size for size in wanted if size is not None)
        wanted[wanted.index(None)] = count // max(others, 1)
    return wanted


@periodic_resample_op.kernel
def _periodic_resample_kernel(values, *, shape):
    sizes, places = _places(list(values.shape), _sizes(shape))
    return values.reshape(-1)[places.to(values.device)].reshape(sizes)


@periodic_resample_op.gradient
def _periodic_resample_gradient(op, grad):
    return periodic_resample_op_grad_op(
        grad, original_shape=op.inputs[0].shape, desired_shape=op.attrs["shape"]
    )


def _resampled_by_definition(values: np.ndarray, shape: Any) -> np.ndarray:
    """Element after element, by the formula of the sub-pixel rearrangement."""
    wanted = _sizes(shape)
    free = wanted.index(None)
    factors = [1 if want is None else math.ceil(want / size) for size, want in zip(values.shape, wanted)]
    length = values.size // math.prod(size for size in wanted if size is not None)
    result = np.zeros([length if size is None else size for size in wanted], values.dtype)
    for place in np.ndindex(result.shape):
        source, period = [at // factor for at, factor in zip(place, factors)], 0
        for axis in reversed([axis for axis in range(len(wanted)) if axis != free]):
            period = period * factors[axis] + place[axis] % factors[axis]
        source[free] = length * period + place[free]
        result[place] = values[tuple(source)]
    return result


periodic_resample_op.samples(
    (f32(3, 4), {"shape": [6, None]}),
    (f32(2, 2, 8), {"shape": [4, 4, None]}),
    (f32(8, 2, 3), {"shape": [None, 4, 6]}),
    against=_resampled_by_definition,
)
periodic_resample_op.refuses(
    (f32(3, 4), {"shape": [2, None]}), "Dimension 0 input tensor has size 3", errors.InvalidArgumentError
)
periodic_resample_op.refuses(
    (f32(3, 4), {"shape": [3, 4]}), "expects at least one index", errors.InvalidArgumentError
)


@export("contrib.periodic_resample.periodic_resample")
def periodic_resample(values: TensorLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """Rearranges a tensor: some axes get longer by whole periods, one gets shorter for that.

    `[[0, 1, 2, 3], [4, 5, 6, 7]]` to the shape `[4, None]` is `[[0, 1], [2, 3], [4, 5], [6, 7]]`. It is the
    last layer of sub-pixel convolutions (Shi et al., 2016), for any axes.

    Args:
      values: A tensor.
      shape: The sizes of the result, each at least that of `values`; None for one axis.
      name: A name for the operation.

    Returns:
      A tensor of the type of `values`.

    Raises:
      InvalidArgumentError: In the step, if the shape does not fit.
    """
    return periodic_resample_op(values, shape=shape, name=name)


periodic_resample_op_grad_op = Op(
    "PeriodicResampleOpGrad",
    "grad: T -> grad_values: T",
    T=NUMERIC_OF_CONTRIB,
    original_shape=attr("shape"),
    desired_shape=attr("shape"),
    differentiable=False,
)


@periodic_resample_op_grad_op.shape
def _periodic_resample_op_grad_shape(grad, *, original_shape, desired_shape):
    return original_shape


@periodic_resample_op_grad_op.kernel
def _periodic_resample_op_grad_kernel(grad, *, original_shape, desired_shape):
    original = _sizes(original_shape)
    if None in original:
        raise errors.invalid_argument(
            "periodic_resample must know the shape of its input to be differentiated"
        )
    sizes, places = _places(original, _sizes(desired_shape))
    if list(grad.shape) != sizes:
        raise errors.invalid_argument(f"grad must have shape {brackets(sizes)}, not {brackets(grad.shape)}")
    total = grad.new_zeros(math.prod(original))
    return total.index_add_(0, places.to(grad.device), grad.reshape(-1)).reshape(original)


periodic_resample_op_grad_op.samples(
    (f32(6, 2), {"original_shape": [3, 4], "desired_shape": [6, None]}),
    (f32(4, 4, 2), {"original_shape": [2, 2, 8], "desired_shape": [4, 4, None]}),
    against=lambda grad, original_shape, desired_shape: pulled_back(
        lambda values: _resampled_by_definition(values, desired_shape), np.zeros(original_shape), grad, 1.0
    ),
)
