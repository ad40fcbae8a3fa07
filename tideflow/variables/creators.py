"""What `variable_creator_scope` put in force: functions that make variables, or change how they are made."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tideflow.graph.scopes import get_default_graph
from tideflow.graph.stacks import default_graphs

if TYPE_CHECKING:
    from tideflow.graph.graph import Graph

_CREATORS = ("__variable_creators",)


def creators_of(graph: Graph) -> list[Callable]:
    """The creators that `variable_creator_scope` put in force, outermost first."""
    return graph.get_collection_ref(_CREATORS)


def creators_in_force() -> list[Callable]:
    """The creators that make a variable here. An `init_scope` that leaves a traced function for eager mode
    does not leave the function's creators.
    """
    graph = get_default_graph()
    if graph.is_eager:
        traced = (creators_of(g) for g in reversed(default_graphs.items) if g.building_function)
        known = (found for found in traced if any(getattr(c, "of_a_function", False) for c in found))
        return next(known, creators_of(graph))
    return creators_of(graph)
