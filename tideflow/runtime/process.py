"""Settings of the whole process, made before torch is loaded: how threads wait, where freed memory goes."""

import ctypes
import os

# OpenMP threads that find no work spin before they sleep. The default, about a millisecond of it, slows two
# processes on two cores twentyfold; this is long enough to bridge the gap between two kernels of a step.
_SPINS = "20000"

# A step frees and takes the same buffers again and again. By default glibc gives each large one back to the
# system and the next one is zeroed page by page: a fifth of a convolutional network's time.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_KEPT_BLOCK = 32 << 20  # bytes: the largest that glibc's heap takes
_KEPT_HEAP = 512 << 20


def _share_cores() -> None:
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", _SPINS)


def _keep_freed_memory() -> None:
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):  # not glibc
        return
    mallopt(_M_MMAP_THRESHOLD, _KEPT_BLOCK)
    mallopt(_M_TRIM_THRESHOLD, _KEPT_HEAP)


_share_cores()
_keep_freed_memory()
