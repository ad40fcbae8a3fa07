"""What is asked of the compiler: which part of a graph to run, on which feeds, and how."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field
from typing import Any

import torch

from tideflow.compile.ir import Node
from tideflow.graph.operation import Operation, Tensor
from tideflow.runtime.waiting import StepContext

FeedShapes = tuple[tuple[int, ...] | None, ...]  # by feed; None where a plan is for any shape


@dataclass(frozen=True)
class Hook:
    """What a plan calls around its kernels, for checks and traces. A plan without a hook has no trace of it.

    `after(context, node, outputs, inputs)` is called after every kernel, `before()` when the step starts (in
    the token executor, before every kernel). Where a hook looks at no values, its plan writes results over
    temporaries, as a plan without a hook does.
    """

    after: Callable[[StepContext, Node, tuple[Any, ...], tuple[Any, ...]], None]
    before: Callable[[], None] | None = None
    looks_at_values: bool = True


@dataclass(frozen=True)
class StepRequest:
    """A step to compile: it computes `fetches` and runs `targets`, given values for `feeds`."""

    fetches: tuple[Tensor, ...]
    targets: tuple[Operation, ...] = ()
    feeds: tuple[Tensor, ...] = ()
    feed_shapes: FeedShapes = ()  # of this step's feeds; empty where the plan is for any shapes
    feed_devices: tuple[torch.device, ...] = ()  # where the feeds are; empty where all are on the CPU
    fetches_stay: bool = False  # on the devices that compute them, instead of being returned to the CPU
    # Handles that are the same in every run.
    known: Mapping[Tensor, Any] = field(default_factory=dict, hash=False)
    done: Set[Operation] = frozenset()  # operations that an earlier piece of a partial run has run
    disabled_rules: frozenset[str] = frozenset()
    # Of a device's kind ("cuda", "cpu"), the 16-bit type in which it computes what mixed precision allows.
    half_by_device: tuple[tuple[str, str], ...] = ()
    hook: Hook | None = None
    suspendable: bool = False  # the plan may suspend where it would block its thread
    prefix: str = ""  # of the names under which the step's operations keep their state
    # Where the operations keep their state, by their names; None for the session's.
    states: dict[str, dict[str, Any]] | None = None

    def with_shapes(self, feed_shapes: FeedShapes) -> StepRequest:
        """The same step for feeds of these shapes."""
        return dataclasses.replace(self, feed_shapes=feed_shapes)
