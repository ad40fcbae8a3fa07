"""Pools and their gradients as ATen computes them, with arguments that follow TensorFlow's padding rules."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

import torch

from tideflow.graph.op import ShapeError
from tideflow.graph.shapes import brackets
from tideflow.ops.helpers.looking import can_look
from tideflow.ops.nn.window_sweeps import Sweep, swept
from tideflow.ops.nn.windows import (
    Window,
    aten_padding,
    channels_first,
    from_channels_first,
    spatial,
)

_aten = torch.ops.aten


def pool_arguments(
    image: Sequence[int],
    data_format: str,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    explicit_paddings: Sequence[int] = (),
) -> tuple:
    """What follows from shapes: data format, window, strides, padding, ceil mode, `skipped` places, `margin`.

    ATen pads both sides alike, but SAME may need one element more after than before. With a stride, ceil mode
    adds exactly that element. Without one, both sides are padded by the larger size, and the surplus places
    in front are `skipped`. A `margin` is padded before the pool: explicit paddings of a maximum may need it.
    """
    sizes = spatial(image, data_format)
    if min(ksize) <= 0:
        raise ShapeError(f"Sliding window ksize must be > 0, got {list(ksize)}")
    window = Window.of(spatial(ksize, data_format), data_format, strides, padding, None, explicit_paddings)
    counts = window.output_sizes(sizes, in_step=True)  # refuses a window that is too large
    if padding == "SAME":
        # A window that covers the image at every place may as well be smaller: ATen walks over its padding.
        covering = [size + (n - 1) * step for size, n, step in zip(sizes, counts, window.strides)]
        window = replace(window, sizes=[min(pair) for pair in zip(window.sizes, covering)])
    pairs = window.paddings(sizes)
    uneven = [after - before for before, after in pairs]
    if padding == "EXPLICIT" and (any(uneven) or any(2 * p[0] > k for p, k in zip(pairs, window.sizes))):
        none = [0] * len(pairs)
        return data_format, window.sizes, window.strides, none, False, none, aten_padding(pairs)
    skipped = [more if stride == 1 else 0 for more, stride in zip(uneven, window.strides)]
    before = [pair[0] + skip for pair, skip in zip(pairs, skipped)]
    return data_format, window.sizes, window.strides, before, any(uneven), skipped, []


def max_pool_places(input, data_format, size, stride, padding, ceil, skipped, margin):
    """The maximum of each window, and where in its plane (the padded one, if there is a margin) it is."""
    image = signed(channels_first(input, data_format))
    if margin:
        image = torch.constant_pad_nd(image, margin, _lowest(image.dtype))
    result, places = _pooled(image, size, stride, padding, ceil)
    if can_look() and image.is_floating_point() and not image.is_cuda and result.amax().isnan():
        result, places = _beside_nan(image, result, size, stride, padding, ceil)
    if any(skipped):
        result, places = _without(result, skipped), _without(places, skipped)
    result = unsigned_again(result, input.dtype)
    return from_channels_first(result, data_format), from_channels_first(places, data_format)


def _pooled(image, size, stride, padding, ceil):
    function = (
        torch._C._nn.max_pool2d_with_indices if len(size) == 2 else torch._C._nn.max_pool3d_with_indices
    )
    if image.dtype.itemsize < 4 and not image.is_floating_point():
        # ATen would count places in as few bits as the numbers have.
        result, places = function(image.to(torch.int32), size, stride, padding, [1] * len(size), ceil)
        return result.to(image.dtype), places
    return function(image, size, stride, padding, [1] * len(size), ceil)


def _beside_nan(image, result, *window):
    """The maximum of the numbers in each window, NaN where there is none; and where TensorFlow's search for
    it ends. In planes the search begins at the first element and goes to each greater one: nothing is
    greater than NaN, and NaN is not greater than anything. In volumes it passes every NaN by.
    """
    numbers = image.nan_to_num(nan=-torch.inf, posinf=torch.inf, neginf=-torch.inf)
    greatest, places = _pooled(numbers, *window)
    result = torch.where(greatest == -torch.inf, result, greatest)
    if image.ndim == 5:
        return result, places
    first = _pooled(image.new_zeros(1, 1, *image.shape[2:]), *window)[1].expand_as(places)
    starts_with_nan = image.flatten(2).gather(2, first.flatten(2)).isnan().view(places.shape)
    return result, torch.where(starts_with_nan, first, places)


def max_pool_values(input, *arguments):
    """The maximum of each window."""
    data_format, *window, margin = arguments
    image = channels_first(input, data_format)
    sweeps = [] if margin else _sweeps_over(image, *window)
    if not _is_quicker_by_maxima(image, sweeps):
        return max_pool_places(input, *arguments)[0]
    result = swept(image, sweeps, torch.maximum)
    if result.is_floating_point() and result.amax().isnan():
        return max_pool_places(input, *arguments)[0]
    return from_channels_first(result, data_format)


_MANY_ELEMENTS = 1 << 15


def _sweeps_over(image, size, stride, padding, ceil, skipped):
    """The windows along each axis."""
    sweeps = []
    for axis, (width, step, margin, skip) in enumerate(zip(size, stride, padding, skipped), 2):
        n = image.shape[axis]
        places = _places(n, width, step, margin, ceil) - skip
        sweeps.append(Sweep(axis, n, width, step, margin - skip, places))
    return sweeps


def _places(n: int, width: int, stride: int, padding: int, ceil: bool) -> int:
    """How many windows ATen counts along an axis: none that begins after the end."""
    places = (n + 2 * padding - width + (stride - 1 if ceil else 0)) // stride + 1
    return places - bool(ceil and (places - 1) * stride >= n + padding)


def _is_quicker_by_maxima(image: torch.Tensor, sweeps: Sequence[Sweep]) -> bool:
    """Whether whole slices are compared faster than ATen looks for the greatest element of each window, and
    for its place.
    """
    if image.is_cuda or not any(sweep.width > 1 for sweep in sweeps):
        return False
    if not all(sweep.is_inside() for sweep in sweeps):
        return False
    if image.dtype is torch.uint8:
        return True
    return image.dtype is torch.float32 and can_look() and image.numel() >= _MANY_ELEMENTS


def max_pool_back(image_sizes, places, grad, data_format, size, stride, padding, ceil, skipped, margin):
    """The gradient by an image of these sizes of the maximum that was found at `places`."""
    _check_batch(grad, image_sizes)
    image = channels_first(grad.new_empty(image_sizes), data_format)  # only its sizes and layout are used
    grad, places = channels_first(grad, data_format), channels_first(places, data_format)
    if margin:
        image = torch.constant_pad_nd(image, margin)
    if any(skipped):
        front = aten_padding([(skip, 0) for skip in skipped])
        grad, places = torch.constant_pad_nd(grad, front), torch.constant_pad_nd(places, front)
    if grad.is_floating_point():
        function = (
            _aten.max_pool2d_with_indices_backward
            if len(size) == 2
            else _aten.max_pool3d_with_indices_backward
        )
        result = function.default(grad, image, size, stride, padding, [1] * len(size), ceil, places)
    else:
        result = added_at(places, grad, image.shape)
    if margin:
        result = torch.constant_pad_nd(result, [-width for width in margin])
    return from_channels_first(result, data_format)


def _check_batch(grad: torch.Tensor, image_sizes: Sequence[int]) -> None:
    """Refuses a gradient of another number of images, at which ATen does not look."""
    if grad.ndim != len(image_sizes) or grad.shape[0] != image_sizes[0]:
        raise ShapeError(
            f"a gradient of shape {brackets(grad.shape)} does not belong to images of shape "
            f"{brackets(image_sizes)}"
        )


def max_pool_back_finding(input, grad, *arguments):
    """The gradient by the image of the maximum, whose places are found again."""
    return max_pool_back(input.shape, max_pool_places(input, *arguments)[1], grad, *arguments)


def max_pool_back_again(input, grad, *arguments):
    """The gradient of `max_pool_back` by its `grad`: the elements of an image at the maxima's places."""
    data_format, margin = arguments[0], arguments[-1]
    places = channels_first(max_pool_places(input, *arguments)[1], data_format)
    grad = channels_first(grad, data_format)
    if margin:
        grad = torch.constant_pad_nd(grad, margin)
    taken = signed(grad).flatten(2).gather(2, places.flatten(2)).view(places.shape)
    return from_channels_first(unsigned_again(taken, grad.dtype), data_format)


