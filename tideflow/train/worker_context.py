"""Where a thread runs a function as one task of a cluster: what monitored sessions must know of it."""

from __future__ import annotations

import threading
from typing import Any

_worker_context = threading.local()


def get_current_worker_context() -> Any:
    """The context of the worker function that this thread runs; None outside of one."""
    return getattr(_worker_context, "current", None)
