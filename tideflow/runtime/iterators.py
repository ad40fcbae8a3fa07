"""Iterators: a session's place in a dataset, which steps move on."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Callable, Iterator, Sequence

from tideflow.graph import errors
from tideflow.graph.dtypes import DType
from tideflow.graph.errors import OutOfRangeError
from tideflow.graph.shapes import TensorShape, brackets
from tideflow.runtime.datasets import Dataset, Element, End, Iteration, Pull
from tideflow.runtime.resources import ResourceManager
from tideflow.runtime.waiting import wait

_STATE, _ENDED = b"tideflow iterator at ", b", ended"
_STATE_FORM = re.compile(rb"tideflow iterator at \d+(, ended)?")


class DatasetIterator:
    """Goes through one dataset after the other: whatever it is given last."""

    def __init__(
        self,
        name: str,
        types: Sequence[DType],
        shapes: Sequence[TensorShape],
        resources: ResourceManager,
        first: Callable[[], Dataset] | None = None,
    ):
        self.name, self.types, self.shapes = name, list(types), list(shapes)
        self._resources = resources
        self._first = first  # makes the dataset of an iterator that is never given one
        self._changed = threading.Condition()
        self._busy = False  # a step is taking an element
        self._iteration: Iteration | None = None
        self._dataset: Dataset | None = None
        self._pull: Pull | None = None
        self._taken = 0
        self._ended = False

    def start(self, dataset: Dataset) -> None:
        """Begins with a dataset; what worked for the one before stops."""
        self._stop()
        with self._turn():
            self._begin(dataset)

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        """One step at a time."""
        with self._changed:
            wait(
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

    def _begin(self, dataset: Dataset) -> None:
        self._stop()
        self._iteration = Iteration(self._resources)
        self._dataset = dataset
        self._pull = dataset.iterate(self._iteration)
        self._taken = 0
        self._ended = False

    def next(self) -> Element:
        """The next element; OutOfRangeError at the end."""
        with self._turn():
            self._begin_first()
            if self._ended:
                raise end_of_sequence()
            try:
                element = self._pull()
                self._taken += 1
            except End:
                self._ended = True
                self._stop()
                raise end_of_sequence() from None
        self._check(element)
        return element

    def _begin_first(self) -> None:
        if self._pull is None and self._first is not None:
            self._begin(self._first())
        if self._pull is None:
            raise errors.failed_precondition(
                "GetNext() failed because the iterator has not been initialized. Ensure that you have run "
                "the initializer operation for this iterator before getting the next element.",
            )

    def state(self) -> bytes:
        """Where the iterator is: how many elements of its dataset were taken."""
        with self._turn():
            self._begin_first()
            return b"%s%d%s" % (_STATE, self._taken, _ENDED if self._ended else b"")

    def restore(self, state: bytes) -> None:
        """Back to a state: the dataset begins again, and as many elements are passed over."""
        if not _STATE_FORM.fullmatch(state):
            raise errors.invalid_argument(
                f"Cannot restore '{self.name}': {state[:40]!r} is not the state of an iterator."
            )
        with self._turn():
            if self._first is not None:
                self._begin(self._first())
            self._begin_first()
            if self._taken or self._ended:
                self._begin(self._dataset)
            count = int(state.removeprefix(_STATE).removesuffix(_ENDED))
            with contextlib.suppress(End):
                for _ in range(count):
                    self._pull()
                    self._taken += 1
            self._ended = state.endswith(_ENDED) or self._taken < count

    def _check(self, element: Element) -> None:
        for i, (value, shape) in enumerate(zip(element, self.shapes)):
            known, found = shape.tuple, tuple(value.shape)
            if known not in (None, found) and not shape.is_compatible_with(TensorShape(found)):
                raise errors.invalid_argument(
                    f"Expected element shape {brackets(known)} for component {i} of '{self.name}', got "
                    f"{brackets(found)}",
                )

    def wake(self) -> None:
        """The session may have closed: then nobody wants further elements."""
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
