"""Errors a person can act on: which op failed, what it was given, and where the program made it."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from types import TracebackType
from typing import Any, NoReturn

import torch

from tideflow.compile import tokens
from tideflow.compile.ir import Node
from tideflow.compile.plan import LocalPlan, Plan
from tideflow.compile.tokens import KernelError
from tideflow.graph import errors
from tideflow.graph.errors import OpError
from tideflow.runtime.values import describe

_PLAN_FILE = "<tideflow plan>"


def explained(error: Exception, plan: Plan) -> Exception:
    """The tf.errors exception for what a kernel of the plan raised, naming the op, its inputs and the user's
    line.
    """
    if isinstance(error, KernelError):  # of the token executor
        return _failure(_cause(error), error.node, "")
    frame = _plan_frame(error.__traceback__)
    if frame is None or not isinstance(plan, LocalPlan):
        return error
    node = plan.lines.get(frame.tb_lineno)
    if node is None or node.source is None:
        return error
    if isinstance(error, OpError):
        if error.op is None and error.node_def is None:  # else another task has said which op failed
            error._op, error._node_def = node.source, node.source.node_def
        return error
    inputs = _describe_inputs(plan, node, frame.tb_frame.f_locals)
    return _failure(error, node, f"\n  {node.type} '{node.name}' was given: {inputs}")


def fail(error: Exception, plan: Plan) -> NoReturn:
    """Raises the explained error."""
    failure, cause = explained(error, plan), _cause(error)
    _clear_frames(error.__traceback__)
    _clear_frames(cause.__traceback__)
    if failure is error:
        raise error
    raise failure from cause


def _cause(error: Exception) -> Exception:
    """What the kernel itself raised."""
    cause = error.__cause__ if isinstance(error, KernelError) else error
    assert isinstance(cause, Exception), "a KernelError is raised from an exception"
    return cause


def _failure(error: Exception, node: Node, given: str) -> OpError:
    source = node.source
    return _error_type(error)(source and source.node_def, source, f"{_message(error)}{given}")


def _clear_frames(trace: TracebackType | None) -> None:
    """Drops the step's values from the error's frames: a program that keeps the error must keep neither their
    memory nor the locks that the step held.
    """
    while trace is not None:
        if trace.tb_frame.f_code.co_filename in (_PLAN_FILE, tokens.__file__):
            with contextlib.suppress(RuntimeError):  # a thread of the token executor may be about to return
                trace.tb_frame.clear()
        trace = trace.tb_next


def _plan_frame(trace: TracebackType | None) -> TracebackType | None:
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == _PLAN_FILE:
            return trace
        trace = trace.tb_next
    return None


def _error_type(error: Exception) -> Callable[[Any, Any, str], OpError]:
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


def _describe_inputs(plan: LocalPlan, node: Node, values: dict[str, Any]) -> str:
    names = {arg.name for arg in node.definition.inputs}
    call = plan.source.splitlines()[next(line for line, n in plan.lines.items() if n is node) - 1]
    taken = re.findall(r"\b(?:v|feed|c|var)\d+\b", call.partition("= ")[2] or call)
    spaces = {**plan.namespace, **values}
    shown = [describe(spaces[name]) for name in dict.fromkeys(taken) if name in spaces]
    return ", ".join(shown) + f" (inputs: {', '.join(sorted(names))})" if shown else "no tensors"
