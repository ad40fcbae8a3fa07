"""Functions of a graph's library as things to call: what datasets make of their elements, again and again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tideflow.compile.compiler import compile_step
from tideflow.compile.emit import Plan
from tideflow.compile.failures import fail
from tideflow.compile.ir import Node
from tideflow.graph import functions
from tideflow.graph.functions import FunctionBody, FunctionGraph
from tideflow.graph.graph import Graph
from tideflow.ops.calls import named
from tideflow.runtime.devices import Placement, local_devices
from tideflow.runtime.resources import ResourceManager


def planned(
    node: Node, key: str, captured: Sequence[Any], resources: ResourceManager
) -> Callable[..., tuple]:
    """The function that an attribute of a node names, called on values; `captured` are its last ones."""
    name, attrs = named(node.attrs[key])
    graph = outermost(node.source.graph)
    key = "", "plan of a function", f"{name}{attrs or ''}"
    plan = resources.find(*key)
    if plan is None:  # made outside of the lock: its operations look for state of their own
        made = _plan(graph, name, attrs, resources)
        plan = resources.get_or_create(*key, lambda: made)
    given = tuple(captured)

    def call(*values: Any) -> tuple:
        try:
            return plan.function(*values, *given)
        except Exception as error:
            fail(error, plan)

    return call


def outermost(graph: Graph) -> Graph:
    """The graph in which a function was defined, and the functions around it; functions live there."""
    while isinstance(graph, FunctionGraph):
        graph = graph.outer
    return graph


def _plan(graph: Graph, name: str, attrs: dict[str, Any], resources: ResourceManager) -> Plan:
    body: FunctionBody = functions.body_of(graph, name, attrs)
    placement = Placement(local_devices(gpu_count=0), soft=True)
    unknown = [None] * len(body.inputs)
    return compile_step(
        body.outputs, body.targets, body.inputs, unknown, resources, placement, prefix=f"{name}/"
    )
