"""`partial_run`: one step performed piece by piece, each operation at most once."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from tideflow.compile.failures import fail
from tideflow.compile.prune import needed
from tideflow.graph import dtypes, errors
from tideflow.graph.operation import Operation, Tensor
from tideflow.session.feeds import check_shape, feeder
from tideflow.session.fetches import Fetches, fetched

if TYPE_CHECKING:
    from tideflow.session.session import BaseSession

_handles = itertools.count(1)


class PartialRun:
    """The state between the pieces: values made so far that later pieces may take, and what has been fed and
    fetched.
    """

    def __init__(self, session: BaseSession, fetches: Fetches, feeds: list[Tensor]):
        self.handle = f"->{next(_handles)}"
        self._session = session
        self._unfed = dict.fromkeys(feeds)
        self._unfetched = dict.fromkeys([*fetches.tensors, *fetches.targets])
        self._announced = [*self._unfetched]
        self._values: dict[Tensor, Any] = {}
        self._done: set[Operation] = set()
        self._all = needed(fetches.tensors, fetches.targets, set(feeds))

    @property
    def finished(self) -> bool:
        return not self._unfetched

    def __call__(self, fetches: Fetches, feeds: dict[Tensor, Any]) -> Any:
        self._take(feeds)
        wanted = [*fetches.tensors, *fetches.targets]
        for item in wanted:
            if item not in self._announced:
                raise errors.invalid_argument(f"{item!r} was not specified in partial_run_setup.")
            if item not in self._unfetched:
                raise errors.invalid_argument(f"{item!r} has already been fetched in this partial run.")
        self._compute(fetches)
        for item in wanted:
            del self._unfetched[item]
        return fetches.pack(fetched([self._values[tensor] for tensor in fetches.tensors]))

    def _take(self, feeds: dict[Tensor, Any]) -> None:
        for tensor in feeds:
            if tensor not in self._unfed:
                what = (
                    "already been fed"
                    if tensor in self._values
                    else "not been specified in partial_run_setup"
                )
                raise errors.invalid_argument(f"The feed {tensor.name} has {what}.")
        for tensor, value in feeds.items():
            taken = feeder(tensor)(value)
            check_shape(tensor, taken)
            self._values[tensor] = taken.clone() if hasattr(taken, "clone") else taken
            del self._unfed[tensor]

    def _compute(self, fetches: Fetches) -> None:
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
                f"You must feed a value for '{late[0].name}' before these fetches can be computed.",
            )
        kept = [
            t
            for op in running
            for t in op.outputs
            if any(c in self._all and c not in running for c in t.consumers())
        ]
        keeps = lambda t: not t.dtype._is_ref_dtype and not _stands_for_state(t)
        wanted = [t for t in dict.fromkeys([*missing, *kept]) if t in missing or keeps(t)]
        feeds = list(known)
        shapes = [tuple(known[t].shape) for t in feeds]
        plan = self._session._compile(wanted, targets, feeds, shapes, None, self._done)
        try:
            results = plan.function(*known.values())
        except Exception as error:
            fail(error, plan)
        except BaseException:
            self._session._resources.put_back()
            raise
        self._values.update(zip(wanted, results, strict=True))
        self._done |= running


def _stands_for_state(tensor: Tensor) -> bool:
    """Whether a later piece needs the state itself, of which it asks again, and not a value it had."""
    return bool(tensor.op.definition.handle) or tensor.dtype is dtypes.resource
