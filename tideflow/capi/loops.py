"""While loops for the C API: their condition and body are graphs."""

from __future__ import annotations

from tideflow.capi.graphs import building, check_owner
from tideflow.capi.imports import import_graph_def
from tideflow.graph.graph import Graph
from tideflow.graph.graph_import import all_or_nothing
from tideflow.graph.operation import Tensor
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays.constants import placeholder
from tideflow.ops.control_flow.while_loops import while_loop


def inputs_like(graph: Graph, tensors: list[Tensor], name: str) -> list[Tensor]:
    """The inputs of a condition or a body, in its graph."""
    with building, graph.as_default():
        return [
            placeholder(tensor.dtype.base_dtype, tensor.shape, name=f"{name}{i}")
            for i, tensor in enumerate(tensors)
        ]


def add_while(
    graph: Graph,
    name: str,
    inputs: list[Tensor],
    cond_inputs: list[Tensor],
    cond_output: Tensor,
    body_inputs: list[Tensor],
    body_outputs: list[Tensor],
) -> list[Tensor]:
    """Adds a loop and returns its results."""
    check_owner(cond_inputs[0].graph, [cond_output.op])
    check_owner(body_inputs[0].graph, [tensor.op for tensor in body_outputs])

    def inlined(scope: str, own: list[Tensor], results: list[Tensor], values: list[Tensor]) -> list[Tensor]:
        """The operations of a condition or body, with the loop's values in place of its inputs."""
        mappings = [(t.op.name, t.value_index, value) for t, value in zip(own, values, strict=True)]
        wanted = [(tensor.op.name, tensor.value_index) for tensor in results]
        prefix = f"{graph.get_name_scope()}/{scope}"
        message = own[0].graph.as_graph_def()
        kept = [node for node in message.node if node.name not in {tensor.op.name for tensor in own}]
        del message.node[:]
        message.node.extend(kept)
        return import_graph_def(
            graph, message.SerializeToString(), prefix, "", True, False, mappings, [], wanted, []
        )[0]

    invariants = [
        TensorShape(_common(before.shape, after.shape))
        for before, after in zip(inputs, body_outputs, strict=True)
    ]
    with building, all_or_nothing(graph), graph.as_default():
        return while_loop(
            lambda *values: inlined("cond", cond_inputs, [cond_output], list(values))[0],
            lambda *values: inlined("body", body_inputs, body_outputs, list(values)),
            inputs,
            invariants,
            name=name,
            return_same_structure=True,
        )


def _common(one: TensorShape, other: TensorShape) -> list[int | None] | None:
    """What two shapes have in common."""
    if one.ndims is None or one.ndims != other.ndims:
        return None
    return [a if a == b else None for a, b in zip(one.as_list(), other.as_list(), strict=True)]
