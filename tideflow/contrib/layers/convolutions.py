"""Convolution layers: of one to three axes, transposed, separable, in the plane."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tideflow import nn
from tideflow.contrib.framework.argument_scopes import add_arg_scope
from tideflow.contrib.framework.model_variables import model_variable
from tideflow.contrib.layers.making import (
    OWN_NAMES,
    add_variable_to_collections,
    applied,
    finished,
    model_variable_getter,
    scope_arguments,
    weight_arguments,
)
from tideflow.contrib.layers.scaling import xavier_initializer
from tideflow.contrib.layers.utilities import (
    NCDHW,
    NCHW,
    NDHWC,
    NHWC,
    channel_dimension,
    check_data_format,
    get_variable_collections,
    last_dimension,
    layers_format,
    two_element_tuple,
)
from tideflow.export import export
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.layers import convolutional
from tideflow.ops.arrays import tiling
from tideflow.ops.nn import activations
from tideflow.variables.initializers import Zeros
from tideflow.variables.variable_scope import variable_scope

if TYPE_CHECKING:
    from tideflow.graph.typing import InitializerLike, RegularizerLike, TensorLike
    from tideflow.variables.variable_scope import VariableScope

_BY_RANK = {3: convolutional.Conv1D, 4: convolutional.Conv2D, 5: convolutional.Conv3D}


@export("contrib.layers.convolution")
@add_arg_scope
def convolution(
    inputs: TensorLike,
    num_outputs: int,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] = 1,
    padding: str = "SAME",
    data_format: str | None = None,
    rate: int | Sequence[int] = 1,
    activation_fn: Callable | None = activations.relu,
    normalizer_fn: Callable | None = None,
    normalizer_params: dict[str, Any] | None = None,
    weights_initializer: InitializerLike | None = xavier_initializer(),
    weights_regularizer: RegularizerLike | None = None,
    biases_initializer: InitializerLike | None = Zeros(),
    biases_regularizer: RegularizerLike | None = None,
    reuse: bool | None = None,
    variables_collections: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
    outputs_collections: str | Sequence[str] | None = None,
    trainable: bool = True,
    scope: str | VariableScope | None = None,
    conv_dims: int | None = None,
) -> Tensor:
    """Computes `activation_fn(convolution(inputs, weights) + biases)`, over as many axes as the inputs have.

    Args:
      inputs: The input tensor.
      num_outputs: The number of filters.
      kernel_size: The size of the filter along each axis, or one for all.
      stride: The stride along each axis, or one for all.
      padding: `"SAME"` or `"VALID"`.
      data_format: Where the axis of the channels stands: last (None, or `"NHWC"` and the like) or second
        (`"NCHW"` and the like).
      rate: The distance of neighbouring elements of the filter, along each axis or one for all.
      activation_fn: A function that is applied to the result; None for none.
      normalizer_fn: A normalizing layer that is applied instead of adding biases; None for biases.
      normalizer_params: The arguments of the normalizer.
      weights_initializer: The initializer of the weights.
      weights_regularizer: The regularizer of the weights.
      biases_initializer: The initializer of the biases; None for no biases.
      biases_regularizer: The regularizer of the biases.
      reuse: Whether the variables of an earlier layer of the same scope are shared.
      variables_collections: Collections that the variables are added to, or a dictionary of them by the
        variable's name.
      outputs_collections: Collections that the result is added to.
      trainable: Whether the variables are trained.
      scope: The variable scope of the layer; named after the layer if None.
      conv_dims: The number of axes beside batch and channels; as many as the inputs have if None.

    Returns:
      A tensor: the outputs of the layer.
    """
    if data_format not in (None, "NWC", "NCW", NHWC, NCHW, NDHWC, NCDHW):
        raise ValueError(f"Invalid data_format: {data_format!r}")
    weights = weight_arguments(
        normalizer_fn, weights_initializer, weights_regularizer, biases_initializer, biases_regularizer
    )
    getter = model_variable_getter(OWN_NAMES)
    with variable_scope(scope, "Conv", [inputs], reuse=reuse, custom_getter=getter) as sc:
        inputs = convert_to_tensor(inputs)
        rank = inputs.shape.ndims
        if conv_dims is not None and conv_dims + 2 != rank:
            raise ValueError(f"Convolution expects input with rank {conv_dims + 2}, got {rank}")
        if rank not in _BY_RANK:
            raise ValueError("Convolution not supported for input with rank", rank)
        layer = _BY_RANK[rank](
            num_outputs,
            kernel_size,
            stride,
            padding,
            layers_format(data_format),
            rate,
            **weights,
            **scope_arguments(inputs, trainable, sc, reuse),
        )
        outputs = applied(layer, inputs, variables_collections)
        return finished(
            outputs, sc.name, outputs_collections, activation_fn, normalizer_fn, normalizer_params
        )


def _described(summary: str, *left_out: str) -> str:
    """A docstring with the arguments of `convolution`, but for those that a function does not have."""
    rest = (convolution.__doc__ or "").partition("\n\n")[2]
    for name in left_out:
        rest = re.sub(rf" +{name}: .*\n(        .*\n)*", "", rest)
    return f"{summary}\n\n{rest}"


def _of_rank(name: str, dims: int) -> Callable:
    """The convolution of so many axes, under its two names."""

    def convolve(
        inputs: TensorLike,
        num_outputs: int,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        padding: str = "SAME",
        data_format: str | None = None,
        rate: int | Sequence[int] = 1,
        activation_fn: Callable | None = activations.relu,
        normalizer_fn: Callable | None = None,
        normalizer_params: dict[str, Any] | None = None,
        weights_initializer: InitializerLike | None = xavier_initializer(),
        weights_regularizer: RegularizerLike | None = None,
        biases_initializer: InitializerLike | None = Zeros(),
        biases_regularizer: RegularizerLike | None = None,
        reuse: bool | None = None,
        variables_collections: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
        outputs_collections: str | Sequence[str] | None = None,
        trainable: bool = True,
        scope: str | VariableScope | None = None,
    ) -> Tensor:
        return convolution(
            inputs,
            num_outputs,
            kernel_size,
            stride,
            padding,
            data_format,
            rate,
            activation_fn,
            normalizer_fn,
            normalizer_params,
            weights_initializer,
            weights_regularizer,
            biases_initializer,
            biases_regularizer,
            reuse,
            variables_collections,
            outputs_collections,
            trainable,
            scope,
            conv_dims=dims,
        )

    convolve.__name__ = convolve.__qualname__ = name
    axes = "one axis" if dims == 1 else f"{dims} axes"
    convolve.__doc__ = _described(
        f"`convolution` of inputs with {axes} beside batch and channels.", "conv_dims"
    )
    return export(f"contrib.layers.{name}", f"contrib.layers.conv{dims}d")(add_arg_scope(convolve))


convolution1d = _of_rank("convolution1d", 1)
convolution2d = _of_rank("convolution2d", 2)
convolution3d = _of_rank("convolution3d", 3)


def _transposed(name: str, scope_name: str, layer: type, formats: tuple[str, str], alias: str) -> Callable:
    """The transposed convolution of a layer class, under its two names."""

    def convolve(
        inputs: TensorLike,
        num_outputs: int,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        padding: str = "SAME",
        data_format: str = formats[1],
        activation_fn: Callable | None = activations.relu,
        normalizer_fn: Callable | None = None,
        normalizer_params: dict[str, Any] | None = None,
        weights_initializer: InitializerLike | None = xavier_initializer(),
        weights_regularizer: RegularizerLike | None = None,
        biases_initializer: InitializerLike | None = Zeros(),
        biases_regularizer: RegularizerLike | None = None,
        reuse: bool | None = None,
        variables_collections: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
        outputs_collections: str | Sequence[str] | None = None,
        trainable: bool = True,
        scope: str | VariableScope | None = None,
    ) -> Tensor:
        check_data_format(data_format, *formats)
        weights = weight_arguments(
            normalizer_fn, weights_initializer, weights_regularizer, biases_initializer, biases_regularizer
        )
        getter = model_variable_getter(OWN_NAMES)
        with variable_scope(scope, scope_name, [inputs], reuse=reuse, custom_getter=getter) as sc:
            inputs = convert_to_tensor(inputs)
            made = layer(
                num_outputs,
                kernel_size,
                stride,
                padding,
                layers_format(data_format),
                **weights,
                **scope_arguments(inputs, trainable, sc, reuse),
            )
            outputs = applied(made, inputs, variables_collections)
            return finished(
                outputs, sc.name, outputs_collections, activation_fn, normalizer_fn, normalizer_params
            )

    convolve.__name__ = convolve.__qualname__ = name
    summary = (layer.__doc__ or "").partition("\n\n")[0]  # the layer's arguments are called otherwise
    convolve.__doc__ = _described(summary, "rate", "conv_dims")
    return export(f"contrib.layers.{name}", f"contrib.layers.{alias}")(add_arg_scope(convolve))


convolution2d_transpose = _transposed(
    "convolution2d_transpose",
    "Conv2d_transpose",
    convolutional.Conv2DTranspose,
    (NCHW, NHWC),
    "conv2d_transpose",
)
convolution3d_transpose = _transposed(
    "convolution3d_transpose",
    "Conv3d_transpose",
    convolutional.Conv3DTranspose,
    (NCDHW, NDHWC),
    "conv3d_transpose",
)


@export("contrib.layers.separable_convolution2d", "contrib.layers.separable_conv2d")
@add_arg_scope
def separable_convolution2d(
    inputs: TensorLike,
    num_outputs: int | None,
    kernel_size: int | Sequence[int],
    depth_multiplier: int = 1,
    stride: int | Sequence[int] = 1,
    padding: str = "SAME",
    data_format: str = NHWC,
    rate: int | Sequence[int] = 1,
    activation_fn: Callable | None = activations.relu,
    normalizer_fn: Callable | None = None,
    normalizer_params: dict[str, Any] | None = None,
    weights_initializer: InitializerLike | None = xavier_initializer(),
    pointwise_initializer: InitializerLike | None = None,
    weights_regularizer: RegularizerLike | None = None,
    biases_initializer: InitializerLike | None = Zeros(),
    biases_regularizer: RegularizerLike | None = None,
    reuse: bool | None = None,
    variables_collections: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
    outputs_collections: str | Sequence[str] | None = None,
    trainable: bool = True,
    scope: str | VariableScope | None = None,
) -> Tensor:
    """Convolves each channel by itself; then, unless `num_outputs` is None, mixes the channels.

    Args:
      inputs: The input tensor.
      num_outputs: The number of channels of the result; None for those of the depthwise convolution, unmixed.
      kernel_size: The size of the filter along each axis, or one for all.
      depth_multiplier: The number of depthwise filters for each channel.
      stride: The stride along each axis, or one for all.
      padding: `"SAME"` or `"VALID"`.
      data_format: Where the axis of the channels stands: last (`"NHWC"`) or second (`"NCHW"`).
      rate: The distance of neighbouring elements of the filter, along each axis or one for all.
      activation_fn: A function that is applied to the result; None for none.
      normalizer_fn: A normalizing layer that is applied instead of adding biases; None for biases.
      normalizer_params: The arguments of the normalizer.
      weights_initializer: The initializer of the depthwise weights.
      pointwise_initializer: The initializer of the pointwise weights; that of the depthwise ones if None.
      weights_regularizer: The regularizer of the weights.
      biases_initializer: The initializer of the biases; None for no biases.
      biases_regularizer: The regularizer of the biases.
      reuse: Whether the variables of an earlier layer of the same scope are shared.
      variables_collections: Collections that the variables are added to, or a dictionary of them by the
        variable's name.
      outputs_collections: Collections that the result is added to.
      trainable: Whether the variables are trained.
      scope: The variable scope of the layer; named after the layer if None.

    Returns:
      A tensor: the outputs of the layer.
    """
    check_data_format(data_format, NCHW, NHWC)
    renamed = {
        "bias": "biases",
        "depthwise_kernel": "depthwise_weights",
        "pointwise_kernel": "pointwise_weights",
    }
    getter = model_variable_getter(renamed)
    with variable_scope(scope, "SeparableConv2d", [inputs], reuse=reuse, custom_getter=getter) as sc:
        inputs = convert_to_tensor(inputs)
        if num_outputs is None:
            made = functools.partial(_variable, inputs.dtype.base_dtype, variables_collections, trainable)
            channels = channel_dimension(inputs.shape, layers_format(data_format), min_rank=4)
            shape = [*two_element_tuple(kernel_size), channels, depth_multiplier]
            weights = made("weights", "depthwise_weights", shape, weights_initializer, weights_regularizer)
            steps = two_element_tuple(stride)
            strides = [1, 1, *steps] if data_format == NCHW else [1, *steps, 1]
            outputs = nn.convolutions.depthwise_conv2d(
                inputs, weights, strides, padding, rate=two_element_tuple(rate), data_format=data_format
            )
            outputs = _biased(
                outputs, made, normalizer_fn, biases_initializer, biases_regularizer, data_format
            )
        else:
            layer = convolutional.SeparableConv2D(
                num_outputs,
                kernel_size,
                stride,
                padding,
                layers_format(data_format),
                two_element_tuple(rate),
                depth_multiplier,
                use_bias=not normalizer_fn and bool(biases_initializer),
                depthwise_initializer=weights_initializer,
                pointwise_initializer=pointwise_initializer or weights_initializer,
                bias_initializer=biases_initializer,
                depthwise_regularizer=weights_regularizer,
                pointwise_regularizer=weights_regularizer,
                bias_regularizer=biases_regularizer,
                **scope_arguments(inputs, trainable, sc, reuse),
            )
            outputs = layer.apply(inputs)
            add_variable_to_collections(layer.depthwise_kernel, variables_collections, "weights")
            add_variable_to_collections(layer.pointwise_kernel, variables_collections, "weights")
            if layer.bias is not None:
                add_variable_to_collections(layer.bias, variables_collections, "biases")
        return finished(
            outputs, sc.name, outputs_collections, activation_fn, normalizer_fn, normalizer_params
        )


def _variable(
    dtype: Any,
    collections: Any,
    trainable: bool,
    kind: str,
    name: str,
    shape: Any,
    initializer: Any,
    regularizer: Any,
) -> Any:
    return model_variable(
        name,
        shape=shape,
        dtype=dtype,
        initializer=initializer,
        regularizer=regularizer,
        trainable=trainable,
        collections=get_variable_collections(collections, kind),
    )


def _biased(
    outputs: Tensor, made: Callable, normalizer_fn: Any, initializer: Any, regularizer: Any, data_format: str
) -> Tensor:
    if normalizer_fn is not None or initializer is None:
        return outputs
    channels = channel_dimension(outputs.shape, layers_format(data_format))
    biases = made("biases", "biases", [channels], initializer, regularizer)
    return activations.bias_add(outputs, biases, data_format=data_format)


@export("contrib.layers.convolution2d_in_plane", "contrib.layers.conv2d_in_plane")
@add_arg_scope
def convolution2d_in_plane(
    inputs: TensorLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] = 1,
    padding: str = "SAME",
    activation_fn: Callable | None = activations.relu,
    normalizer_fn: Callable | None = None,
    normalizer_params: dict[str, Any] | None = None,
    weights_initializer: InitializerLike | None = xavier_initializer(),
    weights_regularizer: RegularizerLike | None = None,
    biases_initializer: InitializerLike | None = Zeros(),
    biases_regularizer: RegularizerLike | None = None,
    reuse: bool | None = None,
    variables_collections: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
    outputs_collections: str | Sequence[str] | None = None,
    trainable: bool = True,
    scope: str | VariableScope | None = None,
) -> Tensor:
    """Convolves every channel with the same filter.

    Args:
      inputs: The input tensor.
      kernel_size: The size of the filter along each axis, or one for all.
      stride: The stride along each axis, or one for all.
      padding: `"SAME"` or `"VALID"`.
      activation_fn: A function that is applied to the result; None for none.
      normalizer_fn: A normalizing layer that is applied instead of adding biases; None for biases.
      normalizer_params: The arguments of the normalizer.
      weights_initializer: The initializer of the weights.
      weights_regularizer: The regularizer of the weights.
      biases_initializer: The initializer of the biases; None for no biases.
      biases_regularizer: The regularizer of the biases.
      reuse: Whether the variables of an earlier layer of the same scope are shared.
      variables_collections: Collections that the variables are added to, or a dictionary of them by the
        variable's name.
      outputs_collections: Collections that the result is added to.
      trainable: Whether the variables are trained.
      scope: The variable scope of the layer; named after the layer if None.

    Returns:
      A tensor: the outputs of the layer.
    """
    with variable_scope(scope, "ConvInPlane", [inputs], reuse=reuse) as sc:
        inputs = convert_to_tensor(inputs)
        made = functools.partial(_variable, inputs.dtype.base_dtype, variables_collections, trainable)
        height, width = two_element_tuple(kernel_size)
        down, right = two_element_tuple(stride)
        channels = last_dimension(inputs.shape, min_rank=4)
        weights = made("weights", "weights", [height, width, 1, 1], weights_initializer, weights_regularizer)
        filters = tiling.tile(weights, [1, 1, channels, 1])
        outputs = nn.convolutions.depthwise_conv2d(inputs, filters, [1, down, right, 1], padding)
        outputs = _biased(outputs, made, normalizer_fn, biases_initializer, biases_regularizer, NHWC)
        return finished(
            outputs, sc.name, outputs_collections, activation_fn, normalizer_fn, normalizer_params
        )
