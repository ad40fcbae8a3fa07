"""Bijectors that networks shift and scale: autoregressive flows, couplings, and batch normalization."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.contrib.distributions.bijectors.base import Bijector, zero_log_det
from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.layers.core import Dense, dense
from tideflow.layers.normalization import BatchNormalization as BatchNormalizationLayer
from tideflow.nn.statistics import moments
from tideflow.ops.arrays import constants, creation, joining, shapes
from tideflow.ops.control_flow import while_loops
from tideflow.ops.math import clipping, reductions, unary
from tideflow.ops.nn import activations
from tideflow.variables.initializers import GlorotNormal
from tideflow.variables.template import make_template
from tideflow.variables.variable_scope import get_variable_scope, variable_scope

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_NO_DEPTH = "Rightmost dimension must be known prior to graph execution."


def _scaled_and_shifted(x: Tensor, shift: Tensor | None, log_scale: Tensor | None) -> Tensor:
    x = x if log_scale is None else x * unary.exp(log_scale)
    return x if shift is None else x + shift


def _undone(y: Tensor, shift: Tensor | None, log_scale: Tensor | None) -> Tensor:
    y = y if shift is None else y - shift
    return y if log_scale is None else y * unary.exp(-log_scale)


def _depth(x: Tensor) -> int | None:
    known = x.shape.with_rank_at_least(1)
    return None if known.ndims is None else known.tuple[-1]


@export("contrib.distributions.bijectors.MaskedAutoregressiveFlow")
class MaskedAutoregressiveFlow(Bijector):
    """A bijector of vectors that shifts and scales each element by what a function makes of those before.

    Args:
      shift_and_log_scale_fn: The function of a vector, whose element i depends on elements before i only,
        that gives shifts and logarithms of scales; either may be None.
      is_constant_jacobian: Whether the log-determinant does not depend on the value.
      validate_args: Whether steps check the parameters and values.
      unroll_loop: Whether `forward` is a step an element in the graph; else a loop.
      name: The name of the operations.
    """

    def __init__(
        self,
        shift_and_log_scale_fn: Callable[[Tensor], tuple[Tensor | None, Tensor | None]],
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        unroll_loop: bool = False,
        name: str | None = None,
    ):
        self._shift_and_log_scale_fn = shift_and_log_scale_fn
        self._unroll_loop = unroll_loop
        super().__init__(
            forward_min_event_ndims=1,
            is_constant_jacobian=is_constant_jacobian,
            validate_args=validate_args,
            name=name or "masked_autoregressive_flow",
        )

    def _forward(self, x: Tensor) -> Tensor:
        """After as many rounds as there are elements, each follows from those before."""
        depth = _depth(x)
        y = creation.zeros_like(x, name="y0")
        if self._unroll_loop:
            if depth is None:
                raise ValueError(
                    "The final dimension of `x` must be known at graph construction time if "
                    f"`unroll_loop=True`. `x.shape: {x.shape!r}`"
                )
            for _ in range(depth):
                y = _scaled_and_shifted(x, *self._shift_and_log_scale_fn(y))
            return y
        self._shift_and_log_scale_fn(y)  # makes the variables outside the loop
        size = shapes.shape(x)[-1]

        def round_of(index: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
            with variable_scope(get_variable_scope()) as scope:
                if scope.caching_device is None:
                    scope.set_caching_device(lambda op: op.device)
                return index + 1, _scaled_and_shifted(x, *self._shift_and_log_scale_fn(y))

        return while_loops.while_loop(
            lambda index, _: index < size, round_of, (0, y), maximum_iterations=depth
        )[1]

    def _inverse(self, y: Tensor) -> Tensor:
        return _undone(y, *self._shift_and_log_scale_fn(y))

    def _inverse_log_det_jacobian(self, y: Tensor) -> Tensor:
        _, log_scale = self._shift_and_log_scale_fn(y)
        return zero_log_det(y) if log_scale is None else -reductions.reduce_sum(log_scale, axis=-1)


def block_mask(blocks: int, inputs: int, outputs: int, exclusive: bool) -> np.ndarray:
    """Which inputs (rows) each output (column) sees: those of blocks before its own, or of its own too."""
    mask = np.zeros([inputs, outputs], np.float32)
    rows, columns = inputs // blocks, outputs // blocks
    for block in range(blocks):
        first = (block + int(exclusive)) * columns
        mask[block * rows : (block + 1) * rows, first:] = 1
    return mask


@export("contrib.distributions.bijectors.masked_dense")
def masked_dense(
    inputs: Tensor,
    units: int,
    num_blocks: int | None = None,
    exclusive: bool = False,
    kernel_initializer: Callable | None = None,
    reuse: bool | None = None,
    name: str | None = None,
    *args: Any,
    **kwargs: Any,
) -> Tensor:
    """Applies a dense layer whose outputs each see a part of the inputs only, the first ones.

    Args:
      inputs: The inputs, of shape [..., depth].
      units: The number of outputs.
      num_blocks: In how many blocks inputs and outputs are divided.
      exclusive: Whether outputs see the blocks before their own only; else their own block too.
      kernel_initializer: The initializer of the weights; Glorot's normal one by default.
      reuse: Whether to take the variables that are there.
      name: The name of the layer.
      *args: Further arguments of `tf.layers.Dense`.
      **kwargs: Further arguments of `tf.layers.Dense`.

    Returns:
      A tensor of shape [..., units].

    Raises:
      NotImplementedError: If the depth is not known.
    """
    depth = _depth(inputs)
    if depth is None:
        raise NotImplementedError(_NO_DEPTH)
    mask = block_mask(num_blocks, depth, units, exclusive).astype(inputs.dtype.as_numpy_dtype)
    initializer = kernel_initializer or GlorotNormal()

    def masked_initializer(shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        return mask * initializer(shape, dtype, partition_info)

    with name_scope(name, "masked_dense", [inputs, units, num_blocks]):
        layer = Dense(
            units,
            *args,
            kernel_initializer=masked_initializer,
            kernel_constraint=lambda weights: mask * weights,
            name=name,
            dtype=inputs.dtype.base_dtype,
            _scope=name,
            _reuse=reuse,
            **kwargs,
        )
        return layer.apply(inputs)


def _clipped_with_whole_gradient(x: Tensor, low: Any, high: Any) -> Tensor:
    with name_scope("clip_by_value_preserve_grad", values=[x, low, high]):
        return x + constants.stop_gradient(clipping.clip_by_value(x, low, high) - x)


@export("contrib.distributions.bijectors.masked_autoregressive_default_template")
def masked_autoregressive_default_template(
    hidden_layers: Sequence[int],
    shift_only: bool = False,
    activation: Callable | None = activations.relu,
    log_scale_min_clip: TensorLike = -5.0,
    log_scale_max_clip: TensorLike = 3.0,
    log_scale_clip_gradient: bool = False,
    name: str | None = None,
    *args: Any,
    **kwargs: Any,
) -> Callable[[Tensor], tuple[Tensor, Tensor | None]]:
    """Makes a masked network for `MaskedAutoregressiveFlow`, whose variables are shared by its calls.

    Args:
      hidden_layers: The sizes of the hidden layers.
      shift_only: Whether there are no scales.
      activation: The activation of the hidden layers.
      log_scale_min_clip: The least logarithm of a scale.
      log_scale_max_clip: The greatest logarithm of a scale.
      log_scale_clip_gradient: Whether gradients of what is clipped are zero.
      name: The name of the network.
      *args: Further arguments of `tf.layers.Dense`.
      **kwargs: Further arguments of `tf.layers.Dense`.

    Returns:
      A function of a tensor that gives shifts, and logarithms of scales or None.
    """
    name = name or "masked_autoregressive_default_template"
    with name_scope(name, values=[log_scale_min_clip, log_scale_max_clip]):

        def network(x: Tensor) -> tuple[Tensor, Tensor | None]:
            depth = _depth(x)
            if depth is None:
                raise NotImplementedError(_NO_DEPTH)
            sizes: Any = x.shape.as_list() if x.shape.is_fully_defined() else shapes.shape(x)
            for i, units in enumerate(hidden_layers):
                x = masked_dense(x, units, depth, i == 0, *args, activation=activation, **kwargs)
            outputs = (1 if shift_only else 2) * depth
            x = masked_dense(x, outputs, depth, *args, activation=None, **kwargs)
            if shift_only:
                return shapes.reshape(x, sizes), None
            x = shapes.reshape(x, joining.concat([sizes, [2]], 0))
            shift, log_scale = joining.unstack(x, num=2, axis=-1)
            clip = clipping.clip_by_value if log_scale_clip_gradient else _clipped_with_whole_gradient
            return shift, clip(log_scale, log_scale_min_clip, log_scale_max_clip)

        return make_template(name, network)


@export("contrib.distributions.bijectors.RealNVP")
class RealNVP(Bijector):
    """A bijector of vectors that keeps the first elements, and shifts and scales the rest by them.

    Args:
      num_masked: How many elements are kept.
      shift_and_log_scale_fn: The function of the kept elements and of how many are left that gives shifts
        and logarithms of scales; either may be None.
      is_constant_jacobian: Whether the log-determinant does not depend on the value.
      validate_args: Whether steps check the parameters and values.
      name: The name of the operations.

    Raises:
      ValueError: If `num_masked` is not positive.
    """

    def __init__(
        self,
        num_masked: int,
        shift_and_log_scale_fn: Callable[[Tensor, int], tuple[Tensor | None, Tensor | None]],
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        name: str | None = None,
    ):
        if num_masked <= 0:
            raise ValueError("num_masked must be a positive integer.")
        self._num_masked = num_masked
        self._input_depth: int | None = None
        self._shift_and_log_scale_fn = shift_and_log_scale_fn
        super().__init__(
            forward_min_event_ndims=1,
            is_constant_jacobian=is_constant_jacobian,
            validate_args=validate_args,
            name=name or "real_nvp",
        )

    def _parts(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor | None, Tensor | None]:
        """The kept elements, the rest, and its shift and logarithm of scale."""
        if self._input_depth is None:
            self._input_depth = _depth(x)
            if self._input_depth is None:
                raise NotImplementedError(_NO_DEPTH)
            if self._num_masked >= self._input_depth:
                raise ValueError("Number of masked units must be smaller than the event size.")
        kept, rest = x[:, : self._num_masked], x[:, self._num_masked :]
        return (kept, rest, *self._shift_and_log_scale_fn(kept, self._input_depth - self._num_masked))

    def _forward(self, x: Tensor) -> Tensor:
        kept, rest, shift, log_scale = self._parts(x)
        return joining.concat([kept, _scaled_and_shifted(rest, shift, log_scale)], -1)

    def _inverse(self, y: Tensor) -> Tensor:
        kept, rest, shift, log_scale = self._parts(y)
        return joining.concat([kept, _undone(rest, shift, log_scale)], -1)

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        log_scale = self._parts(x)[-1]
        return zero_log_det(x) if log_scale is None else reductions.reduce_sum(log_scale, axis=-1)

    def _inverse_log_det_jacobian(self, y: Tensor) -> Tensor:
        log_scale = self._parts(y)[-1]
        return zero_log_det(y) if log_scale is None else -reductions.reduce_sum(log_scale, axis=-1)


@export("contrib.distributions.bijectors.real_nvp_default_template")
def real_nvp_default_template(
    hidden_layers: Sequence[int],
    shift_only: bool = False,
    activation: Callable | None = activations.relu,
    name: str | None = None,
    *args: Any,
    **kwargs: Any,
) -> Callable[[Tensor, int], tuple[Tensor, Tensor | None]]:
    """Makes a network for `RealNVP`, whose variables are shared by its calls.

    Args:
      hidden_layers: The sizes of the hidden layers.
      shift_only: Whether there are no scales.
      activation: The activation of the hidden layers.
      name: The name of the operations.
      *args: Further arguments of `tf.layers.dense`.
      **kwargs: Further arguments of `tf.layers.dense`.

    Returns:
      A function of a tensor and of a number of outputs that gives shifts, and logarithms of scales or None.
    """
    with name_scope(name, "real_nvp_default_template"):

        def network(x: Tensor, output_units: int) -> tuple[Tensor, Tensor | None]:
            for units in hidden_layers:
                x = dense(x, units, activation, *args, **kwargs)
            x = dense(x, (1 if shift_only else 2) * output_units, None, *args, **kwargs)
            if shift_only:
                return x, None
            shift, log_scale = joining.split(x, 2, axis=-1)
            return shift, log_scale

        return make_template("real_nvp_default_template", network)


@export("contrib.distributions.bijectors.BatchNormalization")
class BatchNormalization(Bijector):
    """The bijector whose inverse normalizes a batch.

    Args:
      batchnorm_layer: The layer that normalizes; by default one whose scales stay above 0.
      training: Whether `inverse` normalizes by the batch at hand; else by moving averages.
      validate_args: Whether steps check the parameters and values.
      name: The name of the operations.

    Raises:
      ValueError: If the layer is no batch normalization, or one that renormalizes or divides batches.
    """

    def __init__(
        self,
        batchnorm_layer: BatchNormalizationLayer | None = None,
        training: bool = True,
        validate_args: bool = False,
        name: str = "batch_normalization",
    ):
        self.batchnorm = batchnorm_layer or BatchNormalizationLayer(
            gamma_constraint=lambda gamma: activations.relu(gamma) + 1e-6
        )
        if not isinstance(self.batchnorm, BatchNormalizationLayer):
            raise ValueError("batchnorm_layer must be an instance of BatchNormalization layer.")
        if self.batchnorm.renorm:
            raise ValueError("BatchNorm Bijector does not support renormalization.")
        if self.batchnorm.virtual_batch_size:
            raise ValueError("BatchNorm Bijector does not support virtual batch sizes.")
        self._training = training
        axis = self.batchnorm.axis
        super().__init__(
            forward_min_event_ndims=1 if isinstance(axis, int) else len(axis),
            validate_args=validate_args,
            name=name,
        )

    def _built_for(self, x: Tensor) -> list[int]:
        """The axes that are averaged over, once the layer has its variables."""
        if not x.shape.is_fully_defined():
            raise ValueError("Input must have shape known at graph construction.")
        if not self.batchnorm.built:
            self.batchnorm.build(x.shape)
        return [axis for axis in range(x.shape.ndims) if axis not in self.batchnorm.axis]

    def _forward(self, x: Tensor) -> Tensor:
        averaged = self._built_for(x)
        sizes = [1] * x.shape.ndims
        sizes[self.batchnorm.axis[0]] = x.shape.tuple[self.batchnorm.axis[0]]

        def beside(parameter: Any) -> Any:
            needs_axes = parameter is not None and averaged != list(range(x.shape.ndims - 1))
            return shapes.reshape(parameter, sizes) if needs_axes else parameter

        layer = self.batchnorm
        rescale = unary.sqrt(beside(layer.moving_variance) + layer.epsilon)
        rescale = rescale / beside(layer.gamma) if layer.scale else rescale
        mean = beside(layer.moving_mean)
        return x * rescale + (mean - beside(layer.beta) * rescale if layer.center else mean)

    def _inverse(self, y: Tensor) -> Tensor:
        return self.batchnorm.apply(y, training=self._training)

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        self._built_for(x)
        return -self._log_det(self.batchnorm.moving_variance)

    def _inverse_log_det_jacobian(self, y: Tensor) -> Tensor:
        averaged = self._built_for(y)
        if not self._training:
            return self._log_det(self.batchnorm.moving_variance)
        return self._log_det(moments(y, axes=averaged, keepdims=True)[1])

    def _log_det(self, variance: Any) -> Tensor:
        gammas = reductions.reduce_sum(unary.log(self.batchnorm.gamma))
        return gammas - 0.5 * reductions.reduce_sum(unary.log(variance + self.batchnorm.epsilon))
