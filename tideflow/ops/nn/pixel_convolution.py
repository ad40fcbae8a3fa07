"""Convolutions that see one pixel at a time: products of matrices, whose rows are the pixels.

Most convolutions of residual nets are such. ATen computes them by MKL; where oneDNN multiplies large matrices
in half of that time, they are computed as products.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from tideflow.graph import dtypes
from tideflow.ops.helpers import cpu_products
from tideflow.ops.nn.conv_kernels import format_of, is_depthwise, window_of


def is_by_pixels(node: Any, image: Sequence[int], filter: Sequence[int]) -> bool:
    """Whether a convolution over an image of these sizes, or a gradient of it, is a product for oneDNN."""
    if list(filter[:-2]) != [1, 1] or image[-1] != filter[-2] or is_depthwise(node):
        return False
    if node.device is None or node.device.type != "cpu" or node.outputs[0].dtype is not dtypes.float32:
        return False
    window = window_of(node, filter)
    if format_of(node) != "NHWC" or any(map(any, window.paddings(image[1:3]))):
        return False
    rows = image[0] * math.prod(window.output_sizes(image[1:3]))
    return cpu_products.are_for_onednn(rows, *filter[-2:])


def strides_of(node: Any) -> list[int]:
    """The strides along height and width."""
    return list(node.attrs["strides"][1:3])


def convolve_pixels(
    input: torch.Tensor,
    filter: torch.Tensor,
    strides: Sequence[int],
    bias: torch.Tensor | None = None,
    activation: str = "none",
) -> torch.Tensor:
    """The convolution of an image by a filter [1, 1, in, out], with what may be added and applied to it."""
    seen = _seen(input, strides)
    result = cpu_products.by_onednn(_rows(seen), filter.flatten(0, -2), bias, activation)
    return result.view(*seen.shape[:-1], -1)


def convolve_pixels_back(
    filter: torch.Tensor, grad: torch.Tensor, sizes: Sequence[int], strides: Sequence[int]
) -> torch.Tensor:
    """The gradient by the image: nothing where no window looked."""
    result = cpu_products.by_onednn(_rows(grad), filter.flatten(0, -2).t()).view(*grad.shape[:-1], -1)
    if max(strides) == 1:
        return result
    image = result.new_zeros(sizes)
    _seen(image, strides).copy_(result)
    return image


def correlate_pixels(input: torch.Tensor, grad: torch.Tensor, strides: Sequence[int]) -> torch.Tensor:
    """The gradient by the filter [1, 1, in, out]."""
    turned = cpu_products.by_onednn(_rows(grad).t(), _rows(_seen(input, strides)))
    return turned.t().unsqueeze(0).unsqueeze(0)


PIXEL_PRODUCTS = (convolve_pixels, convolve_pixels_back, correlate_pixels)


def _seen(image: torch.Tensor, strides: Sequence[int]) -> torch.Tensor:
    """The pixels that a window looks at."""
    return image if max(strides) == 1 else image[:, :: strides[0], :: strides[1]]


def _rows(image: torch.Tensor) -> torch.Tensor:
    return image.reshape(-1, image.shape[-1])
