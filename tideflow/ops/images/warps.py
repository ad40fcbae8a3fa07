"""Images sampled at other places: anywhere (Resampler), or through a projection. Outside of an image is zero.

The ops are those of `tf.contrib.resampler` and `tf.contrib.image`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import errors
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.graph.scopes import name_scope
from tideflow.ops.arrays import constants, creation, joining, shapes
from tideflow.ops.helpers.axes import as_sizes, brackets, of_rank, of_rank_at_least, vector
from tideflow.ops.helpers.references import pulled_back
from tideflow.ops.helpers.samples import f32
from tideflow.ops.helpers.types import types
from tideflow.ops.linalg import matrix_functions

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

# ---------------------------------------------------------------------------------- pixels around places


def _pixels(images: torch.Tensor, rows: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
    """The pixels [batch, places, channels] at integer places [batch, places] of each image."""
    height, width, channels = images.shape[1:]
    inside, places = _flat_places(images, rows, columns)
    if not height * width:
        return images.new_zeros((*rows.shape, channels))
    found = (
        images.reshape(len(images) * height * width, channels)
        .index_select(0, places.reshape(-1))
        .view(*rows.shape, channels)
    )
    return torch.where(inside.unsqueeze(-1), found, torch.zeros((), dtype=found.dtype, device=found.device))


def _flat_places(
    images: torch.Tensor, rows: torch.Tensor, columns: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Which places lie in an image, and their numbers in the list of all pixels; 0 for the others."""
    batch, height, width, _ = images.shape
    inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
    first = torch.arange(batch, device=rows.device).unsqueeze(-1) * (height * width)
    return inside, torch.where(inside, first + rows.long() * width + columns.long(), 0)


# ---------------------------------------------------------------------------------- at any places

_FLOATS = types("half bfloat16 float double")


def _checked_warp(data: torch.Tensor, warp: torch.Tensor) -> None:
    if data.ndim != 4:
        raise errors.unimplemented(
            "Only bilinear interpolation is currently supported. The input data shape must be [batch_size, "
            f"data_height, data_width, data_channels], but is: {brackets(data.shape)}"
        )
    if warp.ndim < 2:
        raise errors.invalid_argument(f"warp should be at least a matrix, got shape {brackets(warp.shape)}")
    if warp.shape[-1] != 2:
        raise errors.unimplemented(
            "Only bilinear interpolation is supported, warping coordinates must be 2D; warp shape last entry "
            f"should be 2, but shape vector is: {brackets(warp.shape)}"
        )
    if len(data) != len(warp):
        raise errors.invalid_argument(
            "Batch size of data and warp tensor must be the same, but input shapes are: "
            f"{brackets(data.shape)}, {brackets(warp.shape)}"
        )


class _Corners:
    """The four pixels around each place of a warp: x, y, [batch, places]."""

    def __init__(self, data: torch.Tensor, warp: torch.Tensor):
        self.data = data
        x, y = warp.flatten(1, -2).unbind(-1) if warp.ndim > 2 else warp.unsqueeze(1).unbind(-1)
        self.near = ((x > -1) & (y > -1) & (x < data.shape[2]) & (y < data.shape[1])).unsqueeze(-1)
        left, top = x.floor(), y.floor()
        self.right_part, self.lower_part = (x - left).unsqueeze(-1), (y - top).unsqueeze(-1)
        self.columns, self.rows = (left, left + 1), (top, top + 1)

    def pixels(self, lower: int, right: int) -> torch.Tensor:
        return _pixels(self.data, self.rows[lower], self.columns[right])

    def weight(self, lower: int, right: int) -> torch.Tensor:
        down = self.lower_part if lower else 1 - self.lower_part
        return down * (self.right_part if right else 1 - self.right_part)


_CORNERS = [(0, 0), (0, 1), (1, 0), (1, 1)]

resampler_op = Op("Resampler", "data: T, warp: T -> output: T", T=_FLOATS)


@resampler_op.shape
def _resampler_shape(data, warp):
    of_rank_at_least(data, 1), of_rank_at_least(warp, 1)
    if warp.ndims is None:
        return None
    return [*warp.tuple[:-1], data.tuple[-1] if data.ndims is not None else None]


@resampler_op.kernel
def _resampler_kernel(data, warp):
    _checked_warp(data, warp)
    corners = _Corners(data, warp)
    found = sum(corners.weight(*corner) * corners.pixels(*corner) for corner in _CORNERS)
    zero = torch.zeros((), dtype=data.dtype, device=data.device)
    return torch.where(corners.near, found, zero).view(*warp.shape[:-1], data.shape[3])


