"""Normalization by the statistics of a batch, a layer, an instance or a group of channels."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.contrib.framework.argument_scopes import add_arg_scope
from tideflow.contrib.framework.model_variables import model_variable
from tideflow.contrib.layers.making import add_variable_to_collections, finished, model_variable_getter
from tideflow.contrib.layers.utilities import NCHW, NHWC, check_data_format, get_variable_collections
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import GraphKeys, add_to_collections, control_dependencies, name_scope
from tideflow.layers import normalization as layers
from tideflow.nn import statistics
from tideflow.ops.arrays import constants, shapes
from tideflow.ops.control_flow import conditionals
from tideflow.ops.math import unary
from tideflow.ops.nn import normalization
from tideflow.train.moving_averages import assign_moving_average
from tideflow.variables.initializers import Ones, Zeros
from tideflow.variables.variable_scope import get_variable_scope, variable_scope

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike
    from tideflow.variables.variable_scope import VariableScope


@export("contrib.layers.batch_norm")
@add_arg_scope
def batch_norm(
    inputs: TensorLike,
    decay: float = 0.999,
    center: bool = True,
    scale: bool = False,
    epsilon: float = 0.001,
    activation_fn: Callable | None = None,
    param_initializers: dict[str, Any] | None = None,
    param_regularizers: dict[str, Any] | None = None,
    updates_collections: str | Sequence[str] | None = GraphKeys.UPDATE_OPS,
    is_training: TensorLike = True,
    reuse: bool | None = None,
    variables_collections: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
    outputs_collections: str | Sequence[str] | None = None,
    trainable: bool = True,
    batch_weights: TensorLike | None = None,
    fused: bool | None = None,
    data_format: str = NHWC,
    zero_debias_moving_mean: bool = False,
    scope: str | VariableScope | None = None,
    renorm: bool = False,
    renorm_clipping: dict[str, Any] | None = None,
    renorm_decay: float = 0.99,
    adjustment: Callable | None = None,
) -> Tensor:
    """Normalizes by the batch's mean and variance while training, by moving averages after it.

    The averages are updated by operations in `updates_collections`; where that is None, by computing the
    output.

    Args:
      inputs: The input tensor.
      decay: How much of the moving averages stays at each update, below 1.
      center: Whether an offset, beta, is added.
      scale: Whether the result is multiplied by a factor, gamma.
      epsilon: A small number that is added to the variance, so that nothing is divided by zero.
      activation_fn: A function that is applied to the result; None for none.
      param_initializers: The initializers of the variables by name: `"beta"`, `"gamma"` and so on.
      param_regularizers: The regularizers of `"beta"` and `"gamma"`.
      updates_collections: Collections for the operations that update the averages; with None, computing the
        result updates them.
      is_training: Whether the batch's own mean and variance are used: a bool, or a scalar bool tensor.
      reuse: Whether the variables of an earlier layer of the same scope are shared.
      variables_collections: Collections that the variables are added to, or a dictionary of them by the
        variable's name.
      outputs_collections: Collections that the result is added to.
      trainable: Whether the variables are trained.
      batch_weights: What each example counts; all count the same if None.
      fused: Whether one fused operation does it; where possible if None.
      data_format: Where the axis of the channels stands: last (`"NHWC"`) or second (`"NCHW"`).
      zero_debias_moving_mean: Whether the moving mean is corrected for its start at zero.
      scope: The variable scope of the layer; named after the layer if None.
      renorm: Whether batch renormalization is used (Ioffe 2017).
      renorm_clipping: The bounds `"rmax"`, `"rmin"` and `"dmax"` of renormalization; none if None.
      renorm_decay: How much of renormalization's moving averages stays at each update.
      adjustment: A function from the inputs' shape to a random scale and offset while training; None for
        none.

    Returns:
      A tensor: the outputs of the layer.
    """
    check_data_format(data_format, NCHW, NHWC)
    fused = True if fused is None else fused
    inputs = convert_to_tensor(inputs)
    rank = inputs.shape.ndims
    later = updates_collections == GraphKeys.UPDATE_OPS
    can_fuse = batch_weights is None and not renorm and rank in (2, 4) and adjustment is None
    in_own_way = fused and can_fuse and (zero_debias_moving_mean or rank == 2 or not later)
    getter = None if in_own_way else model_variable_getter()
    with variable_scope(scope, "BatchNorm", [inputs], reuse=reuse, custom_getter=getter) as sc:
        if not in_own_way and batch_weights is None and later and not zero_debias_moving_mean:
            layer = layers.BatchNormalization(
                axis=1 if data_format == NCHW else -1,
                momentum=decay,
                epsilon=epsilon,
                center=center,
                scale=scale,
                trainable=trainable,
                renorm=renorm,
                renorm_clipping=renorm_clipping,
                renorm_momentum=renorm_decay,
                adjustment=adjustment,
                name=sc.name,
                fused=fused and rank == 4,
                _scope=sc,
                _reuse=reuse,
                **_layer_parameters(param_initializers or {}, param_regularizers or {}),
            )
            outputs = layer.apply(inputs, training=is_training)
            for name in ("moving_mean", "moving_variance", "beta", "gamma"):
                if getattr(layer, name) is not None:
                    add_variable_to_collections(getattr(layer, name), variables_collections, name)
        else:
            if renorm:
                raise ValueError(
                    "renorm is not supported with batch_weights, updates_collections or "
                    "zero_debias_moving_mean"
                )
            parameter = functools.partial(
                _parameter, param_initializers or {}, param_regularizers or {}, variables_collections
            )
            update = functools.partial(
                _updated, decay=decay, zero_debias=zero_debias_moving_mean, collections=updates_collections
            )
            normalize = _fused if in_own_way else functools.partial(_by_moments, batch_weights=batch_weights)
            outputs = normalize(
                inputs, parameter, update, center, scale, epsilon, trainable, is_training, data_format
            )
        return finished(outputs, sc.name, outputs_collections, activation_fn)


def _layer_parameters(initializers: dict[str, Any], regularizers: dict[str, Any]) -> dict[str, Any]:
    """Initializers and regularizers by the names that tf.layers has for them."""
    return {
        "beta_initializer": initializers.get("beta", Zeros()),
        "gamma_initializer": initializers.get("gamma", Ones()),
        "moving_mean_initializer": initializers.get("moving_mean", Zeros()),
        "moving_variance_initializer": initializers.get("moving_variance", Ones()),
        "beta_regularizer": regularizers.get("beta"),
        "gamma_regularizer": regularizers.get("gamma"),
    }


# ------------------------------------------------------------------------- with updates where they are wanted


def _parameter(
    initializers: dict,
    regularizers: dict,
    collections: Any,
    name: str,
    shape: Any,
    dtype: Any,
    trainable: bool,
) -> Any:
    default = Zeros() if name in ("beta", "moving_mean") else Ones()
    return model_variable(
        name,
        shape=shape,
        dtype=dtype,
        initializer=initializers.get(name, default),
        regularizer=regularizers.get(name),
        collections=get_variable_collections(collections, name),
        trainable=trainable,
    )


def _moving_statistics(parameter: Callable, shape: Any, dtype: Any) -> tuple[Any, Any]:
    with variable_scope(get_variable_scope()) as scope:
        scope.set_partitioner(None)  # statistics are small, and are assigned to as a whole
        mean = parameter("moving_mean", shape, dtype, False)
        return mean, parameter("moving_variance", shape, dtype, False)


def _updates(moving: tuple[Any, Any], batch: tuple[Any, Any], decay: float, zero_debias: bool) -> list[Any]:
    return [
        assign_moving_average(moving[0], batch[0], decay, zero_debias=zero_debias),
        assign_moving_average(moving[1], batch[1], decay, zero_debias=False),
    ]


def _updated(
    moving: tuple[Any, Any],
    batch: tuple[Any, Any],
    is_training: Any,
    at_once: tuple[Tensor, ...],
    otherwise: tuple[Tensor, ...],
    decay: float,
    zero_debias: bool,
    collections: Any,
) -> tuple[Tensor, ...]:
    """`at_once` while training, `otherwise` when not; the updates happen before the former, or are
    collected.
    """
    if collections is None:

        def after_updates() -> tuple[Tensor, ...]:
            with control_dependencies(_updates(moving, batch, decay, zero_debias)):
                return tuple(constants.identity(value) for value in at_once)

        return conditionals.smart_cond(is_training, after_updates, lambda: otherwise)
    updates = conditionals.smart_cond(
        is_training, lambda: tuple(_updates(moving, batch, decay, zero_debias)), lambda: moving
    )
    for update in updates:
        add_to_collections(collections, update)
    return at_once


def _fused(
    inputs: Tensor,
    parameter: Callable,
    update: Callable,
    center: bool,
    scale: bool,
    epsilon: float,
    trainable: bool,
    is_training: Any,
    data_format: str,
) -> Tensor:
    """One kernel for statistics and normalization. A matrix is taken for an image of one pixel."""
    original, channel_axis = inputs, 1 if data_format == NCHW else -1
    channels = _channels(inputs, channel_axis)
    if inputs.shape.ndims == 2:
        inputs = shapes.reshape(inputs, [-1, channels, 1, 1] if data_format == NCHW else [-1, 1, 1, channels])
    shape, dtype = [channels], dtypes.float32
    beta = parameter("beta", shape, dtype, trainable) if center else constants.constant(0.0, dtype, shape)
    gamma = parameter("gamma", shape, dtype, trainable) if scale else constants.constant(1.0, dtype, shape)
    moving = _moving_statistics(parameter, shape, dtype)

    def train() -> tuple:
        return normalization.fused_batch_norm(inputs, gamma, beta, epsilon=epsilon, data_format=data_format)

    def infer() -> tuple:
        return normalization.fused_batch_norm(
            inputs, gamma, beta, *moving, epsilon=epsilon, is_training=False, data_format=data_format
        )

    outputs, *batch = conditionals.smart_cond(is_training, train, infer)
    if conditionals.smart_constant_value(is_training) is not False:
        outputs = _only(update(moving, batch, is_training, (outputs,), (outputs,)))
    outputs.set_shape(inputs.shape)
    return shapes.reshape(outputs, shapes.shape(original)) if original.shape.ndims == 2 else outputs


def _only(values: Any) -> Tensor:
    return values[0] if isinstance(values, (tuple, list)) else values


def _by_moments(
    inputs: Tensor,
    parameter: Callable,
    update: Callable,
    center: bool,
    scale: bool,
    epsilon: float,
    trainable: bool,
    is_training: Any,
    data_format: str,
    batch_weights: Any,
) -> Tensor:
    """Statistics by `tf.nn.moments`, or by weighted ones; then the normalization."""
    rank = inputs.shape.ndims
    if rank is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    dtype = inputs.dtype.base_dtype
    channel_axis = 1 if data_format == NCHW else rank - 1
    channels = _channels(inputs, channel_axis)
    if batch_weights is not None:
        batch_weights = convert_to_tensor(batch_weights)
        inputs.shape[0:1].assert_is_compatible_with(batch_weights.shape)
        batch_weights = shapes.reshape(batch_weights, [-1] + [1] * (rank - 1))
    shape = [channels]
    beta = parameter("beta", shape, dtype, trainable) if center else None
    gamma = parameter("gamma", shape, dtype, trainable) if scale else None
    moving = _moving_statistics(parameter, shape, dtype)
    axes = [axis for axis in range(rank) if axis != channel_axis]
    if conditionals.smart_constant_value(is_training) is False:
        mean, variance = moving
    else:
        batch = _moments(inputs, axes, batch_weights, keep_dims=data_format == NCHW)
        mean, variance = update(moving, batch, is_training, batch, moving)
        if mean is batch[0]:
            mean, variance = conditionals.smart_cond(is_training, lambda: batch, lambda: moving)
    if data_format == NCHW:
        broadcast = [1, channels] + [1] * (rank - 2)
        mean, variance, beta, gamma = (
            None if value is None else shapes.reshape(value, broadcast)
            for value in (mean, variance, beta, gamma)
        )
    outputs = statistics.batch_normalization(inputs, mean, variance, beta, gamma, epsilon)
    outputs.set_shape(inputs.shape)
    return outputs


def _moments(
    inputs: Tensor, axes: list[int], weights: Tensor | None, keep_dims: bool
) -> tuple[Tensor, Tensor]:
    if weights is None:
        mean, variance = statistics.moments(inputs, axes, keep_dims=keep_dims)
    else:
        mean, variance = statistics.weighted_moments(inputs, axes, weights, keep_dims=keep_dims)
    return (shapes.reshape(mean, [-1]), shapes.reshape(variance, [-1])) if keep_dims else (mean, variance)


def _channels(inputs: Tensor, axis: int) -> int:
    channels = inputs.shape.as_list()[axis]
    if channels is None:
        raise ValueError(f"Inputs {inputs.name} has undefined `C` dimension.")
    return channels


# ----------------------------------------------------------------------------------- without moving averages


@export("contrib.layers.layer_norm")
@add_arg_scope
def layer_norm(
    inputs: TensorLike,
    center: bool = True,
    scale: bool = True,
    activation_fn: Callable | None = None,
    reuse: bool | None = None,
    variables_collections: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
    outputs_collections: str | Sequence[str] | None = None,
    trainable: bool = True,
    begin_norm_axis: int = 1,
    begin_params_axis: int = -1,
    scope: str | VariableScope | None = None,
) -> Tensor:
    """Normalizes each example over its axes from `begin_norm_axis` on (Ba, Kiros, Hinton 2016).

    Args:
      inputs: The input tensor.
      center: Whether an offset, beta, is added.
      scale: Whether the result is multiplied by a factor, gamma.
      activation_fn: A function that is applied to the result; None for none.
      reuse: Whether the variables of an earlier layer of the same scope are shared.
      variables_collections: Collections that the variables are added to, or a dictionary of them by the
        variable's name.
      outputs_collections: Collections that the result is added to.
      trainable: Whether the variables are trained.
      begin_norm_axis: The first axis to normalize over.
      begin_params_axis: The first axis that beta and gamma have an element for each place of.
      scope: The variable scope of the layer; named after the layer if None.

    Returns:
      A tensor: the outputs of the layer.
    """
    with variable_scope(scope, "LayerNorm", [inputs], reuse=reuse) as sc:
        inputs = convert_to_tensor(inputs)
        rank = inputs.shape.ndims
        if rank is None:
            raise ValueError(f"Inputs {inputs.name} has undefined rank.")
        begin = begin_norm_axis + rank if begin_norm_axis < 0 else begin_norm_axis
        if begin_params_axis >= rank or begin >= rank:
            raise ValueError(
                f"begin_params_axis ({begin_params_axis}) and begin_norm_axis ({begin}) must be < "
                f"rank(inputs) ({rank})"
            )
        shape = inputs.shape[begin_params_axis:]
        if not shape.is_fully_defined():
            raise ValueError(
                f"Inputs {inputs.name}: shape(inputs)[{begin_params_axis}:] is not fully defined: "
                f"{inputs.shape}"
            )
        dtype = inputs.dtype.base_dtype
        parameter = functools.partial(_parameter, {}, {}, variables_collections)
        beta = parameter("beta", shape, dtype, trainable) if center else None
        gamma = parameter("gamma", shape, dtype, trainable) if scale else None
        mean, variance = statistics.moments(inputs, list(range(begin, rank)), keep_dims=True)
        # Half precision cannot hold the smaller number.
        epsilon = 1e-3 if dtype is dtypes.float16 else 1e-12
        outputs = statistics.batch_normalization(inputs, mean, variance, beta, gamma, epsilon)
        outputs.set_shape(inputs.shape)
        return finished(outputs, sc.name, outputs_collections, activation_fn)


@export("contrib.layers.instance_norm")
@add_arg_scope
def instance_norm(
    inputs: TensorLike,
    center: bool = True,
    scale: bool = True,
    epsilon: float = 1e-6,
    activation_fn: Callable | None = None,
    param_initializers: dict[str, Any] | None = None,
    reuse: bool | None = None,
    variables_collections: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
    outputs_collections: str | Sequence[str] | None = None,
    trainable: bool = True,
    data_format: str = NHWC,
    scope: str | VariableScope | None = None,
) -> Tensor:
    """Normalizes each channel of each example (Ulyanov, Vedaldi, Lempitsky 2016).

    Args:
      inputs: The input tensor.
      center: Whether an offset, beta, is added.
      scale: Whether the result is multiplied by a factor, gamma.
      epsilon: A small number that is added to the variance, so that nothing is divided by zero.
      activation_fn: A function that is applied to the result; None for none.
      param_initializers: The initializers of the variables by name: `"beta"`, `"gamma"` and so on.
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
    inputs = convert_to_tensor(inputs)
    rank = inputs.shape.ndims
    if rank is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    check_data_format(data_format, NCHW, NHWC)
    with variable_scope(scope, "InstanceNorm", [inputs], reuse=reuse) as sc:
        channel_axis = 1 if data_format == NCHW else rank - 1
        axes = [axis for axis in range(1, rank) if axis != channel_axis]
        channels = inputs.shape.as_list()[channel_axis]
        if channels is None:
            raise ValueError(f"Inputs {inputs.name} has undefined channels dimension {channel_axis}.")
        dtype = inputs.dtype.base_dtype
        parameter = functools.partial(_parameter, param_initializers or {}, {}, variables_collections)
        broadcast = [channels if axis == channel_axis else 1 for axis in range(rank)]

        def made(name: str, wanted: bool) -> Any:
            if not wanted:
                return None
            variable = parameter(name, [channels], dtype, trainable)
            return shapes.reshape(variable, broadcast) if data_format == NCHW else variable

        beta, gamma = made("beta", center), made("gamma", scale)
        mean, variance = statistics.moments(inputs, axes, keep_dims=True)
        with name_scope("instancenorm", values=[inputs, mean, variance, beta, gamma]):
            outputs = _normalized(inputs, mean, variance, beta, gamma, epsilon)
        outputs.set_shape(inputs.shape)
        return finished(outputs, sc.name, outputs_collections, activation_fn)


