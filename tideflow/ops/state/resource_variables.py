"""Resource variables: state behind a handle. A read is an op of its own, ordered as the program says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tideflow.graph import dtypes, errors
from tideflow.graph.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError
from tideflow.graph.op import Op
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.ops.arrays import constants
from tideflow.ops.helpers.samples import f32, i64, resource
from tideflow.ops.helpers.types import INDICES
from tideflow.ops.helpers.variables import (
    HandleShape,
    as_signed,
    check_dtype,
    check_shared,
    count_up,
    counter_shape,
    same_shape,
    shape_text,
    variable_shape_of,
)
from tideflow.runtime.resources import DEFAULT_CONTAINER, Variable

KIND = "resource variable"  # of what the resource manager keeps

var_handle_op = Op(
    "VarHandleOp",
    " -> resource: resource",
    container="",
    shared_name="",
    debug_name="",
    dtype=attr("type"),
    shape=attr("shape"),
    allowed_devices=attr("list(string)", []),
    stateful=True,
    handle=True,
    differentiable=False,
    role="variable handle",
    is_model_state=True,
)


@var_handle_op.shape
def _var_handle_shape(*, dtype, shape):
    return HandleShape(dtype, shape)


class HandledVariable(Variable):
    """A runtime variable whose error speaks of handles."""

    __slots__ = ()

    def uninitialized(self) -> FailedPreconditionError:
        return errors.failed_precondition(
            f"Error while reading resource variable {self.name} from Container: {DEFAULT_CONTAINER}. This "
            f"could mean that the variable was uninitialized. Not found: {_absent(self)}",
        )

    def missing(self) -> NotFoundError:
        return errors.not_found(f"{_absent(self)} The variable was not initialized.")


def _absent(variable: Variable) -> str:
    """TensorFlow's words, with the type of C++ that it shows: they are what people search for."""
    return f"Resource {DEFAULT_CONTAINER}/{variable.name}/N10tensorflow3VarE does not exist."


@var_handle_op.kernel
def _var_handle_kernel(*, shape, dtype, container, shared_name, resources, node):
    name = shared_name or node.name

    def make() -> Variable:
        return HandledVariable(name, dtype, shape)

    found = resources.get_or_create(container, KIND, name, make)
    check_shared(found, dtype, node.name)
    return found


var_handle_op.samples(covered_by="tests/ops/state/test_resource_variables.py")

var_is_initialized_op = Op(
    "VarIsInitializedOp", "resource: resource -> is_initialized: bool", stateful=True, differentiable=False
)


@var_is_initialized_op.shape
def _var_is_initialized_shape(resource):
    return []


@var_is_initialized_op.kernel
def _var_is_initialized_kernel(resource, *, device):
    return torch.tensor(resource.initialized, device=device)


var_is_initialized_op.samples(resource(f32(2, 3)), resource(f32()), against=lambda value: True)

destroy_resource_op = Op(
    "DestroyResourceOp", "resource: resource", ignore_lookup_error=True, stateful=True, differentiable=False
)


@destroy_resource_op.shape
def _destroy_resource_shape(resource):
    return []


@destroy_resource_op.kernel
def _destroy_resource_kernel(resource, *, ignore_lookup_error):
    if not ignore_lookup_error and not resource.initialized:
        raise resource.missing()
    resource.destroy()


destroy_resource_op.samples(
    resource(f32(2)),
    (resource(f32(2)), {"ignore_lookup_error": False}),
    law=lambda before, after: after is None,
)

variable_shape_op = Op(
    "VariableShape",
    "input: resource -> output: out_type",
    out_type=attr("type", dtypes.int32, allowed=INDICES),
    stateful=True,
    differentiable=False,
)


@variable_shape_op.shape
def _variable_shape_shape(input):
    return [variable_shape_of(input).ndims]


@variable_shape_op.value
def _variable_shape_value(op):
    known = variable_shape_of(op.inputs[0].shape)
    return None if known.ndims is None else known.as_list()


@variable_shape_op.kernel
def _variable_shape_kernel(input, *, out_type, device):
    return torch.tensor(input.look(np.shape), dtype=out_type.torch, device=device)


variable_shape_op.samples(
    resource(f32(2, 3)),
    resource(f32()),
    (resource(f32(0, 2)), {"out_type": dtypes.int64}),
    against=lambda value: np.array(value.shape),
)


