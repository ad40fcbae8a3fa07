"""Normalizations of GANs: by a fixed batch, and of weights by their largest singular value."""

from __future__ import annotations

import numbers
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.partial import constant_value
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.nn.functions import l2_normalize
from tideflow.nn.statistics import batch_normalization
from tideflow.ops.arrays import shapes
from tideflow.ops.arrays.constants import identity, stop_gradient
from tideflow.ops.linalg.matmul import matmul
from tideflow.ops.math import binary, casting, reductions, unary
from tideflow.platform import logging
from tideflow.variables.initializers import Ones, RandomNormal, Zeros
from tideflow.variables.variable_scope import get_variable, variable_scope

if TYPE_CHECKING:
    from tideflow.graph.typing import InitializerLike, RegularizerLike, TensorLike


# ------------------------------------------------------------------------------ virtual batch normalization


def _moments(x: Tensor, axes: list[int]) -> tuple[Tensor, Tensor]:
    """The mean and the mean square over axes, which half precision is too narrow for."""
    wide = casting.cast(x, dtypes.float32) if x.dtype == dtypes.float16 else x
    mean, square = reductions.reduce_mean(wide, axes), reductions.reduce_mean(unary.square(wide), axes)
    return casting.cast(mean, x.dtype), casting.cast(square, x.dtype)


def _axis_of(batch: Tensor, axis: int) -> int:
    rank = batch.shape.ndims
    if rank is None:
        raise ValueError("`reference_batch` has unknown dimensions.")
    found = rank + axis if axis < 0 else axis
    if not 0 <= found < rank:
        raise ValueError(f"Value of `axis` argument {found} is out of range for input with rank {rank}")
    return found


def _size(tensor: Tensor, axis: int) -> Any:
    size = shapes.shape(tensor)[axis]
    known = constant_value(size)
    return size if known is None else known


@export("contrib.gan.features.VBN")
class VBN:
    """Virtual batch normalization: each example is normalized by itself and a fixed batch, not by its batch.

    Args:
      reference_batch: The fixed batch.
      axis: The axis of the features.
      epsilon: A small number that is added to variances.
      center: Whether a learned offset is added.
      scale: Whether a learned factor is applied.
      beta_initializer: The initializer of the offset.
      gamma_initializer: The initializer of the factor.
      beta_regularizer: The regularizer of the offset.
      gamma_regularizer: The regularizer of the factor.
      trainable: Whether offset and factor are trained.
      name: The variable scope.
      batch_axis: The axis of the examples.

    Raises:
      ValueError: If an axis is not valid, or the rank not known.
    """

    def __init__(
        self,
        reference_batch: TensorLike,
        axis: int = -1,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: InitializerLike = Zeros(),
        gamma_initializer: InitializerLike = Ones(),
        beta_regularizer: RegularizerLike | None = None,
        gamma_regularizer: RegularizerLike | None = None,
        trainable: bool = True,
        name: str | None = None,
        batch_axis: int = 0,
    ):
        self._axis = axis = _axis_of(reference_batch, axis)
        self._batch_axis = _axis_of(reference_batch, batch_axis)
        if axis == self._batch_axis:
            raise ValueError("`axis` and `batch_axis` cannot be the same.")
        self._reference, self._epsilon = reference_batch, epsilon
        with variable_scope(name, "VBN", values=[reference_batch]) as self._scope:
            rank, size = reference_batch.shape.ndims, reference_batch.shape[axis]
            self._spread = [1] * rank
            self._spread[axis] = size.value
            self._inner_axes = [i for i in range(rank) if i not in (axis, self._batch_axis)]
            self._mean, self._square = _moments(reference_batch, [i for i in range(rank) if i != axis])
            count = casting.cast(_size(reference_batch, self._batch_axis), dtypes.float32)
            self._own_share = 1.0 / (count + 1.0)

            def parameter(name: str, wanted: bool, initializer: Any, regularizer: Any) -> Any:
                if not wanted:
                    return None
                made = get_variable(
                    name,
                    (size,),
                    initializer=initializer,
                    regularizer=regularizer,
                    trainable=trainable,
                )
                return shapes.reshape(made, self._spread)

            self._beta = parameter("beta", center, beta_initializer, beta_regularizer)
            self._gamma = parameter("gamma", scale, gamma_initializer, gamma_regularizer)

    def _normalized(self, x: Tensor, mean: Tensor, square: Tensor, sizes: list) -> Tensor:
        variance = square - unary.square(mean)
        mean, variance = shapes.reshape(mean, sizes), shapes.reshape(variance, sizes)
        return batch_normalization(x, mean, variance, self._beta, self._gamma, self._epsilon)

    def reference_batch_normalization(self) -> Tensor:
        """The reference batch, normalized by itself.

        Returns:
          A tensor of its shape.
        """
        with name_scope(self._scope.name):
            return self._normalized(self._reference, self._mean, self._square, self._spread)

    def __call__(self, inputs: TensorLike) -> Tensor:
        """Normalizes a batch.

        Args:
          inputs: A batch; its examples have the shape of those of the reference batch.

        Returns:
          A tensor of its shape.

        Raises:
          ValueError: If shapes differ.
        """
        of_example, expected = inputs.shape.as_list(), self._reference.shape.as_list()
        del of_example[self._batch_axis], expected[self._batch_axis]
        TensorShape(expected).assert_is_compatible_with(of_example)
        with name_scope(self._scope.name, values=[inputs, self._reference]):
            mean, square = _moments(inputs, self._inner_axes)
            own, rest = self._own_share, 1.0 - self._own_share
            reference_mean, reference_square = self._mean, self._square
            if self._axis < self._batch_axis:  # then features stand before examples in means as well
                reference_mean = shapes.expand_dims(reference_mean, -1)
                reference_square = shapes.expand_dims(reference_square, -1)
            sizes = list(self._spread)
            sizes[self._batch_axis] = _size(inputs, self._batch_axis)
            return self._normalized(
                inputs, own * mean + rest * reference_mean, own * square + rest * reference_square, sizes
            )


