"""GraphDefs into graphs, for the C API: its options are more than those of `tf.import_graph_def`."""

from __future__ import annotations

import itertools

from tensorboard.compat.proto.graph_pb2 import GraphDef

from tideflow.capi.graphs import building, check_owner, is_taken, parsed
from tideflow.graph.functions import op_definition
from tideflow.graph.graph import Graph
from tideflow.graph.graph_import import all_or_nothing
from tideflow.graph.node_import import NODE_NAME, NodeImporter, input_key
from tideflow.graph.operation import Operation, Tensor


def import_graph_def(
    graph: Graph,
    data: bytes,
    prefix: str,
    device: str,
    uniquify_names: bool,
    uniquify_prefix: bool,
    mappings: list[tuple[str, int, Tensor | Operation]],
    after: list[Operation],
    return_outputs: list[tuple[str, int]],
    return_operations: list[str],
) -> tuple[list[Tensor], list[Operation], list[tuple[str, int]]]:
    """Adds the nodes of a GraphDef.

    The index of a control input's mapping is -1. Returns the tensors and operations that were asked for, and
    the mappings from tensors that the GraphDef does not have.
    """
    message = parsed(GraphDef, data)
    for node in message.node:
        node.device = node.device or device
    mapped = {(name if i >= 0 else f"^{name}", i): value for name, i, value in mappings}
    used = {input_key(text) for node in message.node for text in node.input}
    check_owner(graph, [value if isinstance(value, Operation) else value.op for value in mapped.values()])
    with building, all_or_nothing(graph), graph.as_default():
        if prefix and not NODE_NAME.match(prefix):
            raise ValueError(f"Imported node name prefix '{prefix}/' would lead to invalid node names")
        scope = _free_prefix(graph, prefix) if prefix and uniquify_prefix else prefix
        importer = NodeImporter(
            graph, message, op_definition, f"{scope}/" if scope else "", mapped, uniquify=uniquify_names
        )
        importer.unused.clear()  # a mapping that nobody uses is no error here
        importer.run()
        _run_after(importer, after)
        tensors = [importer.element(f"{name}:{index}") for name, index in return_outputs]
        operations = [importer.element(name) for name in return_operations]
        missing = [
            (name.removeprefix("^"), index)
            for name, index in mapped
            if (name, index) not in used and not importer.gives(name, index)
        ]
    return tensors, operations, missing  # type: ignore[return-value]  # "op:0" is a tensor, "op" an operation


def _free_prefix(graph: Graph, prefix: str) -> str:
    """The prefix, with a number if it is the name or a scope of operations of the graph."""
    numbered = (f"{prefix}_{number}" for number in itertools.count(1))
    return next(each for each in itertools.chain([prefix], numbered) if not is_taken(graph, each))


def _run_after(importer: NodeImporter, after: list[Operation]) -> None:
    """Has the new operations run after others. Those that take something of new ones do already."""
    new = set(importer.ops.values())
    for op in importer.ops.values() if after else ():
        if new.isdisjoint([*(tensor.op for tensor in op.inputs), *op.control_inputs]):
            op._add_control_inputs(after)
