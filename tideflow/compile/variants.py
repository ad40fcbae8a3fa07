"""The plans of one step, specialised by the shapes of its feeds."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from tideflow.compile.emit import Plan

_MOST_VARIANTS = 8  # plans made for particular feed shapes, before one plan serves every shape


class Variants:
    """A plan for each combination of feed shapes that was seen, compiled on first sight."""

    def __init__(self, compile_for: Callable[[list[tuple | None]], Plan]):
        self.plans: dict[Any, Plan] = {}
        self._compile_for = compile_for
        self._any_shape: Plan | None = None
        self._lock = threading.Lock()

    def plan_for(self, args: Sequence[Any]) -> Plan:
        """The plan for feeds of these shapes."""
        shapes = tuple([value.shape for value in args])
        with self._lock:
            if shapes in self.plans:
                return self.plans[shapes]
            if len(self.plans) >= _MOST_VARIANTS:
                if self._any_shape is None:
                    self._any_shape = self._compile_for([None] * len(args))
                return self._any_shape
            plan = self.plans[shapes] = self._compile_for([tuple(shape) for shape in shapes])
            return plan
