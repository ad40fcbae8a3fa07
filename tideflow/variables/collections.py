"""The variables of a graph, and the operations that initialize them or report on that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import (
    GraphKeys,
    colocate_with,
    control_dependencies,
    device,
    get_collection,
    get_default_graph,
    name_scope,
)
from tideflow.ops.arrays import constants, indexing, joining, shapes
from tideflow.ops.control_flow import grouping
from tideflow.ops.math import unary
from tideflow.ops.state import reference_variables


@export("global_variables")
def global_variables(scope: str | None = None) -> list:
    """Lists the global variables of the default graph: those that tasks share and savers save.

    Args:
      scope: A regular expression. If given, only variables whose name matches it at its start are returned.

    Returns:
      The variables, in the order in which they were made.
    """
    return get_collection(GraphKeys.GLOBAL_VARIABLES, scope)


@export("all_variables")
def all_variables() -> list:
    """Lists the global variables; an older name of `tf.global_variables`.

    Returns:
      The variables.
    """
    return global_variables()


@export("local_variables")
def local_variables(scope: str | None = None) -> list:
    """Lists the local variables of the default graph: those of one process, which are not saved.

    Args:
      scope: A regular expression. If given, only variables whose name matches it at its start are returned.

    Returns:
      The variables, in the order in which they were made.
    """
    return get_collection(GraphKeys.LOCAL_VARIABLES, scope)


@export("model_variables")
def model_variables(scope: str | None = None) -> list:
    """Lists the variables in the collection MODEL_VARIABLES: those that a model needs for inference.

    Args:
      scope: A regular expression. If given, only variables whose name matches it at its start are returned.

    Returns:
      The variables, in the order in which they were made.
    """
    return get_collection(GraphKeys.MODEL_VARIABLES, scope)


@export("trainable_variables")
def trainable_variables(scope: str | None = None) -> list:
    """Lists the variables that optimizers change by default.

    Args:
      scope: A regular expression. If given, only variables whose name matches it at its start are returned.

    Returns:
      The variables, in the order in which they were made.
    """
    return get_collection(GraphKeys.TRAINABLE_VARIABLES, scope)


@export("moving_average_variables")
def moving_average_variables(scope: str | None = None) -> list:
    """Lists the variables that have moving averages.

    Args:
      scope: A regular expression. If given, only variables whose name matches it at its start are returned.

    Returns:
      The variables, in the order in which they were made.
    """
    return get_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, scope)


# ----------------------------------------------------------------------------------------------- initializing


@export("variables_initializer", "initializers.variables")
def variables_initializer(var_list: Sequence[Any] | None, name: str = "init") -> Operation:
    """Adds an operation that initializes variables.

    Args:
      var_list: The variables.
      name: The name of the operation.

    Returns:
      An operation that runs all their initializers.
    """
    if var_list:
        return grouping.group(*[variable.initializer for variable in var_list], name=name)
    return grouping.group(name=name)


@export("global_variables_initializer", "initializers.global_variables")
def global_variables_initializer() -> Operation:
    """Adds an operation that initializes all global variables of the default graph.

    Returns:
      The operation.
    """
    return variables_initializer(global_variables())


@export("local_variables_initializer", "initializers.local_variables")
def local_variables_initializer() -> Operation:
    """Adds an operation that initializes all local variables of the default graph.

    Returns:
      The operation.
    """
    return variables_initializer(local_variables())


@export("initialize_variables")
def initialize_variables(var_list: Sequence[Any], name: str = "init") -> Operation:
    """Adds an operation that initializes variables; an older name of `tf.variables_initializer`.

    Args:
      var_list: The variables.
      name: The name of the operation.

    Returns:
      The operation.
    """
    return variables_initializer(var_list, name=name)


@export("initialize_all_variables")
def initialize_all_variables() -> Operation:
    """Adds an operation that initializes all global variables.

    It is an older name of `tf.global_variables_initializer`.

    Returns:
      The operation.
    """
    return global_variables_initializer()


@export("initialize_local_variables")
def initialize_local_variables() -> Operation:
    """Adds an operation that initializes all local variables.

    It is an older name of `tf.local_variables_initializer`.

    Returns:
      The operation.
    """
    return local_variables_initializer()


# -------------------------------------------------------------------------------------------------- reporting


def _known_variables() -> list:
    """All variables in use; where there are none, the variable nodes of an imported graph."""
    found = global_variables() + local_variables()
    if found:
        return found
    ops = get_default_graph().get_operations()
    return [op.outputs[0] for op in ops if op.definition.role == "variable"]


@export("report_uninitialized_variables")
def report_uninitialized_variables(
    var_list: Sequence[Any] | None = None, name: str = "report_uninitialized_variables"
) -> Tensor:
    """Adds an operation that lists the variables without a value.

    Args:
      var_list: The variables to check; all global and local variables if None.
      name: The name of the operation.

    Returns:
      A vector of strings with the names of the uninitialized variables.
    """
    variables = _known_variables() if var_list is None else var_list
    with name_scope(name):
        ready = [reference_variables.is_variable_initialized(variable) for variable in variables]
        with device("/cpu:0"):
            if not ready:
                return constants.constant([], dtype=dtypes.string)
            missing = unary.logical_not(joining.stack(ready))
            names = constants.constant([variable.op.name for variable in variables])
            return indexing.boolean_mask(names, missing)


@export("assert_variables_initialized")
def assert_variables_initialized(var_list: Sequence[Any] | None = None) -> Tensor | None:
    """Adds an operation that fails if a variable has no value.

    Args:
      var_list: The variables to check; all global and local variables if None.

    Returns:
      An operation that raises a FailedPreconditionError in a step, or None if there are no variables.
    """
    variables = _known_variables() if var_list is None else var_list
    if not variables:
        return None
    reads, ranks = [], []
    for variable in variables:
        with colocate_with(variable.op):
            reads.append(convert_to_tensor(variable))
            ranks.append(shapes.rank_op(reads[-1]))
    with control_dependencies(reads):  # a rank follows from the graph alone: the reads themselves must run
        return constants.identity(ranks[0]) if len(ranks) == 1 else joining.stack(ranks)
