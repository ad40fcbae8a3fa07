"""Settings of the whole process. How idle threads wait and how memory is freed is set before torch is
imported; functions set with which parent the process ends, and the priority of threads.
"""

import contextlib
import ctypes
import os
import signal
import sys
import time

# Idle OpenMP threads spin before they sleep. The default, about a millisecond, makes two processes on two
# cores twenty times slower; this is long enough for the gap between two kernels of a step.
_SPINS = "20000"

# A step allocates the same buffers again and again. By default glibc returns each large buffer to the system,
# which zeroes the pages of the next one: a fifth of a convolutional network's time.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_KEPT_BLOCK = 32 << 20  # bytes: the largest block that glibc's heap can hold
_KEPT_HEAP = 512 << 20

# To ask CUDA for the number of GPUs would make it unusable in forked children; NVML is asked instead.
_ASK_NVML = "PYTORCH_NVML_BASED_CUDA_CHECK"

_PR_SET_PDEATHSIG = 1
_LOWEST_PRIORITY = 19
# Even a thread of the lowest priority may keep its processor until the scheduler's next tick, milliseconds
# later, while others wait for it: it has to take breaks of its own. The system's timer adds about as much.
_BREAK = 50e-6  # seconds


def _share_cores() -> None:
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", _SPINS)


def _keep_freed_memory() -> None:
    with contextlib.suppress(AttributeError, OSError):  # not glibc
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_M_MMAP_THRESHOLD, _KEPT_BLOCK)
        mallopt(_M_TRIM_THRESHOLD, _KEPT_HEAP)


def return_freed_memory() -> None:
    """Gives free memory that is kept for later steps back to the system: something large is gone for good."""
    with contextlib.suppress(AttributeError, OSError):  # not glibc
        ctypes.CDLL(None).malloc_trim(0)


def end_with(parent: int) -> None:
    """Makes the operating system kill this process when its parent ends, even if the parent is killed."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # the parent ended before that
        os._exit(128 + signal.SIGKILL)


def run_last() -> None:
    """Gives the calling thread, and those that it starts, the lowest priority. It cannot have its old one
    back.
    """
    if sys.platform == "linux":  # elsewhere the whole process would have it
        os.setpriority(os.PRIO_PROCESS, 0, _LOWEST_PRIORITY)


def runs_last() -> bool:
    """Whether the calling thread has the lowest priority."""
    return sys.platform == "linux" and os.getpriority(os.PRIO_PROCESS, 0) == _LOWEST_PRIORITY


def give_way() -> None:
    """Lets others have the processor for a moment, if the calling thread has the lowest priority. A long work
    should call it every hundred microseconds or so.
    """
    if runs_last():
        time.sleep(_BREAK)


def let_run_last(group: int) -> None:
    """Gives all threads of a process group the lowest priority."""
    os.setpriority(os.PRIO_PGRP, group, _LOWEST_PRIORITY)


_share_cores()
_keep_freed_memory()
os.environ.setdefault(_ASK_NVML, "1")
