"""Placement: which device runs each node of a program."""

from __future__ import annotations

import logging
from collections.abc import Set

import torch

from tideflow.compile.ir import Loop, Node, Program, Value, walk
from tideflow.compile.placer import assign, is_of_booleans, not_there, pattern_of, prefers_accelerator
from tideflow.compile.prune import known_op
from tideflow.graph import dtypes
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.functions import FunctionGraph
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation
from tideflow.runtime.devices import CPU, Device, Placement, PlacementMemory

_log = logging.getLogger("tideflow")


def place(program: Program, placement: Placement, functions: Set[Graph] = frozenset()) -> dict[Node, Device]:
    """Sets the device of every node: what the user asked for, what its kernels allow, that of the state it
    uses. Returns the devices by node; nodes that have no choice are not in it, and are on the first one.

    `functions` are those whose operations are the step, so that they are placed as those of a graph are.
    """
    for value in program.feeds:
        value.op.device = value.op.device or CPU
    if not placement.has_accelerator and not placement.log and not _asks(program):
        for node in walk(program):
            node.device = CPU
            for value in node.body.feeds if isinstance(node, Loop) else ():
                value.op.device = CPU
        return {}
    chosen: dict[Node, Device] = {}
    _place_all(program, placement, _of_operations(program, placement, functions), chosen)
    return chosen


def _asks(program: Program) -> bool:
    return any(node.source is not None and node.source.device for node in walk(program))


def _of_operations(program: Program, placement: Placement, functions: Set[Graph]) -> dict[Operation, Device]:
    """The devices of the graph's operations. Those of functions that it calls get theirs later
    (`_beside`).
    """
    sources = {node.source: None for node in walk(program) if node.source is not None}
    ops = [op for op in sources if op.graph in functions or not isinstance(op.graph, FunctionGraph)]
    return assign(ops, placement.devices, soft=placement.soft, memory=placement.memory)


def _place_all(
    program: Program, placement: Placement, assigned: dict[Operation, Device], chosen: dict[Node, Device]
) -> None:
    for node in program.nodes:
        if isinstance(node, Loop):
            node.device = CPU
            for variable, initial in zip(node.body.feeds, node.inputs, strict=True):
                variable.op.device = initial.device  # a variable stays where it began
            _place_all(node.body, placement, assigned, chosen)
            continue
        if node.definition is known_op and node.device is not None:
            continue  # the variable is there already
        known = None if node.source is None else assigned.get(node.source)
        device = chosen[node] = known or _beside(node, placement, chosen)
        node.device = _where(node, device)
        if placement.log and node.source is not None:
            log_placement(node.name, node.source.type, device, placement.memory)


def _beside(node: Node, placement: Placement, chosen: dict[Node, Device]) -> Device:
    """The device of a node that is not in the graph, or that is in a function: what it asks for, else that of
    its state or of its first input.
    """
    wanted = pattern_of(node.source.device if node.source is not None else "")
    inputs = sorted(node.inputs, key=lambda value: not _is_state(value))
    near = [chosen[value.op] for value in inputs if value.op in chosen]
    matching = [d for d in (*near, *placement.devices) if wanted.accepts(pattern_of(d.name))]
    if not matching and not placement.soft and node.source is not None:
        message = not_there(node.source, placement.devices)
        raise InvalidArgumentError(node.source.node_def, node.source, message)
    return matching[0] if matching else placement.devices[0]


def _where(node: Node, device: Device) -> torch.device:
    """Where torch runs the node: where the state is that it uses; on the host, if its values belong there."""
    for value in node.inputs:
        if _is_state(value) and value.device is not None:
            device_of_state: torch.device = value.device
            return device_of_state
    if is_of_booleans(node) and all(v.device == CPU for v in node.inputs if v.dtype is dtypes.bool):
        return CPU  # of comparisons of sizes and counters, which the host will ask for
    return device.torch_device if prefers_accelerator(node) else CPU


def _is_state(value: Value) -> bool:
    return value.dtype._is_ref_dtype or value.dtype is dtypes.resource


def log_placement(name: str, kind: str, device: Device, memory: PlacementMemory) -> None:
    """Prints the line of `log_device_placement` for an operation, once."""
    if name not in memory.logged:
        memory.logged.add(name)
        line = f"{name}: ({kind}): {device.name}"
        print(line, flush=True)
        _log.info("%s", line)
