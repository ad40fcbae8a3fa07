"""Fully connected layers, biases and dropout."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tideflow.contrib.framework.argument_scopes import add_arg_scope
from tideflow.contrib.framework.model_variables import model_variable
from tideflow.contrib.layers.making import add_variable_to_collections, finished, model_variable_getter
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


@export("contrib.layers.fully_connected")
@add_arg_scope
def fully_connected(
    inputs: Any,
    num_outputs: int,
    activation_fn: Callable | None = activations.relu,
    normalizer_fn: Callable | None = None,
    normalizer_params: dict[str, Any] | None = None,
    weights_initializer: Any = xavier_initializer(),
    weights_regularizer: Callable | None = None,
    biases_initializer: Any = Zeros(),
    biases_regularizer: Callable | None = None,
    reuse: bool | None = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Tensor:
    """activation_fn(inputs . weights + biases); a normalizer stands in for the biases."""
    if not isinstance(num_outputs, int):
        raise ValueError(f"num_outputs type should be one of [int], got {type(num_outputs)}.")
    getter = model_variable_getter({"bias": "biases", "kernel": "weights"})
    with variable_scope(scope, "fully_connected", [inputs], reuse=reuse, custom_getter=getter) as sc:
        inputs = convert_to_tensor(inputs)
        layer = core.Dense(
            num_outputs,
            use_bias=not normalizer_fn and bool(biases_initializer),
            kernel_initializer=weights_initializer,
            bias_initializer=biases_initializer,
            kernel_regularizer=weights_regularizer,
            bias_regularizer=biases_regularizer,
            trainable=trainable,
            name=sc.name,
            dtype=inputs.dtype.base_dtype,
            _scope=sc,
            _reuse=reuse,
        )
        outputs = layer.apply(inputs)
        add_variable_to_collections(layer.kernel, variables_collections, "weights")
        if layer.bias is not None:
            add_variable_to_collections(layer.bias, variables_collections, "biases")
        return finished(
            outputs, sc.name, outputs_collections, activation_fn, normalizer_fn, normalizer_params
        )


relu = functools.partial(fully_connected, activation_fn=activations.relu)
relu6 = functools.partial(fully_connected, activation_fn=activations.relu6)
elu = functools.partial(fully_connected, activation_fn=activations.elu)
linear = functools.partial(fully_connected, activation_fn=None)

expose(relu, "contrib.layers.relu")
expose(relu6, "contrib.layers.relu6")
expose(elu, "contrib.layers.elu")
expose(linear, "contrib.layers.linear")


@export("contrib.layers.legacy_fully_connected")
def legacy_fully_connected(
    x: Any,
    num_output_units: int,
    activation_fn: Callable | None = None,
    weight_init: Any = xavier_initializer(),
    bias_init: Any = Zeros(),
    name: str | None = None,
    weight_collections: Any = (GraphKeys.WEIGHTS,),
    bias_collections: Any = (GraphKeys.BIASES,),
    output_collections: Any = (GraphKeys.ACTIVATIONS,),
    trainable: bool = True,
    weight_regularizer: Callable | None = None,
    bias_regularizer: Callable | None = None,
) -> Tensor:
    """activation_fn(x . weights + bias), as it was before `fully_connected`."""
    with variable_scope(name, "fully_connected", [x]):
        x = convert_to_tensor(x)
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


legacy_linear = functools.partial(legacy_fully_connected, activation_fn=None)
legacy_relu = functools.partial(legacy_fully_connected, activation_fn=activations.relu)
expose(legacy_linear, "contrib.layers.legacy_linear")
expose(legacy_relu, "contrib.layers.legacy_relu")


@export("contrib.layers.bias_add")
@add_arg_scope
def bias_add(
    inputs: Any,
    activation_fn: Callable | None = None,
    initializer: Any = Zeros(),
    regularizer: Callable | None = None,
    reuse: bool | None = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    data_format: str = NHWC,
    scope: Any = None,
) -> Tensor:
    """activation_fn(inputs + biases)"""
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
    inputs: Any,
    keep_prob: Any = 0.5,
    noise_shape: Any = None,
    is_training: Any = True,
    outputs_collections: Any = None,
    scope: Any = None,
    seed: Any = None,
) -> Tensor:
    """Keeps each element with probability `keep_prob` while training, and scales what is kept."""
    with variable_scope(scope, "Dropout", [inputs], custom_getter=model_variable_getter()) as sc:
        inputs = convert_to_tensor(inputs)
        layer = core.Dropout(1 - keep_prob, noise_shape=noise_shape, seed=seed, name=sc.name, _scope=sc)
        outputs = layer.apply(inputs, training=is_training)
        return collect_named_outputs(outputs_collections, sc.name, outputs)
