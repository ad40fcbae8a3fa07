"""Variables as bare operations, templates and stores: names of `tensorflow.python.ops`'s `state_ops`,
`template`, `variable_scope` and `resource_variable_ops` that are not public.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tideflow as tf
from tideflow.graph.operation import Tensor
from tideflow.programs.modules import generated_function
from tideflow.variables import store, template
from tideflow.variables.eager_store import EagerVariableStore
from tideflow.variables.resource import ResourceVariable

__all__ = ["EagerVariableStore"]

Template = EagerTemplate = template.Template
_get_default_variable_store = store.store_of_default_graph
_VariableStore = store.VariableStore
_PartitionInfo = store._PartitionInfo


def variable_op(
    shape: Any,
    dtype: Any,
    name: str = "Variable",
    set_shape: bool = True,
    container: str = "",
    shared_name: str = "",
) -> Tensor:
    """A variable of the old kind, as a reference: a `Variable` operation.

    Args:
      shape: The shape of its values.
      dtype: Their type.
      name: A name for the operation.
      set_shape: Whether the graph is to know the shape.
      container: The container that holds it.
      shared_name: The name under which sessions share it.

    Returns:
      The reference.
    """
    known = tf.TensorShape(shape if set_shape else None)
    made = generated_function("variable")(known, dtype, container, shared_name, name)
    if set_shape:
        made.set_shape(shape)
    return made


def variable_op_v2(
    shape: Any, dtype: Any, name: str = "Variable", container: str = "", shared_name: str = ""
) -> Tensor:
    """A variable as a reference: a `VariableV2` operation."""
    return generated_function("variable_v2")(shape, dtype, container, shared_name, name)


def init_variable(v: Tensor, init: Any, name: str = "init") -> Tensor:
    """Assigns a variable its first value.

    Args:
      v: The reference.
      init: The value, or a function of shape and type that gives it.
      name: A name for the operation.

    Returns:
      The reference, after the assignment.
    """
    with tf.name_scope(None, f"{v.op.name}/", [v, init]), tf.name_scope(name) as scope, tf.colocate_with(v):
        if callable(init):
            assert v.shape.is_fully_defined(), "Variable shape unknown."
            value = tf.convert_to_tensor(init(v.shape.as_list(), v.dtype.base_dtype), name="value")
        else:
            value = tf.convert_to_tensor(init, name="init")
        return generated_function("assign")(v, value, name=scope)


def is_resource_variable(var: Any) -> bool:
    """Whether something is a variable behind a handle."""
    return isinstance(var, ResourceVariable)


def make_template_internal(
    name_: str,
    func_: Callable,
    create_scope_now_: bool = False,
    unique_name_: str | None = None,
    custom_getter_: Callable | None = None,
    create_graph_function_: bool = False,
    **kwargs: Any,
) -> template.Template:
    """A template, whose function can be made a `tf.function`.

    Args:
      name_: The name of the variable scope, which is made unique.
      func_: The function.
      create_scope_now_: Whether the scope is made now.
      unique_name_: A name for the scope that is used as it is.
      custom_getter_: The custom getter of the variable scope.
      create_graph_function_: Whether the function is called as a function of graphs.
      **kwargs: Arguments that every call gets.

    Returns:
      The template.
    """
    if unique_name_ is not None and tf.executing_eagerly():
        raise ValueError("unique_name_ cannot be used when eager exeuction is enabled.")
    called = tf.contrib.eager.defun(func_) if create_graph_function_ else func_
    return template.make_template(name_, called, create_scope_now_, unique_name_, custom_getter_, **kwargs)
