"""Datasets that work ahead in threads. A thread ends when its pass over the dataset ends."""

from __future__ import annotations

import collections
import functools
import os
import threading
import time
from collections.abc import Callable

from tideflow.graph.errors import OutOfRangeError
from tideflow.runtime.conditions import Condition
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
    Report,
    many_of,
    refuse,
)
from tideflow.runtime.ending import wait_at_exit
from tideflow.runtime.kernel_threads import compute_alone
from tideflow.runtime.waiting import StepContext

AUTOTUNE = -1
_AHEAD = 8  # elements that a prefetch with AUTOTUNE keeps
_TRIAL_CALLS = 16  # calls whose duration decides whether a function runs in threads
_WORTH_A_THREAD = 2e-4  # seconds; shorter calls take less time than passing them to a thread


class Prefetch(OfOne):
    """The source, read `size` elements ahead by a thread."""

    def __init__(self, source: Dataset, size: int) -> None:
        super().__init__(source)
        if size < AUTOTUNE:
            raise refuse("buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning")
        self._size = _AHEAD if size == AUTOTUNE else size

    def iterate(self, iteration: Iteration) -> Pull:
        following = self.source.iterate(iteration)
        if not self._size:
            return following
        return ahead(following, self._size, iteration, iteration.report_of(self))

    def cardinality(self) -> int:
        return self.source.cardinality()


def ahead(following: Pull, size: int, iteration: Iteration, report: Report | None = None) -> Pull:
    """The same elements, pulled by a thread that is at most `size` elements ahead."""
    ready: collections.deque[Callable[[], Element]] = collections.deque()
    changed = Condition()
    stopped = _Stop(changed)
    iteration.at_end(stopped.now)
    thread: threading.Thread | None = None
    thread_context = iteration.context

    def work() -> None:
        compute_alone()
        while not stopped.is_set:
            outcome, last = _outcome(functools.partial(following, thread_context))
            with changed:
                ready.append(outcome)
                changed.notify_all()
                if last:
                    return
                while len(ready) >= size and not stopped.is_set:
                    changed.wait(1.0)

    def pull(context: StepContext) -> Element:
        nonlocal thread
        with changed:
            if thread is None:
                thread = threading.Thread(target=work, name="tideflow prefetch", daemon=True)
                wait_at_exit(thread).start()
            if not ready:
                context.wait(changed, lambda: bool(ready), lambda: stopped.is_set, "next element")
            if len(ready) >= size:
                changed.notify_all()
            outcome = ready[0]
            if outcome is not _end:
                if report is not None:
                    report.add("buffer_utilization", len(ready) / size)
                    report.set("buffer_size", len(ready))
                    report.set("buffer_capacity", size)
                ready.popleft()
        return outcome()

    return pull


def as_they_come(begin: Callable[[], Pull], threads: int, size: int, iteration: Iteration) -> Pull:
    """The elements of many parts, in the order in which they are there. Each thread reads one part after the
    other, as `begin` starts them; there are at most `size` elements that nobody has pulled.
    """
    ready: collections.deque[Callable[[], Element]] = collections.deque()
    changed, beginning = Condition(), threading.Lock()
    stopped = _Stop(changed)
    iteration.at_end(stopped.now)
    thread_context = iteration.context
    reading = 0  # threads that may have more elements
    started = False

    def put(outcome: Callable[[], Element]) -> None:
        with changed:
            while len(ready) >= size and not stopped.is_set:
                changed.wait(1.0)
            ready.append(outcome)
            changed.notify_all()

    def read_parts() -> None:
        while not stopped.is_set:
            try:
                with beginning:
                    part = begin()
            except End:
                return
            except Exception as error:
                put(_raising(error))
                continue
            while not stopped.is_set:
                outcome, last = _outcome(functools.partial(part, thread_context))
                if last:
                    break
                put(outcome)

    def work() -> None:
        nonlocal reading
        compute_alone()
        read_parts()
        with changed:
            reading -= 1
            changed.notify_all()

    def pull(context: StepContext) -> Element:
        nonlocal reading, started
        with changed:
            if not started:
                started, reading = True, threads
                for _ in range(threads):
                    thread = threading.Thread(target=work, name="tideflow interleave", daemon=True)
                    wait_at_exit(thread).start()
            context.wait(changed, lambda: bool(ready) or not reading, lambda: stopped.is_set, "next element")
            if not ready:
                raise End
            outcome = ready.popleft()
            changed.notify_all()
        return outcome()

    return pull


class _Stop:
    """A flag that wakes waiting threads.

    It has no reference to its pass, so that the pass can be collected.
    """

    def __init__(self, changed: Condition) -> None:
        self.is_set = False
        self._changed = changed

    def now(self) -> None:
        self.is_set = True
        with self._changed:
            self._changed.notify_all()


def _end() -> Element:
    raise End


def _outcome(call: Callable[[], Element]) -> tuple[Callable[[], Element], bool]:
    """The outcome of a call, as a function that returns or raises it; and whether it was the last."""
    try:
        element = call()
        return lambda: element, False
    except End:
        return _end, True
    except BaseException as error:
        return _raising(error), False


