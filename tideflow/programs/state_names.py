"""Names of `tensorflow.python.ops.state_ops` that are not public: variables as operations."""

from __future__ import annotations

from collections.abc import Callable

from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.dtypes import as_dtype
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import colocate_with, name_scope
from tideflow.graph.shapes import as_shape
from tideflow.graph.typing import DTypeLike, ShapeLike, TensorLike
from tideflow.ops.state import reference_variables as ops


def variable_op(
    shape: ShapeLike,
    dtype: DTypeLike,
    name: str = "Variable",
    set_shape: bool = True,
    container: str = "",
    shared_name: str = "",
) -> Tensor:
    """Makes the reference of a variable by the older op type, whose shape may be left open.

    Args:
      shape: The variable's shape.
      dtype: The variable's type.
      name: A name for the operation.
      set_shape: Whether the reference has this shape; otherwise it is unknown.
      container: The resource container of the variable; the graph's if empty.
      shared_name: The name that sessions share the variable by; the operation's if empty.

    Returns:
      The reference.
    """
    known = as_shape(shape if set_shape else None)
    made = ops.variable_op(
        shape=known, dtype=as_dtype(dtype), container=container, shared_name=shared_name, name=name
    )
    made.set_shape(known)
    return made


def variable_op_v2(
    shape: ShapeLike, dtype: DTypeLike, name: str = "Variable", container: str = "", shared_name: str = ""
) -> Tensor:
    """Makes the reference of a variable.

    Args:
      shape: The variable's shape.
      dtype: The variable's type.
      name: A name for the operation.
      container: The resource container of the variable; the graph's if empty.
      shared_name: The name that sessions share the variable by; the operation's if empty.

    Returns:
      The reference.
    """
    return ops.variable_v2_op(
        shape=as_shape(shape), dtype=as_dtype(dtype), container=container, shared_name=shared_name, name=name
    )


def init_variable(v: Tensor, init: TensorLike | Callable, name: str = "init") -> Tensor:
    """Gives a variable its first value.

    Args:
      v: The reference of a variable.
      init: The value, or an initializer: a function of a shape and a type.
      name: A name for the assignment, below the variable's.

    Returns:
      The reference, after the assignment.
    """
    with name_scope(None, f"{v.op.name}/", [v]), name_scope(name) as scope, colocate_with(v):
        if callable(init):
            assert v.get_shape().is_fully_defined(), "Variable shape unknown."
            value = convert_to_tensor(init(v.get_shape().as_list(), v.dtype.base_dtype), name="value")
        else:
            value = convert_to_tensor(init, name="init")
        return ops.assign(v, value, name=scope)