def avg_pool_values(input, data_format, size, stride, padding, ceil, skipped, margin):
    """The mean of what each window covers of the image."""
    image = channels_first(input, data_format)
    if len(size) == 3 and image.dtype in (torch.half, torch.bfloat16) and not image.is_cuda:
        image = image.float()
    sweeps = _sweeps_over(image, size, stride, padding, ceil, skipped)
    if _is_quicker_by_sums(image, sweeps):
        return from_channels_first(swept(image, sweeps, torch.add).div_(_covered(sweeps, image)), data_format)
    if _reaches_over(size, image):
        result = _means_by_axes(image, size, stride, padding, ceil)
    else:
        function = torch._C._nn.avg_pool2d if len(size) == 2 else torch._C._nn.avg_pool3d
        result = function(image, size, stride, padding, ceil, False)
    return from_channels_first(_without(result, skipped).to(input.dtype), data_format)


_FEW_CHANNELS = 32


def _is_quicker_by_sums(image: torch.Tensor, sweeps: Sequence[Sweep]) -> bool:
    """Whether whole slices are added faster than ATen walks through each window: it does so for many channels
    at once in images, and one by one in volumes.
    """
    if image.is_cuda or image.dtype is not torch.float32 or not can_look() or image.numel() < _MANY_ELEMENTS:
        return False
    if not all(sweep.is_inside() for sweep in sweeps) or all(sweep.width == 1 for sweep in sweeps):
        return False
    return len(sweeps) == 3 or image.shape[1] <= _FEW_CHANNELS


