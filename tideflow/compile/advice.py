"""Advice about `cond`: operations that always run although only one branch uses them.

`cond` runs the operations that its functions make under a condition. Operations that they merely use were
made outside, and run in every step. That is the most common misunderstanding of `cond`.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence, Set
from typing import Any

from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.traceback import file_and_line
from tideflow.ops.control_flow.contexts import CondContext

# Operations that cost nothing, or that have no effect outside of the step.
_FREE_ROLES = (
    "constant",
    "identity",
    "placeholder",
    "read",
    "step values",
    "variable",
    "variable handle",
)


def advice_about_branches(
    ops: Set[Operation], fetches: Sequence[Tensor], targets: Sequence[Operation]
) -> list[str]:
    """A line for each such operation. For one with an effect there is a warning as well, once."""
    wanted = {tensor.op for tensor in fetches} | set(targets)
    waiters: dict[Operation, list[Operation]] = {}
    for op in ops:
        for control in op.control_inputs:
            waiters.setdefault(control, []).append(op)
    lines = []
    for op in sorted(_used_in_branches(ops), key=lambda op: op._id):
        if (
            op in wanted
            or op.definition.role in _FREE_ROLES
            or op.type in ("Switch", "RefSwitch", "Enter", "RefEnter")
            or op.definition.handle
        ):
            continue
        branch = _only_branch(op, ops, waiters.get(op, []))
        if branch is None:
            continue
        side = "true" if branch.branch else "false"
        cond = branch.pred.op.name.rpartition("/")[0]
        lines.append(
            f"{op.type} '{op.name}' runs in every step, although only the {side} branch of '{cond}' uses it: "
            f"it was made outside of the branch's function, at {op.user_line}"
        )
        if _has_effect(op) and op not in op.graph._warned_about:
            op.graph._warned_about.add(op)
            text = f"{lines[-1]}. Make it inside the function to run it only when the branch is taken."
            warnings.warn_explicit(text, UserWarning, *_place(op))
    return lines


def _place(op: Operation) -> tuple[str, int]:
    return file_and_line(op._frames[0]) if op._frames else ("<unknown>", 0)


def _has_effect(op: Operation) -> bool:
    return op.definition.effects and "seed2" not in op.attrs  # a random number too many does no harm


def _context(op: Operation) -> Any:
    """The branch or loop in which an operation was made."""
    return op._control_flow_context


def _used_in_branches(ops: Set[Operation]) -> set[Operation]:
    """Operations outside of a branch that something inside of it takes or waits for."""
    used: set[Operation] = set()
    for op in ops:
        context = op._control_flow_context
        if not isinstance(context, CondContext):
            continue
        if op.type in ("Switch", "RefSwitch"):
            used.add(op.inputs[0].op)
        used.update(x for x in op.control_inputs if not context.is_around(_context(x)))
    return used


def _only_branch(op: Operation, ops: Set[Operation], waiters: list[Operation]) -> CondContext | None:
    """The branch that uses an operation from outside of it, if nothing else uses the operation."""
    found: CondContext | None = None
    takers = [user for tensor in op.outputs for user in tensor._consumers if user in ops]
    for user in (*takers, *waiters):
        context = user._control_flow_context
        if not isinstance(context, CondContext) or context.is_around(_context(op)):
            return None
        if found is not None and context is not found:
            return None
        found = context
    return found
