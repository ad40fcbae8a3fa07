"""Errors a person can act on: which op failed, what it was given, and where the program made it."""

from __future__ import annotations

import re
from types import TracebackType
from typing import Any, NoReturn

import torch

from tideflow.compile import tokens
from tideflow.compile.emit import Plan
from tideflow.compile.ir import Node
from tideflow.graph import errors
from tideflow.runtime.values import describe

_PLAN_FILE = "<tideflow plan>"


def explained(error: Exception, plan: Plan) -> Exception:
    """The tf.errors exception for what a kernel of the plan raised, naming the op, its inputs and the user's
    line.
    """
    if hasattr(error, "tideflow_node"):  # from the token executor
        source = error.tideflow_node.source
        return _error_type(error)(source.node_def, source, _message(error))
    frame = _plan_frame(error.__traceback__)
    node = plan.lines.get(frame.tb_lineno) if frame is not None else None
    if node is None or node.source is None:
        return error
    if isinstance(error, errors.OpError):
        if error.op is None and error.node_def is None:  # else it is of another task
            error._op, error._node_def = node.source, node.source.node_def
        return error
    kind = _error_type(error)
    inputs = _describe_inputs(plan, node, frame.tb_frame.f_locals)
    return kind(
        node.source.node_def,
        node.source,
        f"{_message(error)}\n  {node.type} '{node.name}' was given: {inputs}",
    )


def fail(error: Exception, plan: Plan) -> NoReturn:
    """Raises what `explained` makes of the error."""
    failure = explained(error, plan)
    _let_go(error.__traceback__)
    if failure is error:
        raise error
    raise failure from error


def _let_go(trace: TracebackType | None) -> None:
    """Who keeps the error must not keep the step's values: its memory, and the locks it held, are free."""
    while trace is not None:
        if trace.tb_frame.f_code.co_filename in (_PLAN_FILE, tokens.__file__):
            trace.tb_frame.clear()
        trace = trace.tb_next


def _plan_frame(trace: TracebackType | None) -> TracebackType | None:
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == _PLAN_FILE:
            return trace
        trace = trace.tb_next
    return None


def _error_type(error: Exception) -> type[errors.OpError]:
    if isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        return errors.ResourceExhaustedError
    if isinstance(error, RuntimeError) and "can't allocate memory" in str(error):
        return errors.ResourceExhaustedError
    if isinstance(error, NotImplementedError):
        return errors.UnimplementedError
    return errors.InvalidArgumentError


def _message(error: Exception) -> str:
    if isinstance(error, ZeroDivisionError) or "ZeroDivisionError" in str(error):
        return "Integer division by zero"
    return str(error).split("\nException raised from")[0].strip() or type(error).__name__


def _describe_inputs(plan: Plan, node: Node, values: dict[str, Any]) -> str:
    names = {arg.name for arg in node.definition.inputs}
    call = plan.source.splitlines()[next(line for line, n in plan.lines.items() if n is node) - 1]
    taken = re.findall(r"\b(?:v|feed|c|var)\d+\b", call.partition("= ")[2] or call)
    spaces = {**plan.namespace, **values}
    shown = [describe(spaces[name]) for name in dict.fromkeys(taken) if name in spaces]
    return ", ".join(shown) + f" (inputs: {', '.join(sorted(names))})" if shown else "no tensors"
