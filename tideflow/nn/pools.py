"""Pools over one axis, and pools of any rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.op import Op
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import as_shape
from tideflow.nn.convolutions import plane_format, strides_and_rates, with_space_to_batch
from tideflow.ops.arrays import shapes
from tideflow.ops.helpers.arguments import per_axis, renamed
from tideflow.ops.nn.mean_pooling import avg_pool, avg_pool3d, avg_pool3d_op, avg_pool_op
from tideflow.ops.nn.pooling import max_pool, max_pool3d, max_pool3d_op, max_pool_op
from tideflow.ops.nn.windows import has_channels_first

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_OPS = {"MAX": {2: max_pool_op, 3: max_pool3d_op}, "AVG": {2: avg_pool_op, 3: avg_pool3d_op}}
_FUNCTIONS = {"MAX": {2: max_pool, 3: max_pool3d}, "AVG": {2: avg_pool, 3: avg_pool3d}}


def _pool1d(
    op: Op, input: Any, ksize: Any, strides: Any, padding: str, data_format: str | None, name: str
) -> Tensor:
    data_format, axis = plane_format(data_format)
    first = has_channels_first(data_format)
    result = op(
        shapes.expand_dims(input, axis),
        ksize=[1, *per_axis(ksize, 1, first, "ksize")],
        strides=[1, *per_axis(strides, 1, first, "strides")],
        padding=padding,
        data_format=data_format,
        name=name,
    )
    return shapes.squeeze(result, axis)


@export("nn.max_pool1d")
def max_pool1d(
    input: TensorLike,
    ksize: int | Sequence[int],
    strides: int | Sequence[int],
    padding: str,
    data_format: str | None = "NWC",
    name: str | None = None,
) -> Tensor:
    """Computes the maximum of each window along one axis.

    Args:
      input: The input of shape [batch, width, channels] or, with `data_format` `"NCW"`, [batch, channels,
        width].
      ksize: The size of the window.
      strides: The stride.
      padding: `"SAME"` or `"VALID"`.
      data_format: `"NWC"` or `"NCW"`.
      name: The name of the operation.

    Returns:
      A tensor of the input's type.
    """
    with name_scope(name, "MaxPool1d", [input]) as name:
        return _pool1d(max_pool_op, input, ksize, strides, padding, data_format, name)


@export("nn.avg_pool1d")
def avg_pool1d(
    input: TensorLike,
    ksize: int | Sequence[int],
    strides: int | Sequence[int],
    padding: str,
    data_format: str | None = "NWC",
    name: str | None = None,
) -> Tensor:
    """Computes the mean of each window along one axis.

    Args:
      input: The input of shape [batch, width, channels] or, with `data_format` `"NCW"`, [batch, channels,
        width].
      ksize: The size of the window.
      strides: The stride.
      padding: `"SAME"` or `"VALID"`.
      data_format: `"NWC"` or `"NCW"`.
      name: The name of the operation.

    Returns:
      A tensor of the input's type.
    """
    with name_scope(name, "AvgPool1D", [input]) as name:
        return _pool1d(avg_pool_op, input, ksize, strides, padding, data_format, name)


def _pool_of_rank(
    kind: str, input: Any, ksize: Any, strides: Any, padding: str, data_format: str | None, name: str | None
) -> Tensor:
    shape = as_shape(input.shape)
    if shape.ndims is None and data_format is None:
        raise ValueError("The input must have a rank or a data format must be given.")
    rank = (len(data_format) if shape.ndims is None else shape.ndims) - 2
    if rank == 1:
        function = max_pool1d if kind == "MAX" else avg_pool1d
        return function(input, ksize, strides, padding, data_format, name)
    if rank not in _OPS[kind]:
        raise ValueError(f"Input tensor must be of rank 3, 4 or 5 but was {rank + 2}.")
    first = has_channels_first(data_format)
    window = {
        "ksize": per_axis(ksize, rank, first, "ksize"),
        "strides": per_axis(strides, rank, first, "strides"),
    }
    return _OPS[kind][rank](input, padding=padding, data_format=data_format, name=name, **window)


@export("nn.max_pool_v2")
def max_pool_v2(
    input: TensorLike,
    ksize: int | Sequence[int],
    strides: int | Sequence[int],
    padding: str,
    data_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Computes the maximum of each window along one, two or three axes.

    Args:
      input: The input of shape [batch, sizes, channels] or, if `data_format` starts with `"NC"`, [batch,
        channels, sizes].
      ksize: The sizes of the window.
      strides: The strides.
      padding: `"SAME"` or `"VALID"`.
      data_format: The order of the axes; channels last if None.
      name: The name of the operation.

    Returns:
      A tensor of the input's type.
    """
    return _pool_of_rank("MAX", input, ksize, strides, padding, data_format, name)


