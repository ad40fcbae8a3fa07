"""Regions of equal pixels, and a greedy assignment of rows to columns: the ops of `tf.contrib.image`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import errors
from tideflow.graph.op import Op
from tideflow.graph.operation import Tensor
from tideflow.ops.helpers.axes import of_rank
from tideflow.ops.helpers.samples import f32, text
from tideflow.ops.helpers.types import types
from tideflow.runtime.values import to_numpy

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

image_connected_components_op = Op(
    "ImageConnectedComponents",
    "image: dtype -> components: int64",
    dtype=types("int64 int32 uint16 int16 uint8 int8 half float double bool string"),
    on_host=True,
    differentiable=False,
)


@image_connected_components_op.shape
def _image_connected_components_shape(image):
    return image


def _numbered(image: np.ndarray, background: np.ndarray) -> torch.Tensor:
    """For each pixel 1 + the number of the first one of its region; 0 for the background.

    Neighbours with equal values take the lower of their numbers until nothing changes. A pixel also takes
    the number of the pixel that it has the number of, so that numbers travel far in few rounds.
    """
    if image.ndim != 3:
        raise errors.invalid_argument(f"Input images must have rank 3, but the rank is {image.ndim}")
    numbers = np.arange(image.size).reshape(image.shape)
    below = (image[:, 1:] == image[:, :-1]) & ~background[:, 1:]
    right = (image[:, :, 1:] == image[:, :, :-1]) & ~background[:, :, 1:]
    while image.size:
        before = numbers
        numbers = numbers.copy()
        for joined, first, second in (
            (below, numbers[:, :-1], numbers[:, 1:]),
            (right, numbers[:, :, :-1], numbers[:, :, 1:]),
        ):
            np.minimum(first, second, out=first, where=joined)
            np.minimum(second, first, out=second, where=joined)
        numbers = numbers.reshape(-1)[numbers]
        if (numbers == before).all():
            break
    return torch.from_numpy(np.where(background, 0, numbers + 1).astype(np.int64))


@image_connected_components_op.kernel
def _image_connected_components_kernel(image):
    values = to_numpy(image)
    return _numbered(values, values == 0)


@image_connected_components_op.kernel("string")
def _image_connected_components_string_kernel(image):
    return _numbered(image, np.asarray(image == b"", dtype=bool))


def _regions_by_flooding(image: np.ndarray) -> np.ndarray:
    """One region after another, each flooded from its first pixel."""
    numbers = np.zeros(image.shape, np.int64)
    for start in np.ndindex(image.shape):
        waiting = [start] if image[start] not in (0, b"") and not numbers[start] else []
        number = 1 + np.ravel_multi_index(start, image.shape)
        while waiting:
            place = waiting.pop()
            numbers[place] = number
            for move in ((0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)):
                near = tuple(np.add(place, move))
                inside = all(0 <= at < size for at, size in zip(near, image.shape, strict=True))
                if inside and not numbers[near] and image[near] == image[place]:
                    waiting.append(near)
    return numbers


_SPIRAL = np.array(
    [[[1, 1, 1, 1], [0, 0, 0, 1], [1, 1, 0, 1], [1, 0, 0, 1], [1, 1, 1, 1]], np.eye(5, 4), np.ones((5, 4))]
)
image_connected_components_op.samples(
    _SPIRAL,
    _SPIRAL.astype(bool),
    np.random.RandomState(1).randint(0, 3, (2, 5, 6)).astype(np.int32),
    text("a", "a", "", "b", "a", "b", shape=(1, 2, 3)),
    np.zeros((0, 2, 2), np.float32),
    against=_regions_by_flooding,
)
image_connected_components_op.refuses(
    (f32(2, 3),), "Input images must have rank 3", errors.InvalidArgumentError
)


bipartite_match_op = Op(
    "BipartiteMatch",
    "distance_mat: float, num_valid_rows: float -> row_to_col_match_indices: int32, "
    "col_to_row_match_indices: int32",
    top_k=-1,
    stateful=True,
    on_host=True,
    differentiable=False,
)


@bipartite_match_op.shape
def _bipartite_match_shape(distance_mat, num_valid_rows):
    rows, columns = of_rank(distance_mat, 2).tuple
    return [rows], [columns]


@bipartite_match_op.kernel
def _bipartite_match_kernel(distance_mat, num_valid_rows, *, top_k):
    """The nearest pair that is left is matched, again and again."""
    if num_valid_rows.numel() != 1:
        raise errors.invalid_argument(
            f"num_valid_rows argument should be a tensor with 1 element, but got {num_valid_rows.numel()}"
        )
    rows, columns = distance_mat.shape
    valid = rows if num_valid_rows.item() < 0 else min(rows, int(num_valid_rows.item() + 0.1))
    left = min(valid, columns) if top_k <= 0 else min(valid, columns, top_k)
    to_column, to_row = np.full(rows, -1, np.int32), np.full(columns, -1, np.int32)
    for pair in np.argsort(to_numpy(distance_mat)[:valid], axis=None, kind="stable"):
        if not left:
            break
        row, column = divmod(int(pair), columns)
        if to_column[row] < 0 and to_row[column] < 0:
            to_column[row], to_row[column] = column, row
            left -= 1
    return torch.from_numpy(to_column), torch.from_numpy(to_row)


def _matched_by_striking_out(distance_mat, num_valid_rows, top_k=-1):
    """Matched rows and columns are struck out of the matrix."""
    distances = distance_mat.astype(np.float64)
    valid = float(np.reshape(num_valid_rows, ()))
    if valid >= 0:
        distances[int(valid) :] = np.inf
    matches = -np.ones(len(distances), np.int32), -np.ones(distances.shape[1], np.int32)
    for _ in range(top_k if top_k > 0 else distances.shape[1]):
        row, column = np.unravel_index(np.argmin(distances), distances.shape)
        if np.isinf(distances[row, column]):
            break
        matches[0][row], matches[1][column] = column, row
        distances[row], distances[:, column] = np.inf, np.inf
    return matches


bipartite_match_op.samples(
    (f32(3, 5), np.float32(-1)),
    (f32(5, 3), np.float32(4)),
    (f32(4, 4), np.float32([-1]), {"top_k": 2}),
    against=_matched_by_striking_out,
)
bipartite_match_op.refuses((f32(3), np.float32(-1)), "Shape must be rank 2 but is rank 1")
bipartite_match_op.refuses(
    (f32(3, 4), f32(2)),
    "num_valid_rows argument should be a tensor with 1 element",
    errors.InvalidArgumentError,
)


@export("contrib.image.bipartite_match")
def bipartite_match(
    distance_mat: TensorLike, num_valid_rows: TensorLike, top_k: int = -1, name: str = "bipartite_match"
) -> tuple[Tensor, Tensor]:
    """Matches rows and columns greedily: the pair with the least distance first.

    Args:
      distance_mat: The distances, float32, [rows, columns].
      num_valid_rows: How many of the first rows count, a scalar float32; all if it is negative.
      top_k: How many pairs are matched at most; as many as possible if it is not positive.
      name: A name for the operation.

    Returns:
      The column of each row and the row of each column, int32; -1 where there is none.
    """
    return bipartite_match_op(distance_mat, num_valid_rows, top_k=top_k, name=name)
