"""Errors a person can act on: which op failed, what it was given, and where the program made it."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Sequence
from types import TracebackType
from typing import Any, NoReturn

from tideflow.compile import tokens
from tideflow.compile.ir import Node, Value, make_node
from tideflow.compile.plan import LocalPlan, Plan
from tideflow.compile.prune import given
from tideflow.compile.rewrite import REPLACED
from tideflow.compile.tokens import KernelError
from tideflow.graph import errors
from tideflow.graph.dtypes import DType
from tideflow.graph.errors import OpError
from tideflow.graph.memory import available_memory
from tideflow.graph.op import ShapeError
from tideflow.graph.shapes import TensorShape, brackets
from tideflow.ops.arrays.constants import const_op
from tideflow.runtime.values import describe, is_out_of_memory, to_numpy

_PLAN_FILE = "<tideflow plan>"
_MOST_ELEMENTS = 2**63 - 1
_MOST_HOST_ELEMENTS = 1024  # of an input that the op takes as Python numbers; sizes and axes are short


def explained(error: Exception, plan: Plan) -> Exception:
    """The tf.errors exception for what a kernel of the plan raised, naming the op, its inputs and the user's
    line.
    """
    if isinstance(error, KernelError):  # of the token executor
        return _failure(_cause(error), error.node, error.values)
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
    known = {**plan.namespace, **frame.tb_frame.f_locals}
    values = [known.get(plan.names.get(value, ""), _UNKNOWN) for value in node.inputs]
    return _failure(error, node, values)


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


def _failure(error: Exception, node: Node, values: Sequence[Any]) -> OpError:
    inputs = _known_inputs(node, values)
    shown = [describe(value) for value in values if value is not _UNKNOWN]
    if REPLACED in node.attrs:
        node, inputs = _failed_member(node, inputs)
        shown = [f"{value.dtype.base_dtype.name}{brackets(value.shape.tuple or ())}" for value in inputs]
    kind, message = _refusal(error, node, inputs)
    names = ", ".join(sorted(arg.name for arg in node.definition.inputs))
    taken = f"{', '.join(shown)} (inputs: {names})" if shown else "no tensors"
    source = node.source
    return kind(
        source and source.node_def, source, f"{message}\n  {node.type} '{node.name}' was given: {taken}"
    )


class _Refusal(Exception):
    """The shape rule of a node does not take these inputs."""

    def __init__(self, node: Node, inputs: list[Value]):
        super().__init__(node, inputs)
        self.node, self.inputs = node, inputs


def _failed_member(node: Node, inputs: list[Value]) -> tuple[Node, list[Value]]:
    """Of the nodes that a fused one stands for, the first whose shape rule refuses what it gets, else the
    last; with its inputs.
    """
    last, taken = node.attrs[REPLACED]
    known = dict(zip(taken, inputs, strict=True))
    try:
        _infer_members(node, known)
    except _Refusal as refusal:
        return refusal.node, refusal.inputs
    except Exception:  # the values broke a rule: it has nothing to say
        pass
    return last, [known.get(value, value) for value in last.inputs]


def _infer_members(node: Node, known: dict[Value, Value]) -> None:
    """Infers the outputs of the nodes that a fused one stands for, in order, and adds them to what is
    known.
    """
    last, _ = node.attrs.get(REPLACED, (node, ()))
    for value in last.inputs:
        if value not in known and all(other in known for other in value.op.inputs):
            _infer_members(value.op, known)
    inputs = [known.get(value, value) for value in last.inputs]
    try:
        outputs = make_node(last.definition, inputs, last.attrs, name=last.name).outputs
    except ValueError:
        raise _Refusal(last, inputs) from None
    known.update(zip(last.outputs, outputs, strict=True))
    known.update(zip(node.outputs, outputs, strict=False))


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
            break
        trace = trace.tb_next
    while trace is not None and trace.tb_next is not None:  # a loop may be a function of the plan
        if trace.tb_next.tb_frame.f_code.co_filename != _PLAN_FILE:
            break
        trace = trace.tb_next
    return trace


# ---------------------------------------------------------------------------------- what is wrong

_UNKNOWN: Any = type("Unknown", (), {})()  # in place of a value that the failed step does not have by name


def refusal(error: Exception, node: Node, values: Sequence[Any]) -> tuple[type[errors._CodedError], str]:
    """The kind of error, and its words, for what a node's kernel raised when it was given these values."""
    return _refusal(error, node, _known_inputs(node, values))


