"""Pooling layers of Keras. Those of `tf.layers` stand on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.graph.shapes import TensorShape
from tideflow.layers.argument_docs import described
from tideflow.layers.configured import Configured
from tideflow.layers.input_spec import InputSpec
from tideflow.layers.shapes import check_data_format, check_padding, convolved_size, sizes, tensor_format
from tideflow.ops.arrays import shapes
from tideflow.ops.math import casting, reductions
from tideflow.ops.nn import mean_pooling, pooling

if TYPE_CHECKING:
    from tideflow.graph.typing import ShapeLike, TensorLike


class Pooling(Configured):
    """Pools over windows of the axes that are neither batch nor channels."""

    rank: int
    function: Callable
    _config = ("pool_size", "padding", "strides", "data_format")

    def __init__(
        self,
        pool_size: int | Sequence[int] = 2,
        strides: int | Sequence[int] | None = None,
        padding: str = "valid",
        data_format: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self.pool_size = sizes(pool_size, self.rank, "pool_size")
        self.strides = sizes(pool_size if strides is None else strides, self.rank, "strides")
        self.padding = check_padding(padding)
        self.data_format = check_data_format(data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def call(self, inputs: Tensor) -> Tensor:
        window, strides = (self._with_outer_axes(size) for size in (self.pool_size, self.strides))
        data_format = tensor_format(self.data_format, self.rank + 2)
        return type(self).function(
            inputs, ksize=window, strides=strides, padding=self.padding.upper(), data_format=data_format
        )

    def _with_outer_axes(self, size: tuple[int, ...]) -> tuple[int, ...]:
        return (1, 1, *size) if self.data_format == "channels_first" else (1, *size, 1)

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        shape = TensorShape(input_shape).as_list()
        first = self.data_format == "channels_first"
        inner = shape[2:] if first else shape[1:-1]
        spans = zip(inner, self.pool_size, self.strides, strict=True)
        smaller = [convolved_size(n, k, self.padding, s) for n, k, s in spans]
        return TensorShape([*shape[:2], *smaller] if first else [shape[0], *smaller, shape[-1]])


class Pooling1D(Pooling):
    """Pooling over one axis, as over two of which one has size one."""

    _config = ("strides", "pool_size", "padding", "data_format")
    rank = 1

    def __init__(
        self,
        pool_size: int | Sequence[int] = 2,
        strides: int | Sequence[int] | None = None,
        padding: str = "valid",
        data_format: str | None = "channels_last",
        **kwargs: Any,
    ):
        super().__init__(pool_size, strides, padding, data_format, **kwargs)

    def call(self, inputs: Tensor) -> Tensor:
        axis = 2 if self.data_format == "channels_last" else 3
        pooled = type(self).function(
            shapes.expand_dims(inputs, axis),
            ksize=self._with_outer_axes((*self.pool_size, 1)),
            strides=self._with_outer_axes((*self.strides, 1)),
            padding=self.padding.upper(),
            data_format=tensor_format(self.data_format, 4),
        )
        return shapes.squeeze(pooled, axis)


@export("keras.layers.MaxPooling1D", "keras.layers.MaxPool1D")
@described("The maximum of each window along one axis.")
class MaxPooling1D(Pooling1D):
    function = staticmethod(pooling.max_pool)


@export("keras.layers.MaxPooling2D", "keras.layers.MaxPool2D")
@described("The maximum of each window along two axes.")
class MaxPooling2D(Pooling):
    rank = 2
    function = staticmethod(pooling.max_pool)


class Pooling3D(Pooling):
    """Pooling over three axes. The graph has the channels last, as TensorFlow's has."""

    rank = 3

    def call(self, inputs: Tensor) -> Tensor:
        first = self.data_format == "channels_first"
        pooled = type(self).function(
            shapes.transpose(inputs, (0, 2, 3, 4, 1)) if first else inputs,
            ksize=(1, *self.pool_size, 1),
            strides=(1, *self.strides, 1),
            padding=self.padding.upper(),
        )
        return shapes.transpose(pooled, (0, 4, 1, 2, 3)) if first else pooled


