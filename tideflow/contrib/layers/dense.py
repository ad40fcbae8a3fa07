"""Fully connected layers, biases and dropout."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.contrib.framework.argument_scopes import add_arg_scope
from tideflow.contrib.framework.model_variables import model_variable
from tideflow.contrib.layers.making import (
    OWN_NAMES,
    applied,
    finished,
    model_variable_getter,
    scope_arguments,
    weight_arguments,
)
from tideflow.contrib.layers.scaling import xavier_initializer
from tideflow.contrib.layers.utilities import (
    NCHW,
    NHWC,
    check_data_format,
    collect_named_outputs,
    get_variable_collections,
)
from tideflow.export import export, expose
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import GraphKeys, add_to_collections
from tideflow.layers import core
from tideflow.ops.arrays import joining, shapes
from tideflow.ops.linalg import matmul
from tideflow.ops.nn import activations
from tideflow.variables.initializers import Zeros
from tideflow.variables.variable_scope import get_variable, variable_scope

if TYPE_CHECKING:
    from tideflow.graph.typing import InitializerLike, RegularizerLike, TensorLike
    from tideflow.variables.variable_scope import VariableScope


@export("contrib.layers.fully_connected")
@add_arg_scope
def fully_connected(
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
    """Computes `activation_fn(inputs @ weights + biases)`; a normalizer stands in for the biases.

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
        raise ValueError(f"num_outputs type should be one of [int], got {type(num_outputs)}.")
    weights = weight_arguments(
        normalizer_fn, weights_initializer, weights_regularizer, biases_initializer, biases_regularizer
    )
    getter = model_variable_getter(OWN_NAMES)
    with variable_scope(scope, "fully_connected", [inputs], reuse=reuse, custom_getter=getter) as sc:
        inputs = convert_to_tensor(inputs)
        layer = core.Dense(num_outputs, **weights, **scope_arguments(inputs, trainable, sc, reuse))
        outputs = applied(layer, inputs, variables_collections)
        return finished(
            outputs, sc.name, outputs_collections, activation_fn, normalizer_fn, normalizer_params
        )


def _with(layer: Callable, activation: Callable | None) -> functools.partial:
    """The layer with another default activation."""
    made = functools.partial(layer, activation_fn=activation)
    made.__doc__ = layer.__doc__
    return made


relu = _with(fully_connected, activations.relu)
relu6 = _with(fully_connected, activations.relu6)
elu = _with(fully_connected, activations.elu)
linear = _with(fully_connected, None)

expose(relu, "contrib.layers.relu")
expose(relu6, "contrib.layers.relu6")
expose(elu, "contrib.layers.elu")
expose(linear, "contrib.layers.linear")


@export("contrib.layers.legacy_fully_connected")
def legacy_fully_connected(
    x: TensorLike,
    num_output_units: int,
    activation_fn: Callable | None = None,
    weight_init: InitializerLike = xavier_initializer(),
    bias_init: InitializerLike | None = Zeros(),
    name: str | None = None,
    weight_collections: Sequence[str] = (GraphKeys.WEIGHTS,),
    bias_collections: Sequence[str] = (GraphKeys.BIASES,),
    output_collections: Sequence[str] = (GraphKeys.ACTIVATIONS,),
    trainable: bool = True,
    weight_regularizer: RegularizerLike | None = None,
    bias_regularizer: RegularizerLike | None = None,
) -> Tensor:
    """Computes `activation_fn(x @ weights + bias)`, as it was before `fully_connected`.

    Args:
      x: The input tensor.
      num_output_units: The number of units.
      activation_fn: A function that is applied to the result; None for none.
      weight_init: The initializer of the weights.
      bias_init: The initializer of the bias; None for no bias.
      name: The variable scope of the layer.
      weight_collections: Collections that the weights are added to.
      bias_collections: Collections that the bias is added to.
      output_collections: Collections that the result is added to.
      trainable: Whether the variables are trained.
      weight_regularizer: The regularizer of the weights.
      bias_regularizer: The regularizer of the bias.

    Returns:
      A tensor: the outputs of the layer.

    Raises:
      ValueError: If the size of the last axis is not known.
    """
    with variable_scope(name, "fully_connected", [x]):
        x = convert_to_tensor(x)
        if x.shape.ndims is None:
            raise ValueError("dims of x must be known but is None")
        if x.shape.ndims < 2:
            raise ValueError(f"rank of x must be at least 2 not: {x.shape.ndims}")
        *outer, width = x.shape.as_list()
        if width is None:
            raise ValueError("last dimension of x must be known but is None")

        def made(own: str, shape: list[int], initializer: Any, collections: Any, regularizer: Any) -> Any:
            kinds = {*(collections or ()), GraphKeys.GLOBAL_VARIABLES}
            return get_variable(
                own,
                shape=shape,
                dtype=x.dtype,
                initializer=initializer,
                collections=kinds,
                regularizer=regularizer,
                trainable=trainable,
            )

        weights = made(
            "weights", [width, num_output_units], weight_init, weight_collections, weight_regularizer
        )
        flat = x if len(outer) == 1 else shapes.reshape(x, [-1, width])
        y = matmul.matmul(flat, weights)
        if bias_init is not None:
            bias = made("bias", [num_output_units], bias_init, bias_collections, bias_regularizer)
            y = activations.bias_add(y, bias)
        if len(outer) != 1:
            y = shapes.reshape(y, joining.concat([shapes.shape(x)[:-1], [num_output_units]], 0))
            y.set_shape([*outer, num_output_units])
        if activation_fn is not None:
            y = activation_fn(y)
        add_to_collections(list(output_collections or ()), y)
        return y


