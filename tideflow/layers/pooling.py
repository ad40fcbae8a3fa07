"""Pooling layers, of one, two and three dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.layers import keras_pooling
from tideflow.layers.function_docs import function_doc
from tideflow.layers.scoped import Layer

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


class _Pooling(keras_pooling.Pooling, Layer):
    """The arguments of `tf.layers`: windows and strides must be given."""

    def __init__(
        self,
        pool_size: int | Sequence[int],
        strides: int | Sequence[int],
        padding: str = "valid",
        data_format: str = "channels_last",
        name: str | None = None,
        **kwargs: Any,
    ):
        if strides is None:
            raise ValueError("Argument `strides` must not be None.")
        super().__init__(pool_size, strides, padding, data_format, name=name, **kwargs)


@export("layers.MaxPooling1D")
class MaxPooling1D(_Pooling, keras_pooling.MaxPooling1D):
    """The maximum of each window along one axis.

    Args:
      pool_size: The size of the window along each axis, or one for all.
      strides: The stride along each axis, or one for all.
      padding: `"valid"` or `"same"`.
      data_format: `"channels_last"` or `"channels_first"`.
      name: The name of the layer.
      kwargs: Arguments of `tf.layers.Layer`.
    """


@export("layers.AveragePooling1D")
class AveragePooling1D(_Pooling, keras_pooling.AveragePooling1D):
    """The mean of each window along one axis.

    Args:
      pool_size: The size of the window along each axis, or one for all.
      strides: The stride along each axis, or one for all.
      padding: `"valid"` or `"same"`.
      data_format: `"channels_last"` or `"channels_first"`.
      name: The name of the layer.
      kwargs: Arguments of `tf.layers.Layer`.
    """


@export("layers.MaxPooling2D")
class MaxPooling2D(_Pooling, keras_pooling.MaxPooling2D):
    """The maximum of each window along two axes.

    Args:
      pool_size: The size of the window along each axis, or one for all.
      strides: The stride along each axis, or one for all.
      padding: `"valid"` or `"same"`.
      data_format: `"channels_last"` or `"channels_first"`.
      name: The name of the layer.
      kwargs: Arguments of `tf.layers.Layer`.
    """


@export("layers.AveragePooling2D")
class AveragePooling2D(_Pooling, keras_pooling.AveragePooling2D):
    """The mean of each window along two axes.

    Args:
      pool_size: The size of the window along each axis, or one for all.
      strides: The stride along each axis, or one for all.
      padding: `"valid"` or `"same"`.
      data_format: `"channels_last"` or `"channels_first"`.
      name: The name of the layer.
      kwargs: Arguments of `tf.layers.Layer`.
    """


@export("layers.MaxPooling3D")
class MaxPooling3D(_Pooling, keras_pooling.MaxPooling3D):
    """The maximum of each window along three axes.

    Args:
      pool_size: The size of the window along each axis, or one for all.
      strides: The stride along each axis, or one for all.
      padding: `"valid"` or `"same"`.
      data_format: `"channels_last"` or `"channels_first"`.
      name: The name of the layer.
      kwargs: Arguments of `tf.layers.Layer`.
    """


@export("layers.AveragePooling3D")
class AveragePooling3D(_Pooling, keras_pooling.AveragePooling3D):
    """The mean of each window along three axes.

    Args:
      pool_size: The size of the window along each axis, or one for all.
      strides: The stride along each axis, or one for all.
      padding: `"valid"` or `"same"`.
      data_format: `"channels_last"` or `"channels_first"`.
      name: The name of the layer.
      kwargs: Arguments of `tf.layers.Layer`.
    """


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
