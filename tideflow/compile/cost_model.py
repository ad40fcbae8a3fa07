"""What a placement costs, by a model measured from a traced step: seconds an operation, bytes a tensor.

A block is an operation, or all operations of a loop. Blocks that must be on one device make a bundle. A
device runs one block at a time, and so do several devices that are the same hardware, such as the CPUs of one
process. A value that another device needs arrives there after a latency and the time that its bytes take at a
bandwidth, once for each device. A schedule takes the blocks with the longest path to the step's end first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tideflow.graph.operation import Tensor
from tideflow.runtime.devices import Device


@dataclass(frozen=True)
class Link:
    """How long a copy from one device to another takes."""

    latency: float  # seconds
    bandwidth: float  # bytes a second

    def seconds(self, size: float) -> float:
        return self.latency + size / self.bandwidth


Links = Callable[[Device, Device], Link | None]  # None: they share their memory


def links_between(
    bandwidth: float, latency: float, bus_bandwidth: float = 1e10, bus_latency: float = 1e-5
) -> Links:
    """Devices of different tasks are joined by a network, those of one task by its bus, or by memory."""
    network, bus = Link(latency, bandwidth), Link(bus_latency, bus_bandwidth)

    def link(a: Device, b: Device) -> Link | None:
        if a.task != b.task:
            return network
        return None if a.torch_device == b.torch_device else bus

    return link


@dataclass(eq=False)
class Block:
    """Operations that run as one. `takes`: how many bytes it needs of which blocks, 0 for a control edge."""

    names: list[str]
    seconds: float
    bundle: int
    measured_on: str = "CPU"  # the kind of device that took so long
    takes: dict[int, dict[Any, float]] = field(default_factory=dict)  # by block, by value


@dataclass(frozen=True)
class Work:
    """A step: its blocks, each after those it needs, and the devices that each bundle may have."""

    blocks: list[Block]
    choices: list[list[int]]  # by bundle: positions in `devices`
    devices: Sequence[Device]
    links: Links
    speeds: Mapping[str, float] = field(default_factory=dict)  # by device type, relative to each other

    def seconds(self, block: Block, device: int) -> float:
        """How long a block takes on a device."""
        speed = self.speeds.get(block.measured_on, 1.0) / self.speeds.get(
            self.devices[device].device_type, 1.0
        )
        return block.seconds * speed


@dataclass(frozen=True)
class Expectation:
    """What a placement is expected to cost."""

    seconds: float
    bytes_moved: float
    busy: Mapping[str, float]  # seconds of work by device


def urgency(work: Work) -> list[float]:
    """By block: the seconds from its start to the step's end, with a device for each block."""
    count = max(1, len(work.devices))
    pairs = [(a, b) for a in work.devices for b in work.devices if a is not b]
    found = [link for link in (work.links(a, b) for a, b in pairs) if link is not None]
    share = len(found) / max(1, len(pairs))

    def typical(size: float) -> float:
        return share * sum(link.seconds(size) for link in found) / len(found) if found else 0.0

    rest = [0.0] * len(work.blocks)
    for i in range(len(work.blocks) - 1, -1, -1):
        block = work.blocks[i]
        rest[i] += sum(work.seconds(block, d) for d in range(len(work.devices))) / count
        for source, values in block.takes.items():
            rest[source] = max(rest[source], rest[i] + typical(sum(values.values())))
    return rest


