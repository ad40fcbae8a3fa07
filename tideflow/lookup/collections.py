"""The tables of a graph together: the operation that fills them all."""

from __future__ import annotations

from tideflow.export import export
from tideflow.graph.operation import Operation
from tideflow.graph.scopes import GraphKeys, get_collection
from tideflow.ops.arrays import constants
from tideflow.ops.control_flow import grouping


@export("tables_initializer", "initializers.tables_initializer")
def tables_initializer(name: str = "init_all_tables") -> Operation:
    """Adds an operation that initializes all tables of the default graph.

    Args:
      name: The name of the operation.

    Returns:
      The operation.
    """
    initializers = get_collection(GraphKeys.TABLE_INITIALIZERS)
    return grouping.group(*initializers, name=name) if initializers else constants.no_operation(name=name)


@export("initialize_all_tables")
def initialize_all_tables(name: str = "init_all_tables") -> Operation:
    """Adds an operation that initializes all tables; an older name of `tf.tables_initializer`.

    Args:
      name: The name of the operation.

    Returns:
      The operation.
    """
    return tables_initializer(name)