@resampler_op.gradient
def _resampler_gradient(op, grad):
    return resampler_grad_op(*op.inputs, grad)


def _resampled_by_definition(data: np.ndarray, warp: np.ndarray) -> np.ndarray:
    """Place after place: each pixel counts by how near it is."""
    result = np.zeros([*warp.shape[:-1], data.shape[-1]])
    height, width = data.shape[1:3]
    for place in np.ndindex(warp.shape[:-1]):
        x, y = warp[place]
        down, right = (
            np.maximum(0, 1 - np.abs(at - np.arange(size))) for at, size in ((y, height), (x, width))
        )
        result[place] = np.einsum("i,j,ijc->c", down, right, data[place[0]])
    return result


_WARP = np.array([[[0.3, 1.2], [2.6, 0.4], [-0.4, 1.7]], [[3.4, 2.3], [-1.5, 0.5], [1.25, 2.75]]], np.float32)
resampler_op.samples(
    (f32(2, 3, 4, 2), _WARP),
    (f32(2, 3, 4, 1), _WARP.reshape(2, 3, 1, 2)),
    (f32(2, 3, 4, 2), _WARP[:, 0]),
    against=_resampled_by_definition,
)
resampler_op.refuses(
    (f32(2, 3, 4), _WARP), "Only bilinear interpolation is currently supported", errors.UnimplementedError
)
resampler_op.refuses(
    (f32(3, 3, 4, 2), _WARP), "Batch size of data and warp tensor", errors.InvalidArgumentError
)


@export("contrib.resampler.resampler")
def resampler(data: TensorLike, warp: TensorLike, name: str = "resampler") -> Tensor:
    """Samples images at given places, bilinearly.

    Args:
      data: Images [batch, height, width, channels] of a floating type.
      warp: Where, [batch, ..., 2], as (x, y); a place between pixels is a mean of the four around it.
      name: A name for the scope of the new operations.

    Returns:
      A tensor [batch, ..., channels]; 0 outside of an image.
    """
    with name_scope(name, "resampler", [data, warp]):
        return resampler_op(convert_to_tensor(data, name="data"), convert_to_tensor(warp, name="warp"))


resampler_grad_op = Op(
    "ResamplerGrad",
    "data: T, warp: T, grad_output: T -> grad_data: T, grad_warp: T",
    T=_FLOATS,
    differentiable=False,
)


@resampler_grad_op.shape
def _resampler_grad_shape(data, warp, grad_output):
    return data, warp


@resampler_grad_op.kernel
def _resampler_grad_kernel(data, warp, grad_output):
    _checked_warp(data, warp)
    corners = _Corners(data, warp)
    channels = data.shape[3]
    if tuple(grad_output.shape) != (*warp.shape[:-1], channels):
        raise ShapeError(
            "grad_output shape is not consistent with data and warp shapes: it is "
            f"{brackets(grad_output.shape)}, and should be {brackets((*warp.shape[:-1], channels))}"
        )
    zero = torch.zeros((), dtype=data.dtype, device=data.device)
    grad = torch.where(corners.near, grad_output.reshape(*corners.rows[0].shape, channels), zero)
    to_data = torch.zeros_like(data).reshape(math.prod(data.shape[:3]), channels)
    for corner in _CORNERS:
        inside, places = _flat_places(data, corners.rows[corner[0]], corners.columns[corner[1]])
        share = torch.where(inside.unsqueeze(-1), corners.weight(*corner) * grad, zero)
        if len(to_data):
            to_data.index_add_(0, places.reshape(-1), share.reshape(places.numel(), channels))
    top_left, top_right, low_left, low_right = (corners.pixels(*corner) for corner in _CORNERS)
    down, right = corners.lower_part, corners.right_part
    by_x = (grad * (down * (low_right - low_left) + (1 - down) * (top_right - top_left))).sum(-1)
    by_y = (grad * (right * (low_right - top_right) + (1 - right) * (low_left - top_left))).sum(-1)
    return to_data.view(data.shape), torch.stack([by_x, by_y], -1).view(warp.shape)


resampler_grad_op.samples(
    (f32(2, 3, 4, 2), _WARP, f32(2, 3, 2)),
    (f32(2, 3, 4, 1), _WARP[:, 0], f32(2, 1)),
    against=lambda data, warp, grad: (
        pulled_back(lambda each: _resampled_by_definition(each, warp), data, grad, 1.0),
        pulled_back(lambda each: _resampled_by_definition(data, each), warp, grad),
    ),
)

