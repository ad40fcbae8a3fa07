"""What memory the machine has left: a size from a file or a graph is checked before it is allocated."""

from __future__ import annotations

import contextlib
import math
import os
import re
from collections.abc import Sequence
from pathlib import Path

from tideflow.graph import errors
from tideflow.graph.dtypes import DType


def physical_memory() -> int:
    """Bytes of memory that the machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def available_memory() -> int:
    """Bytes that this process can get: what the machine has left, no more than its control group may have."""
    available = physical_memory()
    with contextlib.suppress(OSError):  # Linux counts what can be had without swapping
        known = re.search(r"MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text())
        available = int(known[1]) << 10 if known else available
    with contextlib.suppress(OSError, ValueError):  # "max" is no limit
        available = min(available, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return available


def check_memory(shape: Sequence[int], dtype: DType) -> None:
    """Raises ResourceExhaustedError if there is not enough memory for a tensor."""
    if math.prod(shape) * dtype.size > available_memory():
        raise errors.out_of_memory(shape, dtype)
