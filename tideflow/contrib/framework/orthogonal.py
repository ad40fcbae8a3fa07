"""Initializers of convolutions that keep the norm of their inputs."""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.variables.initializers import Initializer, orthonormal

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, ShapeLike

Kernel = dict[tuple[int, ...], Tensor]  # the matrices of a filter by their places


class _ConvolutionOrthogonal(Initializer):
    """A filter of random projections, convolved with each other, and of an orthogonal matrix."""

    axes: int
    _counted = ("", "three", "four", "five")

    def __init__(self, gain: float = 1.0, seed: int | None = None, dtype: DTypeLike = tf.float32):
        self.gain = gain
        self.dtype = tf.as_dtype(dtype)
        if not self.dtype.is_floating:
            raise ValueError(f"Expected floating point type, got {self.dtype}.")
        self.seed = seed

    def __call__(
        self, shape: ShapeLike, dtype: DTypeLike | None = None, partition_info: Any = None
    ) -> Tensor:
        sizes = [int(size) for size in shape]
        if len(sizes) != self.axes + 2:
            raise ValueError(f"The tensor to initialize must be {self._counted[self.axes]}-dimensional")
        *places, inputs, outputs = sizes
        if inputs > outputs:
            raise ValueError("In_filters cannot be greater than out_filters.")
        if len(set(places)) > 1:
            raise ValueError("Kernel sizes must be equal.")
        kernel = self._kernel(places[0], inputs, outputs)
        return kernel * tf.cast(self.gain, self.dtype if dtype is None else dtype)

    def get_config(self) -> dict[str, Any]:
        """The arguments of the initializer."""
        return {"gain": self.gain, "seed": self.seed, "dtype": self.dtype.name}

    def _next_seed(self) -> int | None:
        seed = self.seed
        if seed:
            self.seed = seed + 1
        return seed

    def _projection(self, size: int) -> Tensor:
        """A random symmetric projection."""
        basis = orthonormal(size, size, self.dtype, self._next_seed())
        chosen = tf.cast(tf.random_normal([size], seed=self._next_seed()) > 0, self.dtype)
        columns = basis * chosen
        return tf.matmul(columns, tf.matrix_transpose(columns))

    def _smallest(self, size: int) -> Kernel:
        """A filter of two places along each axis: on one side of each projection, or on the other."""
        projections = [self._projection(size) for _ in range(self.axes)]
        rest = [tf.eye(size, dtype=self.dtype) - each for each in projections]
        # TensorFlow puts the projection first, but with three axes the rest of it.
        sides = list(zip(rest, projections) if self.axes == 3 else zip(projections, rest))
        return {
            place: functools.reduce(tf.matmul, [sides[axis][side] for axis, side in enumerate(place)])
            for place in itertools.product((0, 1), repeat=self.axes)
        }

    def _kernel(self, places: int, inputs: int, outputs: int) -> Tensor:
        last = orthonormal(outputs, outputs, self.dtype, self._next_seed())[:inputs]
        kernel: Kernel = {(0,) * self.axes: last}
        if places > 1:
            made = self._smallest(outputs)
            for _ in range(places - 2):
                made = _convolved(made, self._smallest(outputs))
            kernel = {place: tf.matmul(last, matrix) for place, matrix in made.items()}
        flat = tf.stack([kernel[place] for place in itertools.product(range(places), repeat=self.axes)])
        return tf.reshape(flat, [*[places] * self.axes, inputs, outputs])


def _convolved(first: Kernel, second: Kernel) -> Kernel:
    sums: dict[tuple[int, ...], list[Tensor]] = {}
    for (one, left), (other, right) in itertools.product(first.items(), second.items()):
        place = tuple(a + b for a, b in zip(one, other, strict=True))
        sums.setdefault(place, []).append(tf.matmul(left, right))
    return {place: tf.add_n(terms) for place, terms in sums.items()}


@export("contrib.framework.convolutional_orthogonal_1d")
class ConvolutionOrthogonal1D(_ConvolutionOrthogonal):
    """Initializes the filter of a convolution over one axis so that it keeps norms.

    Args:
      gain: A factor of the filter.
      seed: The seed.
      dtype: The default type of the elements.
    """

    axes = 1


@export("contrib.framework.convolutional_orthogonal_2d")
class ConvolutionOrthogonal2D(_ConvolutionOrthogonal):
    """Initializes the filter of a convolution over two axes so that it keeps norms.

    Args:
      gain: A factor of the filter.
      seed: The seed.
      dtype: The default type of the elements.
    """

    axes = 2


@export("contrib.framework.convolutional_orthogonal_3d")
class ConvolutionOrthogonal3D(_ConvolutionOrthogonal):
    """Initializes the filter of a convolution over three axes so that it keeps norms.

    Args:
      gain: A factor of the filter.
      seed: The seed.
      dtype: The default type of the elements.
    """

    axes = 3