# ---------------------------------------------------------------------------------- through a projection

_PIXEL_TYPES = types("uint8 int32 int64 half float double")


def _projected(
    images: torch.Tensor, transforms: torch.Tensor, sizes: list[int], interpolation: str
) -> torch.Tensor:
    """Each place (x, y) of the output shows the place of the input that its transform takes it to."""
    if transforms.ndim != 2 or len(transforms) not in (1, len(images)) or transforms.shape[1] != 8:
        raise errors.invalid_argument(
            "Input transform should be num_images x 8 or 1 x 8, but the shapes of images and transforms are "
            f"{brackets(images.shape)} and {brackets(transforms.shape)}"
        )
    if interpolation not in ("NEAREST", "BILINEAR"):
        raise errors.invalid_argument(
            f"Invalid interpolation {interpolation}. Supported types: NEAREST, BILINEAR"
        )
    batch, channels = len(images), images.shape[3]
    rows, columns = (torch.arange(size, dtype=torch.float32, device=images.device) for size in sizes)
    y, x = (each.reshape(-1) for each in torch.meshgrid(rows, columns, indexing="ij"))
    a0, a1, a2, b0, b1, b2, c0, c1 = transforms.unsqueeze(-1).unbind(1)
    scale = c0 * x + c1 * y + 1.0
    input_x = ((a0 * x + a1 * y + a2) / scale).expand(batch, -1)
    input_y = ((b0 * x + b1 * y + b2) / scale).expand(batch, -1)
    seen = (scale != 0).expand(batch, -1)
    input_x, input_y = torch.where(seen, input_x, -2), torch.where(seen, input_y, -2)
    if interpolation == "NEAREST":
        found = _pixels(images, _rounded(input_y), _rounded(input_x))
    else:
        found = _bilinear(images, input_y, input_x).to(images.dtype)
    return found.reshape(batch, *sizes, channels)


def _rounded(x: torch.Tensor) -> torch.Tensor:
    """To the nearest number, halves away from zero."""
    return torch.trunc(x + torch.copysign(torch.full_like(x, 0.5), x))


