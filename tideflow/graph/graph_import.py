"""`import_graph_def`: a GraphDef, TensorFlow's or ours, becomes part of the default graph. All of it, or
nothing.
"""

from __future__ import annotations

import contextlib
import heapq
import re
from collections.abc import Iterator
from typing import Any

from tensorboard.compat.proto.attr_value_pb2 import AttrValue
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.node_def_pb2 import NodeDef

from tideflow.export import export
from tideflow.graph import device as device_names
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.dtypes import DType
from tideflow.graph.functions import op_definition
from tideflow.graph.graph import GRAPH_DEF_VERSION, Graph
from tideflow.graph.graph_def import attr_from_proto
from tideflow.graph.op import Op
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import get_default_graph, name_scope

_NAME = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\\\-/]*$")


@export("import_graph_def", "graph_util.import_graph_def")
def import_graph_def(
    graph_def: GraphDef,
    input_map: dict[str, Any] | None = None,
    return_elements: list[str] | None = None,
    name: str | None = None,
    op_dict: Any = None,
    producer_op_list: Any = None,
) -> list[Any] | None:
    """Adds the nodes of `graph_def` under the scope `name`; tensors named in `input_map` are replaced by
    those given.
    """
    if not isinstance(graph_def, GraphDef):
        graph_def = _as_graph_def(graph_def)
    if input_map is not None and not (
        isinstance(input_map, dict) and all(isinstance(k, str) for k in input_map)
    ):
        raise TypeError("input_map must be a dictionary mapping strings to Tensor objects.")
    if return_elements is not None and not (
        isinstance(return_elements, (list, tuple)) and all(isinstance(e, str) for e in return_elements)
    ):
        raise TypeError("return_elements must be a list of strings.")
    graph = get_default_graph()
    with _all_or_nothing(graph), name_scope(name, "import", list((input_map or {}).values())) as scope:
        mapped = {_tensor_key(k): _mapped_value(v) for k, v in (input_map or {}).items()}
        importer = _Importer(graph, graph_def, scope, mapped, producer_op_list)
        importer.run()
        if return_elements is not None:
            return [importer.element(e) for e in return_elements]
    return None


def _as_graph_def(message: Any) -> GraphDef:
    """A GraphDef of another protobuf pool (TensorFlow's own), by way of its bytes."""
    if type(message).__name__ != "GraphDef" or not hasattr(message, "SerializeToString"):
        raise TypeError("graph_def must be a GraphDef proto.")
    return GraphDef.FromString(message.SerializeToString())


def _mapped_value(value: Any) -> Any:
    return value if isinstance(value, (Tensor, Operation)) else convert_to_tensor(value)


@contextlib.contextmanager
def _all_or_nothing(graph: Graph) -> Iterator[None]:
    """Takes back whatever was added to the graph when the block fails."""
    count, names, functions = len(graph._ops), dict(graph._names), dict(graph._functions)
    try:
        yield
    except BaseException:
        for op in reversed(graph._ops[count:]):
            del graph._by_name[op.name]
            for tensor in op.inputs:
                tensor._consumers.remove(op)
        del graph._ops[count:]
        graph._names, graph._functions = names, functions
        raise


def _tensor_key(text: str) -> tuple[str, int] | str:
    """('op', index) of an input's name; a control input stays '^op'."""
    if text.startswith("^"):
        return text
    name, colon, index = text.rpartition(":")
    if colon and index.isdigit():
        return name, int(index)
    return text, 0


