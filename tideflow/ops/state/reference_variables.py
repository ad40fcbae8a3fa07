"""Reference variables: state that tensors of a reference type point to. Reads are implicit.

A kernel gets the runtime Variable for a reference input and returns it for a reference output. Whatever reads
and then writes does both inside `with variable as buffer`, after its arguments are checked: no update is
lost, torn or half done.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import dtypes, errors
from tideflow.graph.op import Op
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.ops.helpers.flops import per_input_element
from tideflow.ops.helpers.samples import f32, i64, ref
from tideflow.ops.helpers.types import INDICES, NUMERIC
from tideflow.ops.helpers.variables import (
    as_signed,
    check_shared,
    count_up,
    counter_shape,
    same_shape,
    shape_text,
)
from tideflow.ops.state import resource_variables
from tideflow.runtime.resources import Variable
from tideflow.runtime.values import empty_like_type

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike, VariableLike


def is_reference(variable: Any) -> bool:
    """Whether this is a reference (a RefVariable, or what its ops return), not a variable behind a handle."""
    return variable.dtype._is_ref_dtype


def _shared_variable(*, shape, dtype, container, shared_name, resources, node):
    def make() -> Variable:
        return Variable(node.name, dtype, shape)

    key = container, "variable", shared_name or node.name
    found = resources.get_or_create(*key, make)
    check_shared(found, dtype, node.name)
    return found


variable_v2_op = Op(
    "VariableV2",
    " -> ref: Ref(dtype)",
    role="variable",
    is_model_state=True,
    shape=attr("shape"),
    container="",
    shared_name="",
    stateful=True,
    handle=True,
    differentiable=False,
)


@variable_v2_op.shape
def _variable_v2_shape(*, shape):
    return shape


variable_v2_op.kernel(_shared_variable)
variable_v2_op.samples(covered_by="tests/variables/test_variable.py")

variable_op = Op(
    "Variable",
    " -> ref: Ref(dtype)",
    role="variable",
    is_model_state=True,
    shape=attr("shape"),
    container="",
    shared_name="",
    stateful=True,
    handle=True,
    differentiable=False,
)


@variable_op.shape
def _variable_shape(*, shape):
    # The older op's scalar stood for an unknown shape.
    return shape if shape.ndims else None


variable_op.kernel(_shared_variable)
variable_op.samples(covered_by="tests/ops/state/test_reference_variables.py")

is_variable_initialized_op = Op(
    "IsVariableInitialized",
    "ref: Ref(dtype) -> is_initialized: bool",
    stateful=True,
    uninitialized_ok=True,
    differentiable=False,
)


@is_variable_initialized_op.shape
def _is_variable_initialized_shape(ref):
    return []


@is_variable_initialized_op.kernel
def _is_variable_initialized_kernel(ref, *, device):
    return torch.tensor(ref.initialized, device=device)


is_variable_initialized_op.samples(ref(f32(2, 3)), ref(f32()), against=lambda value: True)


@export("is_variable_initialized")
def is_variable_initialized(variable: VariableLike | Tensor) -> Tensor:
    """Whether a variable has a value.

    Args:
      variable: A variable, or a tensor that refers to one.

    Returns:
      A scalar bool tensor, computed anew in each step.
    """
    if is_reference(variable):
        return is_variable_initialized_op(variable)
    return variable.is_initialized(name=None)


assign_op = Op(
    "Assign",
    "ref: Ref(T), value: T -> output_ref: Ref(T)",
    role="assign",
    validate_shape=True,
    use_locking=True,
    stateful=True,
    uninitialized_ok=True,
    colocate="ref",
    differentiable=False,
)


@assign_op.shape
def _assign_shape(ref, value, *, validate_shape):
    return same_shape(ref, value) if validate_shape else value


def check_assignable(variable: Variable, value: Any) -> None:
    """The new value has the shape of the old one, or of the declaration where there is no old one."""
    old = variable.value
    fits = variable.shape.is_compatible_with(tuple(value.shape)) if old is None else old.shape == value.shape
    if not fits:
        left = variable.shape.as_list() if old is None else old.shape
        raise errors.invalid_argument(
            f"Assign requires shapes of both tensors to match. lhs shape= {shape_text(left)} rhs shape= "
            f"{shape_text(value.shape)}",
        )


@assign_op.kernel
def _assign_kernel(ref, value, *, validate_shape):
    if validate_shape:
        check_assignable(ref, value)
    ref.assign(value)
    return ref


assign_op.samples(
    (ref(f32(2, 3)), f32(2, 3)),
    (ref(f32()), f32()),
    (ref(f32(2)), f32(3), {"validate_shape": False}),
    against=lambda ref, value: (value, value),
)
assign_op.refuses((ref(f32(2, 3)), f32(2, 4)), "Dimension 1 in both shapes must be equal, but are 3 and 4")


@export("assign")
def assign(
    ref: VariableLike | Tensor,
    value: TensorLike,
    validate_shape: bool | None = None,
    use_locking: bool | None = None,
    name: str | None = None,
) -> Any:
    """Gives a variable a new value.

    Args:
      ref: A variable, a tensor that refers to one, or a slice of one.
      value: A tensor of the variable's type.
      validate_shape: Whether `value` must have the variable's shape (the default). Otherwise the variable
        takes on the shape of `value`.
      use_locking: Kept for TensorFlow's programs: assignments never tear each other.
      name: A name for the operation.

    Returns:
      The variable, as what comes after the assignment sees it.

    Raises:
      AttributeError: If `ref` is a tensor that refers to no variable.
      ValueError: If the shapes are known and differ.
    """
    if isinstance(ref, Tensor) and not is_reference(ref) and not hasattr(ref, "assign"):
        raise AttributeError(
            f"'Tensor' object has no attribute 'assign': '{ref.name}' refers to no variable, so nothing can "
            "be assigned to it."
        )
    if not is_reference(ref):
        return ref.assign(value, name=name)
    return assign_op(ref, value, validate_shape=validate_shape, use_locking=use_locking, name=name)


def _update_op(name: str, update: Callable, against: Callable) -> Op:
    """An op that puts a value of the variable's shape into the variable."""
    op = Op(
        name,
        "ref: Ref(T), value: T -> output_ref: Ref(T)",
        T=NUMERIC,
        use_locking=False,
        stateful=True,
        colocate="ref",
        differentiable=False,
    )
    op.shape(same_shape)

    @op.kernel
    def _kernel(ref, value):
        with ref as buffer:
            if buffer.shape != value.shape:
                found = f"{shape_text(buffer.shape)} and {shape_text(value.shape)}"
                raise errors.invalid_argument(f"Parameters and update must be the same size, but are {found}")
            update(as_signed(buffer), as_signed(value))
        return ref

    op.samples(
        (ref(f32(2, 3)), f32(2, 3)),
        (ref(f32()), f32()),
        (ref(i64(0, 2)), i64(0, 2)),
        against=lambda old, value: (against(old, value),) * 2,
    )
    op.refuses((ref(f32(2, 3)), f32(3)), "Shapes must be equal rank, but are 2 and 1")
    return op


