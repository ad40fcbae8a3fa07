"""`tensorflow.contrib.image.python.ops.sparse_image_warp`: grids of points, and points at the edges."""

from __future__ import annotations

from typing import Any

import numpy as np

import tideflow as tf
from tideflow.contrib.image import warping

_get_boundary_locations = warping.edge_points


def _get_grid_locations(image_height: int, image_width: int) -> np.ndarray:
    """The rows and columns of an image's pixels: [height, width, 2]."""
    rows, columns = (np.linspace(0, size - 1, size) for size in (image_height, image_width))
    return np.stack(np.meshgrid(rows, columns, indexing="ij"), -1)


def _expand_to_minibatch(np_array: np.ndarray, batch_size: int) -> np.ndarray:
    """An array once for each image of a batch."""
    return np.tile(np_array[np.newaxis], [batch_size] + [1] * np_array.ndim)


def _add_zero_flow_controls_at_boundary(
    control_point_locations: tf.Tensor,
    control_point_flows: tf.Tensor,
    image_height: int,
    image_width: int,
    boundary_points_per_edge: int,
) -> tuple[Any, Any]:
    """Points and how far they move, with more of them along the edges that do not move."""
    edge = warping.edge_points(image_height, image_width, boundary_points_per_edge)
    batch, dtype = control_point_locations.shape[0].value, control_point_locations.dtype
    fixed = tf.constant(_expand_to_minibatch(edge, batch), dtype=dtype)
    still = tf.zeros_like(fixed)
    return tf.concat([control_point_locations, fixed], 1), tf.concat([control_point_flows, still], 1)
