"""Constants, placeholders, identities and the op that does nothing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from tensorboard.compat.proto.tensor_pb2 import TensorProto

from tideflow.export import export
from tideflow.graph import dtypes, errors
from tideflow.graph.arrays import refuse_tensors, typed_array
from tideflow.graph.convert import register_tensor_conversion_function
from tideflow.graph.op import Op
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.partial import partial_value
from tideflow.graph.schema import attr
from tideflow.graph.scopes import executing_eagerly, get_default_graph
from tideflow.graph.shapes import Dimension, TensorShape, as_shape, brackets
from tideflow.graph.tensor_proto import proto_array, repeated
from tideflow.ops.helpers.axes import merged
from tideflow.ops.helpers.elementwise import same_shape
from tideflow.ops.helpers.references import unchanged
from tideflow.ops.helpers.samples import f32

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, ShapeLike, TensorLike, TensorOrRagged


def passed_on(input: Any) -> Any:
    """The kernel of ops that give their input."""
    return input


const_op = Op("Const", " -> output: dtype", value=attr("tensor"), differentiable=False, role="constant")


@const_op.shape
def _const_shape(*, value):
    return value.shape


@const_op.value
def _const_value(op):
    return op.attrs["value"].tolist()


@const_op.kernel
def _const_kernel(*, value, device):
    return torch.as_tensor(value, device=device)


const_op.samples(
    ({"value": np.arange(6, dtype=np.float32).reshape(2, 3), "dtype": dtypes.float32},),
    against=lambda *, value: value,
)


@export("constant", "constant_v1")
def constant(
    value: TensorLike,
    dtype: DTypeLike | None = None,
    shape: ShapeLike | None = None,
    name: str | None = "Const",
    verify_shape: bool = False,
) -> Tensor:
    """Makes a constant tensor.

    Args:
      value: A number, string, list, array or TensorProto.
      dtype: The type of the elements; by default that of `value`, with int32 and float32 for Python's
        numbers.
      shape: The shape; by default that of `value`. What `value` does not fill is filled with its last
        element.
      name: A name for the operation.
      verify_shape: Whether `value` must have exactly this shape.

    Returns:
      A constant tensor.

    Raises:
      TypeError: If `value` has another shape and `verify_shape` is set, or does not fit the type.
      ValueError: If `value` has more elements than `shape`.
    """
    graph: Any = get_default_graph()
    if graph.is_eager and type(value) in (bool, int, float) and shape is None:
        return graph.number(value, dtype)
    if not graph.is_eager:
        refuse_tensors(value)
    if isinstance(value, TensorProto):
        value = proto_array(value)
    array, dtype = (graph.array_of if graph.is_eager else typed_array)(value, dtype)
    if shape is not None and graph.is_eager:
        array = _fit_eagerly(array, as_shape(shape))
    elif shape is not None:
        array = _fit(array, as_shape(shape).as_list(), verify_shape)
    return const_op(value=array, dtype=dtype, name=name or "Const")


def _fit(array: np.ndarray, shape: list[int], verify: bool) -> np.ndarray:
    if list(array.shape) == shape:
        return array
    if verify:
        raise TypeError(f"Expected Tensor's shape: {tuple(shape)}, got {array.shape}.")
    size = math.prod(shape)
    if not size:  # whatever was given, nothing of it is wanted
        return np.zeros(shape, array.dtype)
    if array.size > size:
        raise ValueError(f"Too many elements provided. Needed at most {size}, but received {array.size}")
    if not array.size:
        raise ValueError(f"Cannot fill a tensor of shape {shape} from no elements.")
    if array.size == 1:
        return repeated(array, shape)
    flat = array.reshape(-1)
    return np.concatenate([flat, np.repeat(flat[-1:], size - array.size)]).reshape(shape)


def _fit_eagerly(array: np.ndarray, shape: TensorShape) -> np.ndarray:
    """The array in this shape, of which it has as many elements, or one that stands in every place."""
    size = shape.num_elements()
    if array.size not in (1, size):
        raise TypeError(
            f"Eager execution of tf.constant with unsupported shape (value has {array.size} elements, shape "
            f"is {shape} with {size} elements)."
        )
    return array.reshape(shape.as_list()) if array.size == size else repeated(array, shape.as_list())


def _shape_conversion(
    value: TensorShape | Dimension, dtype: Any = None, name: str | None = None, as_ref: bool = False
) -> Tensor:
    if isinstance(value, Dimension) and value.value is None:
        raise ValueError(f"Cannot convert an unknown Dimension to a Tensor: {value}")
    if isinstance(value, TensorShape) and not value.is_fully_defined():
        raise ValueError(f"Cannot convert a partially known TensorShape to a Tensor: {value}")
    sizes = value.value if isinstance(value, Dimension) else value.as_list()
    large = max(np.ravel(sizes).tolist(), default=0) > dtypes.int32.max
    if dtype is None:
        dtype = dtypes.int64 if large else dtypes.int32
    if dtype not in (dtypes.int32, dtypes.int64):
        raise TypeError(f"Cannot convert a {type(value).__name__} to dtype: {dtype.name}")
    if dtype == dtypes.int32 and large:
        raise ValueError(
            f"Cannot convert a {type(value).__name__} to dtype int32; a size is too large: {value}"
        )
    return constant(sizes, dtype=dtype, name=name or "shape_as_tensor")


register_tensor_conversion_function((TensorShape, Dimension), _shape_conversion)


def _constant_conversion(
    value: Any, dtype: Any = None, name: str | None = None, as_ref: bool = False
) -> Tensor:
    return constant(value, dtype=dtype, name=name or "Const")


register_tensor_conversion_function(object, _constant_conversion, priority=200)


# ------------------------------------------------------------------------------------- placeholders


def given_shape(*, shape):
    """The shape rule of both placeholders."""
    return shape


def must_be_fed(*, node, shape, dtype):
    """Their kernel, which runs where the step feeds no value."""
    raise errors.invalid_argument(
        f"You must feed a value for placeholder tensor '{node.name}' with dtype {errors.type_name(dtype)} "
        f"and shape {'<unknown>' if shape.ndims is None else brackets(shape.tuple)}",
    )


placeholder_op = Op(
    "Placeholder", " -> output: dtype", shape=attr("shape", None), differentiable=False, role="placeholder"
)
placeholder_op.shape(given_shape)


@placeholder_op.value
def _outside_value(op):
    """What is known of a tensor from outside of a function, where the placeholder stands for one."""
    found = [outer for outer, inner in getattr(op.graph, "captured", {}).items() if inner is op.outputs[0]]
    return partial_value(found[0]) if found else None


placeholder_op.kernel(must_be_fed)
placeholder_op.samples(covered_by="tests/ops/arrays/test_constants.py")


@export("placeholder")
def placeholder(dtype: DTypeLike, shape: ShapeLike | None = None, name: str | None = None) -> Tensor:
    """Makes a tensor whose value each step is given by its feed_dict.

    Args:
      dtype: The type of the elements.
      shape: What is known of the shape; by default nothing.
      name: A name for the operation.

    Returns:
      A tensor. A step that needs it and feeds no value fails.
    """
    if executing_eagerly():
        raise RuntimeError("tf.placeholder() is not compatible with eager execution.")
    return placeholder_op(dtype=dtype, shape=as_shape(shape), name=name)


placeholder_v2_op = Op(
    "PlaceholderV2", " -> output: dtype", shape=attr("shape"), differentiable=False, role="placeholder"
)
placeholder_v2_op.shape(given_shape)
placeholder_v2_op.kernel(must_be_fed)
placeholder_v2_op.samples(covered_by="tests/ops/arrays/test_constants.py")

placeholder_with_default_op = Op(
    "PlaceholderWithDefault", "input: dtype -> output: dtype", shape=attr("shape")
)


@placeholder_with_default_op.shape
def _placeholder_with_default_shape(input, *, shape):
    merged(input, shape)
    return shape


placeholder_with_default_op.kernel(passed_on)
placeholder_with_default_op.gradient(lambda op, grad: grad)
placeholder_with_default_op.samples((f32(2, 3), {"shape": [None, 3]}), against=unchanged)


@export("placeholder_with_default")
def placeholder_with_default(input: TensorLike, shape: ShapeLike | None, name: str | None = None) -> Tensor:
    """Makes a tensor that has a value unless the step feeds another one.

    Args:
      input: The value to have, a tensor.
      shape: What is known of the shape of any value.
      name: A name for the operation.

    Returns:
      A tensor of the type of `input`.
    """
    return placeholder_with_default_op(input, shape=as_shape(shape), name=name)


# ------------------------------------------------------------------------------------- identities


def value_of_input(op: Operation) -> Any:
    """The value rule of ops that pass their input on."""
    return partial_value(op.inputs[0])


identity_op = Op("Identity", "input: T -> output: T", role="identity")
identity_op.shape(same_shape)
identity_op.value(value_of_input)
identity_op.kernel(passed_on)

identity_op.gradient(lambda op, grad: grad)
identity_op.samples(f32(2, 3), f32(), f32(0, 2), against=unchanged)


@export("identity", ragged="values")
def identity(input: TensorOrRagged, name: str | None = None) -> Tensor:
    """Gives a tensor with the same value.

    Args:
      input: A tensor.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `input`.
    """
    return identity_op(input, name=name)


identity_n_op = Op("IdentityN", "input: T -> output: T", T=attr("list(type)", minimum=1), is_spread=True)

identity_n_op.shape(same_shape)
identity_n_op.kernel(passed_on)
identity_n_op.gradient(lambda op, *grads: grads)
identity_n_op.samples(([f32(2), f32(3, 1)],), against=unchanged)


@export("identity_n")
def identity_n(input: list, name: str | None = None) -> list[Tensor]:
    """Gives tensors with the same values.

    Args:
      input: A list of tensors, of any types.
      name: A name for the operation.

    Returns:
      A list of tensors of the same shapes and types.
    """
    return identity_n_op(list(input), name=name)


stop_gradient_op = Op("StopGradient", "input: T -> output: T", differentiable=False)
stop_gradient_op.shape(same_shape)
stop_gradient_op.value(value_of_input)
stop_gradient_op.kernel(passed_on)
stop_gradient_op.samples(f32(2, 3), against=unchanged)


@export("stop_gradient")
def stop_gradient(input: TensorLike, name: str | None = None) -> Tensor:
    """Gives a tensor with the same value, through which no gradient flows.

    Args:
      input: A tensor.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `input`, which counts as a constant where gradients are computed.
    """
    return stop_gradient_op(input, name=name)


prevent_gradient_op = Op("PreventGradient", "input: T -> output: T", message="")
prevent_gradient_op.shape(same_shape)
prevent_gradient_op.kernel(passed_on)


@prevent_gradient_op.gradient
def _prevent_gradient_gradient(op, grad):
    raise LookupError(f"Gradient explicitly disabled. Reason: {op.attrs['message']!r}.")


prevent_gradient_op.samples(f32(2, 3), against=unchanged)

no_op = Op("NoOp", "", differentiable=False)

no_op.shape(lambda: [])
no_op.kernel(lambda: None)
no_op.samples((), against=lambda: [])


@export("no_op")
def no_operation(name: str | None = None) -> Operation:
    """Makes an operation that does nothing: it only carries control dependencies.

    Args:
      name: A name for the operation.

    Returns:
      The operation.
    """
    return no_op(name=name)


fact_op = Op("Fact", " -> fact: string", differentiable=False)


@fact_op.shape
def _fact_shape():
    return []


@fact_op.kernel
def _fact_kernel():
    return np.array(b"0! == 1", dtype=object)


fact_op.samples((), against=lambda: np.array(b"0! == 1", dtype=object))