legacy_linear = _with(legacy_fully_connected, None)
legacy_relu = _with(legacy_fully_connected, activations.relu)
expose(legacy_linear, "contrib.layers.legacy_linear")
expose(legacy_relu, "contrib.layers.legacy_relu")


@export("contrib.layers.bias_add")
@add_arg_scope
def bias_add(
    inputs: TensorLike,
    activation_fn: Callable | None = None,
    initializer: InitializerLike | None = Zeros(),
    regularizer: RegularizerLike | None = None,
    reuse: bool | None = None,
    variables_collections: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
    outputs_collections: str | Sequence[str] | None = None,
    trainable: bool = True,
    data_format: str = NHWC,
    scope: str | VariableScope | None = None,
) -> Tensor:
    """Computes `activation_fn(inputs + biases)`.

    Args:
      inputs: The input tensor.
      activation_fn: A function that is applied to the result; None for none.
      initializer: The initializer of the biases.
      regularizer: The regularizer of the biases.
      reuse: Whether the variables of an earlier layer of the same scope are shared.
      variables_collections: Collections that the variables are added to, or a dictionary of them by the
        variable's name.
      outputs_collections: Collections that the result is added to.
      trainable: Whether the variables are trained.
      data_format: Where the axis of the channels stands: last (`"NHWC"`) or second (`"NCHW"`).
      scope: The variable scope of the layer; named after the layer if None.

    Returns:
      A tensor: the outputs of the layer.
    """
    check_data_format(data_format, NCHW, NHWC)
    with variable_scope(scope, "BiasAdd", [inputs], reuse=reuse) as sc:
        inputs = convert_to_tensor(inputs)
        rank = inputs.shape.ndims
        if rank is None:
            raise ValueError("Dims of shape must be known but is None")
        if rank != 4 and data_format == NCHW:
            raise ValueError("Data format NCHW only supports 4D Tensor")
        channels = inputs.shape.as_list()[1 if data_format == NCHW else -1]
        if channels is None:
            raise ValueError("`C` dimension must be known but is None")
        biases = model_variable(
            "biases",
            shape=[channels],
            dtype=inputs.dtype.base_dtype,
            initializer=initializer,
            regularizer=regularizer,
            collections=get_variable_collections(variables_collections, "biases"),
            trainable=trainable,
        )
        outputs = activations.bias_add(inputs, biases, data_format=data_format)
        return finished(outputs, sc.name, outputs_collections, activation_fn)


@export("contrib.layers.dropout")
@add_arg_scope
def dropout(
    inputs: TensorLike,
    keep_prob: TensorLike = 0.5,
    noise_shape: TensorLike | None = None,
    is_training: TensorLike = True,
    outputs_collections: str | Sequence[str] | None = None,
    scope: str | VariableScope | None = None,
    seed: int | None = None,
) -> Tensor:
    """Keeps each element with probability `keep_prob` while training, and scales what is kept.

    Args:
      inputs: The input tensor.
      keep_prob: The probability that an element is kept.
      noise_shape: The shape of the mask; that of the inputs if None.
      is_training: Whether elements are dropped: a bool, or a scalar bool tensor.
      outputs_collections: Collections that the result is added to.
      scope: The variable scope of the layer; named after the layer if None.
      seed: The seed of the random numbers.

    Returns:
      A tensor: the outputs of the layer.
    """
    with variable_scope(scope, "Dropout", [inputs], custom_getter=model_variable_getter()) as sc:
        inputs = convert_to_tensor(inputs)
        layer = core.Dropout(1 - keep_prob, noise_shape=noise_shape, seed=seed, name=sc.name, _scope=sc)
        outputs = layer.apply(inputs, training=is_training)
        return collect_named_outputs(outputs_collections, sc.name, outputs)
