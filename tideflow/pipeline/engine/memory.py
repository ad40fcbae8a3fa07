"""Where Arrow's arrays are while passes run."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator

import pyarrow as pa

_CHOSEN = "ARROW_DEFAULT_MEMORY_POOL"  # Arrow's own variable, by which users choose


class _Passes:
    """How many passes run, and where Arrow's arrays were before the first of them."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.running = 0
        self.before: pa.MemoryPool | None = None


_passes = _Passes()


@contextlib.contextmanager
def reused_memory() -> Iterator[None]:
    """Within, Arrow takes its memory from the C library, which keeps what is freed for the next block.

    Arrow's own allocator soon gives it back to the system. Then pages are mapped and cleared anew for each
    block, a tenth of a pass's processor time, and threads wait for each other while they change their map.
    """
    if _CHOSEN in os.environ:
        yield
        return
    with _passes.lock:
        if not _passes.running:
            _passes.before = pa.default_memory_pool()
            pa.set_memory_pool(pa.system_memory_pool())
        _passes.running += 1
    try:
        yield
    finally:
        with _passes.lock:
            _passes.running -= 1
            if not _passes.running:
                pa.set_memory_pool(_passes.before)
