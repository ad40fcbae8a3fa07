"""State that outlives a step: variables, and the manager that finds state by container and name.

The law of variables: a read gives a value that no later write changes; a write is in place when no earlier
read is still held, and copies when one is. Readers take no lock. A writer takes the buffer out of the
variable while it works, so a concurrent reader waits for the writer instead of seeing half an update.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import torch

from tideflow.graph import errors
from tideflow.graph.errors import FailedPreconditionError, NotFoundError
from tideflow.interrupts import deferred
from tideflow.process import give_way, runs_last

_uses_of_storage = torch._C._storage_Use_Count


def storage_uses(tensor: torch.Tensor) -> int:
    """How many tensors (views included) share this tensor's memory."""
    return _uses_of_storage(tensor.untyped_storage()._cdata)


SOLE_STORAGE_USE = storage_uses(torch.zeros(1))


def _references_of_a_local() -> int:
    value = torch.zeros(1)
    return sys.getrefcount(value)


# The reference count of a value that one local name and one attribute refer to.
_ONLY_THE_WRITER = _references_of_a_local() + 1
_PIECE = 128 << 10  # bytes of a copy between which a thread of the lowest priority gives way
_TURNS = 20  # how often a writer yields to other threads, which may be about to drop their reference


def owned(value: Any) -> Any:
    """A copy of a value, for state: no array of the user shares its memory."""
    if not isinstance(value, torch.Tensor):
        return np.array(value, dtype=object, copy=True)
    is_plain = value.device.type == "cpu" and value.is_contiguous()
    return _copied_in_pieces(value) if value.nbytes > _PIECE and is_plain and runs_last() else value.clone()


def _copied_in_pieces(value: torch.Tensor) -> torch.Tensor:
    """A copy that a thread of the lowest priority makes: the memory is new, so every page of it is a fault,
    and others want the processor before all are there.
    """
    copy = torch.empty_like(value)
    count = _PIECE // value.element_size()
    for part, source in zip(copy.view(-1).split(count), value.view(-1).split(count)):
        part.copy_(source)
        give_way()
    return copy


class Variable:
    """A mutable buffer that steps share. `with variable as buffer:` gives a writer the buffer to itself."""

    __slots__ = ("_lock", "_taken", "_writer", "dtype", "message", "name", "shape", "value")

    def __init__(
        self,
        name: str,
        dtype: Any = None,
        shape: Any = None,
        message: str = "Attempting to use uninitialized value",
    ):
        self.name = name
        self.dtype = dtype
        self.shape = shape
        self.message = message
        self.value: Any = None  # None while uninitialized, and while a writer has it
        self._taken: Any = None
        self._writer = threading.get_ident()  # the thread that wrote last
        self._lock: Any = threading.RLock()  # Any: `_is_owned` is in no stub

    @property
    def initialized(self) -> bool:
        with self._lock:
            return self.value is not None

    def read(self) -> Any:
        """The current value."""
        value = self.value
        return value if value is not None else self._read_after_writer()

    def _read_after_writer(self) -> Any:
        with self._lock:
            if self.value is None:
                raise self.uninitialized()
            return self.value

    def look(self, take: Callable[[Any], Any]) -> Any:
        """What `take` makes of the value, in memory of its own, while writers wait. For a few rows of a
        large variable: had the step read all of it, the next writer would have to copy all of it.
        """
        with self._lock:
            if self.value is None:
                raise self.missing()
            return take(self.value)

    def uninitialized(self) -> FailedPreconditionError:
        return errors.failed_precondition(f"{self.message} {self.name}")

    def missing(self) -> errors.OpError:
        """The error of an op that needs the value for something other than a read."""
        return self.uninitialized()

    def assign(self, value: Any) -> None:
        """Replaces the value: into the same memory when it fits and nobody holds it."""
        with self._lock:
            fits = _are_alike(self.value, value)
        if fits:
            with self as buffer:
                if _are_alike(buffer, value):
                    buffer.copy_(value)
                    return
        with self._lock:
            _check_may_move(self)
            self.value = owned(value)

    def destroy(self) -> None:
        """Back to uninitialized."""
        with self._lock:
            self.value = None

    def __enter__(self) -> Any:
        try:
            self._lock.acquire()
            value = self.value
            if value is None:
                raise self.missing()
            self._taken = value  # first: an interrupt can come between any two instructions
            self.value = None
            held = sys.getrefcount(value) > _ONLY_THE_WRITER
            if held and self._writer != threading.get_ident():
                for _ in range(_TURNS):  # the last writer is done, but its frame may still hold the buffer
                    time.sleep(0)
                    if not (held := sys.getrefcount(value) > _ONLY_THE_WRITER):
                        break
            if isinstance(value, np.ndarray):
                value = self._taken = value.copy() if held else value
            elif held or _uses_of_storage(value.untyped_storage()._cdata) > SOLE_STORAGE_USE:
                _check_may_move(self)
                value = self._taken = value.clone()
            return value
        except BaseException:
            self._release()
            raise

    def __exit__(self, *exc: Any) -> None:
        self._release()

    def _release(self) -> None:
        if self._lock._is_owned():
            if self.value is None:
                self.value = self._taken
            self._taken = None
            self._writer = threading.get_ident()
            self._lock.release()

    def put_back(self) -> None:
        """After an interrupt in this thread: puts the buffer back and unlocks the variable."""
        while self._lock._is_owned():
            self._release()