def _covered(sweeps: Sequence[Sweep], image: torch.Tensor) -> torch.Tensor | int:
    """How many elements each window covers of the image."""
    counts = [sweep.covered() for sweep in sweeps]
    if all(min(each) == sweep.width for each, sweep in zip(counts, sweeps)):
        return math.prod(sweep.width for sweep in sweeps)
    return reduce(torch.mul, torch.meshgrid(*(image.new_tensor(each) for each in counts), indexing="ij"))


def avg_pool_back(grad, image_sizes, data_format, size, stride, padding, ceil, skipped, margin):
    """The gradient of the mean by an image of these sizes."""
    _check_batch(grad, image_sizes)
    like = channels_first(grad.new_empty(image_sizes), data_format)
    grad = channels_first(grad, data_format)
    dtype = grad.dtype
    if any(skipped):
        grad = torch.constant_pad_nd(grad, aten_padding([(skip, 0) for skip in skipped]))
    if len(size) == 3 and dtype in (torch.half, torch.bfloat16) and not grad.is_cuda:
        grad, like = grad.float(), like.float()
    if grad.is_cuda:  # ATen's kernels there misread channels-last gradients, and fail on empty ones
        if not grad.numel():
            return grad.new_zeros(image_sizes)
        if _slides_by_one(size, stride, skipped):
            return from_channels_first(_means_back_by_sums(grad, like.shape[2:], size, padding), data_format)
        grad, like = grad.contiguous(), like.contiguous()
    if _reaches_over(size, like):
        result = _means_back_by_axes(grad, like.shape[2:], size, stride, padding)
        return from_channels_first(result.to(dtype), data_format)
    function = _aten.avg_pool2d_backward if len(size) == 2 else _aten.avg_pool3d_backward
    result = function.default(grad, like, size, stride, padding, ceil, False, None)
    return from_channels_first(result.to(dtype), data_format)


_WIDEST_SUM = 5  # pixels of a window along an axis that are added one by one


def _slides_by_one(size: Sequence[int], stride: Sequence[int], skipped: Sequence[int]) -> bool:
    """Whether small windows begin at every pixel."""
    return (
        len(size) == 2 and all(step == 1 for step in stride) and not any(skipped) and max(size) <= _WIDEST_SUM
    )


