"""Batch normalization."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.layers import keras_normalization
from tideflow.layers.scoped import Layer
from tideflow.variables import initializers

if TYPE_CHECKING:
    from tideflow.graph.typing import InitializerLike, RegularizerLike, TensorLike


@export("layers.BatchNormalization")
class BatchNormalization(keras_normalization.BatchNormalization, Layer):
    """Batch normalization: subtracts the mean and divides by the standard deviation of each channel.

    During training the statistics are those of the batch, otherwise moving averages. The operations that
    update the moving averages are in the collection UPDATE_OPS: a training step must run them.

    Args:
      axis: The axis, or axes, whose elements are normalized separately, usually the channels.
      momentum: The decay of the moving averages.
      epsilon: A small number that is added to the variance.
      center: Whether there is an offset, beta.
      scale: Whether there is a scale, gamma.
      beta_initializer: The initializer of beta.
      gamma_initializer: The initializer of gamma.
      moving_mean_initializer: The initializer of the moving mean.
      moving_variance_initializer: The initializer of the moving variance.
      beta_regularizer: The regularizer of beta.
      gamma_regularizer: The regularizer of gamma.
      beta_constraint: The constraint of beta.
      gamma_constraint: The constraint of gamma.
      renorm: Whether batch renormalization is used (Ioffe, 2017).
      renorm_clipping: The limits of its corrections: `rmax`, `rmin` and `dmax`.
      renorm_momentum: The decay of its moving averages.
      fused: Whether the fused operation is used; if possible if None.
      trainable: Whether optimizers change the variables by default.
      virtual_batch_size: If given, the batch is divided into parts of this size, which are normalized
        separately.
      adjustment: A function of the input's shape that returns a scale and an offset, which are applied during
        training.
      name: The name of the layer.
      **kwargs: Arguments of `tf.layers.Layer`.
    """

    def __init__(
        self,
        axis: int | Sequence[int] = -1,
        momentum: float = 0.99,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: InitializerLike = initializers.Zeros(),
        gamma_initializer: InitializerLike = initializers.Ones(),
        moving_mean_initializer: InitializerLike = initializers.Zeros(),
        moving_variance_initializer: InitializerLike = initializers.Ones(),
        beta_regularizer: RegularizerLike | None = None,
        gamma_regularizer: RegularizerLike | None = None,
        beta_constraint: Callable | None = None,
        gamma_constraint: Callable | None = None,
        renorm: bool = False,
        renorm_clipping: dict[str, Any] | None = None,
        renorm_momentum: float = 0.99,
        fused: bool | None = None,
        trainable: bool = True,
        virtual_batch_size: int | None = None,
        adjustment: Callable | None = None,
        name: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(
            axis=axis,
            momentum=momentum,
            epsilon=epsilon,
            center=center,
            scale=scale,
            beta_initializer=beta_initializer,
            gamma_initializer=gamma_initializer,
            moving_mean_initializer=moving_mean_initializer,
            moving_variance_initializer=moving_variance_initializer,
            beta_regularizer=beta_regularizer,
            gamma_regularizer=gamma_regularizer,
            beta_constraint=beta_constraint,
            gamma_constraint=gamma_constraint,
            renorm=renorm,
            renorm_clipping=renorm_clipping,
            renorm_momentum=renorm_momentum,
            fused=fused,
            trainable=trainable,
            virtual_batch_size=virtual_batch_size,
            adjustment=adjustment,
            name=name,
            **kwargs,
        )

    def call(self, inputs: Tensor, training: TensorLike = False) -> Tensor:
        return super().call(inputs, training=training)


@export("layers.batch_normalization")
def batch_normalization(
    inputs: TensorLike,
    axis: int | Sequence[int] = -1,
    momentum: float = 0.99,
    epsilon: float = 1e-3,
    center: bool = True,
    scale: bool = True,
    beta_initializer: InitializerLike = initializers.Zeros(),
    gamma_initializer: InitializerLike = initializers.Ones(),
    moving_mean_initializer: InitializerLike = initializers.Zeros(),
    moving_variance_initializer: InitializerLike = initializers.Ones(),
    beta_regularizer: RegularizerLike | None = None,
    gamma_regularizer: RegularizerLike | None = None,
    beta_constraint: Callable | None = None,
    gamma_constraint: Callable | None = None,
    training: TensorLike = False,
    trainable: bool = True,
    name: str | None = None,
    reuse: bool | None = None,
    renorm: bool = False,
    renorm_clipping: dict[str, Any] | None = None,
    renorm_momentum: float = 0.99,
    fused: bool | None = None,
    virtual_batch_size: int | None = None,
    adjustment: Callable | None = None,
) -> Tensor:
    """Applies batch normalization: subtracts the mean and divides by the standard deviation of each channel.

    During training the statistics are those of the batch, otherwise moving averages. The operations that
    update the moving averages are in the collection UPDATE_OPS: a training step must run them.

    Args:
      inputs: The input tensor.
      axis: The axis, or axes, whose elements are normalized separately, usually the channels.
      momentum: The decay of the moving averages.
      epsilon: A small number that is added to the variance.
      center: Whether there is an offset, beta.
      scale: Whether there is a scale, gamma.
      beta_initializer: The initializer of beta.
      gamma_initializer: The initializer of gamma.
      moving_mean_initializer: The initializer of the moving mean.
      moving_variance_initializer: The initializer of the moving variance.
      beta_regularizer: The regularizer of beta.
      gamma_regularizer: The regularizer of gamma.
      beta_constraint: The constraint of beta.
      gamma_constraint: The constraint of gamma.
      training: Whether the statistics of the batch are used: a bool or a bool tensor.
      trainable: Whether optimizers change the variables by default.
      name: The name of the layer.
      reuse: Whether the variables of an earlier layer of the same name are shared.
      renorm: Whether batch renormalization is used (Ioffe, 2017).
      renorm_clipping: The limits of its corrections: `rmax`, `rmin` and `dmax`.
      renorm_momentum: The decay of its moving averages.
      fused: Whether the fused operation is used; if possible if None.
      virtual_batch_size: If given, the batch is divided into parts of this size, which are normalized
        separately.
      adjustment: A function of the input's shape that returns a scale and an offset, which are applied during
        training.

    Returns:
      The output tensor.
    """
    layer = BatchNormalization(
        axis=axis,
        momentum=momentum,
        epsilon=epsilon,
        center=center,
        scale=scale,
        beta_initializer=beta_initializer,
        gamma_initializer=gamma_initializer,
        moving_mean_initializer=moving_mean_initializer,
        moving_variance_initializer=moving_variance_initializer,
        beta_regularizer=beta_regularizer,
        gamma_regularizer=gamma_regularizer,
        beta_constraint=beta_constraint,
        gamma_constraint=gamma_constraint,
        renorm=renorm,
        renorm_clipping=renorm_clipping,
        renorm_momentum=renorm_momentum,
        fused=fused,
        trainable=trainable,
        virtual_batch_size=virtual_batch_size,
        adjustment=adjustment,
        name=name,
        _reuse=reuse,
        _scope=name,
    )
    return layer.apply(inputs, training=training)
