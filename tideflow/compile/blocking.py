"""Plans that wait: whether the order in which a plan waits could keep it from what it waits for."""

from __future__ import annotations

import itertools

from tideflow.compile.ir import Node, Program, walk
from tideflow.graph.operation import Operation


def may_deadlock(program: Program) -> bool:
    """Whether two nodes of the program may wait that do not depend on each other: then one could wait for
    what the other would bring, if it came to run. Where each needs the one before, there is but one order.
    """
    waiting = [node for node in walk(program) if node.definition.blocking and node.source is not None]
    return any(not _needs(after, before) for before, after in itertools.pairwise(waiting))


def _needs(after: Node, before: Node) -> bool:
    """Whether one operation comes after another by the graph's edges."""
    wanted = before.source
    seen: set[Operation] = set()
    stack = [after.source]
    while stack:
        op = stack.pop()
        if op is wanted:
            return True
        if op not in seen:
            seen.add(op)
            stack += [tensor.op for tensor in op.inputs]
            stack += op.control_inputs
    return False
