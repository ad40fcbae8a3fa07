"""Functions in a graph's library: FunctionDefs, their bodies as graphs, and the op types that call them."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tensorboard.compat.proto.attr_value_pb2 import AttrValue
from tensorboard.compat.proto.function_pb2 import FunctionDef
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.node_def_pb2 import NodeDef
from tensorboard.compat.proto.op_def_pb2 import OpDef

from tideflow.graph import dtypes, errors
from tideflow.graph.graph import Graph
from tideflow.graph.graph_def import attr_from_proto, attr_proto, node_def_proto
from tideflow.graph.node_import import MOST_TENSORS, NodeImporter, input_key
from tideflow.graph.op import Op, definition
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.schema import attr

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, GraphElementLike, ShapeLike


@dataclass
class FunctionBody:
    """A function as a graph: its inputs, its outputs, and the operations that every call runs."""

    graph: Graph
    inputs: list[Tensor]
    outputs: list[Tensor]
    targets: list[Operation]
    # Gradient functions, by what is differentiated (`autodiff/functions.py`).
    derivatives: dict[Any, Any] = field(default_factory=dict)


class FunctionGraph(Graph):
    """A function's body while it is being made. A tensor of an outer graph that it uses becomes an input."""

    captures_through_outer = True  # False where the function may be called elsewhere than in its outer graph

    def __init__(self, outer: Graph) -> None:
        super().__init__()
        self.outer = outer
        self._functions = outer._functions
        self._function_bodies = outer._function_bodies
        self._function_gradients = outer._function_gradients
        self.inputs: list[Tensor] = []
        self.captured: dict[Tensor, Tensor] = {}  # the outer tensor -> the input that stands for it

    @property
    def building_function(self) -> bool:
        return True

    def take_collections(self, shared: Iterable[Hashable]) -> None:
        """Fills the collections with what those of the outer graph have. The `shared` ones are the same
        lists. What the function adds to another one stays inside.
        """
        shared = set(shared)
        for key in shared:
            self._collections[key] = self.outer.get_collection_ref(key)
        for key, items in self.outer._collections.items():
            if key not in shared:
                self._collections[key] = list(items)

    @contextlib.contextmanager
    def colocate_with(self, op: GraphElementLike | None, ignore_existing: bool = False) -> Iterator[None]:
        """As for any graph, but an operation outside of the function does not place those inside."""
        tensor = getattr(op, "handle", op)
        other = op if isinstance(op, Operation) else getattr(op, "op", None)
        is_outside = isinstance(other, Operation) and other.graph is not self
        if is_outside or getattr(tensor, "is_eager", False):
            yield
            return
        with super().colocate_with(op, ignore_existing):
            yield

    def add_input(self, dtype: DTypeLike, shape: ShapeLike | None, name: str) -> Tensor:
        """Adds an input to the function."""
        self.inputs.append(new_input(self, dtype, shape, name))
        return self.inputs[-1]

    def capture(self, tensor: Tensor, name: str | None = None) -> Tensor:
        """The tensor itself, or the input of this function that stands for a tensor of an outer graph, which
        is made with this name.
        """
        if not tensor.is_eager and tensor.graph is self:
            return tensor
        if not tensor.is_eager and self in around(tensor.graph):
            raise errors.InaccessibleTensorError(
                f"The tensor '{tensor}' cannot be accessed here: it is defined in another function or code "
                "block. Use return values, explicit Python locals or TensorFlow collections to access it. "
                f"Defined in: {tensor.graph}; accessed from: {self}.\n"
            )
        if self.captures_through_outer and isinstance(self.outer, FunctionGraph):
            tensor = self.outer.capture(tensor)
        if tensor not in self.captured:
            if tensor.dtype._is_ref_dtype:
                raise ValueError(
                    f"Cannot capture {tensor.name}, a variable's reference, by value: use a resource "
                    "variable, or pass its value as an argument."
                )
            if name is None:
                name = "captured" if tensor.is_eager else tensor.op.name
            self.captured[tensor] = inner = self._input_for(tensor, name)
            inner._variable = getattr(tensor, "_variable", None)
        return self.captured[tensor]

    def _input_for(self, tensor: Tensor, name: str) -> Any:
        """A new input that stands for a tensor from outside."""
        return self.add_input(tensor.dtype, tensor.shape, name)


def new_input(graph: Graph, dtype: DTypeLike, shape: ShapeLike | None, name: str) -> Tensor:
    """A tensor of a function's graph that every call gives a value."""
    with graph.as_default(), graph.control_dependencies(None):
        tensor: Tensor = definition("Placeholder")(dtype=dtype, shape=shape, name=name)
    return tensor


