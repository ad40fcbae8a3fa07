"""Operations for a model to run when it is loaded."""

from __future__ import annotations

from typing import Any

from tideflow.export import export
from tideflow.graph.operation import Operation
from tideflow.graph.scopes import control_dependencies
from tideflow.lookup.collections import tables_initializer
from tideflow.ops.control_flow.grouping import group
from tideflow.variables.collections import global_variables_initializer, local_variables_initializer


@export("saved_model.main_op.main_op")
def main_op() -> Operation:
    """Initializes all variables, local ones too, and all tables."""
    return group(global_variables_initializer(), local_variables_initializer(), tables_initializer())


@export("saved_model.main_op_with_restore", "saved_model.main_op.main_op_with_restore")
def main_op_with_restore(restore_op_name: Any) -> Operation:
    """Initializes everything, then restores."""
    with control_dependencies([main_op()]):
        return group(restore_op_name)
