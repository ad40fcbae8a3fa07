"""Pooling layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tideflow.contrib.framework.argument_scopes import add_arg_scope
from tideflow.contrib.layers.utilities import (
    NCDHW,
    NCHW,
    NDHWC,
    NHWC,
    check_data_format,
    collect_named_outputs,
    layers_format,
    n_positive_integers,
)
from tideflow.export import export
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.layers import pooling
from tideflow.nn import pools

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


_ARGUMENTS = """
    Args:
      inputs: The input tensor.
      kernel_size: The size of the window along each axis, or one for all.
      stride: The stride along each axis, or one for all.
      padding: `"VALID"` or `"SAME"`.
      data_format: Where the axis of the channels stands: last (`"NHWC"`, `"NDHWC"`) or second (`"NCHW"`,
        `"NCDHW"`).
      outputs_collections: Collections that the result is added to.
      scope: The name scope of the operations.

    Returns:
      A tensor.
"""


def _pool_layer(name: str, layer: type, formats: tuple[str, str]) -> Callable:
    """A pooling function, of the layer and with the default scope of that name."""

    def pool(
        inputs: TensorLike,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 2,
        padding: str = "VALID",
        data_format: str = formats[1],
        outputs_collections: str | Sequence[str] | None = None,
        scope: str | None = None,
    ) -> Tensor:
        check_data_format(data_format, *formats)
        with name_scope(scope, name, [inputs]) as sc:
            inputs = convert_to_tensor(inputs)
            made = layer(kernel_size, stride, padding, layers_format(data_format), _scope=sc)
            return collect_named_outputs(outputs_collections, sc, made.apply(inputs))

    pool.__name__ = pool.__qualname__ = name.replace("Pool", "_pool").lower()
    summary = (layer.__doc__ or "").partition("\n\n")[0]  # the layer's arguments are called otherwise
    pool.__doc__ = f"{summary}\n{_ARGUMENTS}"
    return export(f"contrib.layers.{pool.__name__}")(add_arg_scope(pool))


max_pool2d = _pool_layer("MaxPool2D", pooling.MaxPooling2D, (NCHW, NHWC))
avg_pool2d = _pool_layer("AvgPool2D", pooling.AveragePooling2D, (NCHW, NHWC))
max_pool3d = _pool_layer("MaxPool3D", pooling.MaxPooling3D, (NCDHW, NDHWC))
avg_pool3d = _pool_layer("AvgPool3D", pooling.AveragePooling3D, (NCDHW, NDHWC))


@export("contrib.slim.pool")
@add_arg_scope
def pool(
    inputs: TensorLike,
    kernel_size: int | Sequence[int],
    pooling_type: str,
    padding: str = "VALID",
    data_format: str | None = None,
    dilation_rate: int | Sequence[int] = 1,
    stride: int | Sequence[int] = 1,
    outputs_collections: str | Sequence[str] | None = None,
    scope: str | None = None,
) -> Tensor:
    """Pools over as many axes as the inputs have.

    Args:
      inputs: The input tensor, [batch, sizes, channels] or, if `data_format` starts with `"NC"`, [batch,
        channels, sizes].
      kernel_size: The size of the window along each axis, or one for all.
      pooling_type: `"MAX"` or `"AVG"`.
      padding: `"VALID"` or `"SAME"`.
      data_format: Where the axis of the channels stands; last if None.
      dilation_rate: The distance of neighbouring elements of the window, along each axis or one for all.
      stride: The stride along each axis, or one for all.
      outputs_collections: Collections that the result is added to.
      scope: The name scope of the operations.

    Returns:
      A tensor.

    Raises:
      ValueError: If the rank of the inputs is unknown, or less than 3.
    """
    with name_scope(scope, f"{pooling_type.lower()}_pool", [inputs]) as sc:
        given = convert_to_tensor(inputs)
        if given.shape.ndims is None:
            raise ValueError("Rank of inputs must be known")
        if given.shape.ndims < 3:
            raise ValueError("Rank of inputs must be >= 3")
        axes = given.shape.ndims - 2
        result = pools.pool(
            given,
            n_positive_integers(axes, kernel_size),
            pooling_type,
            padding,
            n_positive_integers(axes, dilation_rate),
            n_positive_integers(axes, stride),
            name=sc,
            data_format=data_format,
        )
        return collect_named_outputs(outputs_collections, sc, result)
