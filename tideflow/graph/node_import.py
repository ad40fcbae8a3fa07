"""Adds the nodes of a GraphDef to a graph: checks them, orders them, and makes the operations."""

from __future__ import annotations

import contextlib
import functools
import heapq
import re
from collections.abc import Callable, Container, Iterator
from typing import Any, TypeAlias

from tensorboard.compat.proto.attr_value_pb2 import AttrValue
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.node_def_pb2 import NodeDef
from tensorboard.compat.proto.versions_pb2 import VersionDef

from tideflow.graph import device as device_names
from tideflow.graph import dtypes, node_checks
from tideflow.graph.dtypes import DType
from tideflow.graph.errors import type_name
from tideflow.graph.graph import GRAPH_DEF_VERSION, GRAPH_DEF_VERSION_MIN_PRODUCER, Graph
from tideflow.graph.graph_def import attr_from_proto
from tideflow.graph.op import Op
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.shapes import TensorShape, mismatch
from tideflow.graph.summaries import node_summary, op_summary
from tideflow.graph.thread_scopes import Controls

NODE_NAME = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\-/]*$")

# Up to this version, programs wrote the shape of a scalar for a placeholder of unknown shape.
_LAST_PRODUCER_OF_UNTOLD_SHAPES = 21

InputKey: TypeAlias = tuple[str, int]  # a node and its output, ("op", 0); a control input is ("^op", -1)


def input_key(text: str) -> InputKey:
    """The key of an input that a NodeDef writes 'op', 'op:1' or '^op'."""
    if text.startswith("^"):
        return text, -1
    name, colon, index = text.rpartition(":")
    if colon and index.isdigit():
        return name, int(index)
    return text, 0


def _check_versions(versions: VersionDef) -> None:
    """ValueError if a GraphDef says that it is not for readers of this version, or is too old."""
    ours, oldest = GRAPH_DEF_VERSION, GRAPH_DEF_VERSION_MIN_PRODUCER
    if versions.producer < oldest:
        raise ValueError(
            f"GraphDef producer version {versions.producer} below min producer {oldest} supported by "
            "TensorFlow 1.15.5.  Please regenerate your graph."
        )
    if versions.min_consumer > ours:
        raise ValueError(
            f"GraphDef min consumer version {versions.min_consumer} above current version {ours} for "
            "TensorFlow 1.15.5.  Please upgrade TensorFlow."
        )
    if ours in versions.bad_consumers:
        raise ValueError(
            f"GraphDef disallows consumer version {ours}.  Please upgrade TensorFlow: this version is "
            "likely buggy."
        )