def is_input(op: Operation) -> bool:
    """Whether an operation of a function's graph has its value from a call."""
    return op.definition.role == "placeholder" and not op.inputs


class WaitingGraph(FunctionGraph):
    """A function whose body may name operations outside of it as control inputs: its call waits for them."""

    def __init__(self, outer: Graph) -> None:
        super().__init__(outer)
        self.outside_controls: list[Operation] = []

    def _control_operations(self, control_inputs: Iterable[Any]) -> list[Operation]:
        own = []
        for item in control_inputs:
            op = item if isinstance(item, Operation) else getattr(item, "op", None)
            if isinstance(op, Operation) and op.graph is not self:
                self.outside_controls.append(op)
            else:
                own.append(item)
        return super()._control_operations(own)


def copy_by_value(
    tensor: Tensor,
    body: FunctionGraph,
    copies: dict[Operation, Operation],
    may_copy: Callable[[Operation], bool],
) -> Tensor:
    """Copies a tensor of a graph, and all it is made of, into a function's body.

    Args:
      tensor: A tensor of the graph outside.
      body: The body.
      copies: What was copied before, each operation with its copy; what is copied now is added.
      may_copy: Whether a stateful operation may be copied.
    """
    for op in _in_order(tensor.op, copies):
        if op.definition.role == "placeholder":
            raise ValueError(f"Cannot capture a placeholder (name:{op.name}, type:{op.type}) by value.")
        if op.definition.stateful and not may_copy(op):
            raise ValueError(f"Cannot capture a stateful node (name:{op.name}, type:{op.type}) by value.")
        inputs = [copies[given.op].outputs[given.value_index] for given in op.inputs]
        with body.as_default(), body.control_dependencies([copies[control] for control in op.control_inputs]):
            copies[op] = op.definition.node_from_flat(inputs, dict(op.attrs), op.name)
        for made, given in zip(copies[op].outputs, op.outputs, strict=True):
            made.set_shape(given.shape)
    copy: Tensor = copies[tensor.op].outputs[tensor.value_index]
    return copy


def _in_order(op: Operation, done: dict[Operation, Operation]) -> list[Operation]:
    """The operation and all it needs, what is needed first, but for what is done."""
    order: dict[Operation, None] = {}
    stack = [(op, False)]
    while stack:
        at, ready = stack.pop()
        if at in order or at in done:
            continue
        if ready:
            order[at] = None
            continue
        stack.append((at, True))
        stack += [(needed, False) for needed in (*(t.op for t in at.inputs), *at.control_inputs)]
    return list(order)


# ------------------------------------------------------------------------------------------------ bodies


def around(graph: Graph) -> Iterator[Graph]:
    """The graphs of the functions that a function's graph is nested in."""
    while isinstance(graph, FunctionGraph):
        graph = graph.outer
        yield graph


def outermost(graph: Graph) -> Graph:
    """The graph around all functions that a function is nested in: its library contains the functions. A
    function that can be called in many graphs has a library of its own.
    """
    while isinstance(graph, FunctionGraph) and graph._functions is graph.outer._functions:
        graph = graph.outer
    return graph


_being_made = threading.local()  # the functions whose bodies this thread is making, by library and name


def body_of(graph: Graph, name: str, attrs: dict[str, Any] | None = None) -> FunctionBody:
    """The body of a function of the graph's library for these attribute values. Each is made once."""
    attrs = attrs or {}
    key = (name, repr(sorted(attrs.items(), key=lambda item: item[0])))
    if key not in graph._function_bodies:
        with _not_recursive(graph, name):
            graph._function_bodies[key] = _new_body(graph, name, attrs)
    return graph._function_bodies[key]


def body_called(
    graph: Graph, name: str, inputs: Sequence[Tensor], attrs: dict[str, Any] | None = None
) -> FunctionBody:
    """The body for a call with these inputs. Handles among them know the shapes of their variables, which a
    FunctionDef does not say; the body takes them over.
    """
    body = body_of(graph, name, attrs)
    for inner, outer in zip(body.inputs, inputs, strict=False):
        if inner.dtype is dtypes.resource and inner.shape.ndims is None:
            inner.set_shape(outer.shape)
    return body