def _bilinear(images: torch.Tensor, y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    top, left = y.floor(), x.floor()
    down, right = (y - top).unsqueeze(-1), (x - left).unsqueeze(-1)

    def along_row(row: torch.Tensor) -> torch.Tensor:
        return (1 - right) * _pixels(images, row, left).float() + right * _pixels(
            images, row, left + 1
        ).float()

    return (1 - down) * along_row(top) + down * along_row(top + 1)


def _projected_by_definition(images, transforms, output_shape=None, interpolation="NEAREST"):
    """Place after place."""
    height, width = images.shape[1:3] if output_shape is None else output_shape
    result = np.zeros([len(images), height, width, images.shape[3]])
    for number, y, x in np.ndindex(*result.shape[:3]):
        t = transforms[number % len(transforms)].astype(np.float64)
        scale = t[6] * x + t[7] * y + 1
        row, column = (t[3] * x + t[4] * y + t[5]) / scale, (t[0] * x + t[1] * y + t[2]) / scale
        if interpolation == "NEAREST":
            row, column = np.rint(row), np.rint(column)
        down, right = (
            np.maximum(0, 1 - np.abs(at - np.arange(size)))
            for at, size in zip((row, column), images.shape[1:3])
        )
        result[number, y, x] = np.einsum("i,j,ijc->c", down, right, images[number])
    return result.astype(images.dtype)


_TRANSFORMS = np.array(
    [[1.1, 0.2, -0.3, -0.1, 0.9, 0.6, 0.05, 0.02], [0.8, 0, 0.7, 0.3, 1.2, -0.4, 0, 0]], np.float32
)

image_projective_transform_op = Op(
    "ImageProjectiveTransform",
    "images: dtype, transforms: float -> transformed_images: dtype",
    dtype=_PIXEL_TYPES,
    interpolation=attr("string"),
    differentiable=False,
)


@image_projective_transform_op.shape
def _image_projective_transform_shape(images, transforms):
    return images


@image_projective_transform_op.kernel
def _image_projective_transform_kernel(images, transforms, *, interpolation):
    if images.ndim != 4:
        raise errors.invalid_argument("Input images must have rank 4")
    return _projected(images, transforms, list(images.shape[1:3]), interpolation)


image_projective_transform_op.samples(
    (f32(2, 3, 4, 2), _TRANSFORMS, {"interpolation": "BILINEAR"}),
    (f32(2, 3, 4, 2), _TRANSFORMS[:1], {"interpolation": "NEAREST"}),
    against=lambda images, transforms, interpolation: _projected_by_definition(
        images, transforms, interpolation=interpolation
    ),
)

image_projective_transform_v2_op = Op(
    "ImageProjectiveTransformV2",
    "images: dtype, transforms: float, output_shape: int32 -> transformed_images: dtype",
    host="output_shape",
    dtype=_PIXEL_TYPES,
    interpolation=attr("string"),
    has_numeric_gradient=False,
)


@image_projective_transform_v2_op.shape
def _image_projective_transform_v2_shape(images, transforms, output_shape):
    batch, _, _, channels = of_rank(images, 4).tuple
    if vector(output_shape) is None:
        return [batch, None, None, channels]
    if len(output_shape) != 2:
        raise ShapeError(f"Dimension must be 2 but is {len(output_shape)}")
    return [batch, *as_sizes(output_shape), channels]


@image_projective_transform_v2_op.kernel
def _image_projective_transform_v2_kernel(images, transforms, output_shape, *, interpolation):
    if images.ndim != 4:
        raise errors.invalid_argument("Input images must have rank 4")
    if min(output_shape) <= 0:
        raise errors.invalid_argument(f"output dimensions must be positive, but are {output_shape}")
    return _projected(images, transforms, output_shape, interpolation)


@image_projective_transform_v2_op.gradient
def _image_projective_transform_v2_gradient(op, grad):
    """The gradient is projected back, by the inverse transform: near, but not equal, to the slope."""
    images, transforms, _ = op.inputs
    inverse = matrix_functions.matrix_inverse(flat_transforms_to_matrices(transforms))
    back = image_projective_transform_v2_op(
        grad,
        matrices_to_flat_transforms(inverse),
        shapes.shape(images)[1:3],
        interpolation=op.attrs["interpolation"],
    )
    return [back, None, None]


image_projective_transform_v2_op.samples(
    (f32(2, 3, 4, 2), _TRANSFORMS, [3, 4], {"interpolation": "NEAREST"}),
    (f32(2, 3, 4, 2), _TRANSFORMS[:1], [5, 2], {"interpolation": "BILINEAR"}),
    against=_projected_by_definition,
)
image_projective_transform_v2_op.refuses(
    (f32(3, 4, 2), _TRANSFORMS, [3, 4], {"interpolation": "NEAREST"}), "Shape must be rank 4 but is rank 3"
)
image_projective_transform_v2_op.refuses(
    (f32(3, 3, 4, 2), _TRANSFORMS, [3, 4], {"interpolation": "NEAREST"}),
    "Input transform should be num_images x 8 or 1 x 8",
    errors.InvalidArgumentError,
)


@export("contrib.image.flat_transforms_to_matrices")
def flat_transforms_to_matrices(transforms: TensorLike) -> Tensor:
    """Makes matrices of projective transforms: the last element, which is 1, is added.

    Args:
      transforms: Eight numbers for each transform, [transforms, 8] or [8].

    Returns:
      A tensor [transforms, 3, 3].

    Raises:
      ValueError: If `transforms` is neither a vector nor a matrix.
    """
    with name_scope("flat_transforms_to_matrices"):
        transforms = convert_to_tensor(transforms, name="transforms")
        if transforms.shape.ndims not in (1, 2):
            raise ValueError(f"Transforms should be 1D or 2D, got: {transforms}")
        transforms = shapes.reshape(transforms, constants.constant([-1, 8]))
        count = shapes.shape(transforms)[0]
        whole = joining.concat([transforms, creation.ones([count, 1])], axis=1)
        return shapes.reshape(whole, constants.constant([-1, 3, 3]))


@export("contrib.image.matrices_to_flat_transforms")
def matrices_to_flat_transforms(transform_matrices: TensorLike) -> Tensor:
    """Makes projective transforms of matrices, which are divided by their last element.

    Args:
      transform_matrices: Matrices, [transforms, 3, 3] or [3, 3].

    Returns:
      Eight numbers for each transform, [transforms, 8].

    Raises:
      ValueError: If the rank of `transform_matrices` is another.
    """
    with name_scope("matrices_to_flat_transforms"):
        matrices = convert_to_tensor(transform_matrices, name="transform_matrices")
        if matrices.shape.ndims not in (2, 3):
            raise ValueError(f"Matrices should be 2D or 3D, got: {matrices}")
        transforms = shapes.reshape(matrices, constants.constant([-1, 9]))
        transforms /= transforms[:, 8:9]
        return transforms[:, :8]
