"""Operations for a model to run when it is loaded."""

from __future__ import annotations

from tideflow.export import export
from tideflow.graph.operation import Operation
from tideflow.graph.scopes import control_dependencies
from tideflow.lookup.collections import tables_initializer
from tideflow.ops.control_flow.grouping import group
from tideflow.variables.collections import global_variables_initializer, local_variables_initializer


@export("saved_model.main_op.main_op")
def main_op() -> Operation:
    """Adds an operation that initializes all global and local variables and all tables.

    Returns:
      The operation.
    """
    return group(global_variables_initializer(), local_variables_initializer(), tables_initializer())


@export("saved_model.main_op_with_restore", "saved_model.main_op.main_op_with_restore")
def main_op_with_restore(restore_op_name: str) -> Operation:
    """Adds an operation that initializes everything and then restores variables.

    Args:
      restore_op_name: The name of the restore operation.

    Returns:
      The operation.
    """
    with control_dependencies([main_op()]):
        return group(restore_op_name)
