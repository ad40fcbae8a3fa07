"""Updates under a condition that a GPU computes, such as that all gradients are finite.

The host would have to wait for the condition before it launches them. For a recording they are launched in
any case, and find on the device whether they are due. So does what else is computed or updated under the same
condition: it is little beside the step whose updates it belongs to.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable

import numpy as np
import torch

from tideflow.compile.ir import Loop, Node, Program, Value, make_node
from tideflow.compile.prune import read_op
from tideflow.compile.rewrite import constant_node
from tideflow.graph.op import Op
from tideflow.ops.arrays.constants import const_op
from tideflow.ops.arrays.indexing import select_v2_op
from tideflow.ops.state import reference_variables as references
from tideflow.ops.state import resource_variables as handles
from tideflow.ops.state import variable_rows as rows
from tideflow.ops.state.grouped_training import GROUPS, RECORDED, can_run_together

_ADDING = frozenset(  # what they add or subtract is their last input
    (
        references.assign_add_op,
        references.assign_sub_op,
        handles.assign_add_variable_op,
        handles.assign_sub_variable_op,
        rows.scatter_add_op,
        rows.scatter_sub_op,
        rows.resource_scatter_add_op,
        rows.resource_scatter_sub_op,
    )
)


def with_updates_on_device(
    program: Program, device: torch.device, can_be_recorded: Callable[[Node], bool]
) -> Program:
    """The program with an optimizer's updates on the device as they can be recorded: they find there what
    changes from step to step, and whether they are due.
    """
    always = constant_node(np.array(True))
    always.device = device
    taken = {value for node in program.nodes for value in node.dependencies}.union(program.fetches)
    made: dict[Node, list[Node]] = {}
    for node in program.nodes:
        is_due = [pred for pred, side in node.guards if side]
        if node.device == device and len(is_due) == len(node.guards) <= 1:
            update = _recorded_update(node, is_due or always.outputs, taken)
            if update is not None:
                made[node] = [update]
    if not made:
        return program
    conditions = {guard for node in made for guard in node.guards}
    uncertain: set[Value] = set()  # values that are computed under a condition still
    for node in program.nodes:
        if node not in made and node.device == device and len(node.guards) == 1 and node.guards <= conditions:
            ((pred, _),) = node.guards
            changed = _in_any_case(node, pred) if uncertain.isdisjoint(node.inputs) else []
            if changed and all(can_be_recorded(each) for each in changed if each.definition is not const_op):
                made[node] = changed
        if any(each.guards for each in made.get(node, [node])):
            uncertain.update(node.outputs)
    last = {node: new[-1] for node, new in made.items()}
    nodes = [always, *(each for node in program.nodes for each in made.get(node, [node]))]
    return dataclasses.replace(program, nodes=nodes, targets={last.get(n, n) for n in program.targets})


def _recorded_update(node: Node, due: list[Value], taken: set[Value]) -> Node | None:
    """An optimizer's update, of one variable or a group, in the form for recordings."""
    recorded, inputs, attrs = RECORDED.get(node.definition), node.inputs, node.attrs
    if recorded is None and can_run_together(node.definition, node.attrs) and taken.isdisjoint(node.outputs):
        group = GROUPS[node.type]
        recorded = group.recorded
        gradient = node.inputs[group.gradient]
        numbers = [v for i, v in enumerate(node.inputs) if i >= group.states and i != group.gradient]
        inputs = [*node.inputs[: group.states], gradient, *numbers]
        attrs = {"N": 1, "T": gradient.dtype.base_dtype}
    if recorded is None:
        return None
    update = make_node(recorded, [*inputs, *due], attrs, node)
    update.guards = frozenset()
    return update if all(value.constant is not None for value in update.host_inputs) else None


def _in_any_case(node: Node, pred: Value) -> list[Node]:
    """Nodes without a condition that do what the node does where the predicate holds, and change nothing
    where it does not; none where that cannot be said.
    """
    op = node.definition
    if isinstance(node, Loop) or node.choices:
        return []
    if not node.effects or op.role == "read":
        return [_without_condition(node, node.inputs)]
    if op in _ADDING:
        amount = node.inputs[-1]
        nothing = constant_node(np.zeros((), amount.dtype.as_numpy_dtype), node)
        chosen = _chosen(pred, amount, nothing.outputs[0], node)
        return [nothing, chosen, _without_condition(node, [*node.inputs[:-1], *chosen.outputs])]
    if op.role == "assign":
        variable, value = node.inputs
        read = _read_of(variable, value, node)
        if read.outputs[0].shape.is_fully_defined() and read.outputs[0].shape == value.shape:
            chosen = _chosen(pred, value, read.outputs[0], node)
            return [read, chosen, _without_condition(node, [variable, *chosen.outputs])]
    return []


def _without_condition(node: Node, inputs: list[Value]) -> Node:
    made = copy.copy(node)
    made.inputs, made.guards = inputs, frozenset()
    return made


def _chosen(pred: Value, value: Value, other: Value, like: Node) -> Node:
    return _made(select_v2_op, [pred, value, other], {"T": value.dtype.base_dtype}, like)


def _read_of(variable: Value, value: Value, like: Node) -> Node:
    dtype = value.dtype.base_dtype
    if variable.dtype._is_ref_dtype:
        return _made(read_op, [variable], {"T": dtype}, like)
    return _made(handles.read_variable_op, [variable], {"dtype": dtype}, like)


def _made(op: Op, inputs: list[Value], attrs: dict[str, object], like: Node) -> Node:
    node = make_node(op, inputs, attrs, like)
    node.guards = frozenset()
    return node