def _normalized(x: Tensor, mean: Tensor, variance: Tensor, beta: Any, gamma: Any, epsilon: float) -> Tensor:
    factor = unary.rsqrt(variance + epsilon)
    if gamma is not None:
        factor *= gamma
    return x * factor + (beta - mean * factor if beta is not None else -mean * factor)


@export("contrib.layers.group_norm")
@add_arg_scope
def group_norm(
    inputs: TensorLike,
    groups: int = 32,
    channels_axis: int = -1,
    reduction_axes: tuple[int, ...] = (-3, -2),
    center: bool = True,
    scale: bool = True,
    epsilon: float = 1e-6,
    activation_fn: Callable | None = None,
    param_initializers: dict[str, Any] | None = None,
    reuse: bool | None = None,
    variables_collections: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
    outputs_collections: str | Sequence[str] | None = None,
    trainable: bool = True,
    scope: str | VariableScope | None = None,
    mean_close_to_zero: bool = False,
) -> Tensor:
    """Normalizes each group of channels of each example (Wu, He 2018).

    Args:
      inputs: The input tensor.
      groups: The number of groups.
      channels_axis: The axis of the channels.
      reduction_axes: The axes to normalize over, beside the channels of a group.
      center: Whether an offset, beta, is added.
      scale: Whether the result is multiplied by a factor, gamma.
      epsilon: A small number that is added to the variance, so that nothing is divided by zero.
      activation_fn: A function that is applied to the result; None for none.
      param_initializers: The initializers of the variables by name: `"beta"`, `"gamma"` and so on.
      reuse: Whether the variables of an earlier layer of the same scope are shared.
      variables_collections: Collections that the variables are added to, or a dictionary of them by the
        variable's name.
      outputs_collections: Collections that the result is added to.
      trainable: Whether the variables are trained.
      scope: The variable scope of the layer; named after the layer if None.
      mean_close_to_zero: Whether the variance is computed as the mean of squares, which is faster where the
        mean is near zero.

    Returns:
      A tensor: the outputs of the layer.
    """
    inputs = convert_to_tensor(inputs)
    if inputs.shape.ndims is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    rank = inputs.shape.ndims
    if not all(-rank <= axis < rank for axis in (channels_axis, *reduction_axes)):
        raise ValueError("Axis is out of bounds.")
    channels_axis %= rank
    reduced = [axis % rank for axis in reduction_axes]
    channels = inputs.shape.as_list()[channels_axis]
    if channels is None:
        raise ValueError(f"Inputs {inputs.name} has undefined channel dimension: {channels_axis}.")
    for axis in reduced:
        if inputs.shape.as_list()[axis] is None:
            raise ValueError(f"Inputs {inputs.name} has undefined dimensions {axis}.")
    if channels_axis in reduced:
        raise ValueError("reduction_axis must be mutually exclusive with channels_axis")
    if groups > channels:
        raise ValueError(f"Invalid groups {groups} for {channels} channels.")
    if channels % groups:
        raise ValueError(f"{channels} channels is not commensurate with {groups} groups.")
    # The axis of channels becomes two, groups and channels within a group: axes behind it move on by one.
    sizes = shapes.shape(inputs)
    static = inputs.shape.as_list()
    inner = [groups, channels // groups]
    full = [size if size is not None else sizes[i] for i, size in enumerate(static)]
    inputs = shapes.reshape(inputs, [*full[:channels_axis], *inner, *full[channels_axis + 1 :]])
    with variable_scope(scope, "GroupNorm", [inputs], reuse=reuse) as sc:
        broadcast = [1] * (rank + 1)
        broadcast[channels_axis : channels_axis + 2] = inner
        dtype = inputs.dtype.base_dtype
        parameter = functools.partial(_parameter, param_initializers or {}, {}, variables_collections)

        def made(name: str, wanted: bool) -> Any:
            if not wanted:
                return None
            return shapes.reshape(parameter(name, [channels], dtype, trainable), broadcast)

        beta, gamma = made("beta", center), made("gamma", scale)
        axes = sorted({axis + 1 if axis > channels_axis else axis for axis in reduced} | {channels_axis + 1})
        mean, variance = _group_moments(inputs, axes, mean_close_to_zero)
        factor = unary.rsqrt(variance + epsilon)
        offset = -mean * factor
        if gamma is not None:
            factor, offset = factor * gamma, offset * gamma
        if beta is not None:
            offset += beta
        outputs = shapes.reshape(inputs * factor + offset, full)
        outputs.set_shape(static)
        return finished(outputs, sc.name, outputs_collections, activation_fn)


def _group_moments(inputs: Tensor, axes: list[int], mean_close_to_zero: bool) -> tuple[Tensor, Tensor]:
    if not mean_close_to_zero:
        return statistics.moments(inputs, axes, keep_dims=True)
    counts, means, squares, shift = statistics.sufficient_statistics(inputs, axes, keep_dims=True)
    return statistics.normalize_moments(counts, means, squares, shift=shift)
