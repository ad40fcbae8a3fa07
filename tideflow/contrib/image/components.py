"""Regions of equal pixels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.ops.arrays import creation, distinct, indexing, joining, shapes
from tideflow.ops.control_flow import conditionals
from tideflow.ops.images.regions import image_connected_components_op
from tideflow.ops.math import binary, casting

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("contrib.image.connected_components")
def connected_components(images: TensorLike) -> Tensor:
    """Numbers the regions of equal pixels, which touch above, below, left or right.

    Args:
      images: One image [height, width], or several [batch, height, width].

    Returns:
      The number of each pixel's region, an int64 tensor of the shape of `images`. Regions are numbered from 1
      on, in the order of their first pixels, through all images. Pixels that are 0, False or empty have 0.

    Raises:
      TypeError: If the rank of `images` is another.
    """
    with name_scope("connected_components"):
        given = convert_to_tensor(images, name="images")
        if given.shape.ndims not in (2, 3):
            raise TypeError(f"images should have rank 2 (HW) or 3 (NHW). Static shape is {given.shape}")
        found = image_connected_components_op(given[None, :, :] if given.shape.ndims == 2 else given)
        ids, places = distinct.unique(shapes.reshape(found, [-1]))
        background = indexing.where_v2(binary.equal(ids, 0))[:, 0]
        regions = shapes.shape(ids)[0] - shapes.shape(background)[0]
        numbers = creation.range(regions) + 1

        def around_background() -> Tensor:
            at = casting.cast(background[0], dtypes.int32)
            return joining.concat([numbers[:at], [0], numbers[at:]], axis=0)

        has_none = binary.equal(shapes.shape(background)[0], 0)
        numbers_of_ids = conditionals.cond(has_none, lambda: numbers, around_background)
        result = shapes.reshape(indexing.gather(numbers_of_ids, places), shapes.shape(found))
        return result[0, :, :] if given.shape.ndims == 2 else result
