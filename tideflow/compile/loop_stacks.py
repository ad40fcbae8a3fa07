"""What loops read and keep for their gradients, where it is the same in every iteration or nobody takes it.

Each function's docstring is its law, as of a rewrite rule.
"""

from __future__ import annotations

from collections import defaultdict

from tideflow.compile.ir import Loop, Node, Program, Value, states, walk
from tideflow.compile.rewrite import drop_unused
from tideflow.ops.control_flow.stacks import stack_pop_v2_op, stack_push_v2_op, stack_v2_op
from tideflow.ops.state.resource_variables import read_variable_op


def reads_before_loops(loop: Loop, before: list[Node]) -> int:
    """while: x = Read(v) -> x = Read(v); while: x

    It holds where the loop writes nothing to the variable.
    """
    written: set[tuple[str, str]] = set()
    for node in walk(loop.body):
        if node.definition is not read_variable_op:
            written |= states(node.inputs)
    inside = {value for node in loop.body.nodes for value in node.outputs}.union(loop.body.feeds)

    def can_be_moved(node: Node) -> bool:
        return (
            node.definition is read_variable_op
            and inside.isdisjoint(node.inputs)
            and node.guards <= {*loop.guards, (loop.pred, True)}
            and written.isdisjoint(states(node.inputs))
        )

    moved = [node for node in loop.body.nodes if can_be_moved(node)]
    for node in moved:
        node.guards = loop.guards
    before += moved
    loop.body.nodes = [node for node in loop.body.nodes if node not in moved]
    return len(moved)


def values_off_stacks(program: Program) -> int:
    """while: Push(s, x); while: y = Pop(s) -> while: x; while: x

    It holds where x is from outside of the first loop, and where nobody takes y.
    """
    uses, gone = program.uses(), set[Node]()
    replaced: dict[Value, Value] = {}
    outside = {value for node in program.nodes for value in node.outputs}.union(program.feeds)
    for stack, users in _users_of_stacks(program).items():
        pushes = [node for node in users if node.definition is stack_push_v2_op]
        pops = [node for node in users if node.definition is stack_pop_v2_op]
        if len(pushes) != 1 or len(pushes) + len(pops) != len(users) or stack.outputs[0] in program.fetches:
            continue
        pushed = pushes[0].inputs[1]
        if pushed not in outside and any(pop.outputs[0] in uses for pop in pops):
            continue
        replaced |= {node.outputs[0]: pushed for node in users}
        gone |= {stack, *users}
    if gone:
        _drop(program, gone, replaced)
        drop_unused(program)  # what only was computed to be pushed
    return len(gone)


def _users_of_stacks(program: Program) -> dict[Node, list[Node]]:
    """The stacks that the program makes once, and the nodes that use each."""
    stacks = {node.outputs[0]: node for node in program.nodes if node.definition is stack_v2_op}
    users: dict[Node, list[Node]] = defaultdict(list)
    if stacks:
        for node in walk(program):
            for value in dict.fromkeys(node.inputs):
                if value in stacks:
                    users[stacks[value]].append(node)
    return users


def _drop(program: Program, gone: set[Node], replaced: dict[Value, Value]) -> None:
    """Takes nodes out, and puts other values in the place of theirs."""
    program.nodes = [node for node in program.nodes if node not in gone]
    for node in program.nodes:
        if isinstance(node, Loop):
            _drop(node.body, gone, replaced)
        node.replace_values(replaced)
    program.fetches = [replaced.get(value, value) for value in program.fetches]
