"""The global step: one variable of the graph that counts training steps."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import (
    GraphKeys,
    control_dependencies,
    executing_eagerly,
    get_default_graph,
    name_scope,
)
from tideflow.variables.base import Variable, VariableAggregation
from tideflow.variables.initializers import Zeros
from tideflow.variables.variable_scope import get_variable

if TYPE_CHECKING:
    from tideflow.graph.typing import SessionLike, TensorLike

_READ = "global_step_read_op_cache"  # the collection that has the tensor which hooks read the step by


@export("train.global_step")
def global_step(sess: SessionLike, global_step_tensor: TensorLike) -> int:
    """Gets the value of the global step from a session.

    Args:
      sess: The session.
      global_step_tensor: The global step: a variable or a tensor.

    Returns:
      The value as an int.
    """
    if executing_eagerly():
        return int(global_step_tensor.numpy())  # type: ignore[union-attr]
    return int(sess.run(global_step_tensor))


@export("train.get_global_step")
def get_global_step(graph: Graph | None = None) -> Any:
    """Gets the global step of a graph.

    Args:
      graph: The graph; the default graph if None.

    Returns:
      The variable in the collection GLOBAL_STEP or, if that is empty, the tensor `global_step:0`; None if
      there is neither.

    Raises:
      TypeError: If it is not an integer scalar.
    """
    graph = graph or get_default_graph()
    found = graph.get_collection(GraphKeys.GLOBAL_STEP)
    if len(found) > 1:
        warnings.warn(f"The collection GLOBAL_STEP has more than one item: {found}", stacklevel=2)
        return None
    if found:
        step = found[0]
    else:
        try:
            step = graph.get_tensor_by_name("global_step:0")
        except KeyError:
            return None
    assert_global_step(step)
    return step


@export("train.create_global_step")
def create_global_step(graph: Graph | None = None) -> Variable:
    """Makes the global step of a graph: an int64 variable that counts training steps.

    Args:
      graph: The graph; the default graph if None.

    Returns:
      The variable, which is in the collections GLOBAL_VARIABLES and GLOBAL_STEP.

    Raises:
      ValueError: If the graph has a global step.
    """
    graph = graph or get_default_graph()
    if get_global_step(graph) is not None:
        raise ValueError('"global_step" already exists.')
    with graph.as_default(), name_scope(None):
        step = get_variable(
            GraphKeys.GLOBAL_STEP,
            shape=[],
            dtype=dtypes.int64,
            initializer=Zeros(),
            trainable=False,
            aggregation=VariableAggregation.ONLY_FIRST_REPLICA,
            collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP],
        )
    if graph.is_eager:  # where variables are in no collections
        graph.add_to_collection(GraphKeys.GLOBAL_STEP, step)
    return step


@export("train.get_or_create_global_step")
def get_or_create_global_step(graph: Graph | None = None) -> Any:
    """Gets the global step of a graph, and makes it if there is none.

    Args:
      graph: The graph; the default graph if None.

    Returns:
      The variable.
    """
    graph = graph or get_default_graph()
    step = get_global_step(graph)
    return create_global_step(graph) if step is None else step


def get_or_create_global_step_read(
    graph: Graph | None = None, before_initialized: bool = True
) -> Tensor | None:
    """The tensor that hooks read the step by, a copy of the variable; None where there is no global step.

    It can be read before the variable is initialized, unless that takes others than the worker that reads.
    """
    graph = graph or get_default_graph()
    found = graph.get_collection(_READ)
    if len(found) > 1:
        raise RuntimeError(f"There are multiple items in collection {_READ}. There should be only one.")
    if found:
        return found[0]
    step = get_global_step(graph)
    if step is None:
        return None
    with graph.as_default(), name_scope(None), name_scope(step.op.name + "/"):
        early = before_initialized and isinstance(step, Variable)
        value = step.initialized_value() if early else step
        read = value + 0
    graph.add_to_collection(_READ, read)
    return read


def increment_global_step(increment: TensorLike, graph: Graph | None = None) -> Any:
    """The global step counted up, after hooks have read it.

    Args:
      increment: By how much.
      graph: The graph; the default graph if None.

    Returns:
      The step afterwards.

    Raises:
      ValueError: If the graph has no global step.
    """
    graph = graph or get_default_graph()
    step = get_global_step(graph)
    if step is None:
        raise ValueError(
            "Global step tensor should be created by tf.train.get_or_create_global_step before calling "
            "increment."
        )
    read = get_or_create_global_step_read(graph)
    with graph.as_default(), name_scope(None), name_scope(step.op.name + "/"), control_dependencies([read]):
        return step.assign_add(increment)


@export("train.assert_global_step")
def assert_global_step(global_step_tensor: TensorLike) -> None:
    """Checks that a tensor can be a global step.

    Args:
      global_step_tensor: A variable or a tensor.

    Raises:
      TypeError: If it is not an integer scalar.
    """
    if not isinstance(global_step_tensor, (Variable, Tensor)):
        raise TypeError(
            f'Existing "global_step" must be a Variable or Tensor: {global_step_tensor}, which is a '
            f"{type(global_step_tensor).__name__}."
        )
    if not global_step_tensor.dtype.base_dtype.is_integer:
        raise TypeError(f'Existing "global_step" does not have integer type: {global_step_tensor.dtype}')
    shape = global_step_tensor.shape
    if shape.ndims != 0 and shape.is_fully_defined():
        raise TypeError(f'Existing "global_step" is not scalar: {shape}')