def _known_inputs(node: Node, values: Sequence[Any]) -> list[Value]:
    return [
        _known(value, found, is_host)
        for value, found, is_host in zip(node.inputs, values, node.host_flags, strict=True)
    ]


def _refusal(error: Exception, node: Node, inputs: list[Value]) -> tuple[type[errors._CodedError], str]:
    """The kind of error and its words: the op's own, where its shape rule refuses what the kernel was given,
    or the outputs that it promises do not fit into memory; else those of the kernel.
    """
    if isinstance(error, ShapeError):
        return errors.InvalidArgumentError, error.step_message.replace(ShapeError.NODE, node.name)
    try:
        outputs = _inferred(node, inputs)
    except ValueError as refusal:
        return errors.InvalidArgumentError, str(refusal)
    except Exception:  # the values broke the rule too: it has nothing to say
        outputs = []
    shapes: list[tuple[DType, tuple[Any, ...]]] = [
        (dtype, shape.tuple or ()) for dtype, shape in outputs if shape.is_fully_defined()
    ]
    for _, shape in shapes:
        if math.prod(shape) > _MOST_ELEMENTS:
            return (
                errors.InvalidArgumentError,
                f"Shape {brackets(shape)} would have more than 2**63 - 1 elements",
            )
    needed = [math.prod(shape) * max(dtype.size, 1) for dtype, shape in shapes]
    if is_out_of_memory(error) or max(needed, default=0) > available_memory():
        if not needed:
            return errors.ResourceExhaustedError, f"OOM when allocating a tensor on {node.device or 'cpu'}"
        dtype, shape = shapes[needed.index(max(needed))]
        exhausted = errors.out_of_memory(shape, dtype.base_dtype, str(node.device or "cpu"))
        return errors.ResourceExhaustedError, exhausted.message
    if _TOO_LARGE.search(str(error)):
        message = (
            f"{node.type} was given an integer, or makes a size of those it was given, that is too large"
        )
        return errors.InvalidArgumentError, message
    kind = (
        errors.UnimplementedError if isinstance(error, NotImplementedError) else errors.InvalidArgumentError
    )
    return kind, _message(error)


def _inferred(node: Node, inputs: list[Value]) -> list[tuple[DType, TensorShape]]:
    """The types and shapes of the outputs that the node's shape rule promises for these very inputs."""
    definition = node.definition
    shapes = definition.infer(
        definition.group_inputs(inputs, node.attrs), node.attrs, node.name, in_step=True
    )
    return list(zip(definition.output_types(node.attrs), shapes, strict=True))


def _known(value: Value, found: Any, is_host: bool) -> Value:
    """The input with the shape that it had in the step, and its value where the shape rule asks for that."""
    if not hasattr(found, "shape") or value.dtype._is_ref_dtype or value.dtype.numpy is None:
        return value
    if is_host and math.prod(found.shape) <= _MOST_HOST_ELEMENTS:
        attrs = {"value": to_numpy(found), "dtype": value.dtype.base_dtype}
        return make_node(const_op, [], attrs, name=value.op.name).outputs[0]
    return given(value.op.name, value.dtype, TensorShape(found.shape), value.op.source)


# How torch and NumPy say that a number does not fit into their integers.
_TOO_LARGE = re.compile("Overflow when unpacking|without overflow|too (large|big) to convert")


def _message(error: Exception) -> str:
    if isinstance(error, ZeroDivisionError) or "ZeroDivisionError" in str(error):
        return "Integer division by zero"
    return str(error).split("\nException raised from")[0].strip() or type(error).__name__
