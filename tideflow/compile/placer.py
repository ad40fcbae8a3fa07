"""The placer: a device for every operation of a graph, by TensorFlow 1.15's rules.

Operations that must be on one device form a group: an operation that takes a reference or a resource is in
the group of its source, and `_class` attributes name others. A group has one device pattern, merged from
those that its members ask for; where there is state among them, the state's own pattern wins. The group gets
the first device that matches, in the order of the device types' priorities. Shape, Size and Rank go to the
device of their input, and operations without inputs to that of their only consumer.

The whole graph is placed at once, whatever a step needs of it: state must be on the same device in every
step. What cannot be placed is an error only in a step that needs it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

from tideflow.compile.calls import lowering
from tideflow.graph import dtypes
from tideflow.graph.device import DeviceSpec
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation
from tideflow.runtime.devices import Device, PlacementMemory, device_type

_HOST_ONLY = (dtypes.string, dtypes.resource, dtypes.variant)


def assign(
    ops: Sequence[Operation],
    devices: Sequence[Device],
    *,
    soft: bool = False,
    default: Device | str | None = None,
    memory: PlacementMemory | None = None,
) -> dict[Operation, Device]:
    """The device of each of these operations, which are of one graph, and which a step needs.

    `devices` may be those of many tasks. Among equally good ones the first by name is taken, as in
    TensorFlow; operations without state go to the task `default`. With `soft`, a type or an index that no
    device has is ignored. `memory` keeps state where an earlier step has put it.
    """
    if not ops:
        return {}
    memory = PlacementMemory() if memory is None else memory
    placed = _placed(ops[0].graph, tuple(devices), soft, default, memory)
    found = placed.devices_of(ops)
    memory.kept.update((op.name, device) for op, device in found.items() if op.definition.handle)
    return found


def asked_for(
    ops: Sequence[Operation], *, soft: bool = False, memory: PlacementMemory | None = None
) -> set[DevicePattern]:
    """The device patterns of these operations and of their groups. They say which tasks must be known before
    the operations can be placed.
    """
    if not ops:
        return set()
    groups = _Groups(list(ops[0].graph._ops), soft, {} if memory is None else memory.kept)
    return {groups.of[op].requested for op in ops}


def prefers_accelerator(op: Any) -> bool:
    """Whether an operation (or a node of a program) runs on an accelerator where there is one: it has a
    kernel for it that keeps its values there.
    """
    definition = op.definition
    if definition.holds_step_values:
        return bool(op.attrs[definition.holds_step_values].is_floating)
    if definition.handle:  # of a variable, among others; counters stay where the plan can read them
        return bool(op.attrs.get("dtype", dtypes.string).is_floating)
    types = {value.dtype.base_dtype for value in (*op.inputs, *op.outputs)}
    if definition.on_host or not types.isdisjoint(_HOST_ONLY):
        return False
    if is_of_booleans(op):
        return True
    # 32-bit integers are sizes, axes and counters nearly always.
    return not (op.outputs and dtypes.int32 in types and types <= {dtypes.int32, dtypes.bool})


def is_of_booleans(op: Any) -> bool:
    """Whether an operation (or a node) makes booleans of booleans; integers say at most along which axes."""
    return bool(op.inputs and op.outputs) and all(
        value.dtype is dtypes.bool for value in (op.inputs[0], *op.outputs)
    )


# --------------------------------------------------------------------------------------------------- patterns


class DevicePattern(NamedTuple):
    """A device name of which any part may be left open."""

    job: str | None = None
    replica: int | None = None
    task: int | None = None
    kind: str | None = None  # CPU, GPU …
    number: int | None = None  # among the devices of its kind on its task

    def __str__(self) -> str:
        return DeviceSpec(*self).to_string()

    def accepts(self, other: DevicePattern) -> bool:
        """Whether a device of the name `other` matches."""
        return all(want is None or want == got for want, got in zip(self, other, strict=True))

    def of_task(self) -> DevicePattern:
        """The pattern of any device on the same task."""
        return self._replace(kind=None, number=None)


_ANY = DevicePattern()
_PARTS = ("jobs", "replicas", "tasks", "types", "ids")


@lru_cache(maxsize=4096)
def pattern_of(name: str) -> DevicePattern:
    """The pattern that a device name is."""
    if not name:
        return _ANY
    parsed = DeviceSpec.from_string(name)
    return DevicePattern(parsed.job, parsed.replica, parsed.task, parsed.device_type, parsed.device_index)


class _Conflict(Exception):
    """No device matches both of two patterns."""


def merged(a: DevicePattern, b: DevicePattern, soft: bool = False) -> DevicePattern:
    """The pattern of the devices that match both; with `soft` a type or an index that they disagree about is
    left open.
    """
    if a == b or b is _ANY:
        return a
    parts: list[Any] = []
    for field, one, other in zip(_PARTS, a, b, strict=True):
        if one is None or other is None or one == other:
            parts.append(other if one is None else one)
        elif soft and field in ("types", "ids"):
            return DevicePattern(*parts)
        else:
            raise _Conflict(f"Cannot merge devices with incompatible {field}: '{a}' and '{b}'")
    return DevicePattern(*parts)


def specified(base: DevicePattern, over: DevicePattern) -> DevicePattern:
    """`base` with every part that `over` fixes."""
    parts: list[Any] = [one if two is None else two for one, two in zip(base, over, strict=True)]
    return DevicePattern(*parts)


# ----------------------------------------------------------------------------------------------------- groups


class _Failure(NamedTuple):
    """Why operations cannot be on one device; the first failure is reported."""

    position: int
    op: Operation
    message: str


class _Group:
    """Operations that must be on one device."""

    __slots__ = ("conflict", "device", "kept", "members", "rank", "requested", "state")

    def __init__(self, op: Operation, kept: Device | None):
        self.members = [op]
        self.requested = pattern_of(op.device if kept is None else kept.name)
        self.state = self.requested if _makes_state(op) else _ANY  # what the state among them asks for
        self.kept = kept is not None  # their state has a device already, whatever they ask for
        self.rank = 0
        self.device: Device | None = None
        self.conflict: _Failure | None = None  # the first one

    @property
    def holds_state(self) -> bool:
        return any(op.definition.handle for op in self.members)

    @property
    def accelerated(self) -> bool:
        """Whether the group prefers an accelerator: its state decides; without state, one member that does is
        enough.
        """
        holders = [op for op in self.members if op.definition.handle]
        return any(map(prefers_accelerator, holders or self.members))


def _makes_state(op: Operation) -> bool:
    if op.inputs or len(op.outputs) != 1:
        return False
    return op.outputs[0].dtype._is_ref_dtype or op.outputs[0].dtype is dtypes.resource


class _Groups:
    """Which operations are together, and what each group asks for."""

    def __init__(self, ops: Sequence[Operation], soft: bool, kept: Mapping[str, Device]):
        self.soft = soft
        self.failures = 0
        self.of: dict[Operation, _Group] = {op: _Group(op, kept.get(op.name)) for op in ops}
        calls = []
        for op in ops:
            for source in _handed_on(op):
                if lowering(op) is None:
                    self._follow(source, op)
                else:
                    calls.append((source, op))
        self._join_classes(ops)
        for source, op in calls:  # a call goes to its state, if that is all on one device
            with contextlib.suppress(_Conflict):
                self._join(source, op)

    def _follow(self, source: Operation, op: Operation) -> None:
        """Joins an operation to the state that it uses. Its own pattern counts only where it narrows that of
        the state.
        """
        mine, its = self.of[op], self.of[source]
        if not its.requested.accepts(mine.requested):
            mine.requested = its.requested
        try:
            self._join(source, op)
        except _Conflict as conflict:
            self._fail(
                op,
                source,
                "Nodes were connected by a reference or resource connection (requiring them to be on the "
                f"same device), but the two nodes were assigned two different devices: {conflict}",
            )

    def _join_classes(self, ops: Sequence[Operation]) -> None:
        first: dict[str, Operation] = {}
        for op in ops:
            for name in op.attrs.get("_class", (op.name,)):
                other = first.setdefault(name.removeprefix("loc:@"), op)
                try:
                    self._join(op, other)
                except _Conflict as conflict:
                    if not self.soft:
                        text = f"Cannot colocate nodes {_described(op)} and {_described(other)}: {conflict}"
                        self._fail(op, other, text)

    def _join(self, a: Operation, b: Operation) -> _Group:
        """Makes one group of two; _Conflict where no device can serve both, and they stay two."""
        new, old = self.of[a], self.of[b]
        if new is old:
            return new
        if new.rank < old.rank:
            new, old = old, new
        if new.kept != old.kept:
            there = new if new.kept else old
            return self._united(new, old, there.requested, there.state)
        state = merged(new.state, old.state)
        requested = merged(new.requested, old.requested, self.soft)
        return self._united(new, old, specified(requested, state), state)

    def _united(self, new: _Group, old: _Group, requested: DevicePattern, state: DevicePattern) -> _Group:
        rank = new.rank + (new.rank == old.rank)
        if len(new.members) < len(old.members):
            new, old = old, new  # the smaller group is the one whose members change
        new.rank, new.kept = rank, new.kept or old.kept
        new.requested, new.state = requested, state
        new.conflict = min(filter(None, (new.conflict, old.conflict)), default=None)
        self.of.update(dict.fromkeys(old.members, new))
        new.members += old.members
        return new

    def _fail(self, op: Operation, other: Operation, message: str) -> None:
        """Notes that these must be on one device and cannot: a step that needs one of them fails."""
        new, old = self.of[op], self.of[other]
        group = new if new is old else self._united(new, old, new.requested, new.state)
        if group.conflict is None:
            group.conflict = _Failure(self.failures, op, message)
        self.failures += 1


def _handed_on(op: Operation) -> Iterable[Operation]:
    """The operations whose references or resources an operation takes."""
    if op.definition.is_spread:
        return ()
    sources = [tensor.op for tensor in op.inputs if tensor.dtype is dtypes.resource]
    if op.definition._takes_references:
        grouped = op.definition.group_inputs(list(op.inputs), op.attrs)
        sources += [t.op for t in op.definition._references(grouped) if t.dtype._is_ref_dtype]
    return sources


# -------------------------------------------------------------------------------------------------- placement


class Placed:
    """A graph with a device for each operation. Devices of the task `default` come first; `kept` are the
    devices of state that exists already.
    """

    def __init__(
        self,
        graph: Graph,
        devices: tuple[Device, ...],
        soft: bool = False,
        default: str = "",
        kept: Mapping[str, Device] = MappingProxyType({}),
    ):
        self._available = devices
        self._patterns = {device: pattern_of(device.name) for device in devices}
        self._soft = soft
        self._default = default
        ops = list(graph._ops)
        self._groups = _Groups(ops, soft, kept)
        self._candidates: dict[_Group, list[Device]] = {}
        self._device_of: dict[Operation, Device] = {}
        self._order: dict[Operation, int] = {}
        self._choose_all(ops)

    def devices_of(self, ops: Sequence[Operation]) -> dict[Operation, Device]:
        """The devices of these; InvalidArgumentError for the first of them that can have none."""
        found = {self._groups.of[op].conflict for op in ops}
        conflicts = [conflict for conflict in found if conflict is not None]
        if conflicts:
            first = min(conflicts)
            raise self._impossible(first.op, first.message)
        for op in sorted(ops, key=self._order.__getitem__):
            if op not in self._device_of:
                raise self._impossible(op, self._why_not(op, self._groups.of[op]))
        return {op: self._device_of[op] for op in ops}

    def candidates(self, op: Operation) -> list[Device]:
        """The devices that an operation, with its group, could have; the best first."""
        return self._candidates_of(self._groups.of[op])

    def together(self, op: Operation) -> list[Operation]:
        """The members of an operation's group; the same list for each of them."""
        return self._groups.of[op].members

    def _choose_all(self, ops: Sequence[Operation]) -> None:
        """Operations without inputs come last, when the devices of their consumers are known."""
        followers = _waiting_for(ops)
        generators = []
        for op in ops:
            if _is_generator(op):
                generators.append(op)
            else:
                self._choose(op, [op.inputs[0].op] if op.definition.role == "metadata" else ())
        for op in generators:
            self._choose(op, [*op.outputs[0]._consumers, *followers.get(op, ())])

    def _choose(self, op: Operation, beside: Sequence[Operation]) -> None:
        self._order[op] = len(self._order)
        group = self._groups.of[op]
        candidates = self._candidates_of(group)
        if group.device is None and candidates:
            near = {self._device_of.get(other) for other in beside}
            [device] = near if len(near) == 1 else [None]
            group.device = device if device in candidates else candidates[0]
        if group.device is not None:
            self._device_of[op] = group.device

    def _candidates_of(self, group: _Group) -> list[Device]:
        """The devices that fit, the best first."""
        if group not in self._candidates:
            found = self._matching(group.requested)
            if not found and self._soft:
                found = self._matching(group.requested.of_task())
            accelerated = group.accelerated
            # A group without state may be on any task. State must be where every session looks for it.
            near = "" if group.holds_state else self._default
            self._candidates[group] = sorted(found, key=lambda device: self._rank(device, accelerated, near))
        return self._candidates[group]

    def _matching(self, pattern: DevicePattern) -> list[Device]:
        return [device for device, name in self._patterns.items() if pattern.accepts(name)]

    def _rank(self, device: Device, accelerated: bool, near: str) -> tuple[bool, int, bool, str]:
        """Groups that belong on the host have CPUs first; else the priorities of the device types decide."""
        kind = device_type(device.device_type)
        off_host = not accelerated and device.device_type != "CPU"
        return off_host, -(kind.priority if kind else 0), device.task != near, device.name

    # ------------------------------------------------------------------ why not

    def _impossible(self, op: Operation, message: str) -> InvalidArgumentError:
        group = self._groups.of[op]
        if len(group.members) > 1:
            message += _listed_members(group)
        if not self._soft and self._matching(group.requested.of_task()):
            message += (
                "\nWith allow_soft_placement=True in the session's config, another device there would do."
            )
        return InvalidArgumentError(op.node_def, op, message)

    def _why_not(self, op: Operation, group: _Group) -> str:
        if pattern_of(op.device) == group.requested:
            return not_there(op, self._available)
        return (
            f"Cannot assign a device for operation {op.name}: Could not satisfy explicit device "
            f"specification '{op.device}' because the {_described(op)} was colocated with a group of nodes "
            f"that required incompatible device '{group.requested}'. All available devices "
            f"[{_names(self._available)}]."
        )


