"""Automatic control dependencies: operations with effects run in the order in which the program made them."""

from __future__ import annotations

from tideflow.graph import dtypes
from tideflow.graph.functions import effects_of
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation, Tensor


def add_control_dependencies(graph: Graph, outputs: list[Tensor]) -> list[Operation]:
    """Makes each operation on a resource wait for the last one before it, each operation with another effect
    for the last such one, and the outputs for all effects.

    Plans keep the order of operations with effects anyway. The edges tell other readers of the FunctionDef.
    Returns the operations that every call runs.
    """
    last: dict[Tensor | None, Operation] = {}  # by resource: the operation that used it last
    # An edge out of a branch or a loop would make the rest of the function wait for what may not run.
    effects = [op for op in effects_of(graph) if op._control_flow_context is None and not _draws(op)]
    for op in effects:
        used = {tensor: None for tensor in op.inputs if tensor.dtype is dtypes.resource} or {None: None}
        waits = [last[resource] for resource in used if resource in last]
        last.update(dict.fromkeys(used, op))
        if waits:
            op._add_control_inputs(waits)
    for tensor in outputs:
        tensor.op._add_control_inputs([op for op in effects if op is not tensor.op])
    return effects


def _draws(op: Operation) -> bool:
    """Whether an operation draws from a random stream of its own, which nothing else can notice."""
    return "seed2" in op.definition.attrs
