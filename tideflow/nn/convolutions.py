"""Convolutions of any rank: with dilation, transposed, depthwise and separable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.export import export
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.dtypes import int32
from tideflow.graph.operation import Tensor
from tideflow.graph.partial import fully_known, partial_value
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape, as_shape
from tideflow.ops.arrays import blocks, joining, shapes
from tideflow.ops.helpers.arguments import per_axis, renamed
from tideflow.ops.nn.convolution import conv2d, conv2d_backprop_input_op, conv2d_op
from tideflow.ops.nn.depthwise_convolution import depthwise_conv2d_native
from tideflow.ops.nn.volume_convolution import conv3d_backprop_input_v2_op, conv3d_op
from tideflow.ops.nn.windows import has_channels_first

if TYPE_CHECKING:
    from tideflow.graph.typing import ShapeLike, TensorLike

_FORMATS = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}

# ---------------------------------------------------------------------------- one axis, by way of two


def plane_format(data_format: str | None) -> tuple[str, int]:
    """For rows of one spatial axis: the format of images of height 1, and the axis that makes them images."""
    if data_format in (None, "NWC", "NHWC"):
        return "NHWC", 1
    if data_format in ("NCW", "NCHW"):
        return "NCHW", 2
    raise ValueError('data_format must be "NWC" or "NCW".')


@export("nn.conv1d")
def conv1d(
    value: TensorLike | None = None,
    filters: TensorLike | None = None,
    stride: int | Sequence[int] | None = None,
    padding: str | None = None,
    use_cudnn_on_gpu: bool | None = None,
    data_format: str | None = None,
    name: str | None = None,
    input: TensorLike | None = None,
    dilations: int | Sequence[int] | None = None,
) -> Tensor:
    """Computes a one-dimensional convolution.

    Args:
      value: The input of shape [batch, width, in] or, with `data_format` `"NCW"`, [batch, in, width].
      filters: The filter of shape [filter width, in, out].
      stride: The stride.
      padding: `"SAME"` to pad the input with zeros so that the output has `ceil(size / stride)` elements
        along each axis, or `"VALID"` for no padding.
      use_cudnn_on_gpu: Has no effect.
      data_format: `"NWC"` or `"NCW"`; `"NWC"` if None.
      name: The name of the operation.
      input: Another name for `value`.
      dilations: The distance of neighbouring elements of the filter.

    Returns:
      A tensor of the input's type.

    Raises:
      ValueError: If the arguments contradict each other, or shapes do not fit.
    """
    value = renamed("input", input, "value", value)
    with name_scope(name, "conv1d", [value, filters]) as name:
        data_format, axis = plane_format(data_format)
        first = has_channels_first(data_format)
        result = conv2d_op(
            shapes.expand_dims(value, axis),
            shapes.expand_dims(filters, 0),
            strides=[1, *per_axis(stride, 1, first, "stride")],
            padding=padding,
            use_cudnn_on_gpu=use_cudnn_on_gpu,
            data_format=data_format,
            dilations=[1, *per_axis(dilations, 1, first, "dilations")],
            name=name,
        )
        return shapes.squeeze(result, [axis])


@export("nn.conv1d_transpose")
def conv1d_transpose(
    input: TensorLike,
    filters: TensorLike,
    output_shape: TensorLike,
    strides: int | Sequence[int],
    padding: str = "SAME",
    data_format: str | None = "NWC",
    dilations: int | Sequence[int] | None = None,
    name: str | None = None,
) -> Tensor:
    """Computes the transpose of a one-dimensional convolution, which is its gradient.

    Args:
      input: The input of shape [batch, width, in] or, with `data_format` `"NCW"`, [batch, in, width].
      filters: The filter of shape [filter width, out, in].
      output_shape: The shape of the output.
      strides: The stride.
      padding: `"SAME"` to pad the input with zeros so that the output has `ceil(size / stride)` elements
        along each axis, or `"VALID"` for no padding.
      data_format: `"NWC"` or `"NCW"`.
      dilations: The distance of neighbouring elements of the filter.
      name: The name of the operation.

    Returns:
      A tensor of the input's type.

    Raises:
      ValueError: If the arguments contradict each other, or shapes do not fit.
    """
    with name_scope(name, "conv1d_transpose", [input, filters, output_shape]) as name:
        data_format, axis = plane_format(data_format)
        first = has_channels_first(data_format)
        sizes = output_shape if isinstance(output_shape, Tensor) else list(output_shape)
        image, filters = shapes.expand_dims(input, axis), shapes.expand_dims(filters, 0)
        result = conv2d_backprop_input_op(
            joining.concat([sizes[:axis], [1], sizes[axis:]], 0),
            filters,
            image,
            strides=[1, *per_axis(strides, 1, first, "stride")],
            padding=padding,
            data_format=data_format,
            dilations=[1, *per_axis(dilations, 1, first, "dilations")],
            name=name,
        )
        return shapes.squeeze(result, axis)


# ---------------------------------------------------------------------------- dilation


@export("nn.with_space_to_batch")
def with_space_to_batch(
    input: TensorLike,
    dilation_rate: int | Sequence[int],
    padding: str,
    op: Callable,
    filter_shape: ShapeLike | None = None,
    spatial_dims: Sequence[int] | None = None,
    data_format: str | None = None,
) -> Tensor:
    """Applies an operation with a window to an input, with a dilated window.

    The elements that a dilated window covers are first moved next to each other, into a larger batch, and the
    output is moved back.

    Args:
      input: The input tensor.
      dilation_rate: The dilation along each spatial axis.
      padding: `"SAME"` to pad the input with zeros so that the output has `ceil(size / stride)` elements
        along each axis, or `"VALID"` for no padding.
      op: Called as `op(input, num_spatial_dims, padding)`; returns the output for a window without dilation.
      filter_shape: The shape of the window, which `"SAME"` needs.
      spatial_dims: The spatial axes, ascending; all between batch and channels if None.
      data_format: The order of the axes, such as `"NHWC"` or `"NCHW"`.

    Returns:
      A tensor of the input's type.

    Raises:
      ValueError: If the arguments contradict each other, or shapes do not fit.
    """
    input = convert_to_tensor(input, name="input")
    rates = convert_to_tensor(dilation_rate, dtype=int32, name="dilation_rate")
    count = rates.shape.tuple[0] if rates.shape.ndims == 1 else None
    if count is None:
        raise ValueError("rate must be rank 1, of known size")
    axes = _spatial_axes(count, spatial_dims, input.shape, data_format)
    known = partial_value(rates)
    if fully_known(known):
        if min(known) < 1:
            raise ValueError("dilation_rate must be positive")
        if all(rate == 1 for rate in known):
            return op(input, count, padding)
    margins = _dilated_margins(padding, filter_shape, known if fully_known(known) else rates, count)
    sizes = [input.shape.tuple[axis] for axis in axes] if input.shape.ndims is not None else [None]
    if None in sizes:
        shape = shapes.shape(input)
        sizes = joining.stack([shape[axis] for axis in axes])
    paddings, crops = blocks.required_space_to_batch_paddings(sizes, rates, base_paddings=margins)
    rates, paddings, crops = (
        _for_all_axes(values, neutral, axes) for values, neutral in ((rates, 1), (paddings, 0), (crops, 0))
    )
    apart = blocks.space_to_batch_nd(input, rates, paddings)
    return blocks.batch_to_space_nd(op(apart, count, "VALID"), rates, crops)


def _spatial_axes(
    count: int, given: Sequence[int] | None, shape: TensorShape, data_format: str | None
) -> list[int]:
    first = 2 if has_channels_first(data_format) else 1
    axes = [int(axis) for axis in given] if given is not None else list(range(first, first + count))
    if axes != sorted(set(axes)) or axes[0] < 1:
        raise ValueError("spatial_dims must be a montonically increasing sequence of positive integers")
    rank = axes[-1] + (0 if has_channels_first(data_format) else 1)
    if shape.ndims is not None and shape.ndims < rank:
        raise ValueError(f"input tensor must have rank {rank} at least")
    return axes


def _dilated_margins(padding: str, filter_shape: Any, rates: Any, count: int) -> Any:
    """What SAME padding adds on both sides of each spatial axis for a dilated filter."""
    if padding == "VALID":
        return np.zeros([count, 2], np.int32)
    if padding != "SAME":
        raise ValueError(f"Invalid padding method {padding!r}")
    if filter_shape is None:
        raise ValueError("filter_shape must be specified for SAME padding")
    sizes = convert_to_tensor(filter_shape, dtype=int32, name="filter_shape")
    known = partial_value(sizes)
    if fully_known(known) and isinstance(rates, list):
        missing = (np.array(known[:count]) - 1) * np.array(rates)
    else:
        missing = (sizes[:count] - 1) * rates
    before = missing // 2
    after = missing - before
    return joining.stack([[before[i], after[i]] for i in range(count)])


def _for_all_axes(values: Tensor, neutral: int, axes: list[int]) -> Any:
    """Rows for every axis after the batch up to the last spatial one; `neutral` rows for those between."""
    known = partial_value(values)
    rows = np.array(known, np.int32) if fully_known(known) else values
    inner = values.shape.as_list()[1:]
    starts = [i for i, axis in enumerate(axes) if i == 0 or axis != axes[i - 1] + 1]
    parts = []
    for start, end in zip(starts, [*starts[1:], len(axes)]):
        gap = axes[start] - 1 - (axes[start - 1] if start else 0)
        if axes[start] > 1:
            parts.append(np.full([gap, *inner], neutral, np.int32))
        parts.append(rows[start:end])
    return np.concatenate(parts) if isinstance(rows, np.ndarray) else joining.concat(parts, 0)


class Convolution:
    """A convolution whose shapes, strides and dilation are checked once: `convolution(images, filter)`.

    Args:
      input_shape: The static shape of the input.
      filter_shape: The static shape of the filter.
      padding: `"SAME"` to pad the input with zeros so that the output has `ceil(size / stride)` elements
        along each axis, or `"VALID"` for no padding.
      strides: The strides; 1 if None.
      dilation_rate: The dilation; 1 if None.
      name: The name of the operation.
      data_format: The order of the axes, such as `"NHWC"` or `"NCHW"`.
    """

    def __init__(
        self,
        input_shape: ShapeLike,
        filter_shape: ShapeLike,
        padding: str,
        strides: Sequence[int] | None = None,
        dilation_rate: Sequence[int] | None = None,
        name: str | None = None,
        data_format: str | None = None,
    ):
        input_shape, filter_shape = as_shape(input_shape), as_shape(filter_shape)
        rank = filter_shape.ndims if filter_shape.ndims is not None else input_shape.ndims
        if rank is None:
            raise ValueError("rank of input or filter must be known")
        for what, shape in (("input", input_shape), ("filter", filter_shape)):
            if shape.ndims not in (None, rank):
                raise ValueError(f"{what} tensor must have rank {rank}")
        if rank - 2 not in _FORMATS:
            raise ValueError(f"Input tensor must be of rank 3, 4 or 5 but was {rank}.")
        _check_channels(input_shape, filter_shape, data_format)
        self.filter_shape = filter_shape
        self.padding = padding
        self.data_format = data_format
        self.name = name
        self.strides, self.dilation_rate = strides_and_rates(rank - 2, strides, dilation_rate)
        self._is_dilated = any(rate > 1 for rate in self.dilation_rate)
        self._was_called = False

    def __call__(self, inp: TensorLike, filter: TensorLike) -> Tensor:
        if not self._is_dilated:
            if not self._was_called:  # TensorFlow has this constant once, however often a layer is called
                convert_to_tensor(self.dilation_rate, dtype=int32, name="dilation_rate")
                self._was_called = True
            images = convert_to_tensor(inp, name="input")
            _spatial_axes(len(self.dilation_rate), None, images.shape, self.data_format)
            return self.undilated(images, filter, self.padding)
        sizes = self.filter_shape.as_list() if self.filter_shape.is_fully_defined() else shapes.shape(filter)
        result = with_space_to_batch(
            inp,
            self.dilation_rate,
            self.padding,
            lambda images, _, padding: self.undilated(images, filter, padding),
            filter_shape=sizes,
            data_format=self.data_format,
        )
        known = result.shape.tuple
        if has_channels_first(self.data_format) and known is not None and known[1] is None:
            result.set_shape([known[0], self.filter_shape[-1], *known[2:]])
        return result

    def undilated(self, images: Tensor, filter: TensorLike, padding: str) -> Tensor:
        """The convolution without its dilation."""
        rank = len(self.strides)
        last, first = _FORMATS[rank]
        data_format = self.data_format or last
        if rank == 1:
            return conv1d(images, filter, self.strides[0], padding, data_format=data_format, name=self.name)
        if data_format not in (last, first):
            raise ValueError(f'data_format must be "{last}" or "{first}".')
        strides = per_axis(self.strides, rank, data_format == first, "strides")
        op = conv2d_op if rank == 2 else conv3d_op
        return op(images, filter, strides=strides, padding=padding, data_format=data_format, name=self.name)


def _check_channels(input_shape: TensorShape, filter_shape: TensorShape, data_format: str | None) -> None:
    if input_shape.tuple is None or filter_shape.tuple is None:
        return
    given = input_shape.tuple[1 if has_channels_first(data_format) else -1]
    wanted = filter_shape.tuple[-2]
    if given is not None and wanted is not None and given != wanted:
        raise ValueError(
            f"number of input channels does not match corresponding dimension of filter, {given} != {wanted}"
        )


def strides_and_rates(rank: int, strides: Any, rates: Any) -> tuple[list[int], list[int]]:
    """Strides and dilation rates of each spatial axis, 1 unless given; not both above 1."""
    strides = [1] * rank if strides is None else [int(stride) for stride in strides]
    rates = [1] * rank if rates is None else [int(rate) for rate in rates]
    for name, values in (("strides", strides), ("dilation_rate", rates)):
        if len(values) != rank:
            raise ValueError(f"len({name})={len(values)} but should be {rank}")
        if min(values) < 1:
            raise ValueError(f"all values of {name} must be positive")
    if max(strides) > 1 and max(rates) > 1:
        raise ValueError("strides > 1 not supported in conjunction with dilation_rate > 1")
    return strides, rates


@export("nn.convolution")
def convolution(
    input: TensorLike,
    filter: TensorLike,
    padding: str,
    strides: int | Sequence[int] | None = None,
    dilation_rate: int | Sequence[int] | None = None,
    name: str | None = None,
    data_format: str | None = None,
    filters: TensorLike | None = None,
    dilations: int | Sequence[int] | None = None,
) -> Tensor:
    """Computes a convolution over one, two or three axes.

    Args:
      input: The input of shape [batch, sizes, in] or, if `data_format` starts with `"NC"`, [batch, in,
        sizes].
      filter: The filter of shape [filter sizes, in, out].
      padding: `"SAME"` to pad the input with zeros so that the output has `ceil(size / stride)` elements
        along each axis, or `"VALID"` for no padding.
      strides: The stride along each axis; 1 if None.
      dilation_rate: The distance of neighbouring elements of the filter along each axis; 1 if None. Only one
        of strides and dilation may be above 1.
      name: The name of the operation.
      data_format: The order of the axes, such as `"NHWC"` or `"NCHW"`.
      filters: Another name for `filter`.
      dilations: Another name for `dilation_rate`.

    Returns:
      A tensor of the input's type.

    Raises:
      ValueError: If the arguments contradict each other, or shapes do not fit.
    """
    filter = renamed("filters", filters, "filter", filter)
    rates = renamed("dilations", dilations, "dilation_rate", dilation_rate)
    input_shape, filter_shape = as_shape(input.shape), as_shape(filter.shape)
    rank = input_shape.ndims if input_shape.ndims is not None else filter_shape.ndims
    if rank is None:
        raise ValueError("rank of input or filter must be known")
    if rank - 2 not in _FORMATS:
        raise ValueError(f"Input tensor must be of rank 3, 4 or 5 but was {rank}.")
    first = has_channels_first(data_format)
    inner = slice(2, None) if first else slice(1, -1)
    strides = per_axis(strides, rank - 2, first, "strides")[inner]
    rates = per_axis(rates, rank - 2, first, "dilations")[inner]
    with name_scope(name, "convolution", [input, filter]) as name:
        convolve = Convolution(input_shape, filter_shape, padding, strides, rates, name, data_format)
        return convolve(input, filter) if max(rates) > 1 else convolve.undilated(input, filter, padding)


@export("nn.atrous_conv2d")
def atrous_conv2d(
    value: TensorLike, filters: TensorLike, rate: int, padding: str, name: str | None = None
) -> Tensor:
    """Computes a two-dimensional convolution with a dilated filter.

    Args:
      value: The input of shape [batch, height, width, in].
      filters: The filter of shape [height, width, in, out].
      rate: The distance of neighbouring elements of the filter along both axes.
      padding: `"SAME"` to pad the input with zeros so that the output has `ceil(size / stride)` elements
        along each axis, or `"VALID"` for no padding.
      name: The name of the operation.

    Returns:
      A tensor of the input's type.

    Raises:
      ValueError: If the arguments contradict each other, or shapes do not fit.
    """
    return convolution(value, filters, padding, dilation_rate=np.broadcast_to(rate, (2,)), name=name)


# ---------------------------------------------------------------------------- transposed


@export("nn.conv2d_transpose")
def conv2d_transpose(
    value: TensorLike | None = None,
    filter: TensorLike | None = None,
    output_shape: TensorLike | None = None,
    strides: int | Sequence[int] | None = None,
    padding: str = "SAME",
    data_format: str | None = "NHWC",
    name: str | None = None,
    input: TensorLike | None = None,
    filters: TensorLike | None = None,
    dilations: int | Sequence[int] | None = None,
) -> Tensor:
    """Computes the transpose of a two-dimensional convolution, which is its gradient.

    Args:
      value: The input of shape [batch, height, width, in] or, with `data_format` `"NCHW"`, [batch, in,
        height, width].
      filter: The filter of shape [height, width, out, in].
      output_shape: The shape of the output.
      strides: The strides.
      padding: `"SAME"` to pad the input with zeros so that the output has `ceil(size / stride)` elements
        along each axis, or `"VALID"` for no padding.
      data_format: `"NHWC"` or `"NCHW"`.
      name: The name of the operation.
      input: Another name for `value`.
      filters: Another name for `filter`.
      dilations: The distance of neighbouring elements of the filter along each axis.

    Returns:
      A tensor of the input's type.

    Raises:
      ValueError: If the arguments contradict each other, or shapes do not fit.
    """
    value = renamed("input", input, "value", value)
    filter = renamed("filters", filters, "filter", filter)
    with name_scope(name, "conv2d_transpose", [value, filter, output_shape]) as name:
        data_format = data_format or "NHWC"
        first = has_channels_first(data_format)
        return conv2d_backprop_input_op(
            output_shape,
            filter,
            value,
            strides=per_axis(strides, 2, first, "strides"),
            padding=padding,
            data_format=data_format,
            dilations=per_axis(dilations, 2, first, "dilations"),
            name=name,
        )


@export("nn.conv3d_transpose")
def conv3d_transpose(
    value: TensorLike,
    filter: TensorLike | None = None,
    output_shape: TensorLike | None = None,
    strides: int | Sequence[int] | None = None,
    padding: str = "SAME",
    data_format: str | None = "NDHWC",
    name: str | None = None,
    input: TensorLike | None = None,
    filters: TensorLike | None = None,
    dilations: int | Sequence[int] | None = None,
) -> Tensor:
    """Computes the transpose of a three-dimensional convolution, which is its gradient.

    Args:
      value: The input of shape [batch, depth, height, width, in] or, with `data_format` `"NCDHW"`, with the
        channels second.
      filter: The filter of shape [depth, height, width, out, in].
      output_shape: The shape of the output.
      strides: The strides.
      padding: `"SAME"` to pad the input with zeros so that the output has `ceil(size / stride)` elements
        along each axis, or `"VALID"` for no padding.
      data_format: `"NDHWC"` or `"NCDHW"`.
      name: The name of the operation.
      input: Another name for `value`.
      filters: Another name for `filter`.
      dilations: The distance of neighbouring elements of the filter along each axis.

    Returns:
      A tensor of the input's type.

    Raises:
      ValueError: If the arguments contradict each other, or shapes do not fit.
    """
    filter = renamed("filters", filters, "filter", filter)
    value = renamed("input", input, "value", value)
    with name_scope(name, "conv3d_transpose", [value, filter, output_shape]) as name:
        data_format = data_format or "NDHWC"
        first = has_channels_first(data_format)
        return conv3d_backprop_input_v2_op(
            output_shape,
            filter,
            value,
            strides=per_axis(strides, 3, first, "strides"),
            padding=padding,
            data_format=data_format,
            dilations=per_axis(dilations, 3, first, "dilations"),
            name=name,
        )


@export("nn.conv_transpose")
def conv_transpose(
    input: TensorLike,
    filters: TensorLike,
    output_shape: TensorLike,
    strides: int | Sequence[int],
    padding: str = "SAME",
    data_format: str | None = None,
    dilations: int | Sequence[int] | None = None,
    name: str | None = None,
) -> Tensor:
    """Computes the transpose of a convolution over one, two or three axes.

    Args:
      input: The input of shape [batch, sizes, in] or, if `data_format` starts with `"NC"`, [batch, in,
        sizes].
      filters: The filter of shape [filter sizes, out, in].
      output_shape: The shape of the output, which says how many axes there are.
      strides: The strides.
      padding: `"SAME"` to pad the input with zeros so that the output has `ceil(size / stride)` elements
        along each axis, or `"VALID"` for no padding.
      data_format: The order of the axes; channels last if None.
      dilations: The distance of neighbouring elements of the filter along each axis.
      name: The name of the operation.

    Returns:
      A tensor of the input's type.

    Raises:
      ValueError: If the arguments contradict each other, or shapes do not fit.
    """
    with name_scope(name, "conv_transpose", [input, filters, output_shape]) as name:
        if isinstance(output_shape, Tensor):
            rank = output_shape.shape.as_list()[0] - 2
        elif hasattr(output_shape, "__len__"):
            rank = len(output_shape) - 2
        else:
            raise ValueError("output_shape must be a tensor or sized collection.")
        if rank not in _FORMATS:
            raise ValueError(f"output_shape must be of length 3, 4 or 5 but was {rank + 2}.")
        function = (conv1d_transpose, conv2d_transpose, conv3d_transpose)[rank - 1]
        common = {"padding": padding, "data_format": data_format, "dilations": dilations, "name": name}
        return function(input, filters, output_shape, strides, **common)


@export("nn.atrous_conv2d_transpose")
def atrous_conv2d_transpose(
    value: TensorLike,
    filters: TensorLike,
    output_shape: TensorLike,
    rate: int,
    padding: str,
    name: str | None = None,
) -> Tensor:
    """Computes the transpose of `tf.nn.atrous_conv2d`.

    Args:
      value: The input of shape [batch, height, width, in].
      filters: The filter of shape [height, width, out, in].
      output_shape: The shape of the output.
      rate: The distance of neighbouring elements of the filter along both axes.
      padding: `"SAME"` to pad the input with zeros so that the output has `ceil(size / stride)` elements
        along each axis, or `"VALID"` for no padding.
      name: The name of the operation.

    Returns:
      A tensor of the input's type.

    Raises:
      ValueError: If the arguments contradict each other, or shapes do not fit.
    """
    with name_scope(name, "atrous_conv2d_transpose", [value, filters, output_shape]) as name:
        value = convert_to_tensor(value, name="value")
        filters = convert_to_tensor(filters, name="filters")
        _check_atrous(value, filters, output_shape, rate)
        if rate == 1:
            return conv2d_transpose(value, filters, output_shape, [1, 1, 1, 1], padding=padding)
        if not convert_to_tensor(output_shape, name="output_shape").shape.is_compatible_with([4]):
            raise ValueError(f"output_shape must have shape (4,), got {output_shape}")
        window = filters.shape.as_list() if filters.shape.is_fully_defined() else shapes.shape(filters)
        (top, bottom), (left, right) = _atrous_margins(window, rate, padding)
        height, width = output_shape[1] + top + bottom, output_shape[2] + left + right
        more_rows, more_columns = (rate - height % rate) % rate, (rate - width % rate) % rate
        value = blocks.space_to_batch(value, [[0, more_rows], [0, more_columns]], rate)
        sizes = [
            rate * rate * output_shape[0],
            (height + more_rows) // rate,
            (width + more_columns) // rate,
            output_shape[3],
        ]
        value = conv2d_backprop_input_op(sizes, filters, value, strides=[1, 1, 1, 1], padding="VALID")
        crops = [[top, bottom + more_rows], [left, right + more_columns]]
        return blocks.batch_to_space(value, crops, rate)


def _check_atrous(value: Tensor, filters: Tensor, output_shape: Any, rate: int) -> None:
    given, wanted = value.shape.as_list()[3], filters.shape.as_list()
    if None not in (given, wanted[3]) and given != wanted[3]:
        raise ValueError(
            f"value's input channels does not match filters' input channels, {given} != {wanted[3]}"
        )
    if rate < 1:
        raise ValueError(f"rate {rate} cannot be less than one")
    if isinstance(output_shape, (list, tuple, np.ndarray)) and len(output_shape) == 4:
        depth = output_shape[3]
        if wanted[2] is not None and not isinstance(depth, Tensor) and depth != wanted[2]:
            raise ValueError(f"output_shape does not match filter's output channels, {depth} != {wanted[2]}")


def _atrous_margins(window: Any, rate: int, padding: str) -> list[tuple[Any, Any]]:
    if padding not in ("SAME", "VALID"):
        raise ValueError(f"padding must be either VALID or SAME: {padding}")
    missing = [(window[i] - 1) * rate if padding == "SAME" else 0 for i in range(2)]
    return [(size // 2, size - size // 2) for size in missing]


# ---------------------------------------------------------------------------- depthwise and separable


@export("nn.depthwise_conv2d")
def depthwise_conv2d(
    input: TensorLike,
    filter: TensorLike,
    strides: int | Sequence[int],
    padding: str,
    rate: int | Sequence[int] | None = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: int | Sequence[int] | None = None,
) -> Tensor:
    """Computes a two-dimensional convolution of each channel with filters of its own.

    Args:
      input: The input of shape [batch, height, width, in] or, with `data_format` `"NCHW"`, [batch, in,
        height, width].
      filter: The filters of shape [height, width, in, multiplier]. The output has `in * multiplier` channels.
      strides: The strides along the four axes.
      padding: `"SAME"` to pad the input with zeros so that the output has `ceil(size / stride)` elements
        along each axis, or `"VALID"` for no padding.
      rate: The dilation along height and width; only with strides of 1.
      name: The name of the operation.
      data_format: `"NHWC"` or `"NCHW"`.
      dilations: Another name for `rate`.

    Returns:
      A tensor of the input's type.

    Raises:
      ValueError: If the arguments contradict each other, or shapes do not fit.
    """
    rate = renamed("dilations", dilations, "rate", rate)
    with name_scope(name, "depthwise", [input, filter]) as name:
        input = convert_to_tensor(input, name="tensor_in")
        filter = convert_to_tensor(filter, name="filter_in")
        return _dilated_depthwise(input, filter, strides, padding, rate, data_format, name)


def _dilated_depthwise(
    input: Tensor, filter: Tensor, strides: Any, padding: str, rate: Any, data_format: str | None, name: str
) -> Tensor:
    def undilated(images: Tensor, _: int, padding: str) -> Tensor:
        format = data_format or "NHWC"
        return depthwise_conv2d_native(images, filter, strides, padding, data_format=format, name=name)

    return with_space_to_batch(
        input,
        [1, 1] if rate is None else rate,
        padding,
        undilated,
        filter_shape=shapes.shape(filter),
        data_format=data_format,
    )


@export("nn.separable_conv2d")
def separable_conv2d(
    input: TensorLike,
    depthwise_filter: TensorLike,
    pointwise_filter: TensorLike,
    strides: int | Sequence[int],
    padding: str,
    rate: int | Sequence[int] | None = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: int | Sequence[int] | None = None,
) -> Tensor:
    """Computes a depthwise convolution followed by a convolution that mixes the channels of each pixel.

    Args:
      input: The input of shape [batch, height, width, in] or, with `data_format` `"NCHW"`, [batch, in,
        height, width].
      depthwise_filter: The filters of shape [height, width, in, multiplier].
      pointwise_filter: The filter of shape [1, 1, in * multiplier, out].
      strides: The strides along the four axes.
      padding: `"SAME"` to pad the input with zeros so that the output has `ceil(size / stride)` elements
        along each axis, or `"VALID"` for no padding.
      rate: The dilation along height and width; only with strides of 1.
      name: The name of the operation.
      data_format: `"NHWC"` or `"NCHW"`.
      dilations: Another name for `rate`.

    Returns:
      A tensor of the input's type.

    Raises:
      ValueError: If the arguments contradict each other, or shapes do not fit.
    """
    rate = renamed("dilations", dilations, "rate", rate)
    with name_scope(name, "separable_conv2d", [input, depthwise_filter, pointwise_filter]) as name:
        input = convert_to_tensor(input, name="tensor_in")
        depthwise_filter = convert_to_tensor(depthwise_filter, name="depthwise_filter")
        pointwise_filter = convert_to_tensor(pointwise_filter, name="pointwise_filter")
        for size in pointwise_filter.shape.with_rank(4).dims[:2]:
            size.assert_is_compatible_with(1)
        apart = _dilated_depthwise(input, depthwise_filter, strides, padding, rate, data_format, "depthwise")
        return conv2d(
            apart, pointwise_filter, [1, 1, 1, 1], padding="VALID", data_format=data_format, name=name
        )