@contextlib.contextmanager
def _not_recursive(graph: Graph, name: str) -> Iterator[None]:
    """Raises InvalidArgumentError if making the body requires the body itself."""
    making = _being_made.__dict__.setdefault("names", set())
    key = (id(graph._functions), name)  # a graph and the bodies made from it share one library
    if key in making:
        raise errors.invalid_argument(
            f"The function {name} calls itself, so that the shapes of its outputs have no end"
        )
    try:
        making.add(key)
        yield
    finally:
        making.discard(key)


def _new_body(graph: Graph, name: str, attrs: dict[str, Any]) -> FunctionBody:
    function = graph._functions.get(name)
    if function is None:
        known = ", ".join(sorted(graph._functions)) or "none"
        raise errors.not_found(f"Function {name} is not defined; the graph's functions: {known}")
    made = FunctionGraph(graph)
    try:
        message, inputs, outputs = _as_graph_def(graph, function, attrs)
        with made.as_default():
            importer = NodeImporter(made, message, op_definition)
            importer.run()
            elements: list[Any] = [importer.element(name) for name in (*inputs, *outputs)]
    except (ValueError, TypeError) as error:
        raise errors.invalid_argument(f"Function {name}: {error}") from error
    return FunctionBody(made, elements[: len(inputs)], elements[len(inputs) :], effects_of(made))


def fill_body(made: FunctionGraph, function: FunctionDef, inputs: list[Tensor]) -> FunctionBody:
    """Adds the nodes of a function to a graph that has its inputs, and the functions that it calls."""
    name = function.signature.name
    try:
        message, arguments, outputs = _as_graph_def(made, function, {})
        if len(arguments) != len(inputs):
            raise ValueError(f"it has {len(arguments)} arguments, not {len(inputs)}")
        del message.node[: len(arguments)]
        given = dict(zip(arguments, inputs, strict=True))
        keys: dict[Any, Any] = {input_key(text): tensor for text, tensor in given.items()}
        keys |= {(f"^{text[:-2]}", -1): tensor.op for text, tensor in given.items()}
        used = {input_key(text) for node in message.node for text in node.input}
        with made.as_default():
            importer = NodeImporter(
                made, message, op_definition, mapped={key: keys[key] for key in used & keys.keys()}
            )
            importer.run()
            results: Any = [given[text] if text in given else importer.element(text) for text in outputs]
    except (ValueError, TypeError) as error:
        raise errors.invalid_argument(f"Function {name}: {error}") from error
    return FunctionBody(made, inputs, results, effects_of(made))


def effects_of(graph: Graph) -> list[Operation]:
    """The operations of a body that every call runs, whether or not its results need them."""
    return [op for op in graph.get_operations() if op.definition.stateful]


def _as_graph_def(
    graph: Graph, function: FunctionDef, attrs: dict[str, Any]
) -> tuple[GraphDef, list[str], list[str]]:
    """The function's nodes as a graph, and the names of its inputs and outputs there."""
    message = GraphDef()
    ranges: dict[str, list[str]] = {}  # 'arg' or 'node:output' -> the tensors it stands for
    inputs: list[str] = []
    for arg in function.signature.input_arg:
        types = _argument_types(arg, attrs)
        for i, dtype in enumerate(types):
            name = arg.name if len(types) == 1 else f"{arg.name}_{i}"
            node = message.node.add(name=name, op="Placeholder")
            node.attr["dtype"].type = dtype.as_datatype_enum
            ranges.setdefault(arg.name, []).append(f"{name}:0")
            inputs.append(f"{name}:0")
    for given in function.node_def:
        node = message.node.add()
        node.CopyFrom(given)
        for key, value in given.attr.items():
            if value.WhichOneof("value") == "placeholder":
                node.attr[key].CopyFrom(_bound_attribute(value.placeholder, attrs))
        for output, first, count in _output_ranges(graph, node):
            ranges[f"{node.name}:{output}"] = [f"{node.name}:{first + i}" for i in range(count)]
    for node in message.node:
        texts = [text for text in node.input]
        del node.input[:]
        node.input.extend(_tensor_name(text, ranges, function) for text in texts)
    outputs = []
    for arg in function.signature.output_arg:
        text = function.ret[arg.name]
        if text in ranges and len(_argument_types(arg, attrs)) != 1:
            outputs += ranges[text]
        else:
            outputs.append(_tensor_name(text, ranges, function))
    return message, inputs, outputs