@export("nn.avg_pool_v2")
def avg_pool_v2(
    input: TensorLike,
    ksize: int | Sequence[int],
    strides: int | Sequence[int],
    padding: str,
    data_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Computes the mean of each window along one, two or three axes.

    Args:
      input: The input of shape [batch, sizes, channels] or, if `data_format` starts with `"NC"`, [batch,
        channels, sizes].
      ksize: The sizes of the window.
      strides: The strides.
      padding: `"SAME"` or `"VALID"`.
      data_format: The order of the axes; channels last if None.
      name: The name of the operation.

    Returns:
      A tensor of the input's type.
    """
    return _pool_of_rank("AVG", input, ksize, strides, padding, data_format, name)


@export("nn.pool")
def pool(
    input: TensorLike,
    window_shape: Sequence[int],
    pooling_type: str,
    padding: str,
    dilation_rate: int | Sequence[int] | None = None,
    strides: int | Sequence[int] | None = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: int | Sequence[int] | None = None,
) -> Tensor:
    """Pools over one, two or three axes, with strides or with dilation.

    Args:
      input: The input of shape [batch, sizes, channels] or, if `data_format` starts with `"NC"`, [batch,
        channels, sizes].
      window_shape: The sizes of the window.
      pooling_type: `"MAX"` or `"AVG"`.
      padding: `"SAME"` or `"VALID"`.
      dilation_rate: The distance of neighbouring elements of the window; 1 if None.
      strides: The strides; 1 if None.
      name: The name of the operation.
      data_format: The order of the axes; channels last if None.
      dilations: Another name for `dilation_rate`.

    Returns:
      A tensor of the input's type.

    Raises:
      ValueError: If the arguments contradict each other.
    """
    rates = renamed("dilations", dilations, "dilation_rate", dilation_rate)
    with name_scope(name, f"{pooling_type.lower()}_pool", [input]) as scope:
        input = convert_to_tensor(input, name="input")
        window = [int(size) for size in window_shape]
        rank = len(window)
        if not 1 <= rank <= 3:
            raise ValueError("It is required that 1 <= num_spatial_dims <= 3.")
        input.shape.with_rank(rank + 2)
        strides, rates = strides_and_rates(rank, strides, rates)
        if padding == "SAME" and max(rates) > 1:
            raise ValueError("pooling with SAME padding is not implemented for dilation_rate > 1")
        if any(stride > size for stride, size in zip(strides, window)):
            raise ValueError(
                "strides > window_shape not supported due to inconsistency between CPU and GPU "
                "implementations"
            )
        if pooling_type not in _FUNCTIONS:
            raise ValueError(f"{rank}-D {pooling_type} pooling is not supported.")
        first = has_channels_first(data_format)
        ksize, strides = per_axis(window, rank, first, "ksize"), per_axis(strides, rank, first, "strides")

        def undilated(images: Tensor, _: int, padding: str) -> Tensor:
            if rank > 1:
                function = _FUNCTIONS[pooling_type][rank]
                return function(images, ksize, strides, padding, data_format=data_format, name=scope)
            function, (plane, axis) = _FUNCTIONS[pooling_type][2], plane_format(data_format)
            images = shapes.expand_dims(images, axis)
            result = function(images, [1, *ksize], [1, *strides], padding, data_format=plane, name=scope)
            return shapes.squeeze(result, [axis])

        return with_space_to_batch(
            input, rates, padding, undilated, filter_shape=window, data_format=data_format
        )
