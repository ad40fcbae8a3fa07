"""Which versions of which models are loaded. Events in, instructions out: no clocks, files or processes.

Storage says which versions it has (`found`), a model's policy which of them are wanted, and the machine what
to load and unload, and when. The server performs, and says what came of it (`loaded`, `failed`, `unloaded`).
Every event gives the instructions that follow from it.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from tideflow.graph import errors
from tideflow.graph.errors import OpError


class State(enum.IntEnum):
    """The state of a version, with TensorFlow Serving's numbers."""

    UNKNOWN = 0
    START = 10
    LOADING = 20
    AVAILABLE = 30
    UNLOADING = 40
    END = 50


IN_MEMORY = (State.LOADING, State.AVAILABLE, State.UNLOADING)

# --------------------------------------------------------------------------------------------------- policies


@dataclass(frozen=True)
class Latest:
    """The versions with the highest numbers."""

    count: int = 1

    def wanted(self, found: Iterable[int]) -> set[int]:
        """Those of the versions found that are to be loaded."""
        return set(sorted(found)[-self.count :])


@dataclass(frozen=True)
class All:
    """Every version."""

    def wanted(self, found: Iterable[int]) -> set[int]:
        """All versions found."""
        return set(found)


@dataclass(frozen=True)
class Specific:
    """Some versions by number, once they are there."""

    versions: frozenset[int]

    def wanted(self, found: Iterable[int]) -> set[int]:
        """Those of the versions found that are named."""
        return set(found) & self.versions


Policy: TypeAlias = Latest | All | Specific

# ----------------------------------------------------------------------------------------------- instructions


@dataclass(frozen=True)
class Load:
    """Start loading a version."""

    model: str
    version: int


@dataclass(frozen=True)
class Unload:
    """Give a version no more calls, and unload it once it has answered those it has. It may still load."""

    model: str
    version: int


@dataclass(frozen=True)
class WakeAt:
    """Call `Versions.woken` at this time."""

    time: float


@dataclass(frozen=True)
class Changed:
    """A version has another state: for the log, the status and whoever waits for it."""

    model: str
    version: int
    state: State
    error: OpError | None


Instruction: TypeAlias = Load | Unload | WakeAt | Changed


# ------------------------------------------------------------------------------------------------ the machine


@dataclass
class VersionRecord:
    """The state of a version."""

    version: int
    memory: int = 0  # bytes, estimated before it is loaded
    state: State = State.END
    error: OpError | None = None
    failures: int = 0  # since it was last loaded, or last wanted
    retry_at: float = 0.0
    failed_size: int = 0  # of its files, when it could not be loaded
    is_refused: bool = False  # there was no memory for it; it is loaded once there is


@dataclass
class ModelRecord:
    """What is wanted of a model, and what there is."""

    policy: Policy
    labels: dict[str, int] = field(default_factory=dict)  # as asked for
    found: dict[int, int] = field(default_factory=dict)  # versions in storage, and their estimated bytes
    versions: dict[int, VersionRecord] = field(default_factory=dict)
    is_removed: bool = False
    reached: dict[str, int] = field(default_factory=dict)  # the last version under a label that was available

    def wanted(self) -> set[int]:
        """The versions that are to be loaded."""
        return set() if self.is_removed else self.policy.wanted(self.found)

    def has(self, version: int | None) -> bool:
        """Whether the version can answer calls."""
        record = self.versions.get(version) if version is not None else None
        return record is not None and record.state is State.AVAILABLE

    def having(self, *states: State) -> list[VersionRecord]:
        """The versions in these states, the highest number first."""
        records = [record for record in self.versions.values() if record.state in states]
        return sorted(records, key=lambda record: -record.version)