# The thread whose kernels are being recorded (`compile/captured.py`): they compute nothing meanwhile, so a
# variable must not get new memory from them.
recording_thread: int | None = None


def _check_may_move(variable: Variable) -> None:
    if recording_thread == threading.get_ident():
        raise errors.failed_precondition(f"Variable {variable.name} gets new memory in each step.")


def _are_alike(old: Any, new: Any) -> bool:
    """Whether a tensor fits into the memory of another."""
    return (
        isinstance(old, torch.Tensor)
        and isinstance(new, torch.Tensor)
        and (old.shape, old.dtype, old.device) == (new.shape, new.dtype, new.device)
    )


def put_back(values: Iterable[Any]) -> None:
    """After an interrupt in this thread: makes those of the values whole that are variables."""
    with deferred:
        for value in values:
            if isinstance(value, Variable):
                value.put_back()


def device_of(value: Any) -> torch.device | None:
    """The device that has a value, or the value of a variable; None of what has no memory there."""
    held = value.value if isinstance(value, Variable) else value
    return held.device if isinstance(held, torch.Tensor) else None


DEFAULT_CONTAINER = "localhost"  # where an operation names none

# What belongs to the operations and functions of one session's graph, whoever shares the variables.
OP_STATE = "state of an op"
FUNCTION_PLAN = "plan of a function"
_OF_A_GRAPH = (OP_STATE, FUNCTION_PLAN)


class ResourceManager:
    """Finds a session's state by (container, kind, name), making it on first use. Sessions of one task share
    their state, each through a manager of its own (`shared` is the task's).
    """

    def __init__(self, shared: ResourceManager | None = None):
        self._lock: threading.Lock = threading.Lock() if shared is None else shared._lock
        self._resources: dict[tuple[str, str, str], Any] = {} if shared is None else shared._resources
        self._of_graph: dict[tuple[str, str, str], Any] = {}
        self.store = shared or self  # the manager that owns the state: it lives until that one is closed
        self.compile_early = False  # the hot tier compiles steps as soon as they have run a few times
        self.closed = False  # the session has ended, and its steps should end too

    def get_or_create(self, container: str, kind: str, name: str, make: Callable[[], Any]) -> Any:
        """The resource of that name, made by `make` where there is none."""
        key = (container or DEFAULT_CONTAINER, kind, name)
        with self._lock:
            held = self._held(kind)
            if key not in held:
                held[key] = make()
            return held[key]

    def find(self, container: str, kind: str, name: str) -> Any:
        """The resource of that name, or None."""
        return self._held(kind).get((container or DEFAULT_CONTAINER, kind, name))

    def is_closed(self) -> bool:
        return self.closed

    def _held(self, kind: str) -> dict[tuple[str, str, str], Any]:
        return self._of_graph if kind in _OF_A_GRAPH else self._resources

    def all(self, kind: str) -> list[Any]:
        """Every resource of a kind."""
        with self._lock:
            return [resource for (_, k, _), resource in self._resources.items() if k == kind]

    def wake(self) -> None:
        """Has every step that waits for a resource re-check whether it may wait longer."""
        with self._lock:
            found = [resource for resource in self._resources.values() if hasattr(resource, "wake")]
        for resource in found:
            resource.wake()

    def put_back(self) -> None:
        """After an interrupt in this thread: gives variables back the buffers it was writing, and unlocks
        them.
        """
        with self._lock:
            for resource in self._resources.values():
                if isinstance(resource, Variable):
                    resource.put_back()

    def clear(self, containers: Sequence[str] | None = None) -> None:
        """Forgets the resources of these containers ("" is the default one), or all."""
        named = None if containers is None else {container or DEFAULT_CONTAINER for container in containers}
        with self._lock:
            keys = [key for key in self._resources if named is None or key[0] in named]
            forgotten = [self._resources.pop(key) for key in keys]
        del forgotten  # without the lock: what ends with them may ask for other resources


class exclusive:
    """The buffers of several variables at once, for an optimizer's update. Locks are taken in one order
    everywhere, so that writers never wait in a ring.
    """

    def __init__(self, variables: Sequence[Variable]):
        self._variables = variables
        self._entered: list[Variable] = []

    def __enter__(self) -> list[Any]:
        try:
            buffers = {}
            for variable in sorted(set(self._variables), key=id):
                try:
                    buffers[variable] = variable.__enter__()
                except NotFoundError as error:
                    raise errors.internal(f"Invalid variable reference. {error.message}") from None
                self._entered.append(variable)
            return [buffers[variable] for variable in self._variables]
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *exc: Any) -> None:
        while self._entered:
            self._entered.pop().__exit__()