class Schedule:
    """Blocks on devices, in the order in which they are put there; `finish` says when one would be done."""

    def __init__(self, work: Work):
        self.work = work
        hardware = [(device.task, device.torch_device) for device in work.devices]
        self.hardware = [hardware.index(there) for there in hardware]  # by device
        self.free = [0.0] * len(work.devices)  # by hardware: when it can begin the next block
        self.done = [0.0] * len(work.blocks)
        self.device = [-1] * len(work.blocks)
        self.there: dict[tuple[int, Any, int], float] = {}  # when a value arrives on another device
        self.busy = [0.0] * len(work.devices)
        self.bytes_moved = 0.0

    def finish(self, i: int, device: int) -> float:
        """When block `i` would be done on a device, were it next."""
        return self._start(i, device) + self.work.seconds(self.work.blocks[i], device)

    def _start(self, i: int, device: int) -> float:
        arrivals = [
            self._arrival(source, value, size, device)
            for source, values in self.work.blocks[i].takes.items()
            for value, size in values.items()
        ]
        return max([self.free[self.hardware[device]], *arrivals])

    def _arrival(self, source: int, value: Any, size: float, device: int) -> float:
        home = self.device[source]
        if home == device:
            return self.done[source]
        if (source, value, device) in self.there:
            return self.there[source, value, device]
        link = self.work.links(self.work.devices[home], self.work.devices[device])
        return self.done[source] + (0.0 if link is None else link.seconds(size))

    def put(self, i: int, device: int) -> None:
        """Block `i` is next on a device."""
        block = self.work.blocks[i]
        end = self.finish(i, device)
        for source, values in block.takes.items():
            for value, size in values.items():
                self._send(source, value, size, device)
        self.busy[device] += self.work.seconds(block, device)
        self.device[i], self.done[i], self.free[self.hardware[device]] = device, end, end

    def _send(self, source: int, value: Any, size: float, device: int) -> None:
        home = self.device[source]
        key = (source, value, device)
        if home == device or key in self.there:
            return
        self.there[key] = self._arrival(source, value, size, device)
        if self.work.links(self.work.devices[home], self.work.devices[device]) is not None:
            self.bytes_moved += size

    def expectation(self) -> Expectation:
        names = [device.name for device in self.work.devices]
        busy = dict(zip(names, self.busy, strict=True))
        return Expectation(max(self.done, default=0.0), self.bytes_moved, busy)


def by_urgency(work: Work) -> list[int]:
    """The blocks, the most urgent first; each after those it needs."""
    rest = urgency(work)
    return sorted(range(len(work.blocks)), key=lambda i: (-rest[i], i))


def simulate(work: Work, placed: Sequence[int], order: Sequence[int] | None = None) -> Expectation:
    """What a step costs with each bundle on the device that `placed` has for it."""
    schedule = Schedule(work)
    for i in by_urgency(work) if order is None else order:
        schedule.put(i, placed[work.blocks[i].bundle])
    return schedule.expectation()


# ----------------------------------------------------------------------------------------- from a traced step


@dataclass(frozen=True)
class Costs:
    """What was measured: seconds by operation, over all its runs in the step, and bytes by tensor."""

    seconds: Mapping[str, float]
    sizes: Mapping[str, float]
    kinds: Mapping[str, str]  # the type of the device that ran it

    def size(self, tensor: Tensor) -> float:
        """The bytes of a tensor: as measured, else by its shape."""
        if tensor.name in self.sizes:
            return self.sizes[tensor.name]
        count = tensor.shape.num_elements()
        return float((count or 0) * (tensor.dtype.base_dtype.size or 1))


def measured(run_metadata: Any) -> Costs:
    """The costs that a RunMetadata message with step_stats holds; ValueError where it holds none."""
    seconds: dict[str, float] = {}
    sizes: dict[str, float] = {}
    kinds: dict[str, str] = {}
    for device in run_metadata.step_stats.dev_stats:
        if "/stream:" in device.device:  # the same kernels again, by the GPU's own clock
            continue
        kind = device.device.rpartition("/device:")[2].partition(":")[0]
        for stats in device.node_stats:
            name = stats.node_name
            took = stats.all_end_rel_nanos * 1e-9 or stats.all_end_rel_micros * 1e-6
            seconds[name] = seconds.get(name, 0.0) + took
            kinds[name] = kind
            for output in stats.output:
                size = output.tensor_description.allocation_description.requested_bytes
                key = f"{name}:{output.slot}"
                sizes[key] = max(sizes.get(key, 0.0), float(size))
    if not seconds:
        raise ValueError(
            "run_metadata has no step_stats. Run the step with options=tf.RunOptions("
            "trace_level=tf.RunOptions.FULL_TRACE) and run_metadata=tf.RunMetadata()."
        )
    for device in run_metadata.step_stats.dev_stats:
        if "/stream:" in device.device:
            for stats in device.node_stats:
                seconds[stats.node_name] = stats.all_end_rel_nanos * 1e-9
    return Costs(seconds, sizes, kinds)
