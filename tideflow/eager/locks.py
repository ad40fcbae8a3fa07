"""Locks under which functions are traced and compiled: free in a child, which has no other threads."""

from __future__ import annotations

import os
import threading
import weakref
from typing import Any

_owners: weakref.WeakSet[Any] = weakref.WeakSet()


def give_lock(owner: Any) -> None:
    """Sets `owner._lock`, a reentrant lock that is free in a new child process."""
    owner._lock = threading.RLock()
    _owners.add(owner)


def _free_locks() -> None:
    for owner in list(_owners):
        owner._lock = threading.RLock()


os.register_at_fork(after_in_child=_free_locks)
