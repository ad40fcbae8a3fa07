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
    """Variables that are shared and saved: the default for new ones."""
    return get_collection(GraphKeys.GLOBAL_VARIABLES, scope)


@export("all_variables")
def all_variables() -> list:
    """The older name of `global_variables`."""
    return global_variables()


@export("local_variables")
def local_variables(scope: str | None = None) -> list:
    """Variables of this process only, not saved."""
    return get_collection(GraphKeys.LOCAL_VARIABLES, scope)


@export("model_variables")
def model_variables(scope: str | None = None) -> list:
    """Variables that make up the model."""
    return get_collection(GraphKeys.MODEL_VARIABLES, scope)


@export("trainable_variables")
def trainable_variables(scope: str | None = None) -> list:
    """Variables that optimizers change."""
    return get_collection(GraphKeys.TRAINABLE_VARIABLES, scope)


@export("moving_average_variables")
def moving_average_variables(scope: str | None = None) -> list:
    """Variables whose moving averages are kept."""
    return get_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, scope)


# ----------------------------------------------------------------------------------------------- initializing


@export("variables_initializer", "initializers.variables")
def variables_initializer(var_list: Sequence[Any] | None, name: str = "init") -> Operation:
    """An operation that gives every variable of the list its initial value."""
    if var_list:
        return grouping.group(*[variable.initializer for variable in var_list], name=name)
    return grouping.group(name=name)


@export("global_variables_initializer", "initializers.global_variables")
def global_variables_initializer() -> Operation:
    """An operation that initializes all global variables."""
    return variables_initializer(global_variables())


@export("local_variables_initializer", "initializers.local_variables")
def local_variables_initializer() -> Operation:
    """An operation that initializes all local variables."""
    return variables_initializer(local_variables())


@export("initialize_variables")
def initialize_variables(var_list: Sequence[Any], name: str = "init") -> Operation:
    """The older name of `variables_initializer`."""
    return variables_initializer(var_list, name=name)


@export("initialize_all_variables")
def initialize_all_variables() -> Operation:
    """The older name of `global_variables_initializer`."""
    return global_variables_initializer()


@export("initialize_local_variables")
def initialize_local_variables() -> Operation:
    """The older name of `local_variables_initializer`."""
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
    """The names of the variables that have no value yet."""
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
    """A tensor whose evaluation fails while one of the variables has no value."""
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
