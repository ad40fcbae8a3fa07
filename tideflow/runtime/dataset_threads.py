"""Datasets that work ahead in threads. A thread ends when its pass over the dataset does."""

from __future__ import annotations

import collections
import os
import threading
import time
from collections.abc import Callable
from typing import Any

from tideflow.graph.errors import OutOfRangeError
from tideflow.runtime import waiting
from tideflow.runtime.dataset_rows import Call, RowFunction, rows_mapped
from tideflow.runtime.datasets import (
    Dataset,
    Element,
    End,
    Function,
    Iteration,
    OfOne,
    Pull,
    PullMany,
    many_of,
    refuse,
)
from tideflow.runtime.ending import wait_at_exit

AUTOTUNE = -1
_AHEAD = 8  # elements that an untuned prefetch keeps
_TRIED = 16  # calls of a function after which it is known whether threads pay
_WORTH_A_THREAD = 2e-4  # seconds a call takes at least, to be worth handing over


class Prefetch(OfOne):
    """The other dataset, read `size` elements ahead by a thread."""

    def __init__(self, source: Dataset, size: int):
        super().__init__(source)
        if size < AUTOTUNE:
            raise refuse("buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning")
        self._size = _AHEAD if size == AUTOTUNE else size

    def iterate(self, iteration: Iteration) -> Pull:
        following = self.source.iterate(iteration)
        return ahead(following, self._size, iteration) if self._size else following

    def cardinality(self) -> int:
        return self.source.cardinality()


def ahead(following: Pull, size: int, iteration: Iteration) -> Pull:
    """The same elements, made by a thread that is at most `size` of them ahead."""
    ready: collections.deque[Callable[[], Element]] = collections.deque()
    changed = threading.Condition()
    stopped = _Stop(changed)
    iteration.at_end(stopped.now)
    thread: threading.Thread | None = None
    limits = iteration.limits

    def work() -> None:
        with waiting.under(limits):
            while not stopped.is_set:
                outcome, last = _outcome(following)
                with changed:
                    ready.append(outcome)
                    changed.notify_all()
                    if last:
                        return
                    while len(ready) >= size and not stopped.is_set:
                        changed.wait(1.0)

    def pull() -> Element:
        nonlocal thread
        with changed:
            if thread is None:
                thread = threading.Thread(target=work, name="tideflow prefetch", daemon=True)
                wait_at_exit(thread).start()
            if not ready:
                waiting.wait(changed, lambda: bool(ready), lambda: stopped.is_set, "next element")
            if len(ready) >= size:
                changed.notify_all()
            outcome = ready[0]
            if outcome is not _end:
                ready.popleft()
        return outcome()

    return pull


class _Stop:
    """A flag that wakes who waits. It knows nothing of the pass it belongs to, which so can be let go of."""

    def __init__(self, changed: threading.Condition):
        self.is_set = False
        self._changed = changed

    def now(self) -> None:
        self.is_set = True
        with self._changed:
            self._changed.notify_all()


def _end() -> Element:
    raise End


def _outcome(following: Pull) -> tuple[Callable[[], Element], bool]:
    """What a pull came to, as a function that gives or raises it; and whether it was the last."""
    try:
        element = following()
        return lambda: element, False
    except End:
        return _end, True
    except BaseException as error:
        return _raising(error), False


def _raising(error: BaseException) -> Callable[[], Element]:
    def again() -> Element:
        raise error

    return again


class ParallelMap(OfOne):
    """What a function makes of each element, several calls at a time, in the order of the elements.

    Threads pay where the work is in kernels. A function that is done sooner than it could be handed over is
    called right here.
    """

    def __init__(self, source: Dataset, function: Function, parallel: int):
        super().__init__(source)
        if parallel < 1 and parallel != AUTOTUNE:
            raise refuse("num_parallel_calls must be greater than zero.")
        self._function = function
        self._parallel = os.cpu_count() or 1 if parallel == AUTOTUNE else parallel

    def iterate(self, iteration: Iteration) -> Pull:
        following, function = self.source.iterate(iteration), self._function
        return self._results(lambda: (function, following()), iteration)

    def _results(self, following: Callable[[], Call], iteration: Iteration) -> Pull:
        """The results of calls, in their order."""
        pool: _Pool | None = None
        pending: collections.deque[Callable[[], Element]] = collections.deque()
        tried, seconds, ended = 0, 0.0, False

        def here() -> Element:
            nonlocal tried, seconds
            function, element = following()
            began = time.perf_counter()
            result = function(*element)
            tried += 1
            seconds += time.perf_counter() - began
            return result

        def fill() -> None:
            nonlocal ended
            while len(pending) < self._parallel and not ended:
                try:
                    function, element = following()
                except End:
                    ended = True
                except Exception as error:
                    pending.append(_raising(error))
                else:
                    pending.append(pool.submit(function, element))

        def pull() -> Element:
            nonlocal pool
            try:
                if pool is None:
                    if tried < _TRIED or seconds < tried * _WORTH_A_THREAD or self._parallel == 1:
                        return here()
                    pool = _Pool(self._parallel, iteration)
                fill()
                if not pending:
                    raise End
                return pending.popleft()()
            except OutOfRangeError:
                raise End from None

        return pull

    def iterate_many(self, iteration: Iteration) -> PullMany:
        if not isinstance(self._function, RowFunction):
            return many_of(self.iterate(iteration), as_a_whole=True)  # as TensorFlow, which fuses the two
        rows = self.source.iterate_many(iteration)
        return rows_mapped(self._function, rows, lambda following: self._results(following, iteration))

    def cardinality(self) -> int:
        return self.source.cardinality()


class _Pool:
    """Threads that call functions."""

    def __init__(self, count: int, iteration: Iteration):
        self._calls: collections.deque[tuple[Function, Element, dict[str, Any]]] = collections.deque()
        self._changed = threading.Condition()
        self._stop = _Stop(self._changed)
        iteration.at_end(self._stop.now)
        for _ in range(count):
            arguments = self._calls, self._changed, self._stop, iteration.limits
            thread = threading.Thread(target=_serve, args=arguments, name="tideflow map", daemon=True)
            wait_at_exit(thread).start()

    def submit(self, function: Function, element: Element) -> Callable[[], Element]:
        """Has a thread call the function; the result is what the returned function gives."""
        done: dict[str, Any] = {}
        with self._changed:
            self._calls.append((function, element, done))
            self._changed.notify_all()

        def result() -> Element:
            with self._changed:
                waiting.wait(self._changed, lambda: bool(done), lambda: self._stop.is_set, "next element")
            return done["outcome"]()

        return result


def _serve(calls: collections.deque, changed: threading.Condition, stop: _Stop, limits: Any) -> None:
    with waiting.under(limits):
        while True:
            with changed:
                while not calls and not stop.is_set:
                    changed.wait(1.0)
                if stop.is_set:
                    return
                function, element, done = calls.popleft()
            outcome, _ = _outcome(lambda function=function, element=element: function(*element))
            with changed:
                done["outcome"] = outcome
                changed.notify_all()