def variable_shape(handle: Tensor, out_type: Any = dtypes.int32) -> Tensor:
    """The shape of the variable behind a handle: a constant where the graph knows all of it."""
    known = variable_shape_of(handle.shape)
    if known.is_fully_defined():
        return constants.constant(known.as_list(), dtype=out_type)
    return variable_shape_op(handle, out_type=out_type)


read_variable_op = Op("ReadVariableOp", "resource: resource -> value: dtype", stateful=True, role="read")


@read_variable_op.shape
def _read_variable_shape(resource, *, dtype):
    check_dtype(resource, dtype, "read")
    return variable_shape_of(resource)


@read_variable_op.kernel
def _read_variable_kernel(resource):
    return resource.read()


@read_variable_op.specialize
def _read_variable_specialized(node):
    return Variable.read, node.inputs


@read_variable_op.gradient
def _read_variable_gradient(op, grad):
    return grad


read_variable_op.samples(
    (resource(f32(2, 3)), {"dtype": dtypes.float32}),
    (resource(i64()), {"dtype": dtypes.int64}),
    against=lambda value: value,
)
read_variable_op.refuses((resource(f32(2)), {"dtype": dtypes.int32}), "Trying to read variable with wrong")


def read_handle(handle: Tensor) -> Tensor:
    """The value of the variable behind a handle, whose dtype the graph knows."""
    return read_variable_op(handle, dtype=handle.shape.dtype)


disable_copy_on_read_op = Op("DisableCopyOnRead", "resource: resource", stateful=True, differentiable=False)
disable_copy_on_read_op.shape(lambda resource: [])
disable_copy_on_read_op.kernel(lambda resource: None)  # reads copy nothing here
disable_copy_on_read_op.samples(resource(f32(2, 3)), against=lambda value: value)


def _cannot_update(buffer: torch.Tensor, value: torch.Tensor) -> InvalidArgumentError:
    return errors.invalid_argument(
        f"Cannot update variable with shape {shape_text(buffer.shape)} using a Tensor with shape "
        f"{shape_text(value.shape)}, shapes must be equal.",
    )


assign_variable_op = Op(
    "AssignVariableOp",
    "resource: resource, value: dtype",
    validate_shape=False,
    stateful=True,
    uninitialized_ok=True,
    differentiable=False,
    role="assign",
)


@assign_variable_op.shape
def _assign_variable_shape(resource, value, *, dtype):
    check_dtype(resource, dtype, "assign")
    same_shape(variable_shape_of(resource), value)


@assign_variable_op.kernel
def _assign_variable_kernel(resource, value, *, validate_shape):
    if validate_shape and resource.initialized and resource.read().shape != value.shape:
        raise _cannot_update(resource.read(), value)
    resource.assign(value)


assign_variable_op.samples(
    (resource(f32(2, 3)), f32(2, 3)),
    (resource(f32()), f32(), {"validate_shape": True}),
    against=lambda old, value: value,
)


def _update_op(name: str, update: Callable, against: Callable) -> Op:
    """An op that puts a value of the variable's shape into the variable."""
    op = Op(name, "resource: resource, value: dtype", stateful=True, differentiable=False)

    @op.shape
    def _shape(resource, value, *, dtype):
        check_dtype(resource, dtype, "update")
        same_shape(variable_shape_of(resource), value)

    @op.kernel
    def _kernel(resource, value):
        with resource as buffer:
            if buffer.shape != value.shape:
                raise _cannot_update(buffer, value)
            update(as_signed(buffer), as_signed(value))

    op.samples(
        (resource(f32(2, 3)), f32(2, 3)),
        (resource(f32()), f32()),
        (resource(i64(0, 2)), i64(0, 2)),
        against=against,
    )
    op.refuses((resource(f32(2, 3)), f32(3)), "Shapes must be equal rank, but are 2 and 1")
    return op


assign_add_variable_op = _update_op("AssignAddVariableOp", torch.Tensor.add_, np.add)
assign_sub_variable_op = _update_op("AssignSubVariableOp", torch.Tensor.sub_, np.subtract)

resource_count_up_to_op = Op(
    "ResourceCountUpTo",
    "resource: resource -> output: T",
    limit=attr("int"),
    T=INDICES,
    stateful=True,
    differentiable=False,
)


@resource_count_up_to_op.shape
def _resource_count_up_to_shape(resource):
    return counter_shape(variable_shape_of(resource))


@resource_count_up_to_op.kernel
def _resource_count_up_to_kernel(resource, *, limit):
    return count_up(resource, limit)


resource_count_up_to_op.samples(
    (resource(i64(low=1, high=5)), {"limit": 10, "T": dtypes.int64}),
    against=lambda before: (before, before + 1),
)