def _means_back_by_sums(
    grad: torch.Tensor, sizes: Sequence[int], size: Sequence[int], padding: Sequence[int]
) -> torch.Tensor:
    """The gradient of means over windows that begin at every pixel: the sum of what each window around a
    pixel gives to its pixels. It keeps channels last, as ATen's own kernel for GPUs does not, and compilers
    fuse it.
    """
    for axis, (width, margin, n) in enumerate(zip(size, padding, sizes), 2):
        starts = torch.arange(grad.shape[axis], device=grad.device) - margin
        counts = (starts + width).clamp(max=n) - starts.clamp(min=0)
        share = grad / counts.to(grad.dtype).view([-1] + [1] * (3 - axis))
        ends = [width - 1 - margin] * 2
        share = torch.constant_pad_nd(share, ends if axis == 3 else [0, 0, *ends])
        grad = sum((share.narrow(axis, i, n) for i in range(1, width)), share.narrow(axis, 0, n))
    return grad


def _reaches_over(size: Sequence[int], image: torch.Tensor) -> bool:
    """Whether a box is larger than the volume: ATen refuses that, TensorFlow does not."""
    return len(size) == 3 and any(width > n for width, n in zip(size, image.shape[2:]))


def _shares(
    places: int, size: int, width: int, stride: int, padding: int, like: torch.Tensor
) -> torch.Tensor:
    """How much each element along an axis counts in the mean at each place, [size, places]."""
    starts = torch.arange(places, device=like.device) * stride - padding
    elements = torch.arange(size, device=like.device)[:, None]
    covered = ((elements >= starts) & (elements < starts + width)).to(like.dtype)
    return covered / covered.sum(0)


def _means_by_axes(image, size, stride, padding, ceil):
    """The mean over boxes, an axis at a time."""
    for axis, window in enumerate(zip(size, stride, padding), 2):
        n = image.shape[axis]
        places = _places(n, *window, ceil)
        share = _shares(places, n, *window, image)
        image = torch.tensordot(image, share, ([axis], [0])).movedim(-1, axis)
    return image


def _means_back_by_axes(grad, sizes, size, stride, padding):
    """The gradient of the mean over boxes, an axis at a time."""
    for axis, (n, *window) in enumerate(zip(sizes, size, stride, padding), 2):
        share = _shares(grad.shape[axis], n, *window, grad)
        grad = torch.tensordot(grad, share, ([axis], [1])).movedim(-1, axis)
    return grad


def _without(image: torch.Tensor, skipped: Sequence[int]) -> torch.Tensor:
    """The image without the first rows and columns."""
    return image[(..., *(slice(skip, None) for skip in skipped))] if any(skipped) else image


def added_at(places: torch.Tensor, values: torch.Tensor, shape: Sequence[int]) -> torch.Tensor:
    """Zeros of this shape, with the values added at flat places of each plane; any type."""
    wide = (
        values.view(torch.int64)
        if values.dtype is torch.uint64
        else values.to(_SIGNED.get(values.dtype, values.dtype))
    )
    total = wide.new_zeros(*shape[:2], math.prod(shape[2:]))
    total = total.scatter_add_(2, places.flatten(2), wide.flatten(2)).view(shape)
    return total.view(torch.uint64) if values.dtype is torch.uint64 else total.to(values.dtype)


_SIGNED = {torch.uint16: torch.int32, torch.uint32: torch.int64}
_TOP_BIT = torch.iinfo(torch.int64).min


def signed(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor in a type that ATen compares, in the same order."""
    if tensor.dtype is torch.uint64:
        return tensor.view(torch.int64) ^ _TOP_BIT
    return tensor.to(_SIGNED.get(tensor.dtype, tensor.dtype))


def unsigned_again(tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """What `signed` made of a type, in that type again."""
    return (tensor ^ _TOP_BIT).view(dtype) if dtype is torch.uint64 else tensor.to(dtype)


def _lowest(dtype: torch.dtype) -> float:
    return -torch.inf if dtype.is_floating_point else torch.iinfo(dtype).min