assign_add_op = _update_op("AssignAdd", torch.Tensor.add_, np.add)
assign_add_op.flops(per_input_element())


@export("assign_add")
def assign_add(
    ref: VariableLike | Tensor, value: TensorLike, use_locking: bool | None = None, name: str | None = None
) -> Any:
    """Adds a value to a variable.

    Args:
      ref: A variable of numbers, or a tensor that refers to one.
      value: A tensor of the variable's type and shape.
      use_locking: Kept for TensorFlow's programs: no update is lost, whatever it says.
      name: A name for the operation.

    Returns:
      The variable, as what comes after the addition sees it.
    """
    if not is_reference(ref):
        return ref.assign_add(value)  # TensorFlow has no use for the name here either
    return assign_add_op(ref, value, use_locking=use_locking, name=name)


assign_sub_op = _update_op("AssignSub", torch.Tensor.sub_, np.subtract)
assign_sub_op.flops(per_input_element())


@export("assign_sub")
def assign_sub(
    ref: VariableLike | Tensor, value: TensorLike, use_locking: bool | None = None, name: str | None = None
) -> Any:
    """Subtracts a value from a variable.

    Args:
      ref: A variable of numbers, or a tensor that refers to one.
      value: A tensor of the variable's type and shape.
      use_locking: Kept for TensorFlow's programs: no update is lost, whatever it says.
      name: A name for the operation.

    Returns:
      The variable, as what comes after the subtraction sees it.
    """
    if not is_reference(ref):
        return ref.assign_sub(value)  # as assign_add
    return assign_sub_op(ref, value, use_locking=use_locking, name=name)


