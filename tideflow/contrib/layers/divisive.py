"""Generalized divisive normalization, and a layer that scales only gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tideflow.autodiff.custom import custom_gradient
from tideflow.export import export
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.layers.input_spec import InputSpec
from tideflow.layers.scoped import Layer
from tideflow.nn import convolutions
from tideflow.ops.arrays import constants, creation, joining, shapes
from tideflow.ops.math import binary, casting, unary
from tideflow.ops.nn import activations

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


def _lower_bound(inputs: Any, bound: Tensor) -> Tensor:
    """At least the bound; a value at its bound may still be moved away from it."""

    @custom_gradient
    def bounded(x: Tensor) -> tuple[Tensor, Any]:
        def gradient(grad: Tensor) -> Tensor:
            return casting.cast(binary.logical_or(x >= bound, grad < 0), grad.dtype) * grad

        return binary.maximum(x, bound), gradient

    with name_scope("GDNLowerBound"):
        return bounded(convert_to_tensor(inputs, name="inputs"))


@export("contrib.layers.GDN")
class GDN(Layer):
    """Generalized divisive normalization: y_i = x_i / sqrt(beta_i + sum_j gamma_ij x_j ** 2) (Balle, 2015).

    Args:
      inverse: Whether inputs are multiplied by the root instead of divided.
      beta_min: The least value of beta.
      gamma_init: The diagonal of gamma at the start.
      reparam_offset: Keeps the variables, whose squares beta and gamma are, away from zero.
      data_format: "channels_last" or "channels_first".
      activity_regularizer: A penalty on the output.
      trainable: Whether the variables are trained.
      name: The name of the layer.
      **kwargs: Arguments of `tf.layers.Layer`.

    Raises:
      ValueError: If there is no such `data_format`.
    """

    def __init__(
        self,
        inverse: bool = False,
        beta_min: float = 1e-6,
        gamma_init: float = 0.1,
        reparam_offset: float = 2**-18,
        data_format: str = "channels_last",
        activity_regularizer: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(trainable=trainable, name=name, activity_regularizer=activity_regularizer, **kwargs)
        if data_format not in ("channels_first", "channels_last"):
            raise ValueError(f"Unsupported `data_format` for GDN layer: {data_format}.")
        self.inverse = inverse
        self._beta_min = beta_min
        self._gamma_init = gamma_init
        self._reparam_offset = reparam_offset
        self.data_format = data_format
        self.input_spec = InputSpec(min_ndim=3, max_ndim=5)

    @property
    def _axis(self) -> int:
        return 1 if self.data_format == "channels_first" else -1

    def build(self, input_shape: Any) -> None:
        sizes = TensorShape(input_shape).as_list()
        channels = sizes[self._axis]
        if channels is None:
            raise ValueError("The channel dimension of the inputs to `GDN` must be defined.")
        self._rank = len(sizes)
        self.input_spec = InputSpec(ndim=self._rank, axes={self._axis: channels})
        offset = self._reparam_offset**2
        pedestal = constants.constant(offset, dtype=self.dtype)
        beta_bound = constants.constant((self._beta_min + offset) ** 0.5, dtype=self.dtype)
        gamma_bound = constants.constant(self._reparam_offset, dtype=self.dtype)

        def beta_start(shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
            return unary.sqrt(creation.ones(shape, dtype=dtype) + constants.constant(offset, dtype=dtype))

        def gamma_start(shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
            eye = creation.eye(shape[0], dtype=dtype)
            return unary.sqrt(self._gamma_init * eye + constants.constant(offset, dtype=dtype))

        beta = self.add_weight("reparam_beta", [channels], initializer=beta_start, dtype=self.dtype)
        self.beta = unary.square(_lower_bound(beta, beta_bound)) - pedestal
        gamma = self.add_weight(
            "reparam_gamma", [channels, channels], initializer=gamma_start, dtype=self.dtype
        )
        self.gamma = unary.square(_lower_bound(gamma, gamma_bound)) - pedestal
        self.built = True

    def call(self, inputs: Any) -> Tensor:
        inputs = convert_to_tensor(inputs, dtype=self.dtype)
        kernel = shapes.reshape(self.gamma, [1] * (self._rank - 2) + self.gamma.shape.as_list())
        squares = unary.square(inputs)
        if self.data_format == "channels_last":
            pooled = convolutions.convolution(squares, kernel, "VALID")
            pooled = activations.bias_add(pooled, self.beta, data_format="NHWC")
        else:
            form = "NC" + "DHW"[-(self._rank - 2) :]
            pooled = convolutions.convolution(squares, kernel, "VALID", data_format=form)
            pooled = self._with_beta(pooled)
        root = unary.sqrt(pooled)
        outputs = inputs * root if self.inverse else inputs / root
        outputs.set_shape(inputs.shape)
        return outputs

    def _with_beta(self, pooled: Tensor) -> Tensor:
        """Beta added along the second axis, whatever the rank is."""
        sizes = shapes.shape(pooled)
        if self._rank != 4:
            pooled = shapes.reshape(pooled, joining.concat([sizes[:2], [1, -1]], 0))
        pooled = activations.bias_add(pooled, self.beta, data_format="NCHW")
        return pooled if self._rank == 4 else shapes.reshape(pooled, sizes)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        shape = TensorShape(input_shape)
        if shape.ndims is None or not 3 <= shape.ndims <= 5:
            raise ValueError("`input_shape` must be of rank 3 to 5, inclusive.")
        if shape.as_list()[self._axis] is None:
            raise ValueError("The channel dimension of `input_shape` must be defined.")
        return shape


@export("contrib.layers.gdn")
def gdn(
    inputs: Tensor,
    inverse: bool = False,
    beta_min: float = 1e-6,
    gamma_init: float = 0.1,
    reparam_offset: float = 2**-18,
    data_format: str = "channels_last",
    activity_regularizer: Callable | None = None,
    trainable: bool = True,
    name: str | None = None,
    reuse: bool | None = None,
) -> Tensor:
    """Generalized divisive normalization, as the layer `GDN` makes it.

    Args:
      inputs: A tensor of rank 3 to 5, whose number of channels is known.
      inverse: Whether inputs are multiplied by the root instead of divided.
      beta_min: The least value of beta.
      gamma_init: The diagonal of gamma at the start.
      reparam_offset: Keeps the variables, whose squares beta and gamma are, away from zero.
      data_format: "channels_last" or "channels_first".
      activity_regularizer: A penalty on the output, a function.
      trainable: Whether the variables are trained.
      name: The name of the layer.
      reuse: Whether the variables of an earlier layer of that name are used again.

    Returns:
      A tensor of the same shape.

    Raises:
      ValueError: If there is no such `data_format`, or the number of channels is not known.
    """
    layer = GDN(
        inverse=inverse,
        beta_min=beta_min,
        gamma_init=gamma_init,
        reparam_offset=reparam_offset,
        data_format=data_format,
        activity_regularizer=activity_regularizer,
        trainable=trainable,
        name=name,
        dtype=inputs.dtype.base_dtype,
        _scope=name,
        _reuse=reuse,
    )
    return layer.apply(inputs)


@export("contrib.layers.scale_gradient")
def scale_gradient(inputs: TensorLike, gradient_multiplier: TensorLike) -> Tensor:
    """The inputs as they are; their gradient is multiplied.

    Args:
      inputs: A tensor.
      gradient_multiplier: What the gradient is multiplied by, a scalar or anything of the shape of `inputs`.

    Returns:
      A tensor equal to `inputs`.
    """

    @custom_gradient
    def scaled(x: Tensor) -> tuple[Tensor, Any]:
        return constants.identity(x), lambda grad: grad * gradient_multiplier

    return scaled(convert_to_tensor(inputs))
