"""The tables of a graph together: the operation that fills them all."""

from __future__ import annotations

from tideflow.export import export
from tideflow.graph.operation import Operation
from tideflow.graph.scopes import GraphKeys, get_collection
from tideflow.ops.arrays import constants
from tideflow.ops.control_flow import grouping


@export("tables_initializer", "initializers.tables_initializer")
def tables_initializer(name: str = "init_all_tables") -> Operation:
    """The operation that fills all tables of the graph."""
    initializers = get_collection(GraphKeys.TABLE_INITIALIZERS)
    return grouping.group(*initializers, name=name) if initializers else constants.no_operation(name=name)


@export("initialize_all_tables")
def initialize_all_tables(name: str = "init_all_tables") -> Operation:
    """The older name of `tables_initializer`."""
    return tables_initializer(name)
