"""Initializers of `tf.compat.v2`, and of Keras after `tf.enable_v2_behavior`.

The type is an argument of the call alone. With a seed, the numbers depend on nothing else: every call gives
the same ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.graph import dtypes
from tideflow.graph.operation import Tensor
from tideflow.ops.arrays import constants, creation, diagonals, shapes
from tideflow.ops.linalg import decompositions
from tideflow.ops.math import unary
from tideflow.ops.random import distributions
from tideflow.variables import initializers as first_forms
from tideflow.variables.initializers import fans

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, ShapeLike, TensorLike


class Initializer(first_forms.Initializer):
    """The base of initializers: functions that compute the initial value of a variable."""

    dtype = dtypes.float32  # of a call that names none

    def __call__(self, shape: ShapeLike, dtype: DTypeLike | None = None) -> Tensor:
        """Computes the initial value of a variable.

        Args:
          shape: The shape of the variable.
          dtype: The type of the elements.

        Returns:
          The initial value as a tensor.
        """
        return super().__call__(shape, dtype)

    def get_config(self) -> dict[str, Any]:
        """The arguments of the initializer, by name."""
        return {}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Initializer:
        """Makes an initializer from its arguments by name; a type among them is that of the first form."""
        return cls(**{name: value for name, value in config.items() if name != "dtype"})

    def _floating(self, dtype: Any) -> dtypes.DType:
        wanted = self._type(dtype)
        if not wanted.is_floating:
            raise ValueError(f"Expected floating point type, got {wanted!r}.")
        return wanted


class Zeros(Initializer):
    """Initializes a variable with zeros."""

    def __call__(self, shape: ShapeLike, dtype: DTypeLike | None = None) -> Tensor:
        return creation.zeros(shape, self._type(dtype))


class Ones(Initializer):
    """Initializes a variable with ones."""

    def __call__(self, shape: ShapeLike, dtype: DTypeLike | None = None) -> Tensor:
        wanted = self._type(dtype)
        if not wanted.is_numpy_compatible or wanted is dtypes.string:
            raise ValueError(f"Expected numeric or boolean dtype, got {wanted!r}.")
        return creation.ones(shape, wanted)


class Constant(Initializer):
    """Initializes a variable with given values.

    Args:
      value: A number, or the values as a list or an array, one for each element.

    Raises:
      TypeError: If `value` is not a number, a list or an array; in a call, if there are more or fewer values.
    """

    def __init__(self, value: TensorLike = 0):
        self.value = first_forms.Constant(value).value

    def __call__(self, shape: ShapeLike, dtype: DTypeLike | None = None) -> Tensor:
        wanted = None if dtype is None else dtypes.as_dtype(dtype)
        count = math.prod(int(size) for size in shape)
        if np.size(self.value) not in (1, count):
            raise TypeError(f"Expected Tensor's shape: {tuple(shape)}, got {np.shape(self.value)}.")
        return constants.constant(self.value, wanted, shape=shape)

    def get_config(self) -> dict[str, Any]:
        return {"value": self.value}


class _Random(Initializer):
    """The base of initializers with random numbers."""

    seed: int | None

    def _draw(self, kind: str, shape: ShapeLike, *limits: Any, dtype: Any) -> Tensor:
        """Numbers of a distribution, which two arguments describe."""
        if self.seed is None:
            numbers: Tensor = getattr(distributions, kind)(shape, *limits, dtype=dtype)
        else:
            stateless = getattr(distributions, f"stateless_{kind}")
            numbers = stateless(shape, [self.seed, 0], *limits, dtype=dtype)
        return numbers


class RandomUniform(_Random):
    """Initializes a variable with uniformly distributed numbers.

    Args:
      minval: The least number.
      maxval: The upper bound, which is not included.
      seed: The seed of the random numbers.
    """

    def __init__(self, minval: TensorLike = -0.05, maxval: TensorLike = 0.05, seed: int | None = None):
        self.minval, self.maxval, self.seed = minval, maxval, seed

    def __call__(self, shape: ShapeLike, dtype: DTypeLike | None = None) -> Tensor:
        wanted = self._type(dtype)
        if not wanted.is_floating and not wanted.is_integer:
            raise ValueError(f"Expected float or integer dtype, got {wanted!r}.")
        return self._draw("random_uniform", shape, self.minval, self.maxval, dtype=wanted)

    def get_config(self) -> dict[str, Any]:
        return {"minval": self.minval, "maxval": self.maxval, "seed": self.seed}


class RandomNormal(_Random):
    """Initializes a variable with normally distributed numbers.

    Args:
      mean: The mean.
      stddev: The standard deviation.
      seed: The seed of the random numbers.
    """

    _kind = "random_normal"

    def __init__(self, mean: TensorLike = 0.0, stddev: TensorLike = 0.05, seed: int | None = None):
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def __call__(self, shape: ShapeLike, dtype: DTypeLike | None = None) -> Tensor:
        return self._draw(self._kind, shape, self.mean, self.stddev, dtype=self._floating(dtype))

    def get_config(self) -> dict[str, Any]:
        return {"mean": self.mean, "stddev": self.stddev, "seed": self.seed}


class TruncatedNormal(RandomNormal):
    """Initializes a variable with normally distributed numbers within two standard deviations of the mean.

    Args:
      mean: The mean.
      stddev: The standard deviation.
      seed: The seed of the random numbers.
    """

    _kind = "truncated_normal"


class VarianceScaling(_Random):
    """Initializes a variable with random numbers whose variance depends on its shape.

    The variance is `scale / n`, where n is the number of inputs of a layer with these weights, the number of
    its outputs, or the mean of both.

    Args:
      scale: The factor of the variance, above 0.
      mode: What n is: `"fan_in"`, `"fan_out"` or `"fan_avg"`.
      distribution: `"truncated_normal"` (or `"normal"`), `"untruncated_normal"` or `"uniform"`.
      seed: The seed of the random numbers.

    Raises:
      ValueError: If an argument is not valid.
    """

    def __init__(
        self,
        scale: float = 1.0,
        mode: str = "fan_in",
        distribution: str = "truncated_normal",
        seed: int | None = None,
    ):
        checked = first_forms.VarianceScaling(scale, mode, distribution)
        self.scale, self.mode, self.seed = checked.scale, checked.mode, seed
        named_truncated = checked.distribution == "normal"
        self.distribution = "truncated_normal" if named_truncated else checked.distribution

    def __call__(self, shape: ShapeLike, dtype: DTypeLike | None = None) -> Tensor:
        wanted = self._floating(dtype)
        fan_in, fan_out = fans(shape)
        count = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2.0}[self.mode]
        variance = self.scale / max(1.0, count)
        if self.distribution == "truncated_normal":
            stddev = math.sqrt(variance) / first_forms.TRUNCATED_STDDEV
            return self._draw("truncated_normal", shape, 0.0, stddev, dtype=wanted)
        if self.distribution == "untruncated_normal":
            return self._draw("random_normal", shape, 0.0, math.sqrt(variance), dtype=wanted)
        limit = math.sqrt(3.0 * variance)
        return self._draw("random_uniform", shape, -limit, limit, dtype=wanted)

    def get_config(self) -> dict[str, Any]:
        return {
            "scale": self.scale,
            "mode": self.mode,
            "distribution": self.distribution,
            "seed": self.seed,
        }


class GlorotUniform(VarianceScaling):
    """Initializes a variable with uniform numbers of variance 2 / (inputs + outputs).

    Args:
      seed: The seed of the random numbers.
    """

    def __init__(self, seed: int | None = None):
        super().__init__(1.0, "fan_avg", "uniform", seed)

    def get_config(self) -> dict[str, Any]:
        return {"seed": self.seed}


class GlorotNormal(VarianceScaling):
    """Initializes a variable with normal numbers of variance 2 / (inputs + outputs).

    Args:
      seed: The seed of the random numbers.
    """

    def __init__(self, seed: int | None = None):
        super().__init__(1.0, "fan_avg", "truncated_normal", seed)

    def get_config(self) -> dict[str, Any]:
        return {"seed": self.seed}


class Orthogonal(_Random):
    """Initializes a variable with a random matrix whose columns, or rows, are orthogonal.

    Args:
      gain: A factor.
      seed: The seed of the random numbers.

    Raises:
      ValueError: When called for a variable with fewer than two dimensions.
    """

    def __init__(self, gain: float = 1.0, seed: int | None = None):
        self.gain, self.seed = gain, seed

    def __call__(self, shape: ShapeLike, dtype: DTypeLike | None = None) -> Tensor:
        wanted = self._floating(dtype)
        if len(shape) < 2:
            raise ValueError("The tensor to initialize must be at least two-dimensional")
        *others, columns = (int(size) for size in shape)
        rows = math.prod(others)
        flat = (max(rows, columns), min(rows, columns))
        q, r = decompositions.qr(self._draw("random_normal", flat, 0.0, 1.0, dtype=wanted))
        q *= unary.sign(diagonals.diag_part(r))
        if rows < columns:
            q = shapes.matrix_transpose(q)
        return self.gain * shapes.reshape(q, shape)

    def get_config(self) -> dict[str, Any]:
        return {"gain": self.gain, "seed": self.seed}


class Identity(Initializer):
    """Initializes a matrix with a multiple of the identity.

    Args:
      gain: The factor.

    Raises:
      ValueError: When called for a variable that is not a matrix.
    """

    def __init__(self, gain: float = 1.0):
        self.gain = gain

    def __call__(self, shape: ShapeLike, dtype: DTypeLike | None = None) -> Tensor:
        return first_forms.Identity(self.gain)(shape, self._floating(dtype))

    def get_config(self) -> dict[str, Any]:
        return {"gain": self.gain}


def lecun_normal(seed: int | None = None) -> VarianceScaling:
    """Normal numbers of variance 1 / inputs."""
    return VarianceScaling(1.0, "fan_in", "truncated_normal", seed)


def lecun_uniform(seed: int | None = None) -> VarianceScaling:
    """Uniform numbers of variance 1 / inputs."""
    return VarianceScaling(1.0, "fan_in", "uniform", seed)


def he_normal(seed: int | None = None) -> VarianceScaling:
    """Normal numbers of variance 2 / inputs."""
    return VarianceScaling(2.0, "fan_in", "truncated_normal", seed)


def he_uniform(seed: int | None = None) -> VarianceScaling:
    """Uniform numbers of variance 2 / inputs."""
    return VarianceScaling(2.0, "fan_in", "uniform", seed)


_ALIASES: dict[Callable[..., Any], tuple[str, ...]] = {
    Constant: ("constant",),
    GlorotNormal: ("glorot_normal",),
    GlorotUniform: ("glorot_uniform",),
    Identity: ("identity",),
    Initializer: (),
    Ones: ("ones",),
    Orthogonal: ("orthogonal",),
    RandomNormal: (),
    RandomUniform: (),
    TruncatedNormal: (),
    VarianceScaling: (),
    Zeros: ("zeros",),
    he_normal: (),
    he_uniform: (),
    lecun_normal: (),
    lecun_uniform: (),
}
_AT_THE_TOP = {
    "constant": Constant,
    "ones": Ones,
    "random_normal": RandomNormal,
    "random_uniform": RandomUniform,
    "zeros": Zeros,
}
NAMES: dict[str, Any] = {
    **{f"{name}_initializer": value for name, value in _AT_THE_TOP.items()},
    **{
        f"{space}.{name}": initializer
        for space in ("initializers", "keras.initializers")
        for initializer, aliases in _ALIASES.items()
        for name in (initializer.__name__, *aliases)
    },
}
