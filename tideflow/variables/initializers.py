"""Initializers: objects that make the initial value of a variable from its shape and dtype."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.operation import Tensor
from tideflow.ops.arrays import constants, creation, diagonals, scatter, shapes, slicing
from tideflow.ops.linalg import decompositions
from tideflow.ops.math import unary
from tideflow.ops.random import distributions

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, ShapeLike, TensorLike

TRUNCATED_STDDEV = 0.87962566103423978  # that of a standard normal cut at two standard deviations


@export("keras.initializers.Initializer")
class Initializer:
    """The base of initializers: functions that compute the initial value of a variable."""

    dtype: dtypes.DType

    def __call__(
        self, shape: ShapeLike, dtype: DTypeLike | None = None, partition_info: Any = None
    ) -> Tensor:
        """Computes the initial value of a variable.

        Args:
          shape: The shape of the variable.
          dtype: The type of the elements; the initializer's own if None.
          partition_info: For a part of a partitioned variable, the whole shape and the offset of the part.

        Returns:
          The initial value as a tensor.
        """
        raise TypeError(f"{type(self).__name__} is not an initializer: it makes no value")

    def get_config(self) -> dict[str, Any]:
        """The arguments of the initializer, from which `from_config` makes it again.

        Returns:
          The arguments by name.
        """
        return {"dtype": self.dtype.name}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Initializer:
        """Makes an initializer from the result of `get_config`.

        Args:
          config: The arguments by name.

        Returns:
          The initializer.
        """
        return cls(**config)

    def _type(self, dtype: Any) -> dtypes.DType:
        return self.dtype if dtype is None else dtypes.as_dtype(dtype)


def _floating(dtype: Any) -> dtypes.DType:
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError(f"Expected floating point type, got {dtype!r}.")
    return dtype


# -------------------------------------------------------------------------------------------------- constants


@export("zeros_initializer", "initializers.zeros", "keras.initializers.Zeros", "keras.initializers.zeros")
class Zeros(Initializer):
    """Initializes a variable with zeros.

    Args:
      dtype: The default type of the elements.
    """

    def __init__(self, dtype: DTypeLike = dtypes.float32):
        self.dtype = dtypes.as_dtype(dtype)

    def __call__(
        self, shape: ShapeLike, dtype: DTypeLike | None = None, partition_info: Any = None
    ) -> Tensor:
        return creation.zeros(shape, self._type(dtype))


@export("ones_initializer", "initializers.ones", "keras.initializers.Ones", "keras.initializers.ones")
class Ones(Initializer):
    """Initializes a variable with ones.

    Args:
      dtype: The default type of the elements.
    """

    def __init__(self, dtype: DTypeLike = dtypes.float32):
        self.dtype = dtypes.as_dtype(dtype)

    def __call__(
        self, shape: ShapeLike, dtype: DTypeLike | None = None, partition_info: Any = None
    ) -> Tensor:
        return creation.ones(shape, self._type(dtype))


@export(
    "constant_initializer",
    "initializers.constant",
    "keras.initializers.Constant",
    "keras.initializers.constant",
)
class Constant(Initializer):
    """Initializes a variable with given values.

    Args:
      value: A number, or the values as a list or an array. If there are fewer values than elements, the last
        value is repeated.
      dtype: The default type of the elements.
      verify_shape: Whether the values must have the shape of the variable.

    Raises:
      TypeError: If `value` is not a number, a list or an array.
    """

    def __init__(self, value: TensorLike = 0, dtype: DTypeLike = dtypes.float32, verify_shape: bool = False):
        if not (np.isscalar(value) or isinstance(value, (list, tuple, np.ndarray))):
            raise TypeError(
                f"Invalid type for initial value: {type(value)} (expected Python scalar, list or tuple of "
                "values, or numpy.ndarray)."
            )
        self.value = value
        self.dtype = dtypes.as_dtype(dtype)
        self._verify_shape = verify_shape

    def __call__(
        self,
        shape: ShapeLike,
        dtype: DTypeLike | None = None,
        partition_info: Any = None,
        verify_shape: bool | None = None,
    ) -> Tensor:
        verify = self._verify_shape if verify_shape is None else verify_shape
        return constants.constant(self.value, self._type(dtype), shape=shape, verify_shape=verify)

    def get_config(self) -> dict[str, Any]:
        """The arguments of the initializer, by name."""
        # The shape check is of the call, not of the value: TensorFlow's configuration leaves it out too.
        return {"value": self.value, "dtype": self.dtype.name}


@export("initializers.identity", "keras.initializers.Identity", "keras.initializers.identity")
class Identity(Initializer):
    """Initializes a matrix with a multiple of the identity.

    Args:
      gain: The factor.
      dtype: The default type of the elements.

    Raises:
      ValueError: When called for a variable that is not a matrix.
    """

    def __init__(self, gain: float = 1.0, dtype: DTypeLike = dtypes.float32):
        self.gain = gain
        self.dtype = _floating(dtype)

    def __call__(
        self, shape: ShapeLike, dtype: DTypeLike | None = None, partition_info: Any = None
    ) -> Tensor:
        whole = shape if partition_info is None else partition_info.full_shape
        if len(whole) != 2:
            raise ValueError("Identity matrix initializer can only be used for 2D matrices.")
        matrix = creation.eye(*whole, dtype=self._type(dtype))
        if partition_info is not None:
            matrix = slicing.slice(matrix, partition_info.var_offset, shape)
        return self.gain * matrix

    def get_config(self) -> dict[str, Any]:
        return {"gain": self.gain, "dtype": self.dtype.name}


# --------------------------------------------------------------------------------------------- random numbers


@export("random_uniform_initializer", "initializers.random_uniform")
class RandomUniform(Initializer):
    """Initializes a variable with uniformly distributed numbers.

    Args:
      minval: The least number.
      maxval: The upper bound, which is not included; 1 for floats if None.
      seed: The seed of the random numbers; see `tf.set_random_seed`.
      dtype: The default type of the elements.
    """

    def __init__(
        self,
        minval: TensorLike = 0,
        maxval: TensorLike | None = None,
        seed: int | None = None,
        dtype: DTypeLike = dtypes.float32,
    ):
        self.minval, self.maxval = minval, maxval
        self.seed = seed
        self.dtype = dtypes.as_dtype(dtype)

    def __call__(
        self, shape: ShapeLike, dtype: DTypeLike | None = None, partition_info: Any = None
    ) -> Tensor:
        return distributions.random_uniform(
            shape, self.minval, self.maxval, self._type(dtype), seed=self.seed
        )

    def get_config(self) -> dict[str, Any]:
        return {"minval": self.minval, "maxval": self.maxval, "seed": self.seed, "dtype": self.dtype.name}


@export("random_normal_initializer", "initializers.random_normal")
class RandomNormal(Initializer):
    """Initializes a variable with normally distributed numbers.

    Args:
      mean: The mean.
      stddev: The standard deviation.
      seed: The seed of the random numbers; see `tf.set_random_seed`.
      dtype: The default type of the elements.
    """

    def __init__(
        self,
        mean: TensorLike = 0.0,
        stddev: TensorLike = 1.0,
        seed: int | None = None,
        dtype: DTypeLike = dtypes.float32,
    ):
        self.mean, self.stddev = mean, stddev
        self.seed = seed
        self.dtype = _floating(dtype)

    def __call__(
        self, shape: ShapeLike, dtype: DTypeLike | None = None, partition_info: Any = None
    ) -> Tensor:
        return distributions.random_normal(shape, self.mean, self.stddev, self._type(dtype), seed=self.seed)

    def get_config(self) -> dict[str, Any]:
        return {"mean": self.mean, "stddev": self.stddev, "seed": self.seed, "dtype": self.dtype.name}


@export("truncated_normal_initializer", "initializers.truncated_normal")
class TruncatedNormal(Initializer):
    """Initializes a variable with normally distributed numbers within two standard deviations of the mean.

    Numbers further away are drawn again.

    Args:
      mean: The mean.
      stddev: The standard deviation.
      seed: The seed of the random numbers; see `tf.set_random_seed`.
      dtype: The default type of the elements.
    """

    def __init__(
        self,
        mean: TensorLike = 0.0,
        stddev: TensorLike = 1.0,
        seed: int | None = None,
        dtype: DTypeLike = dtypes.float32,
    ):
        self.mean, self.stddev = mean, stddev
        self.seed = seed
        self.dtype = _floating(dtype)

    def __call__(
        self, shape: ShapeLike, dtype: DTypeLike | None = None, partition_info: Any = None
    ) -> Tensor:
        return distributions.truncated_normal(
            shape, self.mean, self.stddev, self._type(dtype), seed=self.seed
        )

    def get_config(self) -> dict[str, Any]:
        return {"mean": self.mean, "stddev": self.stddev, "seed": self.seed, "dtype": self.dtype.name}


# ---------------------------------------------------------------------------------------- scaled by the shape


@export("uniform_unit_scaling_initializer", "initializers.uniform_unit_scaling")
class UniformUnitScaling(Initializer):
    """Initializes a variable with uniform numbers in a range that keeps the scale of a layer's input.

    The range is plus and minus `factor * sqrt(3 / inputs)`, where `inputs` is the product of all sizes but
    the last.

    Args:
      factor: A factor of the range. About 1.15 compensates for the shrinking effect of rectified linear
        units.
      seed: The seed of the random numbers; see `tf.set_random_seed`.
      dtype: The default type of the elements.
    """

    def __init__(self, factor: float = 1.0, seed: int | None = None, dtype: DTypeLike = dtypes.float32):
        self.factor = factor
        self.seed = seed
        self.dtype = _floating(dtype)

    def __call__(
        self, shape: ShapeLike, dtype: DTypeLike | None = None, partition_info: Any = None
    ) -> Tensor:
        whole = shape if partition_info is None else partition_info.full_shape
        inputs = max(1.0, math.prod(float(size) for size in list(whole)[:-1]))
        limit = math.sqrt(3 / inputs) * self.factor
        return distributions.random_uniform(shape, -limit, limit, self._type(dtype), seed=self.seed)

    def get_config(self) -> dict[str, Any]:
        return {"factor": self.factor, "seed": self.seed, "dtype": self.dtype.name}


@export("variance_scaling_initializer", "initializers.variance_scaling", "keras.initializers.VarianceScaling")
class VarianceScaling(Initializer):
    """Initializes a variable with random numbers whose variance depends on its shape.

    The variance is `scale / n`, where n is the number of inputs of a layer with these weights, the number of
    its outputs, or the mean of both.

    Args:
      scale: The factor of the variance, above 0.
      mode: What n is: `"fan_in"`, `"fan_out"` or `"fan_avg"`.
      distribution: `"truncated_normal"` (or `"normal"`), `"untruncated_normal"` or `"uniform"`.
      seed: The seed of the random numbers; see `tf.set_random_seed`.
      dtype: The default type of the elements.

    Raises:
      ValueError: If an argument is not valid.
    """

    def __init__(
        self,
        scale: float = 1.0,
        mode: str = "fan_in",
        distribution: str = "truncated_normal",
        seed: int | None = None,
        dtype: DTypeLike = dtypes.float32,
    ):
        if scale <= 0.0:
            raise ValueError("`scale` must be positive float.")
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise ValueError("Invalid `mode` argument:", mode)
        distribution = distribution.lower()
        if distribution not in ("normal", "uniform", "truncated_normal", "untruncated_normal"):
            raise ValueError("Invalid `distribution` argument:", distribution)
        self.scale = scale
        self.mode = mode
        self.distribution = distribution
        self.seed = seed
        self.dtype = _floating(dtype)

    def __call__(
        self, shape: ShapeLike, dtype: DTypeLike | None = None, partition_info: Any = None
    ) -> Tensor:
        dtype = self._type(dtype)
        variance = self.scale / max(
            1.0, self._fan(shape if partition_info is None else partition_info.full_shape)
        )
        if self.distribution in ("normal", "truncated_normal"):
            stddev = math.sqrt(variance) / TRUNCATED_STDDEV
            return distributions.truncated_normal(shape, 0.0, stddev, dtype, seed=self.seed)
        if self.distribution == "untruncated_normal":
            return distributions.random_normal(shape, 0.0, math.sqrt(variance), dtype, seed=self.seed)
        limit = math.sqrt(3.0 * variance)
        return distributions.random_uniform(shape, -limit, limit, dtype, seed=self.seed)

    def _fan(self, shape: Sequence[int]) -> float:
        fan_in, fan_out = fans(shape)
        return {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2.0}[self.mode]

    def get_config(self) -> dict[str, Any]:
        return {
            "scale": self.scale,
            "mode": self.mode,
            "distribution": self.distribution,
            "seed": self.seed,
            "dtype": self.dtype.name,
        }


def fans(shape: Sequence[int]) -> tuple[float, float]:
    """How many inputs and outputs a weight connects: its rows and columns, times the size of a filter."""
    sizes = [int(size) for size in shape]
    if len(sizes) < 2:
        size = sizes[0] if sizes else 1
        return size, size
    field = math.prod(sizes[:-2])
    return sizes[-2] * field, sizes[-1] * field


@export("glorot_uniform_initializer", "initializers.glorot_uniform", "keras.initializers.glorot_uniform")
class GlorotUniform(VarianceScaling):
    """Initializes a variable with uniform numbers of variance `2 / (inputs + outputs)`.

    `tf.get_variable` uses it for floats if it is given no initializer.

    Args:
      seed: The seed of the random numbers; see `tf.set_random_seed`.
      dtype: The default type of the elements.
    """

    def __init__(self, seed: int | None = None, dtype: DTypeLike = dtypes.float32):
        super().__init__(1.0, "fan_avg", "uniform", seed, dtype)

    def get_config(self) -> dict[str, Any]:
        """The arguments of the initializer, by name."""
        return {"seed": self.seed, "dtype": self.dtype.name}


@export("glorot_normal_initializer", "initializers.glorot_normal", "keras.initializers.glorot_normal")
class GlorotNormal(VarianceScaling):
    """Initializes a variable with truncated normal numbers of variance `2 / (inputs + outputs)`.

    Args:
      seed: The seed of the random numbers; see `tf.set_random_seed`.
      dtype: The default type of the elements.
    """

    def __init__(self, seed: int | None = None, dtype: DTypeLike = dtypes.float32):
        super().__init__(1.0, "fan_avg", "truncated_normal", seed, dtype)

    def get_config(self) -> dict[str, Any]:
        """The arguments of the initializer, by name."""
        return {"seed": self.seed, "dtype": self.dtype.name}


@export("initializers.lecun_normal", "keras.initializers.lecun_normal")
def lecun_normal(seed: int | None = None) -> VarianceScaling:
    """Makes an initializer with truncated normal numbers of variance `1 / inputs`.

    Args:
      seed: The seed of the random numbers; see `tf.set_random_seed`.

    Returns:
      The initializer.
    """
    return VarianceScaling(1.0, "fan_in", "truncated_normal", seed)


@export("initializers.lecun_uniform", "keras.initializers.lecun_uniform")
def lecun_uniform(seed: int | None = None) -> VarianceScaling:
    """Makes an initializer with uniform numbers of variance `1 / inputs`.

    Args:
      seed: The seed of the random numbers; see `tf.set_random_seed`.

    Returns:
      The initializer.
    """
    return VarianceScaling(1.0, "fan_in", "uniform", seed)


@export("initializers.he_normal", "keras.initializers.he_normal")
def he_normal(seed: int | None = None) -> VarianceScaling:
    """Makes an initializer with truncated normal numbers of variance `2 / inputs`.

    Args:
      seed: The seed of the random numbers; see `tf.set_random_seed`.

    Returns:
      The initializer.
    """
    return VarianceScaling(2.0, "fan_in", "truncated_normal", seed)


@export("initializers.he_uniform", "keras.initializers.he_uniform")
def he_uniform(seed: int | None = None) -> VarianceScaling:
    """Makes an initializer with uniform numbers of variance `2 / inputs`.

    Args:
      seed: The seed of the random numbers; see `tf.set_random_seed`.

    Returns:
      The initializer.
    """
    return VarianceScaling(2.0, "fan_in", "uniform", seed)


# ------------------------------------------------------------------------------------------------- orthogonal


@export(
    "orthogonal_initializer",
    "initializers.orthogonal",
    "keras.initializers.Orthogonal",
    "keras.initializers.orthogonal",
)
class Orthogonal(Initializer):
    """Initializes a variable with a random matrix whose rows or columns are orthonormal.

    For a variable of more than two axes, all axes but the last together are the rows.

    Args:
      gain: A factor of the matrix.
      seed: The seed of the random numbers; see `tf.set_random_seed`.
      dtype: The default type of the elements.

    Raises:
      ValueError: When called for a variable of fewer than two axes.
    """

    def __init__(self, gain: float = 1.0, seed: int | None = None, dtype: DTypeLike = dtypes.float32):
        self.gain = gain
        self.seed = seed
        self.dtype = _floating(dtype)

    def __call__(
        self, shape: ShapeLike, dtype: DTypeLike | None = None, partition_info: Any = None
    ) -> Tensor:
        sizes = [int(size) for size in shape]
        if len(sizes) < 2:
            raise ValueError("The tensor to initialize must be at least two-dimensional")
        rows, columns = math.prod(sizes[:-1]), sizes[-1]
        q = orthonormal(max(rows, columns), min(rows, columns), self._type(dtype), self.seed)
        if rows < columns:
            q = shapes.matrix_transpose(q)
        return self.gain * shapes.reshape(q, shape)

    def get_config(self) -> dict[str, Any]:
        return {"gain": self.gain, "seed": self.seed, "dtype": self.dtype.name}


def orthonormal(rows: int, columns: int, dtype: dtypes.DType, seed: Any) -> Tensor:
    """A random matrix with orthonormal columns: the Q of normal numbers, with the signs of R taken out."""
    q, r = decompositions.qr(
        distributions.random_normal((rows, columns), dtype=dtype, seed=seed), full_matrices=False
    )
    return q * unary.sign(diagonals.diag_part(r))


@export("contrib.framework.convolutional_delta_orthogonal")
class ConvolutionDeltaOrthogonal(Initializer):
    """Initializes a convolution filter with an orthogonal matrix at its centre and zeros elsewhere.

    The convolution then keeps the norm of its input.

    Args:
      gain: A factor of the matrix.
      seed: The seed of the random numbers; see `tf.set_random_seed`.
      dtype: The default type of the elements.
    """

    def __init__(self, gain: float = 1.0, seed: int | None = None, dtype: DTypeLike = dtypes.float32):
        self.gain = gain
        self.seed = seed
        self.dtype = _floating(dtype)

    def __call__(
        self, shape: ShapeLike, dtype: DTypeLike | None = None, partition_info: Any = None
    ) -> Tensor:
        sizes = [int(size) for size in shape]
        if not 3 <= len(sizes) <= 5:
            raise ValueError(
                "The tensor to initialize must be at least three-dimensional and at most five-dimensional"
            )
        if sizes[-2] > sizes[-1]:
            raise ValueError("In_filters cannot be greater than out_filters.")
        q = orthonormal(sizes[-1], sizes[-1], self._type(dtype), self.seed)
        q = q[: sizes[-2], :] * self.gain
        centre = [(size - 1) // 2 for size in sizes[:-2]]
        return scatter.scatter_nd([[centre]], q[None, None], sizes)

    def get_config(self) -> dict[str, Any]:
        return {"gain": self.gain, "seed": self.seed, "dtype": self.dtype.name}
