"""The plans of one step, specialised by the shapes of its feeds."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Generic, TypeVar

from tideflow.compile.plan import Plan
from tideflow.compile.request import FeedShapes
from tideflow.runtime.waiting import StepContext

_MOST_VARIANTS = 8  # plans made for particular feed shapes, before one plan serves every shape

AnyPlan = TypeVar("AnyPlan", bound=Plan)


class Variants(Generic[AnyPlan]):
    """A plan for each combination of feed shapes that was seen, compiled on first sight.

    `compile_for(feed_shapes, context, replace)` compiles one on behalf of the step whose context is given.
    `replace` is for later: it takes a faster plan for the same shapes.
    """

    def __init__(self, compile_for: Callable[[FeedShapes, StepContext, Callable[[AnyPlan], None]], AnyPlan]):
        self.plans: dict[Any, AnyPlan] = {}
        self._compile_for = compile_for
        self._any_shape: AnyPlan | None = None
        self._lock = threading.Lock()

    def plan_for(self, args: Sequence[Any], context: StepContext) -> AnyPlan:
        """The plan for feeds of these shapes."""
        shapes = tuple([value.shape for value in args])
        with self._lock:
            if shapes in self.plans:
                return self.plans[shapes]
            if len(self.plans) >= _MOST_VARIANTS:
                if self._any_shape is None:
                    self._any_shape = self._compile_for((), context, self._replace_any_shape)
                return self._any_shape
            replace = partial(self.plans.__setitem__, shapes)
            plan = self._compile_for(tuple([tuple(shape) for shape in shapes]), context, replace)
            self.plans[shapes] = plan
            return plan

    def _replace_any_shape(self, plan: AnyPlan) -> None:
        self._any_shape = plan