def not_there(op: Operation, devices: Sequence[Device]) -> str:
    """The message for an operation that asks for a device which is none of these."""
    return (
        f"Cannot assign a device for operation {op.name}: node {op.name} (defined at {op.user_line}) was "
        f"explicitly assigned to {op.device} but available devices are [ {_names(devices)} ]. Make sure the "
        f"device specification refers to a valid device.{_about_kind(pattern_of(op.device).kind, devices)}"
    )


def _names(devices: Sequence[Device]) -> str:
    return ", ".join(sorted(device.name for device in devices))


def _about_kind(kind: str | None, devices: Sequence[Device]) -> str:
    if kind is None or any(device.device_type == kind for device in devices):
        return ""
    if kind == "GPU":
        return " The requested device appears to be a GPU, but no GPU that torch can use is in sight."
    return "" if device_type(kind) else f" No device type {kind} is registered."


def _is_generator(op: Operation) -> bool:
    return not op.inputs and len(op.outputs) == 1 and not op.outputs[0].dtype._is_ref_dtype


def _waiting_for(ops: Sequence[Operation]) -> dict[Operation, list[Operation]]:
    """By operation, those that wait for it by a control edge."""
    found: dict[Operation, list[Operation]] = {}
    for op in ops:
        for control in op.control_inputs:
            found.setdefault(control, []).append(op)
    return found


def _placed(
    graph: Graph,
    devices: tuple[Device, ...],
    soft: bool,
    default: Device | str | None,
    memory: PlacementMemory,
) -> Placed:
    task = default.task if isinstance(default, Device) else default or ""
    key = (graph, graph.version, graph._mutations, devices, soft, task)
    if memory.placed is None or memory.placed[0] != key:
        memory.placed = key, Placed(graph, devices, soft, task, memory.kept)
    placed: Placed = memory.placed[1]
    return placed


def _described(op: Operation) -> str:
    where = f"placed on device {op.device}" if op.device else "with no device asked for"
    return f"node {op.name} (defined at {op.user_line}) {where}"


def _listed_members(group: _Group) -> str:
    """The members of a group with the devices that they ask for; those that ask for one come first."""
    most = 20
    members = sorted(group.members, key=lambda op: (not op.device, op._id))
    lines = [f"  {op.name} ({op.type}) {op.device or '-'}, made at {op.user_line}" for op in members[:most]]
    if len(members) > most:
        lines.append(f"  and {len(members) - most} more")
    return "\nColocation members and user-requested devices:\n" + "\n".join(lines)
