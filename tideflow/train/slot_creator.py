"""Slots: the variables that optimizers and moving averages keep beside each variable, named after it.

A slot of `dense/kernel` called Adam is the variable `dense/kernel/Adam`, a second one `dense/kernel/Adam_1`.
"""

from __future__ import annotations

import contextlib
from typing import Any

from tideflow.graph.scopes import colocate_with
from tideflow.ops.arrays import creation, shapes
from tideflow.variables.base import Variable
from tideflow.variables.initializers import Zeros
from tideflow.variables.resource import BaseResourceVariable
from tideflow.variables.variable_scope import get_variable, get_variable_scope, variable_scope


def create_slot(primary: Any, val: Any, name: str, colocate_with_primary: bool = True) -> Variable:
    """A slot that starts with the value `val`."""
    return _make(primary, name, colocate_with_primary, val, val.shape.is_fully_defined())


def create_slot_with_initializer(
    primary: Any, initializer: Any, shape: Any, dtype: Any, name: str, colocate_with_primary: bool = True
) -> Variable:
    """A slot of this shape and type that starts with what the initializer gives, or with this tensor."""
    validate = shape.is_fully_defined()
    shape = shape if callable(initializer) else None  # a tensor has its own
    return _make(primary, name, colocate_with_primary, initializer, validate, shape=shape, dtype=dtype)


def create_zeros_slot(
    primary: Any, name: str, dtype: Any = None, colocate_with_primary: bool = True
) -> Variable:
    """A slot of the primary's shape that starts with zeros."""
    dtype = primary.dtype.base_dtype if dtype is None else dtype
    if primary.shape.is_fully_defined():
        return create_slot_with_initializer(
            primary, Zeros(dtype=dtype), primary.shape, dtype, name, colocate_with_primary
        )
    value = primary.initialized_value() if isinstance(primary, Variable) else primary
    return create_slot(primary, creation.zeros(shapes.shape(value), dtype), name, colocate_with_primary)


def _make(
    primary: Any, name: str, beside: bool, initializer: Any, validate_shape: bool, **arguments: Any
) -> Variable:
    is_variable = isinstance(primary, Variable)
    prefix = primary._shared_name if is_variable else primary.op.name
    with variable_scope(None, f"{prefix}/{name}"):
        with colocate_with(primary) if beside else contextlib.nullcontext():
            scope = get_variable_scope()
            partitioner = scope.partitioner
            scope.set_partitioner(None)  # a slot has the shape of what it belongs to: a part of a variable
            slot = get_variable(
                "",
                initializer=initializer,
                trainable=False,
                use_resource=isinstance(primary, BaseResourceVariable) if is_variable else None,
                validate_shape=validate_shape,
                **arguments,
            )
            scope.set_partitioner(partitioner)
    if is_variable and primary._save_slice_info is not None:
        _share_slice_info(primary, slot)
    return slot


def _share_slice_info(primary: Variable, slot: Variable) -> None:
    """The slot of a part of a variable is the same part of a slot of the whole, in checkpoints too."""
    whole = primary._save_slice_info
    rank = slot.shape.ndims
    if rank == 0:
        return
    slot_name = slot._shared_name[len(primary._shared_name) + 1 :]
    slot._set_save_slice_info(
        Variable.SaveSliceInfo(
            f"{whole.full_name}/{slot_name}",
            whole.full_shape[:rank],
            whole.var_offset[:rank],
            whole.var_shape[:rank],
        )
    )
