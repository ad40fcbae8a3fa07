"""Pooling layers, of one, two and three dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.layers.base import Layer
from tideflow.layers.function_docs import function_doc
from tideflow.layers.input_spec import InputSpec
from tideflow.layers.shapes import check_data_format, check_padding, sizes, tensor_format
from tideflow.ops.arrays import shapes
from tideflow.ops.nn import mean_pooling, pooling

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


class _Pooling(Layer):
    """Pools over windows of the axes that are neither batch nor channels."""

    rank: int
    function: Callable

    def __init__(
        self,
        pool_size: int | Sequence[int],
        strides: int | Sequence[int],
        padding: str = "valid",
        data_format: str = "channels_last",
        name: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(name=name, **kwargs)
        if strides is None:
            raise ValueError("Argument `strides` must not be None.")
        self.pool_size = sizes(pool_size, self.rank, "pool_size")
        self.strides = sizes(strides, self.rank, "strides")
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


class _Pooling1D(_Pooling):
    rank = 1

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


@export("layers.MaxPooling1D")
class MaxPooling1D(_Pooling1D):
    """The maximum of each window along one axis.

    Args:
      pool_size: The size of the window along each axis, or one for all.
      strides: The stride along each axis, or one for all.
      padding: `"valid"` or `"same"`.
      data_format: `"channels_last"` or `"channels_first"`.
      name: The name of the layer.
      kwargs: Arguments of `tf.layers.Layer`.
    """

    function = staticmethod(pooling.max_pool)


@export("layers.AveragePooling1D")
class AveragePooling1D(_Pooling1D):
    """The mean of each window along one axis.

    Args:
      pool_size: The size of the window along each axis, or one for all.
      strides: The stride along each axis, or one for all.
      padding: `"valid"` or `"same"`.
      data_format: `"channels_last"` or `"channels_first"`.
      name: The name of the layer.
      kwargs: Arguments of `tf.layers.Layer`.
    """

    function = staticmethod(mean_pooling.avg_pool)


@export("layers.MaxPooling2D")
class MaxPooling2D(_Pooling):
    """The maximum of each window along two axes.

    Args:
      pool_size: The size of the window along each axis, or one for all.
      strides: The stride along each axis, or one for all.
      padding: `"valid"` or `"same"`.
      data_format: `"channels_last"` or `"channels_first"`.
      name: The name of the layer.
      kwargs: Arguments of `tf.layers.Layer`.
    """

    rank = 2
    function = staticmethod(pooling.max_pool)


@export("layers.AveragePooling2D")
class AveragePooling2D(_Pooling):
    """The mean of each window along two axes.

    Args:
      pool_size: The size of the window along each axis, or one for all.
      strides: The stride along each axis, or one for all.
      padding: `"valid"` or `"same"`.
      data_format: `"channels_last"` or `"channels_first"`.
      name: The name of the layer.
      kwargs: Arguments of `tf.layers.Layer`.
    """

    rank = 2
    function = staticmethod(mean_pooling.avg_pool)


@export("layers.MaxPooling3D")
class MaxPooling3D(_Pooling):
    """The maximum of each window along three axes.

    Args:
      pool_size: The size of the window along each axis, or one for all.
      strides: The stride along each axis, or one for all.
      padding: `"valid"` or `"same"`.
      data_format: `"channels_last"` or `"channels_first"`.
      name: The name of the layer.
      kwargs: Arguments of `tf.layers.Layer`.
    """

    rank = 3
    function = staticmethod(pooling.max_pool3d)


@export("layers.AveragePooling3D")
class AveragePooling3D(_Pooling):
    """The mean of each window along three axes.

    Args:
      pool_size: The size of the window along each axis, or one for all.
      strides: The stride along each axis, or one for all.
      padding: `"valid"` or `"same"`.
      data_format: `"channels_last"` or `"channels_first"`.
      name: The name of the layer.
      kwargs: Arguments of `tf.layers.Layer`.
    """

    rank = 3
    function = staticmethod(mean_pooling.avg_pool3d)


def _functional(layer: type[_Pooling], name: str) -> Callable:
    def pool(
        inputs: TensorLike,
        pool_size: int | Sequence[int],
        strides: int | Sequence[int],
        padding: str = "valid",
        data_format: str = "channels_last",
        name: str | None = None,
    ) -> Tensor:
        return layer(pool_size, strides, padding=padding, data_format=data_format, name=name).apply(inputs)

    pool.__name__ = pool.__qualname__ = name
    pool.__doc__ = function_doc(layer)
    return export(f"layers.{name}")(pool)


max_pooling1d = _functional(MaxPooling1D, "max_pooling1d")
max_pooling2d = _functional(MaxPooling2D, "max_pooling2d")
max_pooling3d = _functional(MaxPooling3D, "max_pooling3d")
average_pooling1d = _functional(AveragePooling1D, "average_pooling1d")
average_pooling2d = _functional(AveragePooling2D, "average_pooling2d")
average_pooling3d = _functional(AveragePooling3D, "average_pooling3d")
