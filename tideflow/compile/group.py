"""Grouped updates of variables: those of an optimizer, or many moving averages, become one kernel call."""

from __future__ import annotations

from typing import Any, NamedTuple

from tideflow.compile.ir import Node, Program, Value, make_node, states
from tideflow.compile.rewrite import drop_unused
from tideflow.graph.dtypes import DType
from tideflow.ops.state.grouped_training import GROUPS, MEMBERS, MOVING_AVERAGES, Group


class _Update(NamedTuple):
    """A node that updates a variable, and its inputs in the order of the group's single updates."""

    node: Node
    group: Group
    inputs: list[Value]

    @property
    def dtype(self) -> DType:
        return self.inputs[self.group.gradient].dtype.base_dtype

    @property
    def numbers(self) -> list[Value]:
        """What updates of a group have in common."""
        group = self.group
        return [v for i, v in enumerate(self.inputs) if i >= group.states and i != group.gradient]

    @property
    def key(self) -> Any:
        """Updates with equal keys can be one."""
        numbers = [v if v.constant is None else (v.dtype, v.constant.tobytes()) for v in self.numbers]
        return self.group.op, self.node.device, self.node.guards, self.dtype, *numbers


def group_updates(program: Program) -> int:
    """ApplyX(v1, g1, h), ApplyX(v2, g2, h) -> GroupedX([v1, v2], [g1, g2], h), with no use of state between,
    and under the same conditions.

    Returns the number of groups made.
    """
    taken = {value for node in program.nodes for value in node.dependencies} | set(program.fetches)
    nodes: list[Node] = []
    open_groups: dict[Any, list[_Update]] = {}
    pending: set[Any] = set()  # the variables that open groups will update
    reads: dict[Any, set[Node]] = {}  # by variable, those since which nobody has changed it
    made = 0

    def close() -> None:
        nonlocal made
        for members in open_groups.values():
            made += len(members) > 1
            nodes.append(_grouped(members, program) if len(members) > 1 else members[0].node)
        open_groups.clear()
        pending.clear()

    for node in program.nodes:
        update = None if any(value in taken for value in node.outputs) else _update_of(node, reads)
        touched = states(node.inputs) if node.effects else set()
        if update is not None or node.definition.role == "read" or node.definition.handle:
            if not pending.isdisjoint(touched):
                close()  # a read or an update of a variable sees the updates before it
        elif node.effects:
            close()
        if node.definition.role == "read":
            for state in touched:
                reads.setdefault(state, set()).add(node)
        elif touched:
            for state in touched:
                reads.pop(state, None)
        elif node.effects and not node.definition.handle:
            reads.clear()
        if update is None:
            nodes.append(node)
        else:
            open_groups.setdefault(update.key, []).append(update)
            pending.update(touched)
    close()
    program.nodes = nodes
    if made:
        drop_unused(program)  # what moving averages have subtracted and multiplied
    return made


def _update_of(node: Node, reads: dict[Any, set[Node]]) -> _Update | None:
    """The node as an update that may be in a group; None where it is none."""
    group = GROUPS.get(node.type)
    if group is not None:
        return None if node.attrs.get("use_nesterov") else _Update(node, group, node.inputs)
    return _moving_average(node, reads)


def _moving_average(node: Node, reads: dict[Any, set[Node]]) -> _Update | None:
    """AssignSub(v, (Read(v) - x) * c) as the moving average of v and x."""
    if node.type not in ("AssignSub", "AssignSubVariableOp") or node.inputs[1].op.type != "Mul":
        return None
    for difference, rate in (node.inputs[1].op.inputs, node.inputs[1].op.inputs[::-1]):
        if difference.op.type != "Sub" or not difference.dtype.is_floating:
            continue
        if rate.constant is None or rate.constant.shape != ():
            continue
        read, value = difference.op.inputs
        is_own = all(read.op in reads.get(state, ()) for state in states(node.inputs[:1]))
        if is_own and value.shape.is_fully_defined() and value.shape.tuple == read.shape.tuple:
            return _Update(node, MOVING_AVERAGES, [node.inputs[0], value, rate])
    return None


def _grouped(members: list[_Update], program: Program) -> Node:
    group, last = members[0].group, members[-1].node
    inputs = [member.inputs[i] for i in (*range(group.states), group.gradient) for member in members]
    nodes = [member.node for member in members]
    attrs = {"N": len(members), "T": members[0].dtype, MEMBERS: nodes}
    made = make_node(group.op, [*inputs, *members[0].numbers], attrs, last)
    if not program.targets.isdisjoint(nodes):
        program.targets.add(made)
    return made
