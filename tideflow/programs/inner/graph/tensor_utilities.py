"""What tests and libraries take from TensorFlow's `tensor_util` beside its public functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto

from tideflow.graph import dtypes
from tideflow.graph.composite import SparseTensor, SparseTensorValue
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.op_registry import role_of
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.partial import constant_value_as_shape, fully_known, partial_value
from tideflow.graph.shapes import TensorShape
from tideflow.graph.tensor_proto import make_ndarray

MakeNdarray = make_ndarray


def ShapeEquals(tensor_proto: Any, shape: TensorShapeProto | Sequence[int]) -> bool:
    """Whether the tensor of a TensorProto has a shape."""
    sizes = [dim.size for dim in shape.dim] if isinstance(shape, TensorShapeProto) else list(shape)
    return [dim.size for dim in tensor_proto.tensor_shape.dim] == sizes


def maybe_set_static_shape(tensor: Tensor, shape: Any) -> None:
    """Tells a tensor the shape that a tensor of sizes has, as far as it is known."""
    if isinstance(shape, Tensor) and not tensor.shape.is_fully_defined() and shape.shape.ndims is not None:
        tensor.set_shape(constant_value_as_shape(shape))


def shape_tensor(shape: Any) -> Tensor:
    """A shape as a tensor of integers: int32, or int64 where a size asks for it.

    Args:
      shape: A TensorShape, a list of sizes (which may be tensors), or a tensor.

    Returns:
      The tensor.
    """
    if isinstance(shape, (TensorShape, tuple, list)):
        sizes = shape.as_list() if isinstance(shape, TensorShape) else list(shape)
        large = any(isinstance(size, int) and size > np.iinfo(np.int32).max for size in sizes)
        return convert_to_tensor(sizes, dtypes.int64 if large else dtypes.int32, name="shape")
    return convert_to_tensor(shape, name="shape")


def TensorShapeProtoToList(shape: TensorShapeProto) -> list[int]:
    """The sizes of a TensorShapeProto."""
    return [dim.size for dim in shape.dim]


def is_sparse(x: Any) -> bool:
    """Whether a value is a SparseTensor, or the value of one."""
    return isinstance(x, (SparseTensor, SparseTensorValue))


def is_constant(tensor_or_op: Tensor | Operation) -> bool:
    """Whether something is a constant of the graph, or an eager value."""
    if getattr(tensor_or_op, "is_eager", False):
        return True
    op = tensor_or_op if isinstance(tensor_or_op, Operation) else tensor_or_op.op
    return role_of(op.type) == "constant"


def TF_TryEvaluateConstant_wrapper(graph: Any, output: Any) -> np.ndarray | None:
    """The value of a tensor, if it follows from the graph alone.

    Args:
      graph: The tensor's graph, as `Graph._c_graph` gives it.
      output: The tensor, as `Tensor._as_tf_output` gives it.

    Returns:
      An array, or None.
    """
    value = partial_value(output)
    return np.array(value, output.dtype.as_numpy_dtype) if fully_known(value) else None
