"""Tensors between processes of one host: written once into memory that both map, never through a socket.

The sender's arena is a set of memfds. Each is a segment: one page that holds its state, then one tensor. A
message names the segment; the receiver opens it through /proc/<pid>/fd, keeps it mapped, and makes a tensor
of its memory. When that tensor is freed the receiver writes FREE into the state, and the sender uses the
segment again, whose pages are still warm. The sender can drop a segment at any time: a receiver that has
mapped it keeps it. The kernel frees a segment that no process maps any more, however the processes ended.

A segment's name holds 128 random bits. Only a process that may inspect the segment's owner can know them, so
no other process can make a task map memory that was not meant for it.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import secrets
import threading
import time
from collections import OrderedDict
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from tideflow.cluster.messages import HostMemory, SegmentName
from tideflow.graph import errors
from tideflow.graph.memory import physical_memory

WORTH_BYTES = 128 << 10  # a smaller tensor is as quick through the socket, encrypted as it is there
_PAGE = 4096  # holds the state, so that the tensor behind it is aligned for any kernel
_FREE, _SENT, _TAKEN, _DROPPED = range(4)
_SEALS = getattr(fcntl, "F_SEAL_SHRINK", 2) | getattr(fcntl, "F_SEAL_GROW", 4)
_IDLE_SECONDS = 60.0  # a free segment is kept for so long, to be used again
_UNCLAIMED_SECONDS = 300.0  # a segment that was not mapped for so long was lost with its connection
_MAPPED_SEGMENTS = 256  # a receiver keeps at most so many mapped


def default_limit() -> int:
    """The bytes an arena may hold: a sixteenth of the machine's memory."""
    return physical_memory() // 16


