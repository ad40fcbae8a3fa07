"""Functions that TensorFlow 1.15's modules of operations have in the form that TensorFlow 2 shows."""

from __future__ import annotations

from typing import Any

import tideflow as tf
from tideflow.graph.operation import Tensor

_v2 = tf.compat.v2

depth_to_space_v2 = _v2.nn.depth_to_space
space_to_depth_v2 = _v2.nn.space_to_depth
extract_image_patches_v2 = _v2.image.extract_patches
serialize_sparse_v2 = _v2.io.serialize_sparse
serialize_many_sparse_v2 = _v2.io.serialize_many_sparse
sparse_segment_sum_v2 = _v2.sparse.segment_sum
sparse_segment_mean_v2 = _v2.sparse.segment_mean
sparse_segment_sqrt_n_v2 = _v2.sparse.segment_sqrt_n
string_length_v2 = _v2.strings.length
matvec = _v2.linalg.matvec
dilation2d_v2 = _v2.nn.dilation2d
erosion2d_v2 = _v2.nn.erosion2d
random_poisson_v2 = _v2.random.poisson
print_v2 = tf.print
identity_initializer = tf.initializers.identity


def listdiff(x: Any, y: Any, out_idx: Any = None, name: str | None = None) -> Any:
    """`tf.setdiff1d`, with the name that the op has for the type of the places."""
    return tf.setdiff1d(x, y, tf.int32 if out_idx is None else out_idx, name)


def string_split_v2(source: Any, sep: str | None = None, maxsplit: int = -1) -> tf.SparseTensor:
    """`tf.strings.split` of a vector, as a sparse matrix."""
    source = tf.convert_to_tensor(source, tf.string, name="source")
    return tf.SparseTensor(
        *tf.raw_ops.StringSplitV2(input=source, sep="" if sep is None else sep, maxsplit=maxsplit)
    )


def multinomial_categorical_impl(logits: Any, num_samples: Any, dtype: Any, seed: int | None) -> Tensor:
    """`tf.random.categorical`, with the type before the seed."""
    return tf.random.categorical(logits, num_samples, dtype=dtype, seed=seed)


def batch_gather_nd(params: Any, indices: Any, batch_dims: int, name: str | None = None) -> Tensor:
    """`tf.gather_nd` in each of several batches."""
    return tf.gather_nd(params, indices, name, batch_dims)


def repeat_with_axis(data: Any, repeats: Any, axis: int | None, name: str | None = None) -> Tensor:
    """`tf.repeat` with its axis before its name."""
    return tf.repeat(data, repeats, axis, name)


def rank_internal(input: Any, name: str | None = None, optimize: bool = True) -> Tensor:
    """`tf.rank`; the rank of a sparse tensor is that of the dense one."""
    return tf.rank(input, name)


def size_internal(
    input: Any, name: str | None = None, optimize: bool = True, out_type: Any = tf.int32
) -> Tensor:
    """`tf.size`; the size of a sparse tensor is that of the dense one."""
    return tf.size(input, name, out_type)


def convert_to_int_tensor(tensor: Any, name: str, dtype: Any = tf.int32) -> Tensor:
    """A tensor of integers of a type."""
    tensor = tf.convert_to_tensor(tensor, name=name, preferred_dtype=dtype)
    if not tensor.dtype.is_integer:
        raise TypeError(f"{name} must be an integer tensor; dtype={tensor.dtype}")
    return tf.cast(tensor, dtype)


def get_positive_axis(axis: int, ndims: int | None) -> int:
    """An axis counted from the front."""
    if not isinstance(axis, int):
        raise TypeError(f"axis must be an int; got {type(axis).__name__}")
    if ndims is None:
        if axis < 0:
            raise ValueError("axis may only be negative if ndims is statically known.")
        return axis
    if not -ndims <= axis < ndims:
        raise ValueError(f"axis={axis} out of bounds: expected {-ndims}<=axis<{ndims}")
    return axis % ndims


def tensor_equals(self: Any, other: Any) -> bool | Tensor:
    """What `==` of tensors is: the same object, since comparing elements is a switch of TensorFlow 2."""
    return other is not None and self is other


def tensor_not_equals(self: Any, other: Any) -> bool | Tensor:
    """What `!=` of tensors is."""
    return not tensor_equals(self, other)
