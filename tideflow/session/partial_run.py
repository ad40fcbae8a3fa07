"""`partial_run`: one step performed piece by piece, each operation at most once."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

from tideflow.compile.failures import fail
from tideflow.compile.prune import needed
from tideflow.compile.request import StepRequest
from tideflow.graph import dtypes, errors
from tideflow.graph.operation import Operation, Tensor
from tideflow.interrupts import deferred
from tideflow.runtime.waiting import StepContext
from tideflow.session.executor import Executor, compiled
from tideflow.session.feeds import check_shape, feeder
from tideflow.session.fetches import Fetches, fetched

_handles = itertools.count(1)


class PartialRun:
    """The state between the pieces: values made so far that later pieces may take, and what has been fed and
    fetched. `request` is the whole step; each piece may take `timeout` seconds, or any time if that is None.
    """

    def __init__(self, executor: Executor, request: StepRequest, timeout: float | None):
        self.handle = f"->{next(_handles)}"
        self._executor = executor
        self._request = request
        self._timeout = timeout
        self._unfed = dict.fromkeys(request.feeds)
        self._unfetched: dict[Tensor | Operation, None] = dict.fromkeys((*request.fetches, *request.targets))
        self._announced = [*self._unfetched]
        self._values: dict[Tensor, Any] = {}
        self._done: set[Operation] = set()
        self._all = needed(request.fetches, request.targets, set(request.feeds))

    @property
    def finished(self) -> bool:
        return not self._unfetched

    def __call__(self, fetches: Fetches, feeds: dict[Tensor, Any], context: StepContext | None = None) -> Any:
        """Performs a piece. A caller that may end it early gives a context."""
        self._take(feeds)
        wanted: list[Tensor | Operation] = [*fetches.tensors, *fetches.targets]
        for item in wanted:
            if item not in self._announced:
                raise errors.invalid_argument(
                    f"The fetch {item.name} was not specified in partial_run_setup."
                )
            if item not in self._unfetched:
                raise errors.invalid_argument(f"The fetch {item.name} has already been fetched.")
        self._compute(fetches, context or StepContext(self._timeout))
        for item in wanted:
            del self._unfetched[item]
        return fetches.pack(fetched(tuple([self._values[tensor] for tensor in fetches.tensors])))

    def _take(self, feeds: dict[Tensor, Any]) -> None:
        for tensor in feeds:
            if tensor not in self._unfed:
                what = (
                    "has already been fed"
                    if tensor in self._values
                    else "was not specified in partial_run_setup"
                )
                raise errors.invalid_argument(f"The feed {tensor.name} {what}.")
        for tensor, value in feeds.items():
            taken = feeder(tensor)(value)
            check_shape(tensor, taken)
            self._values[tensor] = taken.clone() if hasattr(taken, "clone") else taken
            del self._unfed[tensor]

    def _compute(self, fetches: Fetches, context: StepContext) -> None:
        """Runs what these fetches need and has not run; keeps every value that an operation still to come
        may take.
        """
        known = {tensor: value for tensor, value in self._values.items() if not _stands_for_state(tensor)}
        missing = [tensor for tensor in fetches.tensors if tensor not in known]
        targets = [op for op in fetches.targets if op not in self._done]
        running = needed(missing, targets, set(known), self._done)
        late = [t for op in running for t in op.inputs if t in self._unfed]
        if late:
            raise errors.invalid_argument(
                f"Fetch {late[0].name} can't be computed from the feeds that have been fed so far. You must "
                f"feed a value for '{late[0].name}' before these fetches can be computed.",
            )
        kept = [
            t
            for op in running
            for t in op.outputs
            if any(c in self._all and c not in running for c in t.consumers())
        ]
        kept = [t for t in kept if not t.dtype._is_ref_dtype and not _stands_for_state(t)]
        wanted = list(dict.fromkeys([*missing, *kept]))
        request = dataclasses.replace(
            self._request,
            fetches=tuple(wanted),
            targets=tuple(targets),
            feeds=tuple(known),
            feed_shapes=tuple([tuple(value.shape) for value in known.values()]),
            done=frozenset(self._done),
        )
        plan = compiled(self._executor, request, context)
        try:
            results = plan.run(context, list(known.values()))
        except Exception as error:
            fail(error, plan)
        except BaseException:  # an interrupt, which may have come while a kernel had a variable's buffer
            with deferred:
                self._executor.put_back()
            raise
        self._values.update(zip(wanted, results, strict=True))
        self._done |= running


def _stands_for_state(tensor: Tensor) -> bool:
    """Whether a tensor is a handle of state: a later piece looks the state up again."""
    return bool(tensor.op.definition.handle) or tensor.dtype is dtypes.resource
