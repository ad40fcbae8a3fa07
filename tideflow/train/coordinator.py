"""Threads around a session: a Coordinator has them stop together, and hands on the first error."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tideflow.export import export
from tideflow.graph.errors import CancelledError, OutOfRangeError
from tideflow.interrupts import deferred, deliver
from tideflow.platform import logging
from tideflow.runtime.conditions import Event

_JOIN_SECONDS = 0.1  # how often a thread that joins others handles the signals that came


@export("train.Coordinator")
class Coordinator:
    """Coordinates the end of several threads.

    Each thread calls `should_stop` in its loop. Any thread may call `request_stop`, with the exception that
    is the reason. `join` waits for all threads and raises that exception. As a context manager, a coordinator
    requests a stop and joins its registered threads at the end of the `with` block.

    Args:
      clean_stop_exception_types: Exceptions that are a normal end: `join` does not raise them.
        OutOfRangeError if None.
    """

    def __init__(self, clean_stop_exception_types: tuple[type[BaseException], ...] | None = None):
        types = clean_stop_exception_types if clean_stop_exception_types is not None else (OutOfRangeError,)
        self._clean_stop_exception_types = tuple(types) if isinstance(types, (list, tuple)) else (types,)
        self._lock = threading.Lock()
        self._stop_event = Event()
        self._error: BaseException | None = None
        self._registered_threads: set[threading.Thread] = set()
        self._joined = False

    @property
    def joined(self) -> bool:
        """Whether `join` has returned."""
        return self._joined

    @deferred
    def request_stop(self, ex: Any = None) -> None:
        """Makes `should_stop` return True.

        Args:
          ex: An exception, or the result of `sys.exc_info()`, that `join` will raise.
        """
        error = ex[1] if isinstance(ex, tuple) else ex
        with self._lock:
            if self._joined:
                if error is not None:
                    raise error
                return
            if error is not None and not isinstance(error, BaseException):
                raise ValueError(f"ex must be an exception or sys.exc_info(), but is {ex!r}")
            if not self._stop_event.is_set():
                if isinstance(error, self._clean_stop_exception_types):
                    error = None  # the end of the data is how such loops end
                if error is not None:
                    _report(ex)
                self._error = error
                self._stop_event.set()
            elif error is not None and self._error is None and not self._is_an_end(error):
                logging.info("An error after the stop was requested: %s", error)

    def _is_an_end(self, error: BaseException) -> bool:
        return isinstance(error, (*self._clean_stop_exception_types, CancelledError))

    @deferred
    def clear_stop(self) -> None:
        """Clears the request to stop."""
        with self._lock:
            self._joined = False
            self._error = None
            self._stop_event.clear()

    def should_stop(self) -> bool:
        """Whether a stop was requested."""
        return self._stop_event.is_set()

    @contextlib.contextmanager
    def stop_on_exception(self) -> Iterator[None]:
        """Requests a stop if the `with` block raises an exception, which `join` raises later.

        Yields:
          None.
        """
        try:
            yield
        except BaseException:
            self.request_stop(ex=sys.exc_info())

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        """Waits until a stop is requested.

        Args:
          timeout: The largest number of seconds to wait; without end if None.

        Returns:
          Whether a stop was requested.
        """
        return self._stop_event.wait(timeout=timeout)

    def register_thread(self, thread: threading.Thread) -> None:
        """Adds a thread for which `join` waits.

        Args:
          thread: The thread.
        """
        with self._lock:
            self._registered_threads.add(thread)

    def join(
        self,
        threads: Sequence[threading.Thread] | None = None,
        stop_grace_period_secs: float = 120,
        ignore_live_threads: bool = False,
    ) -> None:
        """Waits until the threads have ended, and raises the exception that `request_stop` was given.

        Args:
          threads: Threads to wait for, besides the registered ones.
          stop_grace_period_secs: How many seconds threads have to end after a stop was requested.
          ignore_live_threads: Whether threads that are alive after that time are ignored.

        Raises:
          RuntimeError: If a thread is alive after the grace period.
        """
        with self._lock:
            waited = self._registered_threads.union(threads or ())
        while any(thread.is_alive() for thread in waited) and not self.wait_for_stop(0.1):
            pass
        end = time.monotonic() + stop_grace_period_secs
        for thread in waited:
            while thread.is_alive() and (left := end - time.monotonic()) > 0:
                with deferred:
                    thread.join(min(left, _JOIN_SECONDS))
                    deliver()
        stragglers = [thread.name for thread in waited if thread.is_alive()]
        with self._lock:
            self._joined = True
            self._registered_threads = set()
            error = self._error
        if error is not None:
            raise error
        if stragglers:
            if not ignore_live_threads:
                raise RuntimeError("Coordinator stopped with threads still running: " + " ".join(stragglers))
            logging.info("Coordinator stopped with threads still running: %s", " ".join(stragglers))

    def raise_requested_exception(self) -> None:
        """Raises the exception that `request_stop` was given, if there is one."""
        with self._lock:
            error = self._error
        if error is not None:
            raise error

    def __enter__(self) -> Coordinator:
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> bool:
        """Stops the threads and joins them; what ends the data cleanly is no error."""
        self.request_stop(error)
        self.join()
        return isinstance(error, self._clean_stop_exception_types)


def _report(ex: Any) -> None:
    if isinstance(ex, tuple):
        logging.info("Error reported to Coordinator: %s", ex[1], exc_info=ex)
    else:
        logging.info("Error reported to Coordinator: %s, %s", type(ex), ex)


@export("train.LooperThread")
class LooperThread(threading.Thread):
    """A thread that calls `run_loop` repeatedly until its coordinator stops.

    Args:
      coord: The coordinator.
      timer_interval_secs: The seconds from one call to the next; without a pause if None.
      target: The function that `run_loop` calls, if it is not overridden.
      args: Positional arguments for `target`.
      kwargs: Keyword arguments for `target`.

    Raises:
      ValueError: If `coord` is not a coordinator.
    """

    def __init__(
        self,
        coord: Coordinator,
        timer_interval_secs: float | None,
        target: Callable | None = None,
        args: Sequence[Any] | None = None,
        kwargs: dict[str, Any] | None = None,
    ):
        if not isinstance(coord, Coordinator):
            raise ValueError(f"'coord' argument must be a Coordinator: {coord}")
        super().__init__(daemon=True)
        self._coord = coord
        self._timer_interval_secs = timer_interval_secs
        if target is None:
            if args is not None or kwargs is not None:
                raise ValueError("'args' and 'kwargs' argument require that you also pass 'target'")
            self._call: Callable[[], Any] | None = None
        else:
            self._call = lambda: target(*(args or ()), **(kwargs or {}))
        coord.register_thread(self)

    @staticmethod
    def loop(
        coord: Coordinator,
        timer_interval_secs: float | None,
        target: Callable,
        args: Sequence[Any] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> LooperThread:
        """Starts a thread that calls a function repeatedly.

        Args:
          coord: The coordinator.
          timer_interval_secs: The seconds from one call to the next; without a pause if None.
          target: The function.
          args: Positional arguments for it.
          kwargs: Keyword arguments for it.

        Returns:
          The thread.
        """
        looper = LooperThread(coord, timer_interval_secs, target=target, args=args, kwargs=kwargs)
        with deferred:
            looper.start()
        return looper

    def run(self) -> None:
        """Runs the loop; `start` calls this in the new thread."""
        with self._coord.stop_on_exception():
            self.start_loop()
            due = time.monotonic()
            while not self._coord.should_stop():
                self.run_loop()
                if self._timer_interval_secs is None:
                    continue
                due += self._timer_interval_secs
                if self._coord.wait_for_stop(max(0.0, due - time.monotonic())):
                    break
            self.stop_loop()

    isAlive = threading.Thread.is_alive  # its name until Python 3.9

    def start_loop(self) -> None:
        """Called before the first `run_loop`."""

    def stop_loop(self) -> None:
        """Called when the thread stops."""

    def run_loop(self) -> None:
        """Called once in each iteration; calls `target`."""
        if self._call is not None:
            self._call()