def _argument_types(arg: OpDef.ArgDef, attrs: dict[str, Any]) -> list[dtypes.DType]:
    if arg.type_list_attr:
        return list(_attribute(attrs, arg.type_list_attr, list))
    dtype = _attribute(attrs, arg.type_attr, dtypes.DType) if arg.type_attr else dtypes.as_dtype(arg.type)
    return [dtype] * (_count(attrs, arg.number_attr) if arg.number_attr else 1)


def _attribute(attrs: dict[str, Any], key: str, kind: type) -> Any:
    value = attrs.get(key)
    if not isinstance(value, kind):
        raise ValueError(f"the attribute '{key}' is {value!r}, not a {kind.__name__}")
    return value


def _count(attrs: dict[str, Any], key: str) -> int:
    count: int = _attribute(attrs, key, int)
    if not 0 <= count <= MOST_TENSORS:
        raise ValueError(f"the attribute '{key}' is {count}, not from 0 to {MOST_TENSORS}")
    return count


def _bound_attribute(name: str, attrs: dict[str, Any]) -> AttrValue:
    if name not in attrs:
        raise errors.invalid_argument(f"the function needs a value for its attribute '{name}'")
    return attr_proto(attrs[name])


def _output_ranges(graph: Graph, node: NodeDef) -> Iterator[tuple[str, int, int]]:
    """Each output argument of a node with the index of its first tensor and the number of its tensors."""
    op = op_definition(graph, node.op)
    attrs = {**op._defaults, **{key: attr_from_proto(value) for key, value in node.attr.items()}}
    first = 0
    for arg in op.outputs:
        count = 1
        if arg.type_list_attr is not None:
            count = len(_attribute(attrs, arg.type_list_attr, list))
        elif arg.number_attr is not None:
            count = _count(attrs, arg.number_attr)
        yield arg.name, first, count
        first += count


def _tensor_name(text: str, ranges: dict[str, list[str]], function: FunctionDef) -> str:
    """The tensor name, in a graph, for 'arg', 'arg:1' or 'node:output:0' in a FunctionDef."""
    if text.startswith("^"):
        return text
    base, colon, index = text.rpartition(":")
    found, position = ranges.get(text, []), 0
    if colon and index.isdigit() and base in ranges:
        found, position = ranges[base], int(index)
    if position < len(found):
        return found[position]
    raise errors.invalid_argument(
        f"Function {function.signature.name} takes '{text}', which is none of its arguments or nodes",
    )


# ------------------------------------------------------------------------------------------------ calls


def op_definition(graph: Graph, op_type: str) -> Op:
    """The definition of an op type that a GraphDef names: a registered one, or the call of a function of the
    graph.
    """
    if op_type in graph._functions:
        return call_definition(graph, op_type)
    op = definition(op_type)
    if not op.importable and not graph._takes_internal_ops:
        raise errors.not_found(
            f"Op type not registered '{op_type}': it is internal to the compiler, and no graph from outside "
            "(a file, a MetaGraph, a SavedModel, a client) may name it"
        )
    return op


def call_definition(graph: Graph, name: str) -> Op:
    """The op type that calls a function by its name."""
    if name not in graph._function_calls:
        graph._function_calls[name] = _call_op(graph, graph._functions[name])
    return graph._function_calls[name]


def _call_op(graph: Graph, function: FunctionDef) -> Op:
    signature = function.signature
    attrs: dict[str, Any] = {spec.name: attr(spec.type) for spec in signature.attr}
    for spec in signature.attr:
        if spec.HasField("default_value"):
            attrs[spec.name] = attr(spec.type, attr_from_proto(spec.default_value))
    text = f"{_arguments_text(signature.input_arg)} -> {_arguments_text(signature.output_arg)}"
    op = Op(signature.name, text, stateful=signature.is_stateful, registered=False, **attrs)
    op.calls = lambda node: (signature.name, {k: v for k, v in node.attrs.items() if k in op.attrs})

    def shapes(*inputs: Any, **values: Any) -> list[Any]:
        return [tensor.shape for tensor in body_of(graph, signature.name, values).outputs]

    single = len(signature.output_arg) == 1 and not op.outputs[0].is_list
    op.shape_rule = (lambda *inputs, **values: shapes(*inputs, **values)[0]) if single else shapes
    op._wanted[op.shape_rule] = tuple(op.attrs)
    op.kernel(lambda *inputs: None)
    op.gradient(definition("PartitionedCall").gradient_function)
    op.samples(covered_by="tests/ops/control_flow/test_calls.py")
    return op


