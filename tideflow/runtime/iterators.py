"""Iterators: a session's position in a dataset, which steps advance."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Sequence

from tideflow.graph import errors
from tideflow.graph.dtypes import DType
from tideflow.graph.errors import OutOfRangeError
from tideflow.graph.shapes import TensorShape, brackets
from tideflow.interrupts import deferred
from tideflow.runtime.conditions import Condition
from tideflow.runtime.datasets import Dataset, Element, End, Iteration, Pull, check_now_and_then
from tideflow.runtime.resources import ResourceManager
from tideflow.runtime.waiting import StepContext

_STATE, _ENDED = b"tideflow iterator at ", b", ended"
_STATE_FORM = re.compile(rb"tideflow iterator at \d{1,19}(, ended)?")  # an int64


class DatasetIterator:
    """Iterates over the dataset that it was given last."""

    _iteration: Iteration | None = None

    def __init__(
        self,
        name: str,
        types: Sequence[DType],
        shapes: Sequence[TensorShape],
        resources: ResourceManager,
        first: Callable[[StepContext], Dataset] | None = None,
    ) -> None:
        self.name, self.types, self.shapes = name, list(types), list(shapes)
        self._resources = resources
        self._first = first  # makes the dataset of a one-shot iterator
        self._changed = Condition()
        self._busy = False  # whether a step is taking an element
        self._dataset: Dataset | None = None
        self._pull: Pull | None = None
        self._taken = 0
        self._ended = False

    @deferred
    def start(self, dataset: Dataset, context: StepContext) -> None:
        """Begins a pass over a dataset. The pass over the previous dataset stops."""
        self._stop()
        with self._alone(context):
            self._begin(dataset)

    @contextlib.contextmanager
    def _alone(self, context: StepContext) -> Iterator[None]:
        """Waits until no other step uses the iterator, and keeps others out during the `with` block."""
        with self._changed:
            context.wait(
                self._changed,
                lambda: not self._busy,
                lambda: self._resources.closed,
                f"next element of '{self.name}'",
            )
            self._busy = True
        try:
            yield
        finally:
            with self._changed:
                self._busy = False
                self._changed.notify_all()

    def _begin(self, dataset: Dataset) -> Pull:
        self._stop()
        self._iteration = Iteration(self._resources)
        self._dataset = dataset
        self._pull = dataset.iterate(self._iteration)
        self._taken = 0
        self._ended = False
        return self._pull

    @deferred
    def next(self, context: StepContext) -> Element:
        """The next element. Raises OutOfRangeError at the end."""
        with self._alone(context):
            pull = self._begun(context)
            if self._ended:
                raise end_of_sequence()
            try:
                element = pull(context)
                self._taken += 1
            except End:
                self._ended = True
                self._stop()
                raise end_of_sequence() from None
        self._check(element)
        return element

    def _begun(self, context: StepContext) -> Pull:
        """The pull of the current pass. A one-shot iterator begins its pass here."""
        if self._pull is None and self._first is not None:
            self._begin(self._first(context))
        if self._pull is None:
            raise errors.failed_precondition(
                "GetNext() failed because the iterator has not been initialized. Ensure that you have run "
                "the initializer operation for this iterator before getting the next element.",
            )
        return self._pull

    @deferred
    def state(self, context: StepContext) -> bytes:
        """The position of the iterator: the number of elements taken from its dataset."""
        with self._alone(context):
            self._begun(context)
            return b"%s%d%s" % (_STATE, self._taken, _ENDED if self._ended else b"")

    @deferred
    def restore(self, state: bytes, context: StepContext) -> None:
        """Restores a position: begins the dataset again and skips as many elements."""
        if not _STATE_FORM.fullmatch(state):
            raise errors.invalid_argument(
                f"Cannot restore '{self.name}': {state[:40]!r} is not the state of an iterator."
            )
        with self._alone(context):
            if self._first is not None:
                self._begin(self._first(context))
            pull = self._begun(context)
            if (self._taken or self._ended) and self._dataset is not None:
                pull = self._begin(self._dataset)
            count = int(state.removeprefix(_STATE).removesuffix(_ENDED))
            with contextlib.suppress(End):
                for _ in range(count):
                    pull(context)
                    self._taken += 1
                    if self._iteration is not None:
                        check_now_and_then(self._taken, self._iteration, context, f"restoring '{self.name}'")
            self._ended = state.endswith(_ENDED) or self._taken < count

    def _check(self, element: Element) -> None:
        for i, (value, shape) in enumerate(zip(element, self.shapes)):
            known, found = shape.tuple, tuple(value.shape)
            if known is not None and known != found and not shape.is_compatible_with(TensorShape(found)):
                raise errors.invalid_argument(
                    f"Expected element shape {brackets(known)} for component {i} of '{self.name}', got "
                    f"{brackets(found)}",
                )

    def wake(self) -> None:
        """Wakes waiting steps; called when the session may have been closed. Then the pass stops."""
        if self._resources.closed:
            self._stop()
        with self._changed:
            self._changed.notify_all()

    def _stop(self) -> None:
        iteration, self._iteration = self._iteration, None
        if iteration is not None:
            iteration.stop()

    def __del__(self) -> None:
        self._stop()


def end_of_sequence() -> OutOfRangeError:
    return errors.out_of_range("End of sequence")