@export("keras.layers.MaxPooling3D", "keras.layers.MaxPool3D")
@described("The maximum of each window along three axes.")
class MaxPooling3D(Pooling3D):
    function = staticmethod(pooling.max_pool3d)


@export("keras.layers.AveragePooling1D", "keras.layers.AvgPool1D")
@described("The mean of each window along one axis.")
class AveragePooling1D(Pooling1D):
    function = staticmethod(mean_pooling.avg_pool)


@export("keras.layers.AveragePooling2D", "keras.layers.AvgPool2D")
@described("The mean of each window along two axes.")
class AveragePooling2D(Pooling):
    rank = 2
    function = staticmethod(mean_pooling.avg_pool)


@export("keras.layers.AveragePooling3D", "keras.layers.AvgPool3D")
@described("The mean of each window along three axes.")
class AveragePooling3D(Pooling3D):
    function = staticmethod(mean_pooling.avg_pool3d)


class GlobalPooling(Configured):
    """One number for each channel."""

    rank: int
    reduction: Callable
    _config = ("data_format",)

    def __init__(self, data_format: str | None = None, **kwargs: Any):
        super().__init__(**kwargs)
        self.data_format = check_data_format(data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    @property
    def _inner_axes(self) -> list[int]:
        first = 2 if self.data_format == "channels_first" else 1
        return list(range(first, first + self.rank))

    def call(self, inputs: Tensor) -> Tensor:
        axes = self._inner_axes
        return type(self).reduction(inputs, axis=axes[0] if self.rank == 1 else axes)

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        shape = TensorShape(input_shape).as_list()
        return TensorShape([shape[0], shape[1] if self.data_format == "channels_first" else shape[-1]])


@export("keras.layers.GlobalAveragePooling1D", "keras.layers.GlobalAvgPool1D")
@described("The mean over time. Time steps that are masked out do not count.")
class GlobalAveragePooling1D(GlobalPooling):
    rank = 1
    reduction = staticmethod(reductions.reduce_mean)

    def __init__(self, data_format: str | None = "channels_last", **kwargs: Any):
        super().__init__(data_format, **kwargs)
        self.supports_masking = True

    def call(self, inputs: Tensor, mask: TensorLike | None = None) -> Tensor:
        if mask is None:
            return super().call(inputs)
        axis = self._inner_axes[0]
        mask = casting.cast(mask, inputs.dtype)
        mask = shapes.expand_dims(mask, 2 if self.data_format == "channels_last" else 1)
        total = reductions.reduce_sum(inputs * mask, axis=axis)
        return total / reductions.reduce_sum(mask, axis=axis)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        return None


@export("keras.layers.GlobalMaxPooling1D", "keras.layers.GlobalMaxPool1D")
@described("The maximum over time.")
class GlobalMaxPooling1D(GlobalPooling):
    rank = 1
    reduction = staticmethod(reductions.reduce_max)

    def __init__(self, data_format: str | None = "channels_last", **kwargs: Any):
        super().__init__(data_format, **kwargs)


@export("keras.layers.GlobalMaxPooling2D", "keras.layers.GlobalMaxPool2D")
@described("The maximum of each channel of images.")
class GlobalMaxPooling2D(GlobalPooling):
    rank = 2
    reduction = staticmethod(reductions.reduce_max)


@export("keras.layers.GlobalMaxPooling3D", "keras.layers.GlobalMaxPool3D")
@described("The maximum of each channel of volumes.")
class GlobalMaxPooling3D(GlobalPooling):
    rank = 3
    reduction = staticmethod(reductions.reduce_max)


@export("keras.layers.GlobalAveragePooling2D", "keras.layers.GlobalAvgPool2D")
@described("The mean of each channel of images.")
class GlobalAveragePooling2D(GlobalPooling):
    rank = 2
    reduction = staticmethod(reductions.reduce_mean)


@export("keras.layers.GlobalAveragePooling3D", "keras.layers.GlobalAvgPool3D")
@described("The mean of each channel of volumes.")
class GlobalAveragePooling3D(GlobalPooling):
    rank = 3
    reduction = staticmethod(reductions.reduce_mean)
