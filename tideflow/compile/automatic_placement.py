"""The automatic placer: from a traced step to a placement on several devices or tasks, and its expected cost.

    session.run(step, options=tf.RunOptions(trace_level=3), run_metadata=metadata)
    proposal = propose(graph, metadata, devices, bandwidth=1e9, latency=1e-4)
    print(proposal)                # seconds a step now and then, bytes moved, work by device
    proposal.apply(graph)          # for the sessions to come; or: with tf.device(proposal): build the graph

Device constraints and colocation groups are kept: only what they leave open is decided here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tideflow.compile.cost_model import (
    Block,
    Costs,
    Expectation,
    Schedule,
    Work,
    by_urgency,
    links_between,
    measured,
    simulate,
)
from tideflow.compile.frames import Frame, arranged
from tideflow.compile.placer import Placed
from tideflow.graph.device import merge_names
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation
from tideflow.runtime.devices import Device


@dataclass(frozen=True)
class Proposal:
    """Devices by operation, and what the model expects of them. It is a device function, too."""

    devices: Mapping[str, str]
    now: Expectation
    then: Expectation

    def apply(self, graph: Graph) -> None:
        """Makes the graph's operations ask for the proposed devices. State that a session holds already stays
        where it is: make a new session.
        """
        for name, device in self.devices.items():
            graph.get_operation_by_name(name)._set_device(device)

    def __call__(self, op: Any) -> str:
        return merge_names(self.devices.get(op.name, ""), op.device or "")

    def __str__(self) -> str:
        lines = [f"{'':8}{'a step':>12}{'moved':>14}   work by device"]
        lines += [_row(word, expected) for word, expected in (("now", self.now), ("proposed", self.then))]
        if self.then.seconds:
            lines.append(f"expected to be {self.now.seconds / self.then.seconds:.2f} times as fast")
        return "\n".join(lines)


def _row(word: str, expected: Expectation) -> str:
    work = ", ".join(f"{name} {seconds * 1e3:.3g} ms" for name, seconds in expected.busy.items() if seconds)
    return f"{word:8}{expected.seconds * 1e3:9.4g} ms{expected.bytes_moved / 1e6:11.4g} MB   {work}"


def propose(
    graph: Graph,
    run_metadata: Any,
    devices: Sequence[Device],
    bandwidth: float = 1e9,
    latency: float = 1e-4,
    *,
    speeds: Mapping[str, float] | None = None,
    soft: bool = False,
    tries: int = 300,
) -> Proposal:
    """A placement of the traced step on `devices` that should make it quicker.

    `bandwidth` (bytes a second) and `latency` (seconds) are those between tasks. `speeds` says how fast the
    types of devices are, relative to each other. `tries` bounds the search for improvements.
    """
    if not devices:
        raise ValueError("propose needs the devices to choose from, as session.list_devices() gives them.")
    costs = measured(run_metadata)
    placed = Placed(graph, tuple(devices), soft)
    ops = _behind([op for op in graph._ops if op.name in costs.seconds])
    today = placed.devices_of(ops)
    blocks, bundles = _blocks(ops, costs, placed)
    position = {device: i for i, device in enumerate(devices)}
    choices = [_choices(bundle, placed, position) for bundle in bundles]
    work = Work(blocks, choices, devices, links_between(bandwidth, latency), speeds or {})
    start = [position[today[bundle[0]]] for bundle in bundles]
    chosen = best_placement(work, [start], tries)
    names = {
        op.name: devices[there].name
        for bundle, there in zip(bundles, chosen, strict=True)
        for op in bundle
        if devices[there] in placed.candidates(op)
    }
    return Proposal(names, simulate(work, start), simulate(work, chosen))


def best_placement(work: Work, starts: Sequence[Sequence[int]] = (), tries: int = 300) -> list[int]:
    """The devices of the bundles for the quickest step that was found: the best of `starts`, of one device
    for all and of `earliest_finish`, then improved by moving one bundle at a time.
    """
    order = by_urgency(work)

    def cost(placed: Sequence[int]) -> tuple[float, float]:
        expected = simulate(work, placed, order)
        return expected.seconds, expected.bytes_moved

    on_one = [[d if d in c else c[0] for c in work.choices] for d in range(len(work.devices))]
    candidates = [list(placed) for placed in (*starts, earliest_finish(work, order), *on_one)]
    best = min(candidates, key=cost)
    least = cost(best)
    left = tries
    heavy = _by_weight(work)
    improved = True
    while improved and left > 0:
        improved = False
        for bundle in heavy:
            for device in work.choices[bundle]:
                if device == best[bundle] or left <= 0:
                    continue
                left -= 1
                moved = [*best[:bundle], device, *best[bundle + 1 :]]
                found = cost(moved)
                if found < least:
                    best, least, improved = moved, found, True
    return best


def earliest_finish(work: Work, order: Sequence[int]) -> list[int]:
    """Heterogeneous earliest finish time: each block in turn, the most urgent first, goes to the device that
    has it done first. Where one block of a bundle is, the others are.
    """
    placed = [-1] * len(work.choices)
    schedule = Schedule(work)
    for i in order:
        bundle = work.blocks[i].bundle
        if placed[bundle] < 0:
            placed[bundle] = min(work.choices[bundle], key=lambda device: schedule.finish(i, device))
        schedule.put(i, placed[bundle])
    return placed


def _by_weight(work: Work) -> list[int]:
    """The bundles that have a choice, those with the most work and traffic first."""
    weight = [0.0] * len(work.choices)
    for block in work.blocks:
        weight[block.bundle] += block.seconds + 1e-9 * sum(sum(v.values()) for v in block.takes.values())
    free = [bundle for bundle, choices in enumerate(work.choices) if len(choices) > 1]
    return sorted(free, key=lambda bundle: -weight[bundle])


def _blocks(
    ops: Sequence[Operation], costs: Costs, placed: Placed
) -> tuple[list[Block], list[list[Operation]]]:
    """The step as blocks, and the operations of each bundle."""
    wholes = [_operations(member) for member in arranged(set(ops), set()).members]
    block_of = {op: i for i, whole in enumerate(wholes) for op in whole}
    bundles = _bundles(wholes, placed)
    bundle_of = {op: i for i, bundle in enumerate(bundles) for op in bundle}
    blocks = []
    for i, whole in enumerate(wholes):
        names = [op.name for op in whole]
        seconds = sum(costs.seconds.get(name, 0.0) for name in names)
        kind = next((costs.kinds[name] for name in names if name in costs.kinds), "CPU")
        block = Block(names, seconds, bundle_of[whole[0]], kind)
        for op in whole:
            edges: list[tuple[Operation, str | None, float]]
            edges = [(t.op, t.name, costs.size(t)) for t in op.inputs]
            edges += [(control, None, 0.0) for control in op.control_inputs]
            for source, value, size in edges:
                if block_of[source] != i:
                    block.takes.setdefault(block_of[source], {})[value] = size
        blocks.append(block)
    return blocks, bundles


def _operations(member: Operation | Frame) -> list[Operation]:
    """An operation, or all those of a loop."""
    if isinstance(member, Operation):
        return [member]
    return [op for inner in member.members for op in _operations(inner)]


def _bundles(wholes: Sequence[Sequence[Operation]], placed: Placed) -> list[list[Operation]]:
    """The operations that must be on one device: those of a colocation group, and those of a loop."""
    joined: dict[int, int] = {}

    def root(group: int) -> int:
        while joined.setdefault(group, group) != group:
            group = joined[group]
        return group

    for whole in wholes:
        for op in whole[1:]:
            joined[root(id(placed.together(op)))] = root(id(placed.together(whole[0])))
    bundles: dict[int, list[Operation]] = {}
    for whole in wholes:
        for op in whole:
            bundles.setdefault(root(id(placed.together(op))), []).append(op)
    return list(bundles.values())


def _choices(bundle: Sequence[Operation], placed: Placed, position: Mapping[Device, int]) -> list[int]:
    """The devices that all of a bundle can have; of a loop over several devices, its first operation's."""
    seen: set[int] = set()
    common = placed.candidates(bundle[0])
    for op in bundle:
        if id(placed.together(op)) not in seen:
            seen.add(id(placed.together(op)))
            allowed = placed.candidates(op)
            common = [device for device in common if device in allowed]
    return [position[device] for device in common or placed.candidates(bundle[0])[:1]]


def _behind(ops: Sequence[Operation]) -> list[Operation]:
    """These operations and all that they need, in the order in which they were made."""
    found: set[Operation] = set()
    waiting = list(ops)
    while waiting:
        op = waiting.pop()
        if op not in found:
            found.add(op)
            waiting += [tensor.op for tensor in op.inputs]
            waiting += op.control_inputs
    return sorted(found, key=lambda op: op._id)