class _Importer:
    def __init__(
        self,
        graph: Graph,
        graph_def: GraphDef,
        scope: str,
        mapped: dict[Any, Any],
        producer_ops: Any = None,
    ):
        self.graph = graph
        self.producer_ops = {op.name: op for op in producer_ops.op} if producer_ops is not None else {}
        self.graph_def = graph_def
        self.prefix = scope  # "" or with its slash
        self.mapped = mapped
        self.unused = set(mapped)
        self.ops: dict[str, Operation] = {}
        self.back_edges: list[tuple[str, int, tuple[str, int]]] = []

    def run(self) -> None:
        wanted = self.graph_def.versions.min_consumer
        if wanted > GRAPH_DEF_VERSION:
            raise ValueError(
                f"GraphDef min consumer version {wanted} above current version {GRAPH_DEF_VERSION}."
            )
        nodes = self._checked_nodes()
        for function in self.graph_def.library.function:
            self.graph._functions[function.signature.name] = function
        for gradient in self.graph_def.library.gradient:
            self.graph._function_gradients[gradient.function_name] = gradient.gradient_func
        for node in self._ordered(nodes):
            self._add(node)
        for name, index, (source, output) in self.back_edges:
            self.ops[name]._update_input(index, self._output(name, source, output))
        if self.unused:
            missing = ", ".join(
                k if isinstance(k, str) else f"{k[0]}:{k[1]}" for k in sorted(self.unused, key=str)
            )
            raise ValueError(f"Attempted to map inputs that were not found in graph_def: [{missing}]")
        if self.graph_def.versions.producer < self.graph._producer:
            self.graph._producer = self.graph_def.versions.producer

    def _checked_nodes(self) -> dict[str, NodeDef]:
        nodes: dict[str, NodeDef] = {}
        for node in self.graph_def.node:
            if not _NAME.match(node.name):
                raise ValueError(f"Node '{node.name}': Node name contains invalid characters")
            if node.name in nodes:
                raise ValueError(f"Node '{node.name}' is not unique")
            nodes[node.name] = node
        return nodes

    def _ordered(self, nodes: dict[str, NodeDef]) -> list[NodeDef]:
        """Every node after its inputs; the edge that closes a loop (NextIteration to Merge) does not
        count.
        """
        waiting: dict[str, int] = {}
        followers: dict[str, list[str]] = {}
        for node in nodes.values():
            sources = set()
            for text in node.input:
                source = text[1:] if text.startswith("^") else _tensor_key(text)[0]
                if self._is_mapped(text):
                    continue
                if source not in nodes:
                    raise ValueError(f"Node '{node.name}': Unknown input node '{text}'")
                if not (
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
        while ready:  # the file's own order wherever it is a legal one
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

    def _is_mapped(self, text: str) -> bool:
        return _tensor_key(text) in self.mapped

    # ------------------------------------------------------------------ one node

    def _add(self, node: NodeDef) -> None:
        if not node.op:
            raise ValueError(f"Node '{node.name}' does not specify an operation")
        op_def = op_definition(self.graph, node.op)
        full_name = self._unique(self.prefix + node.name)
        attrs = self._attributes(node, op_def, full_name)
        data = [text for text in node.input if not text.startswith("^")]
        inputs = [self._input(node, i, text) for i, text in enumerate(data)]
        self._check_inputs(op_def, attrs, inputs, full_name)
        if any(not text.startswith("^") for text in node.input[len(data) :]):
            raise ValueError(f"Node '{node.name}': Control dependencies must come after regular dependencies")
        controls = [self._control(text) for text in node.input if text.startswith("^")]
        with self._at_the_top():
            op = op_def.node_from_flat(inputs, attrs, f"{full_name}/")
        self._keep_known_shapes(op)
        op.control_inputs = list(dict.fromkeys([*op.control_inputs, *controls, *self._scope_controls()]))
        if node.device:
            op._device = device_names.merge_names(op._device, device_names.canonical_name(node.device))
        self.graph._apply_device_functions(op, self.graph._local.devices)  # they see the node's own device
        self.ops[node.name] = op

    def _unique(self, name: str) -> str:
        """`name`, or with `_1`, `_2` … where the graph has it."""
        with self._at_the_top():
            return self.graph.unique_name(name)

    @contextlib.contextmanager
    def _at_the_top(self) -> Iterator[None]:
        """Names of imported nodes are whole already, and their devices come from the nodes."""
        local = self.graph._local
        outer = local.name_stack, local.devices
        local.name_stack, local.devices = "", ()
        try:
            yield
        finally:
            local.name_stack, local.devices = outer

    def _scope_controls(self) -> list[Operation]:
        """What every imported node waits for, also one whose inputs wait for it already."""
        return [op for block in self.graph._local.controls for op in block.inputs]

    def _attributes(self, node: NodeDef, op_def: Op, full_name: str) -> dict[str, Any]:
        attrs = {}
        for key, message in node.attr.items():
            if key not in op_def.attrs and not key.startswith("_"):
                if self._is_newer_default(node.op, key, message):
                    continue
                raise ValueError(
                    f"NodeDef mentions attr '{key}' not in Op {op_def.name}; NodeDef: {full_name}"
                )
            value = attr_from_proto(message)
            if key == "_class":
                value = self._colocations(value, full_name)
            spec = op_def.attrs.get(key)
            if spec is not None:
                _check_kind(key, spec.kind, message, full_name)
                if spec.allowed is not None:
                    _check_allowed(key, spec, value, full_name)
            attrs[key] = value
        missing = [key for key in op_def._required if key not in attrs]
        if missing:
            raise ValueError(
                f"NodeDef missing attr '{missing[0]}' from Op {op_def.name}; NodeDef: {full_name}"
            )
        return attrs

    def _is_newer_default(self, op_type: str, key: str, message: AttrValue) -> bool:
        """Whether an attribute that is unknown here says what its writer would take it to say unsaid."""
        producer = self.producer_ops.get(op_type)
        attrs = () if producer is None else producer.attr
        return any(attr.name == key and attr.default_value == message for attr in attrs)

    def _colocations(self, groups: Any, full_name: str) -> list[str]:
        if not isinstance(groups, list) or not all(isinstance(group, str) for group in groups):
            raise ValueError(
                f"NodeDef attr '_class' is {groups!r}, not a list of names; NodeDef: {full_name}"
            )
        return [
            f"loc:@{self.prefix}{group.removeprefix('loc:@')}" if group.startswith("loc:@") else group
            for group in groups
        ]

    def _input(self, node: NodeDef, index: int, text: str) -> Tensor:
        key = _tensor_key(text)
        if key in self.mapped:
            self.unused.discard(key)
            return self.mapped[key]
        source, output = key
        if source not in self.ops:
            # The edge that closes a loop: another input of the Merge stands in until both ends exist.
            self.back_edges.append((node.name, index, key))
            return next(
                self._input(node, i, other) for i, other in enumerate(node.input) if self._is_there(other)
            )
        return self._output(node.name, source, output)

    def _is_there(self, text: str) -> bool:
        key = _tensor_key(text)
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
        if text in self.mapped:
            self.unused.discard(text)
            value = self.mapped[text]
            return value.op if isinstance(value, Tensor) else value
        return self.ops[text[1:]]

    def _check_inputs(self, op_def: Op, attrs: dict[str, Any], inputs: list[Tensor], full_name: str) -> None:
        expected = _input_types(op_def, {**op_def._defaults, **attrs})
        if len(expected) != len(inputs):
            types = ", ".join(dtype.name for dtype, _ in expected)
            raise ValueError(
                f"NodeDef expected inputs '{types}' do not match {len(inputs)} inputs specified; Op "
                f"{op_def.name}; NodeDef: {full_name}"
            )
        for i, ((dtype, is_ref), tensor) in enumerate(zip(expected, inputs, strict=True)):
            if tensor.dtype.base_dtype is not dtype or is_ref and not tensor.dtype._is_ref_dtype:
                raise ValueError(
                    f"Input {i} of node {full_name} was passed {tensor.dtype.name} from {tensor.name} "
                    f"incompatible with expected {dtype.name}{'_ref' if is_ref else ''}."
                )

    def _keep_known_shapes(self, op: Operation) -> None:
        known = op.attrs.pop("_output_shapes", None)
        for tensor, shape in zip(op.outputs, known or (), strict=False):
            if tensor.shape.is_compatible_with(shape):
                tensor.set_shape(shape)

    def element(self, text: str) -> Any:
        """A return element: 'op' or 'op:0'."""
        name, colon, index = text.rpartition(":")
        if not colon:
            if text not in self.ops:
                raise ValueError(f"Requested return node '{text}' not found in graph def")
            return self.ops[text]
        if (name, int(index)) in self.mapped:
            return self.mapped[name, int(index)]
        if name not in self.ops or int(index) >= len(self.ops[name].outputs):
            raise ValueError(
                f"Invalid return output {index} of node '{name}', which has "
                f"{len(self.ops[name].outputs) if name in self.ops else 0} output(s)"
            )
        return self.ops[name].outputs[int(index)]


def _input_types(op_def: Op, attrs: dict[str, Any]) -> list[tuple[DType, bool]]:
    types: list[tuple[DType, bool]] = []
    for arg in op_def.inputs:
        if arg.type_list_attr is not None:
            types += [(dtype, arg.is_ref) for dtype in attrs[arg.type_list_attr]]
            continue
        dtype = arg.dtype if arg.type_attr is None else attrs[arg.type_attr]
        types += [(dtype, arg.is_ref)] * (attrs[arg.number_attr] if arg.number_attr else 1)
    return types


_FIELDS = {"int": "i", "float": "f", "string": "s", "bool": "b"}


def _check_kind(key: str, kind: str, message: AttrValue, full_name: str) -> None:
    """ValueError where a message holds another kind of value than the schema says."""
    found = message.WhichOneof("value")
    if found is None:
        return
    wanted = "list" if kind.startswith("list(") else _FIELDS.get(kind, kind)
    if found == "list" == wanted:
        inner = _FIELDS.get(kind[5:-1], kind[5:-1])
        found = next((field.name for field, _ in message.list.ListFields()), inner)
        wanted = inner
    if found != wanted:
        raise ValueError(
            f"AttrValue had value with type '{found}' when '{kind}' expected for attr '{key}'; NodeDef: "
            f"{full_name}"
        )


def _check_allowed(key: str, spec: Any, value: Any, full_name: str) -> None:
    for item in value if spec.kind.startswith("list(") else [value]:
        if item not in spec.allowed:
            shown = ", ".join(a.name if isinstance(a, DType) else str(a) for a in spec.allowed)
            what = item.name if isinstance(item, DType) else item
            raise ValueError(
                f"Value for attr '{key}' of {what} is not in the list of allowed values: {shown}; NodeDef: "
                f"{full_name}"
            )
