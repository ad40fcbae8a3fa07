"""Placement: which device runs each node."""

from __future__ import annotations

import logging

from tideflow.compile.ir import Loop, Node, Program, walk
from tideflow.graph import dtypes
from tideflow.graph.device import DeviceSpec
from tideflow.graph.errors import InvalidArgumentError
from tideflow.runtime.devices import CPU, Device, Placement

_HOST_ONLY = (dtypes.string, dtypes.resource, dtypes.variant)
_log = logging.getLogger("tideflow")


def place(program: Program, placement: Placement) -> None:
    """Gives every node its device: what the user asked for, what its kernels allow, beside the state it
    touches.
    """
    for value in program.feeds:
        value.op.device = CPU
    if not placement.has_gpu and not any(
        node.source is not None and node.source.device for node in walk(program)
    ):
        for node in walk(program):
            node.device = CPU
            for value in node.body.feeds if isinstance(node, Loop) else ():
                value.op.device = CPU
        return
    groups = {node.name: node for node in walk(program) if node.source is not None}
    _place_all(program, placement, {}, groups)


def _place_all(
    program: Program, placement: Placement, chosen: dict[Node, Device], groups: dict[str, Node]
) -> None:
    for node in program.nodes:
        if isinstance(node, Loop):
            node.device = CPU
            for variable, initial in zip(node.body.feeds, node.inputs, strict=True):
                variable.op.device = initial.device  # a variable stays where it began
            _place_all(node.body, placement, chosen, groups)
            continue
        device = chosen[node] = _choose(node, placement, chosen, groups)
        node.device = device.torch_device
        if placement.log and node.source is not None:
            _log.info("%s: (%s): %s", node.name, node.type, device.name)


def _choose(node: Node, placement: Placement, chosen: dict[Node, Device], groups: dict[str, Node]) -> Device:
    for value in node.inputs:
        if value.op in chosen and (value.dtype._is_ref_dtype or value.dtype is dtypes.resource):
            return chosen[value.op]  # what touches state runs where the state is
    if node.source is None:
        return placement.devices[0]
    wanted = DeviceSpec.from_string(node.source.device)
    for group in node.source.attrs.get("_class", ()):
        other = groups.get(group.removeprefix("loc:@"))
        if other is not None and other in chosen and not node.source.device:
            return chosen[other]
    feasible = [device for device in placement.devices if device.device_type == "CPU" or _runs_on_gpu(node)]
    matching = [device for device in feasible if _matches(device, wanted)]
    if matching:
        prefers_gpu = _runs_on_gpu(node) and not wanted.device_type
        return (
            next((d for d in matching if d.device_type == "GPU"), matching[0]) if prefers_gpu else matching[0]
        )
    if placement.soft or any(_matches(device, wanted) for device in placement.devices):
        return feasible[
            0
        ]  # the device is there but the op has no kernel on it, as for sizes and strings on a GPU
    available = ", ".join(device.name for device in placement.devices)
    raise InvalidArgumentError(
        node.source.node_def,
        node.source,
        f"Cannot assign a device for operation {node.name}: Operation was explicitly assigned to "
        f"{node.source.device} but "
        f"available devices are [ {available} ]. Make sure the device specification refers to a valid "
        "device, or pass "
        "allow_soft_placement=True in the session's config.",
    )


# What holds the values of a step lives where they do.
_HOLDERS = {"TensorArrayV3": "dtype", "StackV2": "elem_type"}


def _runs_on_gpu(node: Node) -> bool:
    op = node.definition
    if node.type in _HOLDERS:
        return node.attrs[_HOLDERS[node.type]].is_floating
    if op.handle:
        return node.attrs.get(
            "dtype", dtypes.string
        ).is_floating  # counters stay where the plan can read them
    if op.on_host or any(v.dtype.base_dtype in _HOST_ONLY for v in (*node.inputs, *node.outputs)):
        return False
    # 32-bit integers are sizes, axes and counters nearly always.
    types = [v.dtype.base_dtype for v in (*node.inputs, *node.outputs)]
    return not (node.outputs and dtypes.int32 in types and {*types} <= {dtypes.int32, dtypes.bool})


def _matches(device: Device, wanted: DeviceSpec) -> bool:
    have = DeviceSpec.from_string(device.name)
    return all(
        want is None or want == got
        for want, got in (
            (wanted.job, have.job),
            (wanted.replica, have.replica),
            (wanted.task, have.task),
            (wanted.device_type, have.device_type),
            (wanted.device_index, have.device_index),
        )
    )