def _arguments_text(args: Iterable[OpDef.ArgDef]) -> str:
    texts = []
    for i, arg in enumerate(args):
        name = arg.name if re.fullmatch(r"\w+", arg.name) else f"argument_{i}"
        kind = arg.type_list_attr or arg.type_attr or dtypes.as_dtype(arg.type).name
        texts.append(f"{name}: {f'{arg.number_attr} * ' if arg.number_attr else ''}{kind}")
    return ", ".join(texts)


# ------------------------------------------------------------------------------------------------ definitions


def add_function(
    graph: Graph,
    name: str,
    body: FunctionBody,
    output_names: list[str] | None = None,
    control_outputs: Iterable[Operation] = (),
) -> FunctionDef:
    """Adds a function to the graph's library and returns its FunctionDef."""
    message = function_def(name, body, output_names, control_outputs)
    graph._functions[name] = message
    graph._function_bodies[(name, "[]")] = body
    graph._mutated()
    return message


def function_def(
    name: str,
    body: FunctionBody,
    output_names: list[str] | None = None,
    control_outputs: Iterable[Operation] = (),
) -> FunctionDef:
    """The FunctionDef of a body. `control_outputs` are operations that run in every call."""
    operations = _own_operations(body)
    names = output_names or _output_names(len(body.outputs))
    outputs = dict(zip(names, body.outputs, strict=True))
    controls = {op.name: op for op in control_outputs}
    message = function_message(name, _argument_names(body), operations, outputs, controls)
    message.signature.is_stateful = bool(body.targets)
    return message


def _output_names(count: int) -> list[str]:
    return [f"output_{i}" for i in range(count)] if count > 1 else ["output"][:count]


def function_message(
    name: str,
    arguments: dict[Tensor, str],
    operations: Iterable[Operation],
    outputs: dict[str, Tensor],
    control_outputs: dict[str, Operation],
) -> FunctionDef:
    """The FunctionDef of operations that compute outputs from arguments."""
    message = FunctionDef()
    message.signature.name = name
    sources = {tensor.op for tensor in arguments}
    for tensor, argument in arguments.items():
        message.signature.input_arg.add(name=argument, type=tensor.dtype.base_dtype.as_datatype_enum)
    for op in operations:
        node = message.node_def.add()
        node.CopyFrom(node_def_proto(op))
        del node.input[:]
        node.input.extend(_input_text(tensor, arguments) for tensor in op.inputs)
        controls = [control for control in op.control_inputs if control not in sources]
        node.input.extend(f"^{control.name}" for control in controls)
    for key, tensor in outputs.items():
        message.signature.output_arg.add(name=key, type=tensor.dtype.base_dtype.as_datatype_enum)
        message.ret[key] = _input_text(tensor, arguments)
    for key, op in control_outputs.items():
        message.signature.control_output.append(key)
        message.control_ret[key] = op.name
    return message


def _own_operations(body: FunctionBody) -> list[Operation]:
    """What a body computes from its inputs. Its graph may have inputs for other functions too."""
    inputs = {tensor.op for tensor in body.inputs}
    foreign: set[Operation] = set()
    for op in body.graph.get_operations():
        if is_input(op) and op not in inputs or any(t.op in foreign for t in op.inputs):
            foreign.add(op)
    return [op for op in body.graph.get_operations() if op not in foreign and op not in inputs]


def _argument_names(body: FunctionBody) -> dict[Tensor, str]:
    """The inputs, each with the name of its argument. No two may be equal, nor equal the name of a node."""
    taken = {op.name for op in body.graph.get_operations() if not is_input(op)}
    names: dict[Tensor, str] = {}
    for tensor in body.inputs:
        name = re.sub(r"\W", "_", tensor.op.name).lower()
        name = name if name[:1].isalpha() else f"arg_{name}"
        names[tensor] = free_name(name, taken)
    return names


def free_name(name: str, taken: set[str]) -> str:
    """The name, with a number if it is taken; it is taken then."""
    found, number = name, 1
    while found in taken:
        found, number = f"{name}_{number}", number + 1
    taken.add(found)
    return found


def _input_text(tensor: Tensor, arguments: dict[Tensor, str]) -> str:
    op = tensor.op
    if tensor in arguments:
        return arguments[tensor]
    first = 0
    for arg, outputs in zip(op.definition.outputs, op.definition.group_outputs(op), strict=True):
        count = len(outputs) if arg.is_list else 1
        if tensor.value_index < first + count:
            return f"{op.name}:{arg.name}:{tensor.value_index - first}"
        first += count
    raise AssertionError(f"{tensor} is no output of {op}")
