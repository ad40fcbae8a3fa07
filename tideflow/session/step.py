"""A cached step: one structure of fetches with one set of feeds, and the plans compiled for it.

The path of a step that is already compiled is the product: convert the feeds, call the plan, convert the
fetches.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from tideflow.compile.failures import fail
from tideflow.compile.plan import Plan
from tideflow.compile.request import FeedShapes, StepRequest
from tideflow.compile.variants import Variants
from tideflow.interrupts import deferred
from tideflow.runtime.waiting import StepContext
from tideflow.session.executor import Executor, compiled
from tideflow.session.feeds import check_shape, feeder
from tideflow.session.fetches import Fetches, fetched


class Step:
    """What `run(fetches, feed_dict)` does the second time. Plans are specialised by the shapes of the
    feeds.
    """

    def __init__(self, executor: Executor, request: StepRequest, fetches: Fetches):
        self._executor = executor
        self._request = request
        self._fetches = fetches
        self.feeders = [feeder(tensor) for tensor in request.feeds]
        # Nothing here refers back to the step, so its plans, and what they hold, go when the step does.
        self._variants: Variants[Plan] = Variants(partial(_compile, executor, request))
        self.plans = self._variants.plans
        self._single = self._is_single_tensor()

    def _is_single_tensor(self) -> bool:
        return len(self._fetches.tensors) == 1 and self._fetches.pack([self]) is self

    def __call__(self, values: Any, context: StepContext | None = None) -> Any:
        """Runs the step on feed values in the order of the feeds. A run without options makes a context only
        where a kernel asks for one.
        """
        args = [feed(value) for feed, value in zip(self.feeders, values)]
        shapes = tuple([value.shape for value in args])
        plan = self.plans.get(shapes) or self.plan_for(args, context)
        try:
            if plan.takes_context:
                results = plan.function(context or StepContext(), *args)
            else:
                results = plan.function(*args)
        except Exception as error:
            fail(error, plan)
        except BaseException:  # an interrupt, which may have come while a kernel had a variable's buffer
            with deferred:
                self._executor.put_back()
            raise
        values = fetched(results)
        return values[0] if self._single else self._fetches.pack(values)

    def plan_for(self, args: list[Any], context: StepContext | None = None) -> Plan:
        """The plan for feeds of these shapes, compiled on first sight."""
        for tensor, value in zip(self._request.feeds, args, strict=True):
            check_shape(tensor, value)
        return self._variants.plan_for(args, context or StepContext())


def _compile(
    executor: Executor,
    request: StepRequest,
    shapes: FeedShapes,
    context: StepContext,
    replace: Callable[[Plan], None],
) -> Plan:
    return compiled(executor, request.with_shapes(shapes), context, replace)
