"""Constants, placeholders, identities and the op that does nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import dtypes, errors
from tideflow.graph.arrays import typed_array
from tideflow.graph.convert import register_tensor_conversion_function
from tideflow.graph.op import Op
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.partial import fully_known, partial_value
from tideflow.graph.schema import attr
from tideflow.graph.shapes import Dimension, TensorShape, as_shape
from tideflow.ops.helpers.samples import f32

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


const_op.samples(({"value": np.arange(6, dtype=np.float32).reshape(2, 3), "dtype": dtypes.float32},))


@export("constant", "constant_v1")
def constant(
    value: Any, dtype: Any = None, shape: Any = None, name: str | None = "Const", verify_shape: bool = False
) -> Tensor:
    """A constant tensor; with `shape`, the last element of `value` fills what is left."""
    array, dtype = typed_array(value, dtype)
    if shape is not None:
        array = _fit(array, as_shape(shape).as_list(), verify_shape)
    return const_op(value=array, dtype=dtype, name=name or "Const")


def _fit(array: np.ndarray, shape: list[int], verify: bool) -> np.ndarray:
    if list(array.shape) == shape:
        return array
    if verify:
        raise TypeError(f"Expected Tensor's shape: {tuple(shape)}, got {array.shape}.")
    size = int(np.prod(shape))
    if not size:  # whatever was given, nothing of it is wanted
        return np.zeros(shape, array.dtype)
    if array.size > size:
        raise ValueError(f"Too many elements provided. Needed at most {size}, but received {array.size}")
    if not array.size:
        raise ValueError(f"Cannot fill a tensor of shape {shape} from no elements.")
    flat = array.reshape(-1)
    return np.concatenate([flat, np.repeat(flat[-1:], size - array.size)]).reshape(shape)


def _shape_conversion(
    value: TensorShape | Dimension, dtype: Any = None, name: str | None = None, as_ref: bool = False
) -> Tensor:
    sizes = value.value if isinstance(value, Dimension) else value.as_list()
    if not fully_known(sizes):
        raise ValueError(f"Cannot convert a partially known {type(value).__name__} to a Tensor: {value}")
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


def _placeholder_family_shape(*, shape):
    return shape


def _placeholder_family_kernel(*, node, shape, dtype):
    raise errors.invalid_argument(
        f"You must feed a value for placeholder tensor '{node.name}' with dtype {dtype.name} and shape "
        f"{shape}",
    )


# ------------------------------------------------------------------------------------------------

# placeholders
placeholder_op = Op(
    "Placeholder", " -> output: dtype", shape=attr("shape", None), differentiable=False, role="placeholder"
)
placeholder_op.shape(_placeholder_family_shape)
placeholder_op.kernel(_placeholder_family_kernel)
placeholder_op.samples(covered_by="tests/ops/arrays/test_constants.py")


@export("placeholder")
def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Tensor:
    """A tensor whose value each step is given by its feed_dict."""
    return placeholder_op(dtype=dtype, shape=as_shape(shape), name=name)


placeholder_v2_op = Op(
    "PlaceholderV2", " -> output: dtype", shape=attr("shape"), differentiable=False, role="placeholder"
)
placeholder_v2_op.shape(_placeholder_family_shape)
placeholder_v2_op.kernel(_placeholder_family_kernel)
placeholder_v2_op.samples(covered_by="tests/ops/arrays/test_constants.py")

placeholder_with_default_op = Op(
    "PlaceholderWithDefault", "input: dtype -> output: dtype", shape=attr("shape")
)


@placeholder_with_default_op.shape
def _placeholder_with_default_shape(input, *, shape):
    return shape


@placeholder_with_default_op.kernel
def _placeholder_with_default_kernel(input):
    return input


@placeholder_with_default_op.gradient
def _placeholder_with_default_gradient(op, grad):
    return grad


placeholder_with_default_op.samples((f32(2, 3), {"shape": [None, 3]}))


@export("placeholder_with_default")
def placeholder_with_default(input: Any, shape: Any, name: str | None = None) -> Tensor:
    """`input` unless the step feeds another value."""
    return placeholder_with_default_op(input, shape=as_shape(shape), name=name)


def _identity_family_shape(input):
    return input


def _identity_family_value(op):
    return partial_value(op.inputs[0])


def _identity_family_kernel(input):
    return input


# ------------------------------------------------------------------------------------------------ identities

identity_op = Op("Identity", "input: T -> output: T", role="identity")
identity_op.shape(_identity_family_shape)
identity_op.value(_identity_family_value)
identity_op.kernel(_identity_family_kernel)


@identity_op.gradient
def _identity_gradient(op, grad):
    return grad


identity_op.samples(f32(2, 3), f32(), f32(0, 2))


@export("identity")
def identity(input: Any, name: str | None = None) -> Tensor:
    """A tensor with the same value."""
    return identity_op(input, name=name)


identity_n_op = Op("IdentityN", "input: T -> output: T", T=attr("list(type)", minimum=1), is_spread=True)


@identity_n_op.shape
def _identity_n_shape(input):
    return input


identity_n_op.kernel(_identity_family_kernel)


@identity_n_op.gradient
def _identity_n_gradient(op, *grads):
    return grads


identity_n_op.samples(([f32(2), f32(3, 1)],))


@export("identity_n")
def identity_n(input: list, name: str | None = None) -> list[Tensor]:
    """Tensors with the same values."""
    return identity_n_op(list(input), name=name)


stop_gradient_op = Op("StopGradient", "input: T -> output: T", differentiable=False)
stop_gradient_op.shape(_identity_family_shape)
stop_gradient_op.value(_identity_family_value)
stop_gradient_op.kernel(_identity_family_kernel)
stop_gradient_op.samples(f32(2, 3))


@export("stop_gradient")
def stop_gradient(input: Any, name: str | None = None) -> Tensor:
    """The same value, through which no gradient flows."""
    return stop_gradient_op(input, name=name)


prevent_gradient_op = Op("PreventGradient", "input: T -> output: T", message="")
prevent_gradient_op.shape(_identity_family_shape)
prevent_gradient_op.kernel(_identity_family_kernel)


@prevent_gradient_op.gradient
def _prevent_gradient_gradient(op, grad):
    raise LookupError(f"Gradient explicitly disabled. Reason: {op.attrs['message']!r}.")


prevent_gradient_op.samples(f32(2, 3))

no_op = Op("NoOp", "", differentiable=False)


@no_op.shape
def _no_shape():
    return []


@no_op.kernel
def _no_kernel():
    return None


no_op.samples(())


@export("no_op")
def no_operation(name: str | None = None) -> Operation:
    """An operation that only carries control dependencies."""
    return no_op(name=name)
