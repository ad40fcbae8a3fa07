"""Grouped optimizer updates: the updates of many variables become one kernel call."""

from __future__ import annotations

from typing import Any

from tideflow.compile.ir import Node, Program, Value, make_node, states
from tideflow.ops.state.grouped_training import GROUPS, MEMBERS


def group_updates(program: Program) -> int:
    """ApplyX(v1, g1, h), ApplyX(v2, g2, h) -> GroupedX([v1, v2], [g1, g2], h), with no use of state between.

    Returns the number of groups made.
    """
    taken = {value for node in program.nodes for value in node.dependencies} | set(program.fetches)
    nodes: list[Node] = []
    open_groups: dict[Any, list[Node]] = {}
    pending: set[Any] = set()  # the variables that open groups will update
    made = 0

    def close() -> None:
        nonlocal made
        for members in open_groups.values():
            made += len(members) > 1
            nodes.append(_grouped(members, program) if len(members) > 1 else members[0])
        open_groups.clear()
        pending.clear()

    for node in program.nodes:
        key = _key(node, taken)
        touched = states(node.inputs) if node.effects else ()
        if key is not None or node.definition.role == "read" or node.definition.handle:
            if not pending.isdisjoint(touched):
                close()  # a read or an update of a variable sees the updates before it
        elif node.effects:
            close()
        if key is None:
            nodes.append(node)
        else:
            open_groups.setdefault(key, []).append(node)
            pending.update(touched)
    close()
    program.nodes = nodes
    return made


def _key(node: Node, taken: set[Value]) -> Any:
    """What updates must have in common to run together; None for a node that is no such update."""
    group = GROUPS.get(node.type)
    if (
        group is None
        or node.guards
        or node.attrs.get("use_nesterov")
        or any(value in taken for value in node.outputs)
    ):
        return None
    hyper = tuple(v for i, v in enumerate(node.inputs) if i >= group.states and i != group.gradient)
    return node.type, node.device, node.attrs["T"], hyper


def _grouped(members: list[Node], program: Program) -> Node:
    group = GROUPS[members[0].type]
    inputs = [node.inputs[i] for i in (*range(group.states), group.gradient) for node in members]
    inputs += [v for i, v in enumerate(members[0].inputs) if i >= group.states and i != group.gradient]
    attrs = {"N": len(members), "T": members[0].attrs["T"], MEMBERS: members}
    made = make_node(group.op, inputs, attrs, members[-1])
    if not program.targets.isdisjoint(members):
        program.targets.add(made)
    return made
