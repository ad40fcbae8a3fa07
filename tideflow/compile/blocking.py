"""Whether a plan could deadlock: in its fixed order, an operation could wait for what a later one does."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from tideflow.compile.ir import Program, walk
from tideflow.graph.functions import outermost
from tideflow.graph.graph import Graph
from tideflow.graph.op import definition, definitions
from tideflow.graph.operation import Operation, ancestors
from tideflow.ops.distributed.sending import recv_op


def may_deadlock(program: Program) -> bool:
    """Whether a program, run in its order, could wait for what only a later operation of it does."""
    return waits_independently(node.source for node in walk(program) if node.source is not None)


def waits_independently(ops: Iterable[Operation]) -> bool:
    """Whether two operations that do not depend on each other may wait: one could then wait for what the
    other does, and keep it from running. Operations that depend on each other have only one order.

    Recv does not count: all parts of a step have the order of the whole step.
    """
    waiting = [op for op in ops if op.definition.blocking and op.definition is not recv_op]
    if len(waiting) > 1 and not _functions_wait(outermost(waiting[0].graph)):
        waiting = [op for op in waiting if not op.definition.waits_in_functions]
    return any(
        not (before in ancestors(after) or after in ancestors(before))
        for before, after in itertools.combinations(waiting, 2)
        if before.definition.awaited or after.definition.awaited
    )


def _functions_wait(graph: Graph) -> bool:
    """Whether any function of the graph has an operation that may wait."""
    types = {node.op for function in graph._functions.values() for node in function.node_def}
    return any(definition(name).blocking for name in types & definitions().keys())