count_up_to_op = Op(
    "CountUpTo",
    "ref: Ref(T) -> output: T",
    limit=attr("int"),
    T=INDICES,
    stateful=True,
    colocate="ref",
    differentiable=False,
)


@count_up_to_op.shape
def _count_up_to_shape(ref):
    return counter_shape(ref)


@count_up_to_op.kernel
def _count_up_to_kernel(ref, *, limit):
    return count_up(ref, limit)


count_up_to_op.samples((ref(i64(low=1, high=5)), {"limit": 10}), against=lambda before: (before, before + 1))

count_up_to_op.refuses((ref(i64(2)), {"limit": 3}), "Shape must be rank 0 but is rank 1")


@export("count_up_to")
def count_up_to(ref: VariableLike | Tensor, limit: int, name: str | None = None) -> Tensor:
    """Adds 1 to a variable, up to a limit.

    Args:
      ref: A scalar variable of type int32 or int64.
      limit: The value at which counting ends.
      name: A name for the operation.

    Returns:
      A tensor of what the variable was before.

    Raises:
      OutOfRangeError: When the step runs and the variable has reached `limit`.
    """
    if not is_reference(ref):
        return resource_variables.resource_count_up_to_op(ref.handle, T=ref.dtype, limit=limit, name=name)
    return count_up_to_op(ref, limit=limit, name=name)


temporary_variable_op = Op(
    "TemporaryVariable",
    " -> ref: Ref(dtype)",
    shape=attr("shape"),
    var_name="",
    stateful=True,
    differentiable=False,
)


@temporary_variable_op.shape
def _temporary_variable_shape(*, shape):
    return shape


@temporary_variable_op.kernel
def _temporary_variable_kernel(*, shape, dtype, var_name, device, node):
    variable = Variable(var_name or node.source.name, dtype, shape)
    empty = empty_like_type(dtype, tuple(shape.as_list()))
    variable.value = empty.to(device) if isinstance(empty, torch.Tensor) else empty
    return variable


temporary_variable_op.samples(({"shape": [2, 3], "dtype": dtypes.float32},), against=lambda: np.zeros((2, 3)))

destroy_temporary_variable_op = Op(
    "DestroyTemporaryVariable",
    "ref: Ref(T) -> value: T",
    var_name=attr("string"),
    stateful=True,
    colocate="ref",
    differentiable=None,
)


@destroy_temporary_variable_op.shape
def _destroy_temporary_variable_shape(ref):
    return ref


@destroy_temporary_variable_op.kernel
def _destroy_temporary_variable_kernel(ref, *, var_name):
    if ref.name != var_name or ref.value is None:
        raise errors.not_found(
            f"Resource {var_name} does not exist: the temporary variable is called {ref.name}, or it was "
            "destroyed before"
        )
    value = ref.read()
    ref.destroy()
    return value


destroy_temporary_variable_op.samples(covered_by="tests/ops/state/test_reference_variables.py")
