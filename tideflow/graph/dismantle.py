"""Taking a graph apart, so that its memory comes back at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tideflow.graph.graph import Graph


def dismantle_graph(graph: Graph) -> None:
    """Takes apart a graph that nobody will use any more.

    Its operations, tensors and collections refer to each other in circles. Without this they stay, constants
    and all, until Python's next full collection; for ever, if the collector was told to leave them alone
    (`gc.freeze`).

    Args:
      graph: The graph. Neither it nor anything of it may be used after this.
    """
    for op in graph._ops:
        op.attrs.clear()  # in place: the nodes of compiled programs share it
        op.outputs.clear()
        op.control_inputs.clear()
        op.inputs = ()
        op._original_op = op._control_flow_context = None
    for container in (
        graph._ops,
        graph._by_name,
        graph._collections,
        graph._functions,
        graph._function_bodies,
        graph._function_calls,
        graph._gradient_functions,
        graph._unfeedable,
        graph._unfetchable,
        graph._untrusted,
        graph._warned_about,
    ):
        container.clear()
