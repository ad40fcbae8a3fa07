"""Layers of tf.contrib.layers whose weights are under masks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.contrib.framework.argument_scopes import add_arg_scope
from tideflow.contrib.layers.making import (
    OWN_NAMES,
    add_variable_to_collections,
    finished,
    model_variable_getter,
    scope_arguments,
    weight_arguments,
)
from tideflow.contrib.layers.scaling import xavier_initializer
from tideflow.contrib.model_pruning.masks import collect, masked
from tideflow.export import export, expose
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.layers import convolutional, core
from tideflow.nn.convolutions import convolution
from tideflow.ops.nn import activations
from tideflow.variables.initializers import Ones, Zeros
from tideflow.variables.variable_scope import variable_scope

if TYPE_CHECKING:
    from tideflow.graph.typing import InitializerLike, RegularizerLike, ShapeLike, TensorLike
    from tideflow.variables.variable_scope import VariableScope


class _Masked:
    """A layer that computes with its kernel under a mask; `weights_variable` is the kernel itself."""

    mask_is_first = False  # among the variables of the layer

    def add_weight(self, name: str, shape: ShapeLike, **keywords: Any) -> Any:
        add = super().add_weight
        if name != "kernel":
            return add(name, shape, **keywords)

        def add_mask() -> Any:
            return add("mask", shape, initializer=Ones(), trainable=False, dtype=self.dtype)

        mask = add_mask() if self.mask_is_first else None
        self.weights_variable = add(name, shape, **keywords)
        mask = add_mask() if mask is None else mask
        threshold = add("threshold", [], initializer=Zeros(), trainable=False, dtype=self.dtype)
        result = masked(mask, self.weights_variable)
        collect(mask, threshold, result, self.weights_variable)
        return result


class MaskedConv2D(_Masked, convolutional.Conv2D):
    """A convolution whose kernel has a mask."""

    mask_is_first = True

    def call(self, inputs: Tensor) -> Tensor:
        outputs = convolution(
            inputs,
            self.kernel,
            self.padding.upper(),
            self.strides,
            self.dilation_rate,
            data_format=self._tensor_format,
        )
        return self._biased(outputs)


class MaskedFullyConnected(_Masked, core.Dense):
    """A dense layer whose kernel has a mask."""


def _applied(layer: Any, inputs: Tensor, variables_collections: Any) -> Tensor:
    """The outputs of a masked layer. The weights themselves join the collections, not the masked ones."""
    outputs: Tensor = layer.apply(inputs)
    add_variable_to_collections(layer.weights_variable, variables_collections, "weights")
    if layer.bias is not None:
        add_variable_to_collections(layer.bias, variables_collections, "biases")
    return outputs


@export("contrib.model_pruning.masked_convolution")
@add_arg_scope
def masked_convolution(
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
    """Computes `activation_fn(convolution(inputs, mask * weights) + biases)` of images.

    Args:
      inputs: The input tensor, [batch, height, width, channels].
      num_outputs: The number of filters.
      kernel_size: The size of the filter along each axis, or one for both.
      stride: The stride along each axis, or one for both.
      padding: `"SAME"` or `"VALID"`.
      data_format: Where the axis of the channels stands: last (None or `"NHWC"`) or second (`"NCHW"`).
      rate: The distance of neighbouring elements of the filter, along each axis or one for both.
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

    Raises:
      ValueError: If the inputs are no images, or `data_format` is another.
    """
    if data_format not in (None, "NWC", "NCW", "NHWC", "NCHW", "NDHWC", "NCDHW"):
        raise ValueError(f"Invalid data_format: {data_format!r}")
    weights = weight_arguments(
        normalizer_fn, weights_initializer, weights_regularizer, biases_initializer, biases_regularizer
    )
    getter = model_variable_getter(OWN_NAMES)
    with variable_scope(scope, "Conv", [inputs], reuse=reuse, custom_getter=getter) as sc:
        given = convert_to_tensor(inputs)
        if given.shape.ndims != 4:
            raise ValueError("Sparse Convolution not supported for input with rank", given.shape.ndims)
        if data_format not in (None, "NHWC", "NCHW"):
            raise ValueError("Unsupported data format", data_format)
        layer = MaskedConv2D(
            num_outputs,
            kernel_size,
            stride,
            padding,
            "channels_first" if data_format == "NCHW" else "channels_last",
            rate,
            **weights,
            **scope_arguments(given, trainable, sc, reuse),
        )
        outputs = _applied(layer, given, variables_collections)
        return finished(
            outputs,
            sc.original_name_scope,
            outputs_collections,
            activation_fn,
            normalizer_fn,
            normalizer_params,
        )


expose(masked_convolution, "contrib.model_pruning.masked_conv2d")


@export("contrib.model_pruning.masked_fully_connected")
@add_arg_scope
def masked_fully_connected(
    inputs: TensorLike,
    num_outputs: int,
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
    """Computes `activation_fn(inputs @ (mask * weights) + biases)`.

    Args:
      inputs: The input tensor.
      num_outputs: The number of channels of the result.
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

    Raises:
      ValueError: If `num_outputs` is not an integer.
    """
    if not isinstance(num_outputs, int):
        raise ValueError(f"num_outputs should be int or long, got {num_outputs}.")
    weights = weight_arguments(
        normalizer_fn, weights_initializer, weights_regularizer, biases_initializer, biases_regularizer
    )
    getter = model_variable_getter(OWN_NAMES)
    with variable_scope(scope, "fully_connected", [inputs], reuse=reuse, custom_getter=getter) as sc:
        given = convert_to_tensor(inputs)
        layer = MaskedFullyConnected(num_outputs, **weights, **scope_arguments(given, trainable, sc, reuse))
        outputs = _applied(layer, given, variables_collections)
        return finished(
            outputs,
            sc.original_name_scope,
            outputs_collections,
            activation_fn,
            normalizer_fn,
            normalizer_params,
        )
