"""Checks of a running step (NaNs, deadlines), and a warning about graphs that grow between steps."""

from __future__ import annotations

import time
import warnings
from typing import Any

import torch

from tideflow.compile.ir import Node
from tideflow.compile.request import Hook
from tideflow.graph import errors
from tideflow.graph.graph import Graph
from tideflow.runtime.values import describe
from tideflow.runtime.waiting import StepContext


def _check_finite(
    context: StepContext, node: Node, outputs: tuple[Any, ...], inputs: tuple[Any, ...]
) -> None:
    """InvalidArgumentError at the first op whose output has a NaN or an infinity."""
    for i, value in enumerate(outputs):
        if (
            isinstance(value, torch.Tensor)
            and value.dtype.is_floating_point
            and not torch.isfinite(value).all()
        ):
            what = "NaN" if torch.isnan(value).any() else "Inf"
            given = ", ".join(_statistics(item) for item in inputs) or "no inputs"
            line = node.source.user_line if node.source is not None else "<unknown>"
            raise errors.invalid_argument(
                f"{what} in output {i} of {node.type} '{node.name}', the first op to make one (made at "
                f"{line}); it was given: {given}",
            )


def _statistics(value: Any) -> str:
    if not isinstance(value, torch.Tensor) or not value.numel() or value.is_complex():
        return describe(value)
    numbers = value.double()
    return f"{describe(value)} in [{numbers.min().item():.6g}, {numbers.max().item():.6g}]"


def _check_time(context: StepContext, node: Node, outputs: tuple[Any, ...], inputs: tuple[Any, ...]) -> None:
    """DeadlineExceededError once the step's time is over. Not after an op that waits: it has checked the time
    itself, and an error now would lose the element that it took.
    """
    if node.definition.blocking or context.deadline is None:
        return
    if time.monotonic() > context.deadline:
        raise errors.deadline_exceeded(
            f"The step did not finish in {context.timeout:g} s; it was at {node.type} '{node.name}'.",
        )


FINITE = Hook(_check_finite)
IN_TIME = Hook(_check_time, looks_at_values=False)


def combined(*given: Hook | None) -> Hook | None:
    """One hook that calls all of these, or None where there is none."""
    hooks = [hook for hook in given if hook is not None]
    if len(hooks) < 2:
        return hooks[0] if hooks else None
    starts = [hook.before for hook in hooks if hook.before is not None]

    def before() -> None:
        for start in starts:
            start()

    def after(context: StepContext, node: Node, outputs: tuple[Any, ...], inputs: tuple[Any, ...]) -> None:
        for hook in hooks:
            hook.after(context, node, outputs, inputs)

    looks = any(hook.looks_at_values for hook in hooks)
    return Hook(after, before if starts else None, looks)


class GrowthWatch:
    """Warns, once, of a program that makes new operations for every step: each step is then slower than the
    last.
    """

    _STEPS = 5  # new steps in a row that each followed new operations

    def __init__(self, graph: Graph):
        self._graph = graph
        self._size = graph.version
        self._grown = 0
        self._warned = False

    def new_step(self) -> None:
        size = self._graph.version
        self._grown = self._grown + 1 if size > self._size else 0
        self._size = size
        if self._grown >= self._STEPS and not self._warned and not self._graph.finalized:
            self._warned = True
            newest = self._graph._ops[-1]
            warnings.warn(
                f"The graph has grown before each of the last {self._STEPS} steps: '{newest.name}' was made "
                f"at {newest.user_line}. Build operations once, outside the loop, and run them many times.",
                stacklevel=4,
            )
