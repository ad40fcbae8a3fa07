"""Images warped by a flow: a vector for each pixel, or for some points between which it is interpolated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.contrib.image.splines import interpolate_spline
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.graph.shapes import dimension_value
from tideflow.ops.arrays import constants, creation, joining, shapes
from tideflow.ops.arrays.indexing import gather
from tideflow.ops.math import binary, casting, checks, unary

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("contrib.image.dense_image_warp")
def dense_image_warp(image: TensorLike, flow: Tensor, name: str = "dense_image_warp") -> Tensor:
    """Warps images by a flow: each pixel is taken, bilinearly, from where its flow vector comes from.

    Args:
      image: Images [batch, height, width, channels] of a floating type, at least two pixels high and wide.
      flow: For each pixel how far down and to the right it came, [batch, height, width, 2].
      name: A name for the scope of the new operations.

    Returns:
      A tensor of the shape and type of `image`; places outside show the nearest edge.

    Raises:
      ValueError: If the shapes do not fit.
    """
    with name_scope(name):
        batch, height, width, channels = (shapes.shape(image)[axis] for axis in range(4))
        columns, rows = creation.meshgrid(creation.range(width), creation.range(height))
        grid = casting.cast(joining.stack([rows, columns], axis=2), flow.dtype)
        places = shapes.expand_dims(grid, axis=0) - flow
        places = shapes.reshape(places, [batch, height * width, 2])
        return shapes.reshape(_interpolate_bilinear(image, places), [batch, height, width, channels])


def _interpolate_bilinear(
    grid: Any, query_points: Any, name: str = "interpolate_bilinear", indexing: str = "ij"
) -> Tensor:
    """The values of images [batch, height, width, channels] at places [batch, queries, 2] between pixels.

    Places are (row, column), or (column, row) where `indexing` is "xy".
    """
    if indexing not in ("ij", "xy"):
        raise ValueError("Indexing mode must be 'ij' or 'xy'")
    with name_scope(name):
        grid, query_points = convert_to_tensor(grid), convert_to_tensor(query_points)
        if len(grid.shape) != 4:
            raise ValueError(f"Grid must be 4 dimensional. Received size: {grid.shape}")
        batch, height, width, channels = sizes = [shapes.shape(grid)[axis] for axis in range(4)]
        rank_checks = [
            checks.assert_equal(len(query_points.shape), 3, message="Query points must be 3 dimensional."),
            checks.assert_equal(
                shapes.shape(query_points)[2], 2, message="Query points must be size 2 in dim 2."
            ),
        ]
        with control_dependencies(rank_checks):
            queries = shapes.shape(query_points)[1]
        size_checks = [
            checks.assert_greater_equal(height, 2, message="Grid height must be at least 2."),
            checks.assert_greater_equal(width, 2, message="Grid width must be at least 2."),
        ]
        with control_dependencies(size_checks):
            places = joining.unstack(query_points, axis=2)
        order = [0, 1] if indexing == "ij" else [1, 0]
        rows, columns = (_along(axis, places[axis], sizes[axis + 1], grid.dtype) for axis in order)
        few = checks.assert_less_equal(
            casting.cast(batch * height * width, dtype=dtypes.float32),
            np.iinfo(np.int32).max / 8,
            message="The images have more pixels together than int32 can count.",
        )
        with control_dependencies([few]):
            pixels = shapes.reshape(grid, [batch * height * width, channels])
            first = shapes.reshape(creation.range(batch) * height * width, [batch, 1])

        def gathered(lower: int, right: int, name: str) -> Tensor:
            with name_scope(f"gather-{name}"):
                at = first + rows[lower] * width + columns[right]
                return shapes.reshape(gather(pixels, at), [batch, queries, channels])

        top_left = gathered(0, 0, "top_left")
        top_right = gathered(0, 1, "top_right")
        bottom_left = gathered(1, 0, "bottom_left")
        bottom_right = gathered(1, 1, "bottom_right")
        down, across = rows[2], columns[2]
        with name_scope("interpolate"):
            top = across * (top_right - top_left) + top_left
            bottom = across * (bottom_right - bottom_left) + bottom_left
            return down * (bottom - top) + top


def _along(axis: int, places: Tensor, size: Tensor, dtype: Any) -> tuple[Tensor, Tensor, Tensor]:
    """The pixels before and after each place along an axis, and how far it is from one to the other."""
    with name_scope(f"dim-{axis}"):
        last = casting.cast(size - 2, places.dtype)
        zero = constants.constant(0.0, dtype=places.dtype)
        before = binary.minimum(binary.maximum(zero, unary.floor(places)), last)
        number = casting.cast(before, dtypes.int32)
        after = number + 1
        part = casting.cast(places - before, dtype)
        least, most = constants.constant(0.0, dtype=dtype), constants.constant(1.0, dtype=dtype)
        part = binary.minimum(binary.maximum(least, part), most)
        return number, after, shapes.expand_dims(part, 2)


@export("contrib.image.sparse_image_warp")
def sparse_image_warp(
    image: TensorLike,
    source_control_point_locations: TensorLike,
    dest_control_point_locations: TensorLike,
    interpolation_order: int = 2,
    regularization_weight: float = 0.0,
    num_boundary_points: int = 0,
    name: str = "sparse_image_warp",
) -> tuple[Tensor, Tensor]:
    """Warps images so that some points move to given places; a spline moves what is between them.

    Args:
      image: Images [batch, height, width, channels], of a floating type and known sizes.
      source_control_point_locations: Rows and columns of the points, [batch, points, 2].
      dest_control_point_locations: Where they move to, [batch, points, 2].
      interpolation_order: The order of the spline.
      regularization_weight: How much smoothness counts against hitting the places exactly.
      num_boundary_points: How many points of each edge stay where they are, the corner included; 0 for none.
      name: A name for the scope of the new operations.

    Returns:
      The warped images, and the flow of each pixel, [batch, height, width, 2].
    """
    image = convert_to_tensor(image)
    sources = convert_to_tensor(source_control_point_locations)
    targets = convert_to_tensor(dest_control_point_locations)
    flows = targets - sources
    with name_scope(name):
        batch, height, width, _ = image.shape.as_list()
        pixels = np.stack(np.mgrid[:height, :width], -1).reshape(-1, 2)
        places = constants.constant(_for_each(pixels, batch), image.dtype)
        if num_boundary_points > 0:
            edges = edge_points(height, width, num_boundary_points - 1)
            fixed = _for_each(edges, dimension_value(targets.shape[0]))
            fixed_places = constants.constant(fixed, dtype=targets.dtype)
            fixed_flows = constants.constant(np.zeros_like(fixed), dtype=targets.dtype)
            targets = joining.concat([targets, fixed_places], 1)
            flows = joining.concat([flows, fixed_flows], 1)
        flat = interpolate_spline(targets, flows, places, interpolation_order, regularization_weight)
        flow = shapes.reshape(flat, [batch, height, width, 2])
        return dense_image_warp(image, flow), flow


def _for_each(points: np.ndarray, batch: int) -> np.ndarray:
    return np.tile(points[np.newaxis], [batch, 1, 1]).astype(np.float64)


def edge_points(height: int, width: int, between: int) -> np.ndarray:
    """The corners of an image, and points between them, evenly along its edges."""
    rows, columns = (np.linspace(0, size - 1, between + 2) for size in (height, width))
    y, x = np.meshgrid(rows, columns, indexing="ij")
    on_edge = (x == 0) | (x == width - 1) | (y == 0) | (y == height - 1)
    return np.stack([y[on_edge], x[on_edge]], -1)