class Versions:
    """The versions of all models.

    Where `unloads_first`, a version goes before the one that takes its place is loaded (resource preserving);
    otherwise it answers until the other one does (availability preserving). `memory` is the bytes that all
    versions may take together. A load that fails is tried `retries` times more, at intervals of
    `retry_interval` seconds. A label may be given to a version that is not available yet where `labels_wait`;
    one that is moved to such means the version that it named before, or with `labels_move_at_once` the new
    one, though that does not answer yet.
    """

    def __init__(
        self,
        *,
        unloads_first: bool = False,
        memory: int | None = None,
        retries: int = 5,
        retry_interval: float = 60.0,
        loads_at_once: int = 4,
        labels_wait: bool = True,
        labels_move_at_once: bool = False,
    ) -> None:
        self.models: dict[str, ModelRecord] = {}
        self.unloads_first = unloads_first
        self.memory = memory
        self.retries = retries
        self.retry_interval = retry_interval
        self.loads_at_once = loads_at_once
        self.labels_wait = labels_wait
        self.labels_move_at_once = labels_move_at_once

    def check_labels(self, model: str, labels: Mapping[str, int]) -> None:
        """Raises an error, in TensorFlow Serving's words, if a model may not have these labels."""
        if self.labels_wait or self.labels_move_at_once:
            return
        each = self.models.get(model)
        for version in labels.values():
            if each is None or not each.has(version):
                raise errors.failed_precondition(
                    f"Request to assign label to version {version} of model {model}, which is not currently "
                    "available for inference"
                )

    # ------------------------------------------------------------------------------------------------- events

    def configured(
        self, model: str, policy: Policy = Latest(), labels: Mapping[str, int] | None = None
    ) -> list[Instruction]:
        """The model is to be served, or to be served otherwise than before."""
        record = self.models.setdefault(model, ModelRecord(policy))
        record.policy, record.labels, record.is_removed = policy, dict(labels or {}), False
        return self._settled()

    def removed(self, model: str) -> list[Instruction]:
        """The model is not to be served any more."""
        self.models[model].is_removed = True
        return self._settled()

    def found(self, model: str, sizes: Mapping[int, int]) -> list[Instruction]:
        """Storage has these versions, with estimates of their memory in bytes.

        Storage that has none, or cannot be read (then this is not called), unloads nothing: the last good
        version answers until another one does, or the model is removed. A version that could not be loaded is
        tried again at once when its files have changed since, and have not changed since they were last seen:
        it was still being written.
        """
        each = self.models[model]
        for record in each.having(State.START, State.END):
            size = sizes.get(record.version)
            if record.failures and record.failed_size != size == each.found.get(record.version):
                record.failures, record.retry_at = 0, 0.0
        each.found = dict(sizes)
        return self._settled()

    def replaced(self, model: str, version: int) -> list[Instruction]:
        """The files of the version are others now. If it is in memory it goes, and comes again of those."""
        record = self.models[model].versions.get(version)
        if record is None or record.state not in (State.LOADING, State.AVAILABLE):
            return []
        return [self._moved(model, record, State.UNLOADING), Unload(model, version)]

    def loaded(self, model: str, version: int, memory: int | None = None) -> list[Instruction]:
        """The version can answer calls. It takes so many bytes, where that is known better now."""
        record = self.models[model].versions[version]
        if record.state is not State.LOADING:
            return []  # it was to be unloaded meanwhile
        if memory is not None:
            record.memory = memory
        record.failures = 0
        return [self._moved(model, record, State.AVAILABLE), *self._settled()]

    def failed(self, model: str, version: int, error: OpError, now: float) -> list[Instruction]:
        """The version could not be loaded, or cannot answer any more. Its memory is free."""
        record = self.models[model].versions[version]
        if record.state is State.UNLOADING:
            return self.unloaded(model, version)
        if record.state not in IN_MEMORY:
            return []
        record.failures += 1
        record.failed_size = self.models[model].found.get(version, 0)
        if record.failures > self.retries:
            return [self._moved(model, record, State.END, error), *self._settled()]
        record.retry_at = now + self.retry_interval
        return [self._moved(model, record, State.START, error), WakeAt(record.retry_at), *self._settled()]

    def unloaded(self, model: str, version: int) -> list[Instruction]:
        """The version has gone, and its memory is free."""
        record = self.models[model].versions[version]
        return [self._moved(model, record, State.END), *self._settled()]

    def woken(self, now: float) -> list[Instruction]:
        """A time has come that a `WakeAt` named."""
        for each in self.models.values():
            for record in each.having(State.START):
                if record.retry_at <= now:
                    record.retry_at = 0.0
        return self._settled()

    # ---------------------------------------------------------------------------------------------- decisions

    def _moved(
        self, model: str, record: VersionRecord, state: State, error: OpError | None = None
    ) -> Changed:
        record.state, record.error = state, error
        return Changed(model, record.version, state, error)

    def _settled(self) -> list[Instruction]:
        """What follows from how things stand."""
        found: list[Instruction] = []
        for model, each in self.models.items():
            found += self._aspirations(model, each)
            found += self._unloads(model, each)
        for model, each in self.models.items():
            found += self._loads(model, each)
            each.reached |= {label: version for label, version in each.labels.items() if each.has(version)}
        for model in [model for model, each in self.models.items() if each.is_removed]:
            if not self.models[model].having(*IN_MEMORY):
                del self.models[model]
        return found

    def _aspirations(self, model: str, each: ModelRecord) -> list[Instruction]:
        """Versions that are wanted now are to be loaded, those that are not wanted any more are not."""
        wanted = each.wanted()
        found: list[Instruction] = []
        for version in sorted(wanted - each.versions.keys()):
            each.versions[version] = VersionRecord(version)
        for record in each.having(State.START, State.END):
            if record.version in wanted:
                record.memory = each.found[record.version]
                if record.state is State.END and not record.failures and not record.is_refused:
                    found.append(self._moved(model, record, State.START))
                continue
            record.is_refused, record.failures, record.retry_at = False, 0, 0.0
            if record.state is State.START:
                found.append(self._moved(model, record, State.END, record.error))
            if record.version not in each.found:
                del each.versions[record.version]
        return found

    def _unloads(self, model: str, each: ModelRecord) -> list[Instruction]:
        wanted = each.wanted()
        available = each.having(State.AVAILABLE)
        begun = [*each.having(State.LOADING), *available]
        if each.is_removed:
            going = begun
        elif self.unloads_first and wanted:
            going = [record for record in begun if record.version not in wanted]
        elif any(record.version in wanted for record in available):
            going = [record for record in available if record.version not in wanted]
        else:
            going = []
        found: list[Instruction] = []
        for record in going:
            found += [self._moved(model, record, State.UNLOADING), Unload(model, record.version)]
        return found

    def _loads(self, model: str, each: ModelRecord) -> list[Instruction]:
        wanted = each.wanted()
        if self.unloads_first and any(record.version not in wanted for record in each.having(*IN_MEMORY)):
            return []
        found: list[Instruction] = []
        for record in each.having(State.START, State.END):
            is_due = record.state is State.START and not record.retry_at or record.is_refused
            if record.version not in wanted or not is_due:
                continue
            if not self._fits(record):
                if not self._may_fit_later(record) and not record.is_refused:
                    record.is_refused = True
                    found.append(self._moved(model, record, State.END, self._no_memory(model, record)))
            elif self._loading() < self.loads_at_once:
                record.is_refused = False
                found += [self._moved(model, record, State.LOADING), Load(model, record.version)]
        return found

    def _loading(self) -> int:
        return sum(len(each.having(State.LOADING)) for each in self.models.values())

    def used(self) -> int:
        """The bytes of all versions that are loaded, or are being loaded or unloaded."""
        return sum(record.memory for each in self.models.values() for record in each.having(*IN_MEMORY))

    def _fits(self, record: VersionRecord) -> bool:
        return self.memory is None or self.used() + record.memory <= self.memory

    def _may_fit_later(self, record: VersionRecord) -> bool:
        """Whether it fits once what is being unloaded has gone."""
        going = sum(other.memory for one in self.models.values() for other in one.having(State.UNLOADING))
        return self.memory is not None and self.used() - going + record.memory <= self.memory

    def _no_memory(self, model: str, record: VersionRecord) -> OpError:
        assert self.memory is not None
        return errors.resource_exhausted(
            f"version {record.version} of model {model} needs about {record.memory} bytes, and "
            f"{max(self.memory - self.used(), 0)} of {self.memory} are free; it is loaded when there is room"
        )

    # ------------------------------------------------------------------------------------------------ look-up

    def find(self, model: str, version: int | None = None, label: str | None = None) -> int:
        """The available version that a request means, in TensorFlow Serving's words where there is none."""
        each = self.models.get(model)
        if label is not None:
            version = self._labelled(each, label)
        version = self.meant(model, version)
        if version is None:
            available = each.having(State.AVAILABLE) if each else []
            if available:
                return available[0].version
            raise errors.not_found(f"Servable not found for request: Latest({model})")
        if each is None or not each.has(version):
            raise errors.not_found(f"Servable not found for request: Specific({model}, {version})")
        return version

    def meant(self, model: str, version: int | None) -> int | None:
        """The version that a request names, or None for any. 0 is any too, where there is no version 0: some
        clients (OpenVINO's) send it if they are given none.
        """
        each = self.models.get(model)
        return None if version == 0 and each is not None and 0 not in each.versions else version

    def _labelled(self, each: ModelRecord | None, label: str) -> int:
        """The version under a label; while that loads, the one that the label named before."""
        if each is None or label not in each.labels:
            raise errors.invalid_argument(f"Unrecognized servable version label: {label}")
        before, version = each.reached.get(label), each.labels[label]
        if self.labels_move_at_once or each.has(version):
            return version
        return before if before is not None and each.has(before) else version
