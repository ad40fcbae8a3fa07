"""Layers that pad, cut and enlarge sequences, images and volumes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.export import export
from tideflow.layers.argument_docs import described
from tideflow.layers.configured import Configured
from tideflow.layers.input_spec import InputSpec
from tideflow.layers.shapes import check_data_format, sizes

if TYPE_CHECKING:
    from tideflow.graph.operation import Tensor
    from tideflow.graph.typing import ShapeLike

_PADDING = "How much is added at each end of each axis: one number, one an axis, or a pair an axis."


def _pairs(value: Any, rank: int, name: str) -> Any:
    """What happens at both ends of each axis."""
    if isinstance(value, int):
        return ((value, value),) * rank
    if hasattr(value, "__len__") and len(value) == rank:
        return tuple(sizes(each, 2, f"{i + 1} entry of {name}") for i, each in enumerate(value))
    if rank == 1 and hasattr(value, "__len__") and len(value) == 2:
        return (sizes(value, 2, name),)
    raise ValueError(
        f"`{name}` should be either an int, a tuple of {rank} ints, or a tuple of {rank} tuples of 2 ints. "
        f"Found: {value}"
    )


class _Spatial(Configured):
    """A layer that changes the sizes of the axes that are neither batch nor channels."""

    rank: int

    def _set_up(self, data_format: str | None) -> None:
        self.data_format = check_data_format(data_format) if self.rank > 1 else "channels_last"
        self.input_spec = InputSpec(ndim=self.rank + 2)

    @property
    def _first(self) -> int:
        return 2 if self.data_format == "channels_first" else 1

    def _changed(self, axis: int, size: int) -> int:
        raise NotImplementedError

    def compute_output_shape(self, input_shape: ShapeLike) -> Any:
        found = tf.TensorShape(input_shape).as_list()
        for axis in range(self.rank):
            size = found[self._first + axis]
            found[self._first + axis] = None if size is None else self._changed(axis, size)
        return tf.TensorShape(found)


class _ZeroPadding(_Spatial):
    def _changed(self, axis: int, size: int) -> int:
        return size + sum(self._both[axis])

    def call(self, inputs: Tensor) -> Tensor:
        pattern = [[0, 0]] * (self.rank + 2)
        for axis, pair in enumerate(self._both):
            pattern[self._first + axis] = list(pair)
        return tf.pad(inputs, pattern)


@export("keras.layers.ZeroPadding1D")
@described("Adds zeros at the ends of sequences.", padding=_PADDING)
class ZeroPadding1D(_ZeroPadding):
    rank = 1
    _config = ("padding",)

    def __init__(self, padding: int | Sequence[int] = 1, **kwargs: Any):
        super().__init__(**kwargs)
        self._both = _pairs(padding, 1, "padding")
        self.padding = self._both[0]
        self._set_up(None)


@export("keras.layers.ZeroPadding2D")
@described("Adds zeros around images.", padding=_PADDING)
class ZeroPadding2D(_ZeroPadding):
    rank = 2
    _config = ("padding", "data_format")

    def __init__(self, padding: Any = (1, 1), data_format: str | None = None, **kwargs: Any):
        super().__init__(**kwargs)
        self.padding = self._both = _pairs(padding, 2, "padding")
        self._set_up(data_format)


@export("keras.layers.ZeroPadding3D")
@described("Adds zeros around volumes.", padding=_PADDING)
class ZeroPadding3D(_ZeroPadding):
    rank = 3
    _config = ("padding", "data_format")

    def __init__(self, padding: Any = (1, 1, 1), data_format: str | None = None, **kwargs: Any):
        super().__init__(**kwargs)
        self.padding = self._both = _pairs(padding, 3, "padding")
        self._set_up(data_format)


class _Cropping(_Spatial):
    def _changed(self, axis: int, size: int) -> int:
        return size - sum(self._both[axis])

    def call(self, inputs: Tensor) -> Tensor:
        cut = [slice(None)] * (self.rank + 2)
        for axis, (before, after) in enumerate(self._both):
            cut[self._first + axis] = slice(before, -after if after else None)
        return inputs[tuple(cut)]


@export("keras.layers.Cropping1D")
@described("Cuts off the ends of sequences.")
class Cropping1D(_Cropping):
    rank = 1
    _config = ("cropping",)

    def __init__(self, cropping: int | Sequence[int] = (1, 1), **kwargs: Any):
        super().__init__(**kwargs)
        self._both = _pairs(cropping, 1, "cropping")
        self.cropping = self._both[0]
        self._set_up(None)


@export("keras.layers.Cropping2D")
@described("Cuts off the borders of images.")
class Cropping2D(_Cropping):
    rank = 2
    _config = ("cropping", "data_format")

    def __init__(self, cropping: Any = ((0, 0), (0, 0)), data_format: str | None = None, **kwargs: Any):
        super().__init__(**kwargs)
        self.cropping = self._both = _pairs(cropping, 2, "cropping")
        self._set_up(data_format)


@export("keras.layers.Cropping3D")
@described("Cuts off the borders of volumes.")
class Cropping3D(_Cropping):
    rank = 3
    _config = ("cropping", "data_format")

    def __init__(
        self, cropping: Any = ((1, 1), (1, 1), (1, 1)), data_format: str | None = None, **kwargs: Any
    ):
        super().__init__(**kwargs)
        self.cropping = self._both = _pairs(cropping, 3, "cropping")
        self._set_up(data_format)


class _UpSampling(_Spatial):
    def _changed(self, axis: int, size: int) -> int:
        factors = (self.size,) if self.rank == 1 else self.size
        return size * factors[axis]


@export("keras.layers.UpSampling1D")
@described("Repeats each time step.")
class UpSampling1D(_UpSampling):
    rank = 1
    _config = ("size",)

    def __init__(self, size: int = 2, **kwargs: Any):
        super().__init__(**kwargs)
        self.size = int(size)
        self._set_up(None)

    def call(self, inputs: Tensor) -> Tensor:
        return tf.keras.backend.repeat_elements(inputs, self.size, axis=1)


@export("keras.layers.UpSampling2D")
@described("Enlarges images.")
class UpSampling2D(_UpSampling):
    rank = 2
    _config = ("size", "data_format", "interpolation")

    def __init__(
        self,
        size: int | Sequence[int] = (2, 2),
        data_format: str | None = None,
        interpolation: str = "nearest",
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self.size = sizes(size, 2, "size")
        if interpolation not in ("nearest", "bilinear"):
            raise ValueError('`interpolation` argument should be one of `"nearest"` or `"bilinear"`.')
        self.interpolation = interpolation
        self._set_up(data_format)

    def call(self, inputs: Tensor) -> Tensor:
        return tf.keras.backend.resize_images(
            inputs, *self.size, self.data_format, interpolation=self.interpolation
        )


@export("keras.layers.UpSampling3D")
@described("Enlarges volumes.")
class UpSampling3D(_UpSampling):
    rank = 3
    _config = ("size", "data_format")

    def __init__(self, size: int | Sequence[int] = (2, 2, 2), data_format: str | None = None, **kwargs: Any):
        super().__init__(**kwargs)
        self.size = sizes(size, 3, "size")
        self._set_up(data_format)

    def call(self, inputs: Tensor) -> Tensor:
        return tf.keras.backend.resize_volumes(inputs, *self.size, self.data_format)