class _Segment:
    """A memfd of this process, mapped."""

    def __init__(self, size: int):
        self.token, self.size = secrets.token_hex(16), size
        self.fd = os.memfd_create(_name(self.token), os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        try:
            os.posix_fallocate(self.fd, 0, _PAGE + size)  # fails here where memory is short, not at a write
            fcntl.fcntl(self.fd, fcntl.F_ADD_SEALS, _SEALS)  # a receiver's mapping cannot be cut short
            self.map = mmap.mmap(self.fd, _PAGE + size)
        except BaseException:
            os.close(self.fd)
            raise
        self.state = memoryview(self.map)[:4].cast("I")
        self.borrower, self.since = 0, 0.0

    def close(self) -> None:
        """Drops the segment."""
        self.state[0] = _DROPPED  # receivers then unmap the segment, too
        os.close(self.fd)

    def is_lost(self) -> bool:
        """Whether the receiver has ended, or never mapped the segment."""
        if self.state[0] == _SENT and time.monotonic() - self.since > _UNCLAIMED_SECONDS:
            return True
        return not os.path.exists(f"/proc/{self.borrower}")


class Arena:
    """The segments of this process: lent to receivers, and used again once these have freed them."""

    def __init__(self, limit: int | None = None):
        self.limit = default_limit() if limit is None else limit
        self._segments: list[_Segment] = []
        self._lock = threading.Lock()

    def lend(self, data: torch.Tensor, borrower: int) -> SegmentName | None:
        """Copies bytes into a segment for the process `borrower`; None where there is no room for them."""
        segment = self._take(data.numel(), borrower)
        if segment is None:
            return None
        torch.frombuffer(segment.map, dtype=torch.uint8, count=data.numel(), offset=_PAGE).copy_(data)
        return SegmentName(os.getpid(), segment.fd, segment.token)

    def held_bytes(self) -> int:
        """How much of the machine's memory the arena holds."""
        return sum(segment.size for segment in self._segments)

    def close(self) -> None:
        """Drops all segments; receivers keep those that they have mapped."""
        with self._lock:
            self._drop(list(self._segments))

    def _take(self, size: int, borrower: int) -> _Segment | None:
        with self._lock:
            self._drop_idle()
            segment = self._free(size) or self._make(_rounded(size))
            if segment is not None:
                segment.borrower, segment.since = borrower, time.monotonic()
                segment.state[0] = _SENT
            return segment

    def _free(self, size: int) -> _Segment | None:
        """The smallest free segment of at least this size and at most twice as much."""
        fitting = [s for s in self._segments if s.state[0] == _FREE and size <= s.size <= 2 * size]
        return min(fitting, key=lambda segment: segment.size, default=None)

    def _make(self, size: int) -> _Segment | None:
        if self.held_bytes() + size > self.limit:
            self._drop([s for s in self._segments if s.state[0] == _FREE or s.is_lost()])
        if self.held_bytes() + size > self.limit:
            return None
        try:
            segment = _Segment(size)
        except OSError:  # memory or descriptors are short: the tensor goes through the socket
            return None
        self._segments.append(segment)
        return segment

    def _drop_idle(self) -> None:
        before = time.monotonic() - _IDLE_SECONDS
        self._drop([s for s in self._segments if s.state[0] == _FREE and s.since < before])

    def _drop(self, segments: list[_Segment]) -> None:
        for segment in segments:
            self._segments.remove(segment)
            segment.close()


def _rounded(size: int) -> int:
    """A size rounded up to an eighth of a power of two, so that tensors of similar sizes share segments."""
    step = 1 << max(size.bit_length() - 4, 12)
    return -(-size // step) * step


def _name(token: str) -> str:
    return f"tideflow-{token}"


# -------------------------------------------------------------------------------------------------- receiver


class _Mapped:
    """Another process's segment, mapped here."""

    def __init__(self, segment: SegmentName):
        path, name = f"/proc/{segment.pid}/fd/{segment.fd}", f"/memfd:{_name(segment.token)} (deleted)"
        if os.readlink(path) != name:  # checked first, because opening a device file may have effects
            raise FileNotFoundError(path)
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            if os.readlink(f"/proc/self/fd/{descriptor}") != name:  # another file took its place meanwhile
                raise FileNotFoundError(path)
            if fcntl.fcntl(descriptor, fcntl.F_GET_SEALS) & _SEALS != _SEALS:
                raise PermissionError(f"{path} can still be cut short")
            self.size = os.fstat(descriptor).st_size - _PAGE
            self.map = mmap.mmap(descriptor, 0)
        finally:
            os.close(descriptor)
        self.state = memoryview(self.map)[:4].cast("I")
        self.address = np.frombuffer(self.map, np.uint8).__array_interface__["data"][0]
        self._owner = segment.pid

    def is_over(self) -> bool:
        """Whether the owner will not lend this segment again."""
        return self.state[0] == _DROPPED or not os.path.exists(f"/proc/{self._owner}")


class _Lease:
    """Keeps a segment taken while a tensor uses it. NumPy keeps the lease as the array's base, and frees both
    together.
    """

    def __init__(self, mapped: _Mapped, length: int):
        self._mapped = mapped
        self.__array_interface__ = {
            "version": 3,
            "typestr": "|u1",
            "shape": (length,),
            "data": (mapped.address + _PAGE, False),
        }
        mapped.state[0] = _TAKEN

    def __del__(self) -> None:
        if self._mapped.state[0] == _TAKEN:
            self._mapped.state[0] = _FREE


class Mappings:
    """The segments of other processes that this process has mapped: those that it used last."""

    def __init__(self) -> None:
        self._mapped: OrderedDict[SegmentName, _Mapped] = OrderedDict()
        self._lock = threading.Lock()

    def attach(self, name: SegmentName, length: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """The first `length` bytes of a segment that another process lent."""
        mapped = self._find(name)
        if length > mapped.size:
            raise errors.data_loss(f"A tensor of {length} bytes in a shared segment of {mapped.size}.")
        if mapped.state[0] != _SENT:
            raise errors.data_loss("A shared segment was announced twice, or taken back meanwhile.")
        return np.asarray(_Lease(mapped, length))

    def _find(self, name: SegmentName) -> _Mapped:
        with self._lock:
            mapped = self._mapped.get(name)
            if mapped is None:
                for key in [key for key, old in self._mapped.items() if old.is_over()]:
                    del self._mapped[key]
                try:
                    mapped = self._mapped[name] = _Mapped(name)
                except (OSError, ValueError) as error:
                    raise errors.data_loss(
                        f"A shared segment of process {name.pid} cannot be mapped: {error}."
                    ) from None
            self._mapped.move_to_end(name)
            while len(self._mapped) > _MAPPED_SEGMENTS:
                self._mapped.popitem(last=False)
            return mapped


# --------------------------------------------------------------------------------- which processes can share


@lru_cache(maxsize=1)
def arena() -> Arena:
    """The arena of this process."""
    return Arena()


@lru_cache(maxsize=1)
def mappings() -> Mappings:
    """The mappings of this process."""
    return Mappings()


@lru_cache(maxsize=1)
def host_memory() -> HostMemory | None:
    """What a greeting says of this process's memory, with an empty segment for the other side to try; None
    where the system does not tell. Processes see each other's segments if they run on the same boot, with the
    same process numbers, as the same user.
    """
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            boot, namespace = file.read().strip(), os.readlink("/proc/self/ns/pid")
        segment = _Segment(0)
    except OSError:
        return None
    return HostMemory(boot, namespace, os.geteuid(), SegmentName(os.getpid(), segment.fd, segment.token))


def _forget_parents() -> None:
    """A forked process has segments of its own: those that it inherited are its parent's to lend."""
    for known in (arena, mappings, host_memory):
        known.cache_clear()


os.register_at_fork(after_in_child=_forget_parents)


def reaches(other: HostMemory | None) -> bool:
    """Whether this process can map what the process with this `host_memory` lends."""
    here = host_memory()
    if other is None or here is None:
        return False
    if (other.boot, other.pid_namespace, other.user) != (here.boot, here.pid_namespace, here.user):
        return False
    try:
        _Mapped(other.probe)
    except (OSError, ValueError):
        return False
    return True
