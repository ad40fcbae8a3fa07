"""A cached step: one structure of fetches with one set of feeds, and the plans compiled for it.

The path of a step that is already compiled is the product: convert the feeds, call the plan, convert the
fetches.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tideflow.compile.emit import Plan
from tideflow.compile.failures import fail
from tideflow.compile.variants import Variants
from tideflow.graph.operation import Tensor
from tideflow.session.feeds import check_shape, feeder
from tideflow.session.fetches import Fetches, fetched

if TYPE_CHECKING:
    from tideflow.session.session import BaseSession


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
        self._variants = Variants(self._compile)
        self.plans = self._variants.plans
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
        return self._variants.plan_for(args)

    def _compile(self, shapes: list[tuple | None]) -> Plan:
        return self.session._compile(
            self.fetches.tensors, self.fetches.targets, self.feeds, shapes, self.after_each
        )