class NodeImporter:
    """Adds the nodes of one GraphDef to a graph. `definition_of` returns the definition of an op type."""

    def __init__(
        self,
        graph: Graph,
        graph_def: GraphDef,
        definition_of: Callable[[Graph, str], Op],
        scope: str = "",
        mapped: dict[InputKey, Tensor | Operation] | None = None,
        producer_ops: Any = None,
        uniquify: bool = True,
        neighbours: Container[str] = (),
    ) -> None:
        self.graph = graph
        self.definition_of = definition_of
        self.producer_ops = {op.name: op for op in producer_ops.op} if producer_ops is not None else {}
        self.graph_def = graph_def
        self.prefix = scope  # "" or with its slash
        self.uniquify = uniquify  # False to refuse names that are taken
        self.neighbours = neighbours  # operations of the graph that nodes may stand with
        self.mapped = mapped or {}
        self.unused = set(self.mapped)
        self.names: dict[str, str] = {}  # of nodes, and what they are called in the graph
        self.ops: dict[str, Operation] = {}
        self.back_edges: list[tuple[str, int, InputKey]] = []

    def run(self) -> None:
        versions = self.graph_def.versions
        _check_versions(versions)
        nodes = self._checked_nodes()
        for function in self.graph_def.library.function:
            self.graph._functions[function.signature.name] = function
        for gradient in self.graph_def.library.gradient:
            self.graph._function_gradients[gradient.function_name] = gradient.gradient_func
        self.graph._producer = min(self.graph._producer, versions.producer)
        self.graph._min_consumer = max(self.graph._min_consumer, versions.min_consumer)
        self.graph._bad_consumers.update(versions.bad_consumers)
        ordered = self._ordered(nodes)
        for node in ordered:
            self.names[node.name] = self._new_name(self.prefix + node.name)
        for node in ordered:
            self._add(node)
        for name, index, (source, output) in self.back_edges:
            self.ops[name]._update_input(index, self._output(name, source, output))
        unused = [key for key in self.unused if not self.gives(*key)]
        if unused:
            unused.sort(key=lambda key: (key[1] < 0, key))
            missing = ", ".join(name if index < 0 else f"{name}:{index}" for name, index in unused)
            raise ValueError(f"Attempted to map inputs that were not found in graph_def: [{missing}]")

    def _checked_nodes(self) -> dict[str, NodeDef]:
        nodes: dict[str, NodeDef] = {}
        for node in self.graph_def.node:
            if not NODE_NAME.match(node.name):
                raise ValueError(f"Node '{node.name}': Node name contains invalid characters")
            if node.name in nodes:
                raise ValueError(f"Node '{node.name}' is not unique")
            nodes[node.name] = node
        for node in nodes.values():
            self._check_groups(node, nodes)
        return nodes

    def _check_groups(self, node: NodeDef, nodes: dict[str, NodeDef]) -> None:
        for group in node.attr["_class"].list.s if "_class" in node.attr else ():
            if not group.startswith(b"loc:@") or not _is_text(group):
                continue
            name = group[5:].decode()
            if name not in nodes and name not in self.neighbours:
                raise ValueError(f"Node '{node.name}' expects to be colocated with unknown node '{name}'")

    def _ordered(self, nodes: dict[str, NodeDef]) -> list[NodeDef]:
        """The nodes, each after its inputs, except for an edge from NextIteration to Merge in a loop."""
        waiting: dict[str, int] = {}
        followers: dict[str, list[str]] = {}
        for node in nodes.values():
            sources = set()
            for text in node.input:
                source = input_key(text)[0].removeprefix("^")
                if self._is_mapped(text):
                    continue
                if source not in nodes:
                    raise ValueError(f"Node '{node.name}': Unknown input node '{text}'")
                if text.startswith("^") or not (
                    node.op in ("Merge", "RefMerge")
                    and nodes[source].op in ("NextIteration", "RefNextIteration")
                ):
                    sources.add(source)
            waiting[node.name] = len(sources)
            for source in sources:
                followers.setdefault(source, []).append(node.name)
        position = {name: i for i, name in enumerate(nodes)}
        ready = [position[name] for name, count in waiting.items() if not count]
        names, order = list(nodes), []
        while ready:  # the order of the GraphDef, wherever it is legal
            name = names[heapq.heappop(ready)]
            order.append(nodes[name])
            for follower in followers.get(name, ()):
                waiting[follower] -= 1
                if not waiting[follower]:
                    heapq.heappush(ready, position[follower])
        if len(order) != len(nodes):
            cycle = [name for name, count in waiting.items() if count]
            raise ValueError(f"{len(cycle)} nodes in a cycle: {', '.join(cycle[:5])}")
        return order

    def gives(self, name: str, output: int) -> bool:
        """Whether the GraphDef has a tensor, or the operation of a control input."""
        op = self.ops.get(name.removeprefix("^"))
        return op is not None and output < len(op.outputs)

    def _is_mapped(self, text: str) -> bool:
        return input_key(text) in self.mapped

    # ------------------------------------------------------------------ one node

    def _add(self, node: NodeDef) -> None:
        if not node.op:
            raise ValueError(f"Node '{node.name}' does not specify an operation")
        op_def = self.definition_of(self.graph, node.op)
        full_name = self.names[node.name]
        attrs = self._attributes(node, op_def, full_name)
        data = [text for text in node.input if not text.startswith("^")]
        inputs = [self._input(node, i, text) for i, text in enumerate(data)]
        self._check_inputs(op_def, attrs, inputs, full_name)
        if any(not text.startswith("^") for text in node.input[len(data) :]):
            raise ValueError(f"Node '{node.name}': Control dependencies must come after regular dependencies")
        controls = [self._control(text) for text in node.input if text.startswith("^")]
        waits_for = list(dict.fromkeys([*controls, *self._scope_controls()]))
        with self._at_the_top(waits_for):
            op = op_def.node_from_flat(inputs, attrs, f"{full_name}/")
        self._keep_known_shapes(op)
        taken = {tensor.op for tensor in op.inputs}  # a new operation would not wait for these as well
        op.control_inputs += [control for control in waits_for if control in taken]
        for block in self.graph._local.controls:
            block.seen.add(op)
        if node.device:
            op._device = device_names.canonical_name(node.device)
        if not stands_with_others(op):
            self.graph._place_by_scopes(op, self.graph._local.devices)  # they see the node's own device
        self.ops[node.name] = op

    def _new_name(self, name: str) -> str:
        """`name`, with `_1`, `_2` and so on if an operation of the graph or a scope of one has it."""
        used = self.graph._names
        if not self.uniquify:
            if name in self.graph._by_name:
                raise ValueError(f"Node name '{name}' already exists in the Graph")
            used.setdefault(name.lower(), 1)
            return name
        found, number = name, 0
        while self._is_taken(found) or number and found in self._own_names:
            number += 1
            found = f"{name}_{number}"
        used.setdefault(found.lower(), 1)
        return found

    def _is_taken(self, name: str) -> bool:
        return name in self.graph._by_name or name in self._scopes_of_the_graph

    @functools.cached_property
    def _own_names(self) -> set[str]:
        return {self.prefix + node.name for node in self.graph_def.node}

    @functools.cached_property
    def _scopes_of_the_graph(self) -> set[str]:
        """The scopes of the operations that the graph had before the import."""
        scopes: set[str] = set()
        for name in self.graph._by_name:
            scope = name.rpartition("/")[0]
            while scope and scope not in scopes:
                scopes.add(scope)
                scope = scope.rpartition("/")[0]
        return scopes

    @contextlib.contextmanager
    def _at_the_top(self, controls: list[Operation]) -> Iterator[None]:
        """Leaves all scopes: a NodeDef has its full name and its own device, and waits for `controls`."""
        local = self.graph._local
        outer = local.name_stack, local.devices, local.controls
        local.name_stack, local.devices = "", ()
        local.controls = (Controls(controls),) if controls else ()
        try:
            yield
        finally:
            local.name_stack, local.devices, local.controls = outer

    def _scope_controls(self) -> list[Operation]:
        """The control inputs of the current blocks. Every imported node gets them, as in TensorFlow."""
        return [op for block in self.graph._local.controls for op in block.inputs]

    def _attributes(self, node: NodeDef, op_def: Op, full_name: str) -> dict[str, Any]:
        attrs = {}
        for key, message in node.attr.items():
            if key not in op_def.attrs and not key.startswith("_"):
                if self._is_newer_default(node.op, key, message):
                    continue
                raise node_checks.unknown_attr(key, op_def, full_name)
            in_schema = key in op_def.attrs
            if in_schema:
                node_checks.check_message(key, message, op_def, full_name)
            value = attr_from_proto(message)
            if key == "_class":
                value = self._colocations(value, full_name)
            if in_schema:
                node_checks.check_value(key, value, op_def, full_name)
            attrs[key] = value
        if self._scalar_means_unknown(op_def, attrs):
            attrs["shape"] = TensorShape(None)
        node_checks.check_counts(attrs, op_def, full_name)
        node_checks.check_all_there(attrs, op_def, full_name)
        if op_def.role == "constant" and dtypes.as_dtype(node.attr["value"].tensor.dtype) != attrs["dtype"]:
            held = dtypes.as_dtype(node.attr["value"].tensor.dtype).name
            raise ValueError(
                f"DataType mismatch between value ({held}) and dtype ({attrs['dtype'].name}); NodeDef: "
                f"{full_name}"
            )
        return attrs

    def _scalar_means_unknown(self, op_def: Op, attrs: dict[str, Any]) -> bool:
        """Whether a placeholder was written when a shape that was not given looked like that of a scalar.

        An op type that must be told its shape never had this doubt.
        """
        return (
            self.graph_def.versions.producer <= _LAST_PRODUCER_OF_UNTOLD_SHAPES
            and op_def.role == "placeholder"
            and "shape" not in op_def._required
            and "shape" in attrs
            and attrs["shape"].ndims == 0
        )

    def _is_newer_default(self, op_type: str, key: str, message: AttrValue) -> bool:
        """Whether an attribute that is unknown here has the default value of the op type's producer."""
        producer = self.producer_ops.get(op_type)
        attrs = () if producer is None else producer.attr
        return any(attr.name == key and attr.default_value == message for attr in attrs)

    def _colocations(self, groups: Any, full_name: str) -> list[str]:
        if not isinstance(groups, list) or not all(isinstance(group, str) for group in groups):
            raise ValueError(
                f"NodeDef attr '_class' is {groups!r}, not a list of names; NodeDef: {full_name}"
            )
        return [self._renamed_group(group) for group in groups]

    def _renamed_group(self, group: str) -> str:
        if not group.startswith("loc:@"):
            return group
        name = group.removeprefix("loc:@")
        return f"loc:@{self.names.get(name, self.prefix + name)}"

    def _input(self, node: NodeDef, index: int, text: str) -> Tensor:
        key = input_key(text)
        if key in self.mapped:
            self.unused.discard(key)
            return self.mapped[key]  # type: ignore[return-value]  # a tensor is mapped to a tensor
        source, output = key
        if source not in self.ops:
            # The edge that closes a loop: another input of the Merge replaces it until both ends exist.
            self.back_edges.append((node.name, index, key))
            for i, other in enumerate(node.input):
                if not other.startswith("^") and self._is_there(other):
                    return self._input(node, i, other)
            raise ValueError(f"Node '{node.name}': all inputs come from its own loop, none from outside")
        return self._output(node.name, source, output)

    def _is_there(self, text: str) -> bool:
        key = input_key(text)
        return key in self.mapped or key[0] in self.ops

    def _output(self, name: str, source: str, output: int) -> Tensor:
        outputs = self.ops[source].outputs
        if output >= len(outputs):
            raise ValueError(
                f"Node '{name}': Connecting to invalid output {output} of source node {source} which has "
                f"{len(outputs)} outputs."
            )
        return outputs[output]

    def _control(self, text: str) -> Operation:
        key = input_key(text)
        if key in self.mapped:
            self.unused.discard(key)
            value = self.mapped[key]
            return value.op if isinstance(value, Tensor) else value
        return self.ops[text[1:]]

    def _check_inputs(self, op_def: Op, attrs: dict[str, Any], inputs: list[Tensor], full_name: str) -> None:
        expected = _input_types(op_def, {**op_def._defaults, **attrs})
        if len(expected) != len(inputs):
            types = ", ".join(type_name(dtype) for dtype, _ in expected)
            raise ValueError(
                f"NodeDef expected inputs '{types}' do not match {len(inputs)} inputs specified; "
                f"{op_summary(op_def)}; NodeDef: {node_summary(full_name)}"
            )
        for i, ((dtype, is_ref), tensor) in enumerate(zip(expected, inputs, strict=True)):
            if tensor.dtype.base_dtype is not dtype or is_ref and not tensor.dtype._is_ref_dtype:
                raise ValueError(
                    f"Input {i} of node {full_name} was passed {type_name(tensor.dtype)} from {tensor.name} "
                    f"incompatible with expected {type_name(dtype)}{'_ref' if is_ref else ''}."
                )

    def _keep_known_shapes(self, op: Operation) -> None:
        known = op.attrs.pop("_output_shapes", None)
        shapes = known if isinstance(known, list) else ()
        for i, (tensor, shape) in enumerate(zip(op.outputs, shapes, strict=False)):
            if not isinstance(shape, TensorShape):
                continue
            difference = mismatch(tensor.shape, shape)
            if difference:
                raise ValueError(
                    f"Node '{op.name}' has an _output_shapes attribute inconsistent with the GraphDef for "
                    f"output #{i}: {difference}"
                )
            tensor.set_shape(shape)

    def element(self, text: str) -> Tensor | Operation:
        """The operation 'op' or the tensor 'op:0' of the GraphDef."""
        name, colon, index = text.rpartition(":")
        if not colon:
            if text not in self.ops:
                raise ValueError(f"Requested return node '{text}' not found in graph def")
            return self.ops[text]
        if ":" in name or not index.isdigit():
            raise ValueError(f"Cannot convert {text!r} to a tensor name.")
        if (name, int(index)) in self.mapped:
            return self.mapped[name, int(index)]
        if name not in self.ops:
            raise ValueError(f"Requested return tensor '{text}' not found in graph def")
        if int(index) >= len(self.ops[name].outputs):
            raise ValueError(
                f"Invalid return output {index} of node '{name}', which has "
                f"{len(self.ops[name].outputs)} output(s)"
            )
        return self.ops[name].outputs[int(index)]


def stands_with_others(op: Operation) -> bool:
    """Whether a node is placed by other operations than itself."""
    return any(group.startswith("loc:@") and group[5:] != op.name for group in op.attrs.get("_class", ()))


def _input_types(op_def: Op, attrs: dict[str, Any]) -> list[tuple[DType, bool]]:
    types: list[tuple[DType, bool]] = []
    for arg in op_def.inputs:
        if arg.type_list_attr is not None:
            types += [(dtype, arg.is_ref) for dtype in attrs[arg.type_list_attr]]
            continue
        dtype: DType = arg.dtype or attrs[arg.type_attr]  # type: ignore[index]  # one of the two is set
        types += [(dtype, arg.is_ref)] * (attrs[arg.number_attr] if arg.number_attr else 1)
    return types


def _is_text(name: bytes) -> bool:
    try:
        name.decode()
    except UnicodeDecodeError:
        return False
    return True