def _raising(error: BaseException) -> Callable[[], Element]:
    def again() -> Element:
        raise error

    return again


def _failing(error: BaseException) -> Pull:
    def pull(context: StepContext) -> Element:
        raise error

    return pull


class ParallelMap(OfOne):
    """The results of a function for each element, several calls at a time, in the order of the elements, or
    where that is not wanted (`sloppy`) in the order in which the calls end.

    Threads help only if the calls are long. Short calls run on the thread that pulls.
    """

    def __init__(self, source: Dataset, function: Function, parallel: int, sloppy: bool = False) -> None:
        super().__init__(source)
        if parallel < 1 and parallel != AUTOTUNE:
            raise refuse("num_parallel_calls must be greater than zero.")
        self._function, self._sloppy = function, sloppy
        self._parallel = os.cpu_count() or 1 if parallel == AUTOTUNE else parallel

    def iterate(self, iteration: Iteration) -> Pull:
        following, function = self.source.iterate(iteration), iteration.own(self._function)
        if self._sloppy or iteration.sloppy:
            begin = functools.partial(_one_call, following, function, iteration.context)
            return as_they_come(begin, self._parallel, self._parallel, iteration)
        return self._results(lambda context: (function, following(context)), iteration)

    def _results(self, following: Callable[[StepContext], Call], iteration: Iteration) -> Pull:
        """The results of calls, in their order."""
        pool: _Pool | None = None
        pending: collections.deque[Pull] = collections.deque()
        tried, seconds, ended = 0, 0.0, False

        def call_here(context: StepContext) -> Element:
            nonlocal tried, seconds
            function, element = following(context)
            began = time.perf_counter()
            result = function(context, *element)
            tried += 1
            seconds += time.perf_counter() - began
            return result

        def fill(pool: _Pool, context: StepContext) -> None:
            nonlocal ended
            while len(pending) < self._parallel and not ended:
                try:
                    function, element = following(context)
                except End:
                    ended = True
                except Exception as error:
                    pending.append(_failing(error))
                else:
                    pending.append(pool.submit(function, element))

        def pull(context: StepContext) -> Element:
            nonlocal pool
            try:
                if pool is None:
                    if tried < _TRIAL_CALLS or seconds < tried * _WORTH_A_THREAD or self._parallel == 1:
                        return call_here(context)
                    pool = _Pool(self._parallel, iteration)
                fill(pool, context)
                if not pending:
                    raise End
                return pending.popleft()(context)
            except OutOfRangeError:
                raise End from None

        return pull

    def iterate_many(self, iteration: Iteration) -> PullMany:
        function = iteration.own(self._function)
        if not isinstance(function, RowFunction) or self._sloppy or iteration.sloppy:
            return many_of(self.iterate(iteration), as_a_whole=True)  # TensorFlow fuses map and batch
        rows = self.source.iterate_many(iteration)
        return rows_mapped(function, rows, lambda following: self._results(following, iteration))

    def cardinality(self) -> int:
        return self.source.cardinality()


def _one_call(following: Pull, function: Function, context: StepContext) -> Pull:
    """The result of a function for the next element, which is taken now, as a part of one element."""
    waiting = [following(context)]

    def pull(context: StepContext) -> Element:
        if not waiting:
            raise End
        try:
            return function(context, *waiting.pop())
        except OutOfRangeError:
            raise End from None

    return pull


class _PendingCall:
    """A call that a thread of a pool makes, and its outcome."""

    def __init__(self, function: Function, element: Element) -> None:
        self.function, self.element = function, element
        self.outcome: Callable[[], Element] | None = None


class _Pool:
    """Threads that call functions."""

    def __init__(self, count: int, iteration: Iteration) -> None:
        self._calls: collections.deque[_PendingCall] = collections.deque()
        self._changed = Condition()
        self._stop = _Stop(self._changed)
        iteration.at_end(self._stop.now)
        for _ in range(count):
            arguments = self._calls, self._changed, self._stop, iteration.context
            thread = threading.Thread(target=_serve, args=arguments, name="tideflow map", daemon=True)
            wait_at_exit(thread).start()

    def submit(self, function: Function, element: Element) -> Pull:
        """Makes a thread call the function. The returned function waits for the result and returns it."""
        call = _PendingCall(function, element)
        with self._changed:
            self._calls.append(call)
            self._changed.notify_all()

        def result(context: StepContext) -> Element:
            with self._changed:
                context.wait(
                    self._changed,
                    lambda: call.outcome is not None,
                    lambda: self._stop.is_set,
                    "next element",
                )
                assert call.outcome is not None, "`wait` returns when it is set"
            return call.outcome()

        return result


def _serve(
    calls: collections.deque[_PendingCall], changed: Condition, stop: _Stop, context: StepContext
) -> None:
    compute_alone()
    while True:
        with changed:
            while not calls and not stop.is_set:
                changed.wait(1.0)
            if stop.is_set:
                return
            call = calls.popleft()
        outcome, _ = _outcome(functools.partial(call.function, context, *call.element))
        with changed:
            call.outcome = outcome
            changed.notify_all()
