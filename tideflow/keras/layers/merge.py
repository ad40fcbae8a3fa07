"""Layers of several inputs: sums, products, joined axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.export import export
from tideflow.layers.argument_docs import described
from tideflow.layers.configured import Configured

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tideflow.graph.operation import Tensor


class _Merge(Configured):
    """A layer of several inputs of the same shape, or shapes that broadcast."""

    _needs = 2

    def __init__(self, **kwargs: Any):
        super().__init__(**kwargs)
        self.supports_masking = True

    def _merged(self, inputs: list[Any]) -> Any:
        raise NotImplementedError

    def build(self, input_shape: Any) -> None:
        if not isinstance(input_shape, list):
            raise ValueError("A merge layer should be called on a list of inputs.")
        if len(input_shape) < self._needs:
            raise ValueError(
                f"A merge layer should be called on a list of at least 2 inputs. Got {len(input_shape)} "
                "inputs."
            )
        batches = {tf.TensorShape(shape).as_list()[0] for shape in input_shape} - {None}
        if len(batches) > 1:
            shapes = [tuple(tf.TensorShape(shape).as_list()) for shape in input_shape]
            raise ValueError(
                f"Can not merge tensors with different batch sizes. Got tensors with shapes : {shapes}"
            )
        self._merged_shape([tf.TensorShape(shape).as_list() for shape in input_shape])
        self.built = True

    def _merged_shape(self, shapes: list[list[Any]]) -> list[Any]:
        """The shape of the output, without broadcasts that are not possible."""
        found: list[Any] = []
        rank = max(map(len, shapes))
        for axis in range(1, rank):
            sizes = {shape[axis - rank] for shape in shapes if len(shape) > rank - axis}
            known = sizes - {1, None}
            if len(known) > 1:
                a, b = (tuple(shape[1:]) for shape in shapes[:2])
                raise ValueError(f"Operands could not be broadcast together with shapes {a} {b}")
            found.append(None if not known and None in sizes else (known or {1}).pop())
        return [shapes[0][0], *found]

    def call(self, inputs: Any) -> Any:
        if not isinstance(inputs, list):
            raise ValueError("A merge layer should be called on a list of inputs.")
        rank = max(x.shape.ndims for x in inputs)
        # Inputs of fewer axes get axes of size one behind the batch.
        for number, x in enumerate(inputs):
            while x.shape.ndims < rank:
                x = tf.expand_dims(x, axis=1)
            inputs = [*inputs[:number], x, *inputs[number + 1 :]]
        return self._merged(inputs)

    def compute_output_shape(self, input_shape: Any) -> Any:
        return tf.TensorShape(self._merged_shape([tf.TensorShape(shape).as_list() for shape in input_shape]))

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        _check_masks(inputs, mask)
        if mask is None or all(each is None for each in mask):
            return None
        there = [tf.expand_dims(each, axis=0) for each in mask if each is not None]
        return tf.reduce_all(tf.concat(there, axis=0), axis=0)


def _check_masks(inputs: Any, mask: Any) -> None:
    """ValueError unless there is a mask, or None, for each of several inputs."""
    if mask is None:
        return
    if not isinstance(mask, list):
        raise ValueError("`mask` should be a list.")
    if not isinstance(inputs, list):
        raise ValueError("`inputs` should be a list.")
    if len(mask) != len(inputs):
        raise ValueError("The lists `inputs` and `mask` should have the same length.")


@export("keras.layers.Add")
@described("The sum of inputs.")
class Add(_Merge):
    def _merged(self, inputs: list[Any]) -> Any:
        output = inputs[0]
        for x in inputs[1:]:
            output += x
        return output


@export("keras.layers.Subtract")
@described("The difference of two inputs.")
class Subtract(_Merge):
    def build(self, input_shape: Any) -> None:
        super().build(input_shape)
        if len(input_shape) != 2:
            raise ValueError("A `Subtract` layer should be called on exactly 2 inputs")

    def _merged(self, inputs: list[Any]) -> Any:
        if len(inputs) != 2:
            raise ValueError("A `Subtract` layer should be called on exactly 2 inputs")
        return inputs[0] - inputs[1]


@export("keras.layers.Multiply")
@described("The product of inputs, element by element.")
class Multiply(_Merge):
    def _merged(self, inputs: list[Any]) -> Any:
        output = inputs[0]
        for x in inputs[1:]:
            output = output * x
        return output


@export("keras.layers.Average")
@described("The mean of inputs.")
class Average(_Merge):
    def _merged(self, inputs: list[Any]) -> Any:
        output = inputs[0]
        for x in inputs[1:]:
            output += x
        return output / len(inputs)


@export("keras.layers.Maximum")
@described("The largest of inputs, element by element.")
class Maximum(_Merge):
    def _merged(self, inputs: list[Any]) -> Any:
        output = inputs[0]
        for x in inputs[1:]:
            output = tf.maximum(output, x)
        return output


@export("keras.layers.Minimum")
@described("The least of inputs, element by element.")
class Minimum(_Merge):
    def _merged(self, inputs: list[Any]) -> Any:
        output = inputs[0]
        for x in inputs[1:]:
            output = tf.minimum(output, x)
        return output


@export("keras.layers.Concatenate")
@described("Joins inputs along an axis.")
class Concatenate(_Merge):
    _config = ("axis",)

    def __init__(self, axis: int = -1, **kwargs: Any):
        super().__init__(**kwargs)
        self.axis = axis

    def build(self, input_shape: Any) -> None:
        if not isinstance(input_shape, list) or len(input_shape) < 2:
            raise ValueError("A `Concatenate` layer should be called on a list of at least 2 inputs")
        shapes = [tf.TensorShape(shape).as_list() for shape in input_shape]
        rest = [
            [size for axis, size in enumerate(shape) if axis != self.axis % len(shape)] for shape in shapes
        ]
        for sizes in zip(*rest, strict=True):
            if len(set(sizes) - {None}) > 1:
                raise ValueError(
                    "A `Concatenate` layer requires inputs with matching shapes except for the concat axis. "
                    f"Got inputs shapes: {[tuple(shape) for shape in shapes]}"
                )
        self.built = True

    def call(self, inputs: Any) -> Any:
        return tf.concat(inputs, self.axis % inputs[0].shape.ndims)

    def compute_output_shape(self, input_shape: Any) -> Any:
        if not isinstance(input_shape, list):
            raise ValueError("A `Concatenate` layer should be called on a list of inputs.")
        shapes = [tf.TensorShape(shape).as_list() for shape in input_shape]
        found = list(shapes[0])
        sizes = [shape[self.axis] for shape in shapes]
        found[self.axis] = None if None in sizes else sum(sizes)
        return tf.TensorShape(found)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        _check_masks(inputs, mask)
        if mask is None or all(each is None for each in mask):
            return None
        masks = []
        for x, each in zip(inputs, mask, strict=True):
            if each is None:
                masks.append(tf.ones_like(x, dtype=tf.bool))
            elif each.shape.ndims < x.shape.ndims:
                masks.append(tf.expand_dims(each, axis=-1))
            else:
                masks.append(each)
        return tf.reduce_all(tf.concat(masks, axis=self.axis), axis=-1)


@export("keras.layers.Dot")
@described("The products of the vectors of two inputs.")
class Dot(_Merge):
    _config = ("axes", "normalize")

    def __init__(self, axes: int | Sequence[int], normalize: bool = False, **kwargs: Any):
        super().__init__(**kwargs)
        if not isinstance(axes, int):
            if not isinstance(axes, (list, tuple)):
                raise TypeError(f"Invalid type for `axes` - should be a list or an int. Received: {axes}")
            if len(axes) != 2:
                raise ValueError(f"Invalid format for `axes` - should contain two elements. Received: {axes}")
            if not all(isinstance(axis, int) for axis in axes):
                raise ValueError(
                    f'Invalid format for `axes` - list elements should be "int". Received: {axes}'
                )
        self.axes = axes
        self.normalize = normalize

    def _pair(self, shapes: list[Any]) -> list[int]:
        axes = [self.axes] * 2 if isinstance(self.axes, int) else list(self.axes)
        return [axis % len(shape) for axis, shape in zip(axes, shapes, strict=True)]

    def build(self, input_shape: Any) -> None:
        if not isinstance(input_shape, list) or len(input_shape) != 2:
            raise ValueError("A `Dot` layer should be called on a list of 2 inputs.")
        shapes = [tf.TensorShape(shape).as_list() for shape in input_shape]
        axes = self._pair(shapes)
        if shapes[0][axes[0]] != shapes[1][axes[1]]:
            raise ValueError(
                f"Dimension incompatibility {shapes[0][axes[0]]} != {shapes[1][axes[1]]}. Layer shapes: "
                f"{tuple(shapes[0])}, {tuple(shapes[1])}. Chosen axes: {axes[0]}, {axes[1]}"
            )
        self.built = True

    def call(self, inputs: Any) -> Tensor:
        axes = self._pair([x.shape.as_list() for x in inputs])
        if self.normalize:
            inputs = [tf.nn.l2_normalize(x, axis=axis) for x, axis in zip(inputs, axes, strict=True)]
        return tf.keras.backend.batch_dot(inputs[0], inputs[1], axes)

    def compute_output_shape(self, input_shape: Any) -> Any:
        if not isinstance(input_shape, list) or len(input_shape) != 2:
            raise ValueError("A `Dot` layer should be called on a list of 2 inputs.")
        shapes = [tf.TensorShape(shape).as_list() for shape in input_shape]
        axes = self._pair(shapes)
        kept = [
            [s for axis, s in enumerate(shape) if axis != out]
            for shape, out in zip(shapes, axes, strict=True)
        ]
        found = kept[0] + kept[1][1:]
        return tf.TensorShape(found if len(found) > 1 else [*found, 1])

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        return None


def _call(layer: type, inputs: Any, *args: Any, **kwargs: Any) -> Any:
    return layer(*args, **kwargs)(inputs)


@export("keras.layers.add")
def add(inputs: list[Any], **kwargs: Any) -> Tensor:
    """Adds inputs.

    Args:
      inputs: A list of inputs.
      **kwargs: Arguments of the layer.

    Returns:
      The sum.
    """
    return _call(Add, inputs, **kwargs)


@export("keras.layers.subtract")
def subtract(inputs: list[Any], **kwargs: Any) -> Tensor:
    """Subtracts the second input from the first.

    Args:
      inputs: A list of two inputs.
      **kwargs: Arguments of the layer.

    Returns:
      The difference.
    """
    return _call(Subtract, inputs, **kwargs)


@export("keras.layers.multiply")
def multiply(inputs: list[Any], **kwargs: Any) -> Tensor:
    """Multiplies inputs, element by element.

    Args:
      inputs: A list of inputs.
      **kwargs: Arguments of the layer.

    Returns:
      The product.
    """
    return _call(Multiply, inputs, **kwargs)


@export("keras.layers.average")
def average(inputs: list[Any], **kwargs: Any) -> Tensor:
    """Averages inputs.

    Args:
      inputs: A list of inputs.
      **kwargs: Arguments of the layer.

    Returns:
      The mean.
    """
    return _call(Average, inputs, **kwargs)


@export("keras.layers.maximum")
def maximum(inputs: list[Any], **kwargs: Any) -> Tensor:
    """Computes the largest of inputs, element by element.

    Args:
      inputs: A list of inputs.
      **kwargs: Arguments of the layer.

    Returns:
      The maximum.
    """
    return _call(Maximum, inputs, **kwargs)


@export("keras.layers.minimum")
def minimum(inputs: list[Any], **kwargs: Any) -> Tensor:
    """Computes the least of inputs, element by element.

    Args:
      inputs: A list of inputs.
      **kwargs: Arguments of the layer.

    Returns:
      The minimum.
    """
    return _call(Minimum, inputs, **kwargs)


@export("keras.layers.concatenate")
def concatenate(inputs: list[Any], axis: int = -1, **kwargs: Any) -> Tensor:
    """Joins inputs along an axis.

    Args:
      inputs: A list of inputs.
      axis: The axis.
      **kwargs: Arguments of the layer.

    Returns:
      The joined inputs.
    """
    return _call(Concatenate, inputs, axis=axis, **kwargs)


@export("keras.layers.dot")
def dot(inputs: list[Any], axes: int | Sequence[int], normalize: bool = False, **kwargs: Any) -> Tensor:
    """Computes the products of the vectors of two inputs.

    Args:
      inputs: A list of two inputs.
      axes: The axis, or one for each input, along which products are summed.
      normalize: Whether the inputs are scaled to length one first.
      **kwargs: Arguments of the layer.

    Returns:
      The products.
    """
    return _call(Dot, inputs, axes=axes, normalize=normalize, **kwargs)
