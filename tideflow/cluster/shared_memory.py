"""Tensors between processes of one host: written once into memory that both map, never through a socket.

The sender's arena is a set of memfds. Each is a segment: one page that holds its state, then one tensor. A
message names the segment; the receiver opens it through /proc/<pid>/fd, keeps it mapped, and puts a tensor
over it. When that tensor dies the receiver writes FREE into the state, and the sender uses the segment again,
its pages still warm. A segment can be dropped at any time: who has it mapped keeps it. The kernel frees what
nobody maps any more, however the processes ended.

A segment's name holds 128 random bits, which only a process that may look into its owner can know: nobody
else can make a task map memory that was not meant for it.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import re
import reprlib
import secrets
import threading
import time
from collections import OrderedDict
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from tideflow.graph import errors
from tideflow.graph.errors import InvalidArgumentError

WORTH_BYTES = 1 << 20  # a smaller tensor is as quick through the socket
_PAGE = 4096  # of the state; what follows is aligned for any kernel
_FREE, _SENT, _TAKEN, _DROPPED = range(4)
_SEALS = getattr(fcntl, "F_SEAL_SHRINK", 2) | getattr(fcntl, "F_SEAL_GROW", 4)
_IDLE_SECONDS = 60.0  # for which a free segment is kept in case it is needed again
_UNCLAIMED_SECONDS = 300.0  # a message that nobody took for so long was lost with its connection
_TOKEN = re.compile("[0-9a-f]{32}")
_MAPPED_SEGMENTS = 64  # that a receiver keeps mapped


def default_limit() -> int:
    """The bytes an arena may hold: a sixteenth of the machine's memory."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 16


