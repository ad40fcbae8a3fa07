"""A cached step: one structure of fetches with one set of feeds, and the plans compiled for it.

The path of a step that is already compiled is the product: convert the feeds, call the plan, convert the
fetches.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tideflow.compile.emit import Plan
from tideflow.compile.failures import fail
from tideflow.graph.operation import Tensor
from tideflow.session.feeds import check_shape, feeder
from tideflow.session.fetches import Fetches, fetched

if TYPE_CHECKING:
    from tideflow.session.session import BaseSession

_MOST_VARIANTS = 8  # plans made for particular feed shapes, before one plan serves every shape


class Step:
    """What `run(fetches, feed_dict)` does the second time. Plans are specialised by the shapes of the
    feeds.
    """

    def __init__(
        self, session: BaseSession, fetches: Fetches, feeds: list[Tensor], after_each: Callable | None = None
    ):
        self.session = session
        self.fetches = fetches
        self.feeds = feeds
        self.feeders = [feeder(tensor) for tensor in feeds]
        self.after_each = after_each
        self.plans: dict[Any, Plan] = {}
        self._any_shape: Plan | None = None
        self._lock = threading.Lock()
        self._single = self._is_single_tensor()

    def _is_single_tensor(self) -> bool:
        return len(self.fetches.tensors) == 1 and self.fetches.pack([self]) is self

    def __call__(self, values: Any) -> Any:
        """Runs the step on feed values in the order of `feeds`."""
        args = [feed(value) for feed, value in zip(self.feeders, values)]
        shapes = tuple([value.shape for value in args])
        plan = self.plans.get(shapes) or self.plan_for(args)
        try:
            results = plan.function(*args)
        except Exception as error:
            fail(error, plan)
        except BaseException:  # an interrupt, which may have come while a kernel had a variable's buffer
            self.session._resources.put_back()
            raise
        values = fetched(results)
        return values[0] if self._single else self.fetches.pack(values)

    def plan_for(self, args: list[Any]) -> Plan:
        """The plan for feeds of these shapes, compiled on first sight."""
        for tensor, value in zip(self.feeds, args, strict=True):
            check_shape(tensor, value)
        shapes = tuple([value.shape for value in args])
        with self._lock:
            if shapes in self.plans:
                return self.plans[shapes]
            if len(self.plans) >= _MOST_VARIANTS:
                if self._any_shape is None:
                    self._any_shape = self._compile([None] * len(args))
                return self._any_shape
            plan = self.plans[shapes] = self._compile([tuple(shape) for shape in shapes])
            return plan

    def _compile(self, shapes: list[tuple | None]) -> Plan:
        return self.session._compile(
            self.fetches.tensors, self.fetches.targets, self.feeds, shapes, self.after_each
        )
