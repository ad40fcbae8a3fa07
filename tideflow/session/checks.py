"""What a session watches for when asked, or says once: NaNs, deadlines, graphs that grow between steps."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import torch

from tideflow.compile.ir import Node
from tideflow.graph import errors
from tideflow.graph.graph import Graph
from tideflow.runtime import waiting
from tideflow.runtime.values import describe

Hook = Callable[[Node, tuple, tuple], None]


def finite(node: Node, outputs: tuple, inputs: tuple) -> None:
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


def in_time(node: Node, outputs: tuple, inputs: tuple) -> None:
    """DeadlineExceededError once the time that the step was given is over. Not behind an op that waits: it
    has looked at the clock, and an error now would lose what it took.
    """
    if node.definition.blocking:
        return
    limits = waiting.limits()
    if limits.deadline is not None and time.monotonic() > limits.deadline:
        raise errors.deadline_exceeded(
            f"The step did not finish in {limits.seconds:g} s; it was at {node.type} '{node.name}'.",
        )


def hooks(*given: Hook | None) -> Hook | None:
    """One hook for all that a run asks for, or None."""
    wanted = [hook for hook in given if hook is not None]
    if len(wanted) < 2:
        return wanted[0] if wanted else None

    def all_hooks(node: Node, outputs: tuple, inputs: tuple) -> None:
        for hook in wanted:
            hook(node, outputs, inputs)

    for hook in wanted:
        if hasattr(hook, "before"):
            all_hooks.before = hook.before
    return all_hooks


class GrowthWatch:
    """Says once when a program makes new operations for every step, which makes every step slower than the
    last.
    """

    _STEPS = 5  # new steps in a row that each followed new operations

    def __init__(self, graph: Graph):
        self._graph = graph
        self._size = graph.version
        self._grown = 0
        self._said = False

    def new_step(self) -> None:
        size = self._graph.version
        self._grown = self._grown + 1 if size > self._size else 0
        self._size = size
        if self._grown >= self._STEPS and not self._said and not self._graph.finalized:
            self._said = True
            newest = self._graph._ops[-1]
            warnings.warn(
                f"The graph has grown before each of the last {self._STEPS} steps: '{newest.name}' was made "
                f"at {newest.user_line}. Build operations once, outside the loop, and run them many times.",
                stacklevel=4,
            )
