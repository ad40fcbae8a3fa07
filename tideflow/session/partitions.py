"""Where a step's operations run, and its graph cut along those lines, as RunMetadata shows it."""

from __future__ import annotations

import functools

from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.node_def_pb2 import NodeDef

from tideflow.compile.frames import frames_of
from tideflow.compile.ir import Node
from tideflow.compile.place import place
from tideflow.compile.prune import needed
from tideflow.compile.request import StepRequest
from tideflow.compile.tokens import flat_program
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation, Tensor
from tideflow.runtime.devices import Placement


class Devices:
    """The devices of the operations of the user's graph that a step needs. A node of the step's plan has the
    device of the operation that it came from.
    """

    def __init__(self, request: StepRequest, placement: Placement):
        self._request = request
        self._placement = placement
        self.first = placement.devices[0].name
        torch_devices = dict.fromkeys(device.torch_device for device in placement.devices)
        self.gpus = [device for device in torch_devices if device.type == "cuda"]

    def name_of(self, node: Node) -> str:
        """The full name of the device of a planned node."""
        if len(self._placement.devices) == 1:
            return self.first
        return self.first if node.source is None else self.of_operations.get(node.source, self.first)

    @functools.cached_property
    def of_operations(self) -> dict[Operation, str]:
        """The device of every operation that the step needs, in an order in which they can run."""
        request, feeds = self._request, set(self._request.feeds)
        order, _ = frames_of(needed(request.fetches, request.targets, feeds), feeds)
        program = flat_program(order, request.feeds)
        chosen = place(program, self._placement)
        names = [chosen[node].name if node in chosen else self.first for node in program.nodes]
        return dict(zip(order, names, strict=True))

    def partition_graphs(self, graph: Graph) -> list[GraphDef]:
        """The step's graph, a message for each device: feeds and fetches are nodes of it, and an edge between
        two devices is a Send and a Recv.
        """
        cut = _Cut(graph, self.of_operations, self.first)
        for i, tensor in enumerate(self._request.feeds):
            cut.add_feed(tensor, i)
        for op in self.of_operations:
            cut.add(op)
        for i, tensor in enumerate(self._request.fetches):
            cut.add_fetch(tensor, i)
        return list(cut.parts.values())


class _Cut:
    """A graph while it is being divided."""

    def __init__(self, graph: Graph, devices: dict[Operation, str], first: str):
        self._graph, self._devices, self._first = graph, devices, first
        self._fed: dict[Tensor, NodeDef] = {}
        self._received: dict[tuple[str, str], str] = {}  # (edge, device) -> the node that has it there
        self.parts: dict[str, GraphDef] = {}
        for device in (first, *devices.values()):
            self._part(device)

    def _part(self, device: str) -> GraphDef:
        if device not in self.parts:
            self.parts[device] = GraphDef(versions=self._graph.graph_def_versions)
        return self.parts[device]

    def add_feed(self, tensor: Tensor, position: int) -> None:
        name = f"_arg_{tensor.op.name}_{tensor.value_index}_{position}"
        node = self._part(self._first).node.add(name=name, op="_Arg", device=self._first)
        node.attr["T"].type = tensor.dtype.base_dtype.as_datatype_enum
        node.attr["index"].i = position
        self._fed[tensor] = node

    def add(self, op: Operation) -> None:
        device = self._devices[op]
        node = op.node_def
        node.device = device
        del node.input[:]
        node.input.extend(self._edge(tensor, device) for tensor in op.inputs)
        controls = [control for control in op.control_inputs if control in self._devices]
        node.input.extend(self._control(control, device) for control in controls)
        self._part(device).node.append(node)

    def add_fetch(self, tensor: Tensor, position: int) -> None:
        name = f"_retval_{tensor.op.name}_{tensor.value_index}_{position}"
        edge = self._edge(tensor, self._first)
        node = self._part(self._first).node.add(name=name, op="_Retval", device=self._first, input=[edge])
        node.attr["T"].type = tensor.dtype.base_dtype.as_datatype_enum
        node.attr["index"].i = position

    def _edge(self, tensor: Tensor, device: str) -> str:
        """The name of a tensor among the inputs of a node on a device."""
        if tensor in self._fed:
            name, home = self._fed[tensor].name, self._first
        else:
            index = tensor.value_index
            name, home = f"{tensor.op.name}:{index}" if index else tensor.op.name, self._devices[tensor.op]
        kind = tensor.dtype.base_dtype.as_datatype_enum
        return name if home == device else self._sent(name, kind, home, device)

    def _control(self, op: Operation, device: str) -> str:
        """The control input for an operation; one of another device sends a signal."""
        home = self._devices[op]
        if home == device:
            return f"^{op.name}"
        signal = f"{op.name}/_signal"
        if (signal, device) not in self._received:
            node = self._part(home).node.add(name=signal, op="Const", device=home, input=[f"^{op.name}"])
            node.attr["dtype"].type = 1
            node.attr["value"].tensor.dtype = 1
            node.attr["value"].tensor.tensor_shape.dim.add(size=0)
        return f"^{self._sent(signal, 1, home, device)}"

    def _sent(self, edge: str, kind: int, home: str, device: str) -> str:
        if (edge, device) in self._received:
            return self._received[edge, device]
        number = 2 * len(self._received)
        stem = edge.partition(":")[0]
        send = self._part(home).node.add(name=f"{stem}/_{number}", op="_Send", device=home, input=[edge])
        receive = self._part(device).node.add(name=f"{stem}/_{number + 1}", op="_Recv", device=device)
        send.attr["T"].type = receive.attr["tensor_type"].type = kind
        for node in (send, receive):
            node.attr["client_terminated"].b = False
            node.attr["send_device"].s, node.attr["recv_device"].s = home.encode(), device.encode()
            node.attr["send_device_incarnation"].i = 1
            node.attr["tensor_name"].s = f"edge_{number}_{stem}".encode()
        name: str = receive.name
        self._received[edge, device] = name
        return name