# ------------------------------------------------------------------------------------ spectral normalization

_U = "spectral_norm_u"
_FLOATS = (dtypes.float16, dtypes.float32, dtypes.float64)


@export("contrib.gan.features.compute_spectral_norm")
def compute_spectral_norm(
    w_tensor: TensorLike, power_iteration_rounds: int = 1, name: str | None = None
) -> Tensor:
    """Estimates the largest singular value of weights, by power iteration from where the last step ended.

    Args:
      w_tensor: The weights; all axes but the last are taken as one.
      power_iteration_rounds: How many rounds a step makes.
      name: The variable scope.

    Returns:
      A scalar.
    """
    with variable_scope(name, "spectral_norm"):
        w = shapes.reshape(w_tensor, (-1, w_tensor.shape[-1]))
        kept = get_variable(
            _U, shape=(w.shape[0], 1), dtype=w.dtype, initializer=RandomNormal(), trainable=False
        )
        u: Any = kept
        for _ in range(power_iteration_rounds):
            v = l2_normalize(matmul(shapes.transpose(w), u))
            u = l2_normalize(matmul(w, v))
        with control_dependencies([kept.assign(u, name="update_u")]):
            u = identity(u)
        u, v = stop_gradient(u), stop_gradient(v)
        return matmul(matmul(shapes.transpose(u), w), v)[0][0]


@export("contrib.gan.features.spectral_normalize")
def spectral_normalize(w: TensorLike, power_iteration_rounds: int = 1, name: str | None = None) -> Tensor:
    """Divides weights by their largest singular value.

    Args:
      w: The weights; all axes but the last are taken as one.
      power_iteration_rounds: How many rounds of power iteration a step makes.
      name: The variable scope.

    Returns:
      A tensor of the same shape.
    """
    with variable_scope(name, "spectral_normalize"):
        return shapes.reshape(w / compute_spectral_norm(w, power_iteration_rounds), w.shape)


@export("contrib.gan.features.spectral_norm_regularizer")
def spectral_norm_regularizer(
    scale: float, power_iteration_rounds: int = 1, scope: str | None = None
) -> Callable:
    """Makes a regularizer: `scale` times the largest singular value.

    Args:
      scale: The factor, not negative; with 0.0 there is no penalty.
      power_iteration_rounds: How many rounds of power iteration a step makes.
      scope: The name scope of the operations.

    Returns:
      A function from weights to their penalty.

    Raises:
      ValueError: If `scale` is an integer or negative.
    """
    if isinstance(scale, numbers.Integral):
        raise ValueError(f"scale cannot be an integer: {scale}")
    if isinstance(scale, numbers.Real) and scale < 0.0:
        raise ValueError(f"Setting a scale less than 0 on a regularizer: {scale}")
    if isinstance(scale, numbers.Real) and scale == 0.0:
        logging.info("Scale of 0 disables regularizer.")
        return lambda _: None

    def regularize(weights: Any, name: str | None = None) -> Tensor:
        with name_scope(scope or name, "SpectralNormRegularizer", [weights]) as full_name:
            factor = convert_to_tensor(scale, dtype=weights.dtype.base_dtype, name="scale")
            norm = compute_spectral_norm(weights, power_iteration_rounds)
            return binary.multiply(factor, norm, name=full_name)

    return regularize


def _is_kernel(name: str) -> bool:
    """Whether layers give this name to what they multiply with."""
    return re.match(r"(.*\/)?(depthwise_|pointwise_)?(weights|kernel)$", name) is not None


@export("contrib.gan.features.spectral_normalization_custom_getter")
def spectral_normalization_custom_getter(
    name_filter: Callable[[str], bool] = _is_kernel, power_iteration_rounds: int = 1
) -> Callable:
    """Makes a `custom_getter` of a variable scope: it divides kernels by their largest singular value.

    Args:
      name_filter: A function from a variable's name to whether it is divided; by default those that layers
        call `kernel` or `weights` are.
      power_iteration_rounds: How many rounds of power iteration a step makes.

    Returns:
      A custom getter.

    Raises:
      ValueError: If `name_filter` is not a function.
    """
    if not callable(name_filter):
        raise ValueError("name_filter must be callable")

    def get(getter: Callable, name: str, *args: Any, **kwargs: Any) -> Any:
        if not name_filter(name):
            return getter(name, *args, **kwargs)
        if name.endswith(_U):
            raise ValueError(
                "Cannot apply Spectral Normalization to internal variables created for Spectral "
                f"Normalization. Tried to normalized variable [{name}]"
            )
        if kwargs["dtype"] not in _FLOATS:
            raise ValueError(f"Disallowed data type {kwargs['dtype']}")
        weights = getter(name, *args, **kwargs)
        if weights.shape.ndims < 2:
            raise ValueError("Spectral norm can only be applied to multi-dimensional tensors")
        return spectral_normalize(weights, power_iteration_rounds, name=f"{name}/spectral_normalize")

    return get
