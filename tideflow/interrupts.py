"""Interrupts: signals that come while shared state changes are handled after the change, or where it waits.

Python runs the handlers of signals in the main thread, between almost any two instructions, and many of them
raise: Ctrl-C raises KeyboardInterrupt. A sequence such as "count a thread, start the thread" would end in its
middle. Inside `with deferred:` a signal is only noted. Its handler runs at the end of the block, or earlier
where the block calls `deliver`, which a thread does before it sleeps. There the state is whole.

The block replaces the program's handlers while it runs, and nothing else is installed. Other threads are not
interrupted by signals: for them it does nothing.
"""

from __future__ import annotations

import _signal  # without the enumerations of `signal`, whose conversion takes longer than the call
import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

# Signals for which a program may have a handler that raises.
_SIGNALS = tuple(
    int(getattr(_signal, name))
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGALRM")
    if hasattr(_signal, name)
)

# Seconds. A signal that comes so long after the first one is handled at once: what the block calls may be a
# function of the program that never returns.
_PATIENCE = 1.0

_get_ident = threading.get_ident


class _Deferred(contextlib.ContextDecorator):
    """The one `deferred`: for blocks, for blocks in blocks, and as `@deferred` for whole functions."""

    def __init__(self) -> None:
        self.main_thread = threading.main_thread().ident
        self.wake: Callable[[], Any] = lambda: None  # has the main thread return from its sleep
        self._depth = 0
        self.held = 0  # blocks of `held` that the main thread is in
        self._handlers: dict[int, Any] = {}  # of the program, by signal
        self._came: list[int] = []
        self._first = 0.0  # when the first of them came
        self._noting = self._note  # one object, which is compared by identity

    def __enter__(self) -> None:
        if _get_ident() == self.main_thread:
            if not self._depth:
                self._replace_handlers()
            self._depth += 1

    def __exit__(self, *exc: Any) -> None:
        if _get_ident() == self.main_thread:
            self._depth -= 1
            if not self._depth:
                self._restore_handlers()
                if self._came:
                    self.deliver()

    def _replace_handlers(self) -> None:
        """Has `_note` handle signals. If one interrupts this, the handlers go back, and there is no block."""
        try:
            for number in _SIGNALS:
                handler = _signal.getsignal(number)
                if callable(handler) and handler is not self._noting:
                    self._handlers[number] = handler
                    _signal.signal(number, self._noting)
        except BaseException:
            self._restore_handlers()
            raise

    def _restore_handlers(self) -> None:
        for number, handler in self._handlers.items():
            if _signal.getsignal(number) is self._noting:
                _signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        """The handler of every signal inside the block. Where a block was not entered or left in full, it
        acts as the program's own.
        """
        now = time.monotonic()
        if self._depth and not (self._came and now > self._first + _PATIENCE):
            self._first = self._first if self._came else now
            self._came.append(number)
            self.wake()
            return
        self._came = [earlier for earlier in self._came if earlier != number]
        if not self._depth:
            self._restore_handlers()
        self._handlers[number](number, frame)

    def deliver(self) -> None:
        """Handles the signals that came. The first handler that raises leaves the rest for later."""
        while self._came and not self.held and _get_ident() == self.main_thread:
            number = self._came.pop(0)
            self._handlers[number](number, sys._getframe(1))

    def after_fork(self) -> None:
        """In a forked child, the thread that forked is the main thread, whichever it was in the parent."""
        forked_by_main, self.main_thread = self.main_thread == _get_ident(), _get_ident()
        self._came.clear()
        if not forked_by_main:
            self._depth = self.held = 0
            self._restore_handlers()


class _Held(contextlib.ContextDecorator):
    """The one `held`: a `deferred` in which `deliver` does nothing either. It is for cleaning up, which must
    not be interrupted and takes a bounded time.
    """

    def __enter__(self) -> None:
        deferred.__enter__()
        deferred.held += _get_ident() == deferred.main_thread

    def __exit__(self, *exc: Any) -> None:
        deferred.held -= _get_ident() == deferred.main_thread
        deferred.__exit__()


deferred = _Deferred()
held = _Held()
deliver = deferred.deliver
os.register_at_fork(after_in_child=deferred.after_fork)


class Lock:
    """A lock that is held for a few instructions, in which signals are deferred: nobody finds half a change,
    and an interrupt never leaves it locked.
    """

    __slots__ = ("_lock",)

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        deferred.__enter__()
        self._lock.acquire()

    def __exit__(self, *exc: Any) -> None:
        self._lock.release()
        deferred.__exit__()
