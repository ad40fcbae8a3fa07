"""Placement: which device runs each node of a program."""

from __future__ import annotations

import logging

import torch

from tideflow.compile.ir import Loop, Node, Program, Value, walk
from tideflow.compile.placer import assign, not_there, prefers_accelerator, spec_of
from tideflow.graph import dtypes
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.functions import FunctionGraph
from tideflow.graph.operation import Operation
from tideflow.runtime.devices import CPU, Device, Placement, PlacementMemory

_log = logging.getLogger("tideflow")


def place(program: Program, placement: Placement) -> dict[Node, Device]:
    """Gives every node its device: what the user asked for, what its kernels allow, beside the state it
    touches. Returns the devices, but for those of nodes that have no choice: theirs is the first.
    """
    for value in program.feeds:
        value.op.device = CPU
    if not placement.has_accelerator and not placement.log and not _asks(program):
        for node in walk(program):
            node.device = CPU
            for value in node.body.feeds if isinstance(node, Loop) else ():
                value.op.device = CPU
        return {}
    chosen: dict[Node, Device] = {}
    _place_all(program, placement, _of_operations(program, placement), chosen)
    return chosen


def _asks(program: Program) -> bool:
    return any(node.source is not None and node.source.device for node in walk(program))


def _of_operations(program: Program, placement: Placement) -> dict[Operation, Device]:
    """The devices of the operations of the graph itself; those of functions follow when their call is met."""
    sources = {node.source: None for node in walk(program) if node.source is not None}
    ops = [op for op in sources if not isinstance(op.graph, FunctionGraph)]
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
        device = chosen[node] = assigned.get(node.source) or _beside(node, placement, chosen)
        node.device = _where(node, device)
        if placement.log and node.source is not None:
            tell(node.name, node.source.type, device, placement.memory)


def _beside(node: Node, placement: Placement, chosen: dict[Node, Device]) -> Device:
    """The device of a node that the graph does not have, or that is in a function: what it asks for, else
    where its state or its first input is.
    """
    wanted = spec_of(node.source.device if node.source is not None else "")
    inputs = sorted(node.inputs, key=lambda value: not _is_state(value))
    near = [chosen[value.op] for value in inputs if value.op in chosen]
    matching = [d for d in (*near, *placement.devices) if wanted.accepts(spec_of(d.name))]
    if not matching and not placement.soft:
        raise InvalidArgumentError(
            node.source.node_def, node.source, not_there(node.source, placement.devices)
        )
    return matching[0] if matching else placement.devices[0]


def _where(node: Node, device: Device) -> torch.device:
    """Where torch runs the node: with the state it touches; on the host, if its values belong there."""
    for value in node.inputs:
        if _is_state(value) and value.device is not None:
            return value.device
    return device.torch_device if prefers_accelerator(node) else CPU


def _is_state(value: Value) -> bool:
    return value.dtype._is_ref_dtype or value.dtype is dtypes.resource


def tell(name: str, kind: str, device: Device, memory: PlacementMemory) -> None:
    """A line of `log_device_placement`, once for each operation."""
    if name not in memory.told:
        memory.told.add(name)
        line = f"{name}: ({kind}): {device.name}"
        print(line, flush=True)
        _log.info("%s", line)
