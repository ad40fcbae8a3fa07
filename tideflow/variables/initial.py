"""Initial values: where they are made, and what keeps them from reading variables that have no value yet."""

from __future__ import annotations

from typing import Any

from tideflow.graph.op import definition
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import GraphKeys, get_default_graph

_SAFE = ("IsVariableInitialized", "VarIsInitializedOp", "ReadVariableOp")


def beside(name: str) -> Any:
    """Operations made inside are placed with the variable of this name, which need not exist yet."""
    return get_default_graph()._attr_scope({"_class": [f"loc:@{name}"]})


def guarded(initial_value: Tensor, scope: str) -> Tensor:
    """The initial value, computed from other variables' initialized values instead of from the variables.

    So all initializers may run in one step, in any order. What has to be computed again for this is copied,
    with the new variable's `scope` (its name and a slash) at the end of its name.
    """
    ancestors = _ancestors(initial_value.op)
    if not any(op.definition.role == "variable" for op in ancestors) or any(
        op.type == "NextIteration" for op in ancestors
    ):
        return initial_value
    renewed: dict[Operation, Operation] = {}
    for op in sorted(ancestors, key=lambda op: op._id):
        if op.definition.role == "variable":
            value = _initialized_value(op)
            if value is not None:
                renewed[op] = value.op
        elif op.type not in _SAFE:
            inputs = [_renewed(tensor, renewed) for tensor in op.inputs]
            if any(new is not old for new, old in zip(inputs, op.inputs)):
                renewed[op] = _copy(op, inputs, scope)
    return _renewed(initial_value, renewed)


def _ancestors(op: Operation) -> set[Operation]:
    """The operation and all that its value depends on, up to explicit reads and tests of initialization."""
    found, stack = set(), [op]
    while stack:
        op = stack.pop()
        if op not in found:
            found.add(op)
            if op.type not in _SAFE:
                stack += [tensor.op for tensor in op.inputs]
    return found


def _initialized_value(op: Operation) -> Tensor | None:
    graph = op.graph
    for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES):
        for variable in graph.get_collection(key):
            if variable.name in (op.name, f"{op.name}:0"):
                return variable.initialized_value()
    return None


def _renewed(tensor: Tensor, renewed: dict[Operation, Operation]) -> Tensor:
    op = renewed.get(tensor.op)
    return tensor if op is None else op.outputs[tensor.value_index]


def _copy(op: Operation, inputs: list[Tensor], scope: str) -> Operation:
    # The initialized value is no reference, so a switch of it is a plain one.
    kind = definition("Switch") if op.type == "RefSwitch" else op.definition
    attrs: dict[str, Any] = {key: list(v) if isinstance(v, list) else v for key, v in op.attrs.items()}
    return kind.node_from_flat(inputs, attrs, f"{op.name}_{scope}")
