"""Predictions by model version and input, bounded in bytes; equal calls that are under way are computed once.

Feedback for an input finds the predictions that were made for it in here, or joins them while they are made.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from tideflow.graph.errors import DeadlineExceededError, OpError
from tideflow.serving.calls import Array, Arrays, Call, Servable, Signature

Key: TypeAlias = tuple[str, int, bytes]  # model, version, and a digest of the call

ENTRY_BYTES = 400  # about what an entry takes beside its arrays


@dataclass(slots=True)
class _Entry:
    outputs: Arrays
    size: int
    was_used: bool = False


class PredictionCache:
    """Outputs by key. What was not used since the clock's hand last came by makes room for what is new."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.size = 0
        self.hits = self.misses = self.joins = self.evictions = 0
        self._entries: OrderedDict[Key, _Entry] = OrderedDict()  # the hand stands before the first

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Key) -> Arrays | None:
        """The outputs, if they are here."""
        entry = self._entries.get(key)
        if entry is None:
            self.misses += 1
            return None
        self.hits += 1
        entry.was_used = True
        return entry.outputs

    def put(self, key: Key, outputs: Arrays) -> None:
        """Keeps outputs, unless they are larger than the whole cache."""
        kept = {name: _own(array) for name, array in outputs.items()}
        size = ENTRY_BYTES + sum(_size(array) for array in kept.values())
        if size > self.capacity or key in self._entries:
            return
        while self.size + size > self.capacity:
            self._pass_one()
        self._entries[key] = _Entry(kept, size)
        self.size += size

    def _pass_one(self) -> None:
        """The hand passes an entry: one that was used stays, and has to be used again by the next time."""
        key, entry = self._entries.popitem(last=False)
        if entry.was_used:
            entry.was_used = False
            self._entries[key] = entry
        else:
            self.size -= entry.size
            self.evictions += 1

    def forget(self, model: str, version: int) -> None:
        """Drops what a version that has gone has predicted."""
        for key in [key for key in self._entries if key[:2] == (model, version)]:
            self.size -= self._entries.pop(key).size


def _own(array: Array) -> Array:
    """The array without the rest of its batch, to be read only: many callers get it."""
    result = array if array.base is None else array.copy()
    result.flags.writeable = False
    return result


def _size(array: Array) -> int:
    return array.nbytes + (sum(map(len, array.flat)) if array.dtype == object else 0)


def digest(call: Call) -> bytes:
    """A digest of what a call asks for: equal calls have equal ones, and nobody can make others that do."""
    made = hashlib.blake2b(repr((call.signature, call.outputs)).encode(), digest_size=16)
    for name in sorted(call.inputs):
        array = call.inputs[name]
        made.update(f"{name}\0{array.dtype.str}{array.shape}\0".encode())
        if array.dtype == object:
            for value in array.flat:
                made.update(len(value).to_bytes(8, "little"))
                made.update(value)
        else:
            made.update(np.ascontiguousarray(array).data)
    return made.digest()


class _JoinedCall:
    """A call (`calls.Call`) for several equal ones. It is cancelled when all of them are."""

    def __init__(self, key: Key, first: Call, servable: CachedServable) -> None:
        self.key, self.callers, self._servable = key, [first], servable
        self.signature, self.inputs, self.outputs = first.signature, first.inputs, first.outputs
        self.rows, self.deadline = first.rows, first.deadline
        self._is_given_up = False

    @property
    def is_cancelled(self) -> bool:
        """Whether nobody waits for the answer."""
        return self._is_given_up or all(call.is_cancelled for call in self.callers)

    @is_cancelled.setter
    def is_cancelled(self, value: bool) -> None:
        self._is_given_up = value

    def done(self, outcome: Arrays | OpError) -> None:
        """Answers all callers."""
        self._servable.answered(self, outcome)


class CachedServable:
    """A servable that answers what it was asked before from a cache."""

    def __init__(self, servable: Servable, cache: PredictionCache) -> None:
        self.servable, self.cache = servable, cache
        self.name, self.version = servable.name, servable.version
        self.signatures: Mapping[str, Signature] = servable.signatures
        self._under_way: dict[Key, _JoinedCall] = {}

    def submit(self, call: Call) -> None:
        """Answers from the cache, joins an equal call that is under way, or has it computed."""
        key = (self.name, self.version, digest(call))
        outputs = self.cache.get(key)
        if outputs is not None:
            call.done(outputs)
            return
        joined = self._under_way.get(key)
        if joined is not None and not joined.is_cancelled:
            self.cache.joins += 1
            joined.callers.append(call)
            return
        self._submit(_JoinedCall(key, call, self))

    def _submit(self, joined: _JoinedCall) -> None:
        self._under_way[joined.key] = joined
        self.servable.submit(joined)  # type: ignore[arg-type]

    def answered(self, joined: _JoinedCall, outcome: Arrays | OpError) -> None:
        """A call was computed, or failed. Callers with more time than the first one are not late with it."""
        if self._under_way.get(joined.key) is joined:
            del self._under_way[joined.key]
        waiting = [call for call in joined.callers if not call.is_cancelled]
        if isinstance(outcome, DeadlineExceededError):
            patient = [call for call in waiting if call.deadline > joined.deadline]
            waiting = [call for call in waiting if call.deadline <= joined.deadline]
            if patient:
                again = _JoinedCall(joined.key, min(patient, key=lambda call: call.deadline), self)
                again.callers = patient
                self._submit(again)
        elif not isinstance(outcome, OpError):
            self.cache.put(joined.key, outcome)
        for call in waiting:
            call.done(outcome)