class _Segment:
    """A memfd of this process, mapped."""

    def __init__(self, size: int):
        self.token, self.size = secrets.token_hex(16), size
        self.fd = os.memfd_create(_name(self.token), os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        try:
            os.posix_fallocate(self.fd, 0, _PAGE + size)  # memory that is not there is an error here
            fcntl.fcntl(self.fd, fcntl.F_ADD_SEALS, _SEALS)  # nobody who maps it can be cut off
            self.map = mmap.mmap(self.fd, _PAGE + size)
        except BaseException:
            os.close(self.fd)
            raise
        self.state = memoryview(self.map)[:4].cast("I")
        self.borrower, self.since = 0, 0.0

    def close(self) -> None:
        self.state[0] = _DROPPED  # so receivers unmap it, too
        os.close(self.fd)

    def is_lost(self) -> bool:
        """Whether whoever had it is gone, or never took it."""
        if self.state[0] == _SENT and time.monotonic() - self.since > _UNCLAIMED_SECONDS:
            return True
        return not os.path.exists(f"/proc/{self.borrower}")


class Arena:
    """The segments of this process: lent to receivers, and used again when they come back."""

    def __init__(self, limit: int | None = None):
        self.limit = default_limit() if limit is None else limit
        self._segments: list[_Segment] = []
        self._lock = threading.Lock()

    def lend(self, data: torch.Tensor, borrower: int) -> list | None:
        """Puts bytes where process `borrower` finds them by the name returned; None where they do not fit."""
        segment = self._take(data.numel(), borrower)
        if segment is None:
            return None
        torch.frombuffer(segment.map, dtype=torch.uint8, count=data.numel(), offset=_PAGE).copy_(data)
        return [os.getpid(), segment.fd, segment.token]

    def held_bytes(self) -> int:
        """What the arena takes of the machine's memory."""
        return sum(segment.size for segment in self._segments)

    def close(self) -> None:
        """Gives everything back; what receivers hold stays theirs."""
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
        """The smallest free segment that holds so much without wasting more than that."""
        fitting = [s for s in self._segments if s.state[0] == _FREE and size <= s.size <= 2 * size]
        return min(fitting, key=lambda segment: segment.size, default=None)

    def _make(self, size: int) -> _Segment | None:
        if self.held_bytes() + size > self.limit:
            self._drop([s for s in self._segments if s.state[0] == _FREE or s.is_lost()])
        if self.held_bytes() + size > self.limit:
            return None
        try:
            segment = _Segment(size)
        except OSError:  # out of memory or descriptors: the socket still works
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
    """Sizes that differ little share segments: up to the next eighth of a power of two."""
    step = 1 << max(size.bit_length() - 4, 12)
    return -(-size // step) * step


def _name(token: str) -> str:
    return f"tideflow-{token}"


# -------------------------------------------------------------------------------------------------- receiver


class _Mapped:
    """Another process's segment, mapped here."""

    def __init__(self, pid: int, fd: int, token: str):
        path, name = f"/proc/{pid}/fd/{fd}", f"/memfd:{_name(token)} (deleted)"
        if os.readlink(path) != name:  # before it is opened: opening alone may do something
            raise FileNotFoundError(path)
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            if os.readlink(f"/proc/self/fd/{descriptor}") != name:  # it was exchanged meanwhile
                raise FileNotFoundError(path)
            if fcntl.fcntl(descriptor, fcntl.F_GET_SEALS) & _SEALS != _SEALS:
                raise PermissionError(f"{path} can still be cut short")
            self.size = os.fstat(descriptor).st_size - _PAGE
            self.map = mmap.mmap(descriptor, 0)
        finally:
            os.close(descriptor)
        self.state = memoryview(self.map)[:4].cast("I")
        self.address = np.frombuffer(self.map, np.uint8).__array_interface__["data"][0]
        self._owner = pid

    def is_over(self) -> bool:
        """Whether nothing will be lent in it any more."""
        return self.state[0] == _DROPPED or not os.path.exists(f"/proc/{self._owner}")


class _Lease:
    """The hold of a tensor on a segment: NumPy keeps it as the array's base, and it ends with the array."""

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
    """The segments of other processes that this one has mapped, the last used ones."""

    def __init__(self) -> None:
        self._mapped: OrderedDict[tuple, _Mapped] = OrderedDict()
        self._lock = threading.Lock()

    def attach(self, name: Any, length: int) -> np.ndarray:
        """The bytes that another process lent under this name."""
        mapped = self._find(*_checked(name))
        if length > mapped.size:
            raise errors.data_loss(f"A tensor of {length} bytes in a shared segment of {mapped.size}.")
        if mapped.state[0] != _SENT:
            raise errors.data_loss("A shared segment was announced twice, or taken back meanwhile.")
        return np.asarray(_Lease(mapped, length))

    def _find(self, *name: Any) -> _Mapped:
        with self._lock:
            mapped = self._mapped.get(name)
            if mapped is None:
                for key in [key for key, old in self._mapped.items() if old.is_over()]:
                    del self._mapped[key]
                try:
                    mapped = self._mapped[name] = _Mapped(*name)
                except (OSError, ValueError) as error:
                    raise errors.data_loss(
                        f"A shared segment of process {name[0]} cannot be mapped: {error}."
                    ) from None
            self._mapped.move_to_end(name)
            while len(self._mapped) > _MAPPED_SEGMENTS:
                self._mapped.popitem(last=False)
            return mapped


def _checked(name: Any) -> list:
    match name:
        case [int(pid), int(fd), str(token)] if pid > 0 and fd >= 0 and _TOKEN.fullmatch(token):
            return name
    raise errors.invalid_argument(f"Not the name of a shared segment: {reprlib.repr(name)}.")


# ---------------------------------------------------------------------------------------------- who can share


@lru_cache(maxsize=1)
def arena() -> Arena:
    """The arena of this process."""
    return Arena()


@lru_cache(maxsize=1)
def mappings() -> Mappings:
    """What this process has mapped of others."""
    return Mappings()


@lru_cache(maxsize=1)
def _place() -> list | None:
    """Where processes see each other's memory: the same boot, the same process numbers, the same user."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return [file.read().strip(), os.readlink("/proc/self/ns/pid"), os.geteuid()]
    except OSError:
        return None


def host() -> dict[str, Any]:
    """What a greeting says of this process's memory, with a segment for the other side to try."""
    place = _place()
    return {} if place is None else {"place": place, "try": _probe()}


@lru_cache(maxsize=1)
def _probe() -> list:
    segment = _Segment(0)
    return [os.getpid(), segment.fd, segment.token]


def _forget() -> None:
    """A forked process has segments of its own: those it inherited are its parent's to lend."""
    for known in (arena, mappings, _place, _probe):
        known.cache_clear()


os.register_at_fork(after_in_child=_forget)


def reaches(other: Any) -> bool:
    """Whether this process can map what the process that sent this `host()` lends."""
    place = _place()
    if not isinstance(other, dict) or place is None or other.get("place") != place:
        return False
    try:
        _Mapped(*_checked(other.get("try")))
    except (OSError, ValueError, InvalidArgumentError):
        return False
    return True
