"""Layers without weights (or nearly): flattening, encoding, repeating, stacking, normalizing to one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.contrib.framework.argument_scopes import add_arg_scope
from tideflow.contrib.framework.model_variables import model_variable
from tideflow.contrib.layers.utilities import (
    NCHW,
    NHWC,
    check_data_format,
    collect_named_outputs,
    get_variable_collections,
)
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.composite import SparseTensor
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.layers import core
from tideflow.ops.arrays import creation, indexing, joining, shapes, slicing, tiling
from tideflow.ops.math import binary, casting, reductions, unary
from tideflow.ops.nn import softmax as softmax_ops
from tideflow.variables.initializers import Ones
from tideflow.variables.variable_scope import variable_scope

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike
    from tideflow.variables.variable_scope import VariableScope


@export("contrib.layers.flatten")
@add_arg_scope
def flatten(
    inputs: TensorLike, outputs_collections: str | Sequence[str] | None = None, scope: str | None = None
) -> Tensor:
    """Makes one axis of all but the first.

    Args:
      inputs: The input tensor.
      outputs_collections: Collections that the result is added to.
      scope: The name scope of the operations.

    Returns:
      A tensor [batch, rest].
    """
    with name_scope(scope, "Flatten", [inputs]) as sc:
        return collect_named_outputs(outputs_collections, sc, core.flatten(convert_to_tensor(inputs)))


@export("contrib.layers.one_hot_encoding")
@add_arg_scope
def one_hot_encoding(
    labels: TensorLike,
    num_classes: int,
    on_value: float = 1.0,
    off_value: float = 0.0,
    outputs_collections: str | Sequence[str] | None = None,
    scope: str | None = None,
) -> Tensor:
    """Makes a vector for each label, with `on_value` at its place.

    Args:
      labels: A tensor of integers.
      num_classes: The length of a vector.
      on_value: The number at the label's place.
      off_value: The number elsewhere.
      outputs_collections: Collections that the result is added to.
      scope: The name scope of the operations.

    Returns:
      A tensor with one axis more.
    """
    with name_scope(scope, "OneHotEncoding", [labels, num_classes]) as sc:
        labels = convert_to_tensor(labels)
        if labels.dtype.base_dtype is dtypes.int32:
            labels = casting.to_int64(labels)
        outputs = creation.one_hot(labels, num_classes, on_value=on_value, off_value=off_value)
        return collect_named_outputs(outputs_collections, sc, outputs)


@export("contrib.layers.dense_to_sparse")
def dense_to_sparse(
    tensor: TensorLike,
    eos_token: int = 0,
    outputs_collections: str | Sequence[str] | None = None,
    scope: str | VariableScope | None = None,
) -> SparseTensor:
    """The elements that are not `eos_token`, as a sparse tensor.

    Args:
      tensor: The tensor.
      eos_token: The value that is left out.
      outputs_collections: Collections that the result is added to.
      scope: The variable scope of the layer; named after the layer if None.

    Returns:
      A SparseTensor.
    """
    with variable_scope(scope, "dense_to_sparse", [tensor]) as sc:
        tensor = convert_to_tensor(tensor)
        indices = indexing.where(binary.not_equal(tensor, casting.cast(eos_token, tensor.dtype)))
        values = indexing.gather_nd(tensor, indices)
        outputs = SparseTensor(indices, values, shapes.shape(tensor, out_type=dtypes.int64))
        return collect_named_outputs(outputs_collections, sc.name, outputs)


@export("contrib.layers.repeat")
@add_arg_scope
def repeat(inputs: TensorLike, repetitions: int, layer: Callable, *args: Any, **kwargs: Any) -> Tensor:
    """Applies a layer to its own output again and again, in scopes that are numbered.

    Args:
      inputs: The input tensor.
      repetitions: How many times.
      layer: The function of the layer.
      args: Arguments of the layer, after its inputs.
      kwargs: Keyword arguments of the layer; `scope` is the scope of all.

    Returns:
      A tensor: the outputs of the layer.
    """
    scope = kwargs.pop("scope", None)
    with variable_scope(scope, "Repeat", [inputs]):
        outputs = convert_to_tensor(inputs)
        scope = scope or _function_name(layer, "repeat")
        for i in range(repetitions):
            outputs = layer(outputs, *args, **{**kwargs, "scope": f"{scope}_{i + 1}"})
        return outputs


@export("contrib.layers.stack")
def stack(inputs: TensorLike, layer: Callable, stack_args: Sequence[Any], **kwargs: Any) -> Tensor:
    """Applies a layer again and again, each time with the next of `stack_args`.

    Args:
      inputs: The input tensor.
      layer: The function of the layer.
      stack_args: The second argument, or a list of arguments, of each layer.
      kwargs: Keyword arguments of all layers; `scope` is the scope of all.

    Returns:
      A tensor: the outputs of the layer.
    """
    scope = kwargs.pop("scope", None)
    if not isinstance(stack_args, (list, tuple)):
        raise ValueError("stack_args need to be a list or tuple")
    with variable_scope(scope, "Stack", [inputs]):
        outputs = convert_to_tensor(inputs)
        scope = scope or _function_name(layer, "stack")
        for i, given in enumerate(stack_args):
            own = given if isinstance(given, (list, tuple)) else [given]
            outputs = layer(outputs, *own, **{**kwargs, "scope": f"{scope}_{i + 1}"})
        return outputs


def _function_name(layer: Callable, default: str) -> str:
    return getattr(layer, "__name__", None) or getattr(getattr(layer, "func", None), "__name__", default)


@export("contrib.layers.softmax")
@add_arg_scope
def softmax(logits: TensorLike, scope: str | VariableScope | None = None) -> Tensor:
    """Computes the softmax over the last axis.

    Args:
      logits: A tensor of logits.
      scope: The variable scope of the layer; named after the layer if None.

    Returns:
      A tensor of the same shape.
    """
    with variable_scope(scope, "softmax", [logits]):
        logits = convert_to_tensor(logits)
        width = logits.shape.as_list()[-1]
        predictions = softmax_ops.softmax(shapes.reshape(logits, [-1, width]))
        predictions = shapes.reshape(predictions, shapes.shape(logits))
        predictions.set_shape(logits.shape)
        return predictions


@export("contrib.layers.unit_norm")
@add_arg_scope
def unit_norm(inputs: TensorLike, dim: int, epsilon: float = 1e-7, scope: str | None = None) -> Tensor:
    """Divides the inputs by their length along an axis.

    Args:
      inputs: The input tensor.
      dim: The axis.
      epsilon: A small number that is added to the length.
      scope: The name scope of the operations.

    Returns:
      A tensor of the same shape.
    """
    with name_scope(scope, "UnitNorm", [inputs]):
        if not inputs.shape:
            raise ValueError("The input rank must be known.")
        rank = inputs.shape.ndims
        if dim < 0 or dim >= rank:
            raise ValueError("dim must be positive but smaller than the input rank.")
        lengths = unary.sqrt(epsilon + reductions.reduce_sum(unary.square(inputs), dim, keepdims=True))
        multiples = []
        if dim > 0:
            multiples.append(creation.ones([dim], dtypes.int32))
        multiples.append(slicing.strided_slice(shapes.shape(inputs), [dim], [dim + 1]))
        if dim < rank - 1:
            multiples.append(creation.ones([rank - 1 - dim], dtypes.int32))
        return binary.div(inputs, tiling.tile(lengths, joining.concat(multiples, 0)))


@export("contrib.layers.maxout")
@add_arg_scope
def maxout(inputs: TensorLike, num_units: int, axis: int = -1, scope: str | None = None) -> Tensor:
    """Takes the largest of each group of channels.

    Args:
      inputs: The input tensor.
      num_units: The number of channels that remain; it divides that of the inputs.
      axis: The axis of the channels.
      scope: The name scope of the operations.

    Returns:
      A tensor.

    Raises:
      ValueError: If the channels cannot be divided into groups.
    """
    with name_scope(scope, "MaxOut", [inputs]):
        inputs = convert_to_tensor(inputs)
        shape = inputs.shape.as_list()
        channels = shape[axis]
        if channels % num_units:
            raise ValueError(f"number of features({channels}) is not a multiple of num_units({num_units})")
        shape[axis] = num_units
        shape.append(channels // num_units)
        grouped = shapes.reshape(inputs, [-1 if size is None else size for size in shape])
        outputs = reductions.reduce_max(grouped, -1)
        outputs.set_shape(shape[:-1])
        return outputs


@export("contrib.layers.spatial_softmax")
@add_arg_scope
def spatial_softmax(
    features: TensorLike,
    temperature: TensorLike | None = None,
    name: str | None = None,
    variables_collections: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
    trainable: bool = True,
    data_format: str = NHWC,
) -> Tensor:
    """Finds where each channel of an image is strongest: expected coordinates under a softmax over pixels.

    Args:
      features: Images [batch, height, width, channels].
      temperature: The temperature of the softmax; a variable that is trained if None.
      name: The variable scope of the layer.
      variables_collections: Collections that the variables are added to, or a dictionary of them by the
        variable's name.
      trainable: Whether the variables are trained.
      data_format: Where the axis of the channels stands: last (`"NHWC"`) or second (`"NCHW"`).

    Returns:
      A tensor [batch, 2 * channels] of coordinates between -1 and 1.
    """
    with variable_scope(name, "spatial_softmax"):
        check_data_format(data_format, NHWC, NCHW)
        sizes = shapes.shape(features)
        static = features.shape.as_list()
        rows, columns, channels = (1, 2, 3) if data_format == NHWC else (2, 3, 1)
        height, width, count = sizes[rows], sizes[columns], static[channels]
        if count is None:
            raise ValueError("The num_channels dimension of features must be known.")
        with name_scope("spatial_softmax_op", "spatial_softmax_op", [features]):
            pos_x, pos_y = creation.meshgrid(
                creation.linspace(-1.0, 1.0, num=height),
                creation.linspace(-1.0, 1.0, num=width),
                indexing="ij",
            )
            pos_x = shapes.reshape(pos_x, [height * width])
            pos_y = shapes.reshape(pos_y, [height * width])
            if temperature is None:
                temperature = model_variable(
                    "temperature",
                    shape=(),
                    dtype=dtypes.float32,
                    initializer=Ones(),
                    collections=get_variable_collections(variables_collections, "temperature"),
                    trainable=trainable,
                )
            if data_format == NHWC:
                features = shapes.transpose(features, [0, 3, 1, 2])
            flat = shapes.reshape(features, [-1, height * width])
            attention = softmax_ops.softmax(flat / temperature)
            expected_x = reductions.reduce_sum(pos_x * attention, [1], keepdims=True)
            expected_y = reductions.reduce_sum(pos_y * attention, [1], keepdims=True)
            points = joining.concat([expected_x, expected_y], 1)
            points = shapes.reshape(points, [-1, count * 2])
            points.set_shape([None, count * 2])
            return points


@export("contrib.layers.images_to_sequence")
@add_arg_scope
def images_to_sequence(
    inputs: TensorLike,
    data_format: str = NHWC,
    outputs_collections: str | Sequence[str] | None = None,
    scope: str | None = None,
) -> Tensor:
    """Turns a batch of images into one of sequences of columns.

    Args:
      inputs: Images [batch, height, width, channels].
      data_format: Where the axis of the channels stands: last (`"NHWC"`) or second (`"NCHW"`).
      outputs_collections: Collections that the result is added to.
      scope: The name scope of the operations.

    Returns:
      A tensor [width, batch * height, channels].
    """
    check_data_format(data_format, NCHW, NHWC)
    with name_scope(scope, "ImagesToSequence", [inputs]) as sc:
        inputs = convert_to_tensor(inputs)
        order = [3, 0, 2, 1] if data_format == NCHW else [2, 0, 1, 3]
        depth = inputs.shape.as_list()[1 if data_format == NCHW else -1]
        if depth is None:
            raise ValueError("`C` dimension must be known but is None")
        sizes = shapes.shape(inputs)
        batch, height = (sizes[0], sizes[2]) if data_format == NCHW else (sizes[0], sizes[1])
        outputs = shapes.transpose(inputs, order)
        width = inputs.shape.as_list()[order[0]]
        outputs = shapes.reshape(outputs, [-1, batch * height, depth])
        outputs.set_shape([width, None, depth])
        return collect_named_outputs(outputs_collections, sc, outputs)


@export("contrib.layers.sequence_to_images")
@add_arg_scope
def sequence_to_images(
    inputs: TensorLike,
    height: int,
    output_data_format: str = "channels_last",
    outputs_collections: str | Sequence[str] | None = None,
    scope: str | None = None,
) -> Tensor:
    """Puts the images together that `images_to_sequence` took apart.

    Args:
      inputs: A tensor [width, batch * height, channels].
      height: The height of the images.
      output_data_format: Where the axis of the channels stands: `"channels_last"` or `"channels_first"`.
      outputs_collections: Collections that the result is added to.
      scope: The name scope of the operations.

    Returns:
      Images [batch, height, width, channels].
    """
    with name_scope(scope, "SequenceToImages", [inputs]) as sc:
        inputs = convert_to_tensor(inputs)
        width, rows, depth = inputs.shape.as_list()
        batch = -1 if rows is None else rows // height
        if width is None:
            width = shapes.shape(inputs)[0]
        outputs = shapes.reshape(inputs, [width, batch, height, depth])
        first = output_data_format == "channels_first"
        outputs = shapes.transpose(outputs, [1, 3, 2, 0] if first else [1, 2, 0, 3])
        return collect_named_outputs(outputs_collections, sc, outputs)
