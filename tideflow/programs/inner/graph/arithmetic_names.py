"""Names of `tensorflow.python.ops`'s `math_ops`, `gradients_impl`, `image_ops_impl`, `check_ops` and others
that are not public.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tideflow as tf
from tideflow.compat_v2 import functions as second_forms
from tideflow.contrib.framework import orthogonal
from tideflow.graph.operation import Tensor

resize_images_v2 = second_forms.resize
resize_image_with_pad_v2 = second_forms.resize_with_pad

NUMERIC_TYPES = frozenset(
    getattr(tf, name)
    for name in "float32 float64 int8 int16 int32 int64 uint8 qint8 qint32 quint8 complex64".split()
)

convolutional_orthogonal_1d = ConvolutionOrthogonal1D = orthogonal.ConvolutionOrthogonal1D
convolutional_orthogonal_2d = ConvolutionOrthogonal2D = orthogonal.ConvolutionOrthogonal2D
convolutional_orthogonal_3d = ConvolutionOrthogonal3D = orthogonal.ConvolutionOrthogonal3D
convolutional_delta_orthogonal = tf.contrib.framework.convolutional_delta_orthogonal


def reduced_shape(input_shape: Any, axes: Any) -> Any:
    """The shape of a reduction along axes that are kept as ones.

    Args:
      input_shape: A vector of sizes.
      axes: The axes; negative ones count from the end.

    Returns:
      A vector of sizes: a tensor, or an array in eager mode.
    """
    if tf.executing_eagerly():
        sizes = tf.convert_to_tensor(input_shape).numpy().copy()
        sizes[tf.convert_to_tensor(axes).numpy()] = 1
        return sizes
    sizes, axes = tf.cast(input_shape, tf.int32), tf.cast(axes, tf.int32)
    rank = tf.size(sizes)
    axes = (axes + rank) % rank
    return tf.dynamic_stitch([tf.range(rank), axes], [sizes, tf.fill(tf.shape(axes), 1)])


def _hessian_vector_product(ys: Any, xs: Sequence[Tensor], v: Sequence[Any]) -> list[Tensor | None]:
    """The product of the second derivatives of a scalar and a vector, which has the structure of `xs`."""
    if len(v) != len(xs):
        raise ValueError("xs and v must have the same length.")
    pairs = zip(tf.gradients(ys, xs), v, strict=True)
    products = [tf.multiply(grad, tf.stop_gradient(weight)) for grad, weight in pairs if grad is not None]
    return tf.gradients(products, xs)


def HessiansV2(
    ys: Any,
    xs: Any,
    gate_gradients: bool = False,
    aggregation_method: Any = None,
    name: str = "hessians",
) -> list[Tensor]:
    """The second derivatives of sums by each of several tensors."""
    return tf.hessians(
        ys, xs, name=name, gate_gradients=gate_gradients, aggregation_method=aggregation_method
    )


def verify_tensor_all_finite_v2(x: Any, message: str, name: str | None = None) -> Tensor:
    """A tensor, checked to have no NaN and nothing infinite."""
    return tf.verify_tensor_all_finite(x=x, message=message, name=name)
