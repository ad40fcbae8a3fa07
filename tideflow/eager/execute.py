"""Runs an op's kernel at once.

A call finds its kernel by the op, the attributes and the types and shapes of the inputs. Where there is none
yet, it is bound as the emitter of plans binds it: attributes resolved, the shape rule asked, the kernel for
the types and the device chosen, the op's specialization taken.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence, Set
from typing import TYPE_CHECKING, Any

import torch

from tideflow.compile.compiler import compile_step
from tideflow.compile.failures import refusal
from tideflow.compile.function_plans import planned
from tideflow.compile.ir import Node, Value, make_node
from tideflow.compile.kernels import KernelArguments, has_objects, kernel_for, wants_context
from tideflow.compile.prune import given
from tideflow.eager.recording import Record, recording
from tideflow.eager.tensor import EagerTensor, eager_tensor, key_of
from tideflow.graph import dtypes, errors
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.errors import OpError
from tideflow.graph.op import Op
from tideflow.graph.schema import Arg
from tideflow.graph.scopes import graph_of
from tideflow.ops.arrays.constants import const_op
from tideflow.ops.helpers.variables import HandleShape
from tideflow.runtime.devices import CPU
from tideflow.runtime.resources import ResourceManager
from tideflow.runtime.values import host_value, to_numpy, to_torch
from tideflow.runtime.waiting import StepContext

if TYPE_CHECKING:
    from tideflow.eager.context import EagerGraph

_MOST_BOUND = 10_000  # kernels; a program whose shapes never recur begins anew then

_MOST_SIZES = 32  # in a list; longer ones are data
_MOST_SCALARS = 1_000
_WIDE = 2**31

GRAPH_TENSOR = (
    'An op outside of the function building code is being passed\na "Graph" tensor. It is possible to have '
    "Graph tensors\nleak out of the function building context by including a\ntf.init_scope in your function "
    "building code. The tensor was: {}"
)
_OBJECTS = (dtypes.resource, dtypes.variant)
_new = object.__new__
_scalars: dict[Any, EagerTensor] = {}


class BoundKernel:
    """A kernel with all that calls on inputs of the same types, shapes and devices have in common."""

    __slots__ = ("attrs", "call", "device", "literals", "node", "outputs", "single")

    def __init__(self, node: Node, call: Callable[..., Any]):
        self.node = node
        self.attrs = node.attrs
        self.call = call  # of the flat values of the inputs
        self.device: torch.device | None = None  # to which inputs are moved
        self.literals: list[tuple[int, Any]] = []  # positions of Python values: the tensor, or its type
        # Of each output, the type, the key, and the shape of a handle, which says what it is a handle of.
        self.outputs = [
            (
                value.dtype.base_dtype,
                _key_of(value, node.device),
                value.shape if isinstance(value.shape, HandleShape) else None,
            )
            for value in node.outputs
        ]
        is_single = len(node.outputs) == 1 and not node.definition.outputs[0].is_list
        self.single = self.outputs[0] if is_single else None


def _key_of(value: Value, device: torch.device) -> Any:
    """What kernels are found by that take this value; None where its shape shows only when it is there."""
    enum, shape = value.dtype.base_dtype.as_datatype_enum, value.shape
    if isinstance(shape, HandleShape):
        return enum, (shape.dtype.as_datatype_enum, shape.variable_shape.tuple)
    if not shape.is_fully_defined() or device != CPU:
        return None
    return enum, shape.tuple


def execute(graph: EagerGraph, op: Op, args: tuple[Any, ...], attrs: dict[str, Any], name: str | None) -> Any:
    """What the op gives for these inputs: a tensor, several, or None where it has no outputs."""
    if op is const_op:
        return _constant(graph, attrs)
    key: Any = [op]
    for value in args:
        if type(value) is not EagerTensor:
            key = _literal_key(op, args)
            break
        key.append(value._key)
    bound = None
    if key is not None:
        if attrs:
            for word, value in attrs.items():
                key += (word, tuple(value) if type(value) is list else value)
        key = tuple(key)
        try:
            bound = graph.kernels.get(key)
        except TypeError:  # an attribute has lists of lists
            key = None
    if bound is None or graph._thread_scopes.now.devices or graph.accelerated and op.takes_resources:
        return _converted(graph, op, args, attrs, name, key)
    tensors: Any = args
    if bound.literals:
        tensors = list(args)
        for i, known in bound.literals:
            tensors[i] = known if type(known) is EagerTensor else scalar(args[i], known)
    if op.takes_lists:
        tensors = _flat(tensors)
    if bound.device is not None:
        tensors = [_moved(tensor, bound.device) for tensor in tensors]
    return _run(graph, op, bound, tensors, name)


def _literal_key(op: Op, args: tuple[Any, ...]) -> list[Any] | None:
    """What a call with Python values has in common with others that run the same kernel, but for attributes;
    None where that takes longer to say than to find the kernel from converted inputs.

    Of a number, its type; of sizes and axes, which kernels take as Python values, the values.
    """
    key: list[Any] = [op]
    for i, value in enumerate(args):
        kind = type(value)
        if kind is EagerTensor:
            key.append(value._key)
        elif kind is float or kind is int or kind is bool:
            if kind is int and not -_WIDE <= value < _WIDE:  # of another type than other integers
                return None
            key.append((kind, value) if op.inputs[i].name in op.host else kind)
        elif kind is list or kind is tuple:
            wanted = EagerTensor if op.inputs[i].is_list else int
            for item in value:
                if type(item) is not wanted:
                    return None
            if wanted is EagerTensor:
                key.append(tuple([item._key for item in value]))
            elif len(value) > _MOST_SIZES:
                return None
            else:
                key.append((list, *value))
        else:
            return None
    return key


def _flat(grouped: Sequence[Any]) -> list[EagerTensor]:
    return [x for value in grouped for x in (value if isinstance(value, (list, tuple)) else (value,))]


def scalar(value: Any, dtype: dtypes.DType) -> EagerTensor:
    """A Python number as a tensor. The last ones are kept: programs use the same few again and again."""
    key = value or repr(value), type(value), dtype.as_datatype_enum  # 0.0 equals -0.0
    found = _scalars.get(key)
    if found is None:
        if len(_scalars) > _MOST_SCALARS:
            _scalars.clear()
        found = _scalars[key] = convert_to_tensor(value, dtype)  # type: ignore[assignment]
    return found  # type: ignore[return-value]


def _converted(
    graph: EagerGraph, op: Op, args: tuple[Any, ...], attrs: dict[str, Any], name: str | None, call_key: Any
) -> Any:
    """The same where no kernel is known for the call: converts what is no tensor yet."""
    if len(args) != len(op.inputs):
        expected = ", ".join(arg.name for arg in op.inputs)
        raise TypeError(f"{op.name} takes {len(op.inputs)} inputs ({expected}), {len(args)} given")
    if not op._checked:
        op.check_parts(op.parts())
        op._checked = True
    symbolic: Any = graph_of(args)
    if symbolic is not graph:
        if not symbolic.takes_eager_calls:
            raise TypeError(GRAPH_TENSOR.format(_first_of_graph(args)))
        with symbolic.as_default():
            return op(*args, name=name, **attrs)
    for arg in (*op.inputs, *op.outputs):
        if arg.is_ref:
            raise RuntimeError(f"{op.name} op does not support eager execution. Arg '{arg.name}' is a ref.")
    grouped, resolved = op.resolve(args, attrs)
    flat = _flat(grouped)
    device = graph.device_for(op, flat)
    if device is not None:
        flat = [_moved(tensor, device) for tensor in flat]
    if op.handle:
        return _run(graph, op, bind(graph, op, flat, resolved, device, name), flat, name)
    literals: list[int] = []
    key = call_key
    if key is None or graph._thread_scopes.now.devices or graph.accelerated and op.takes_resources:
        key = (op, device, *[tensor._key for tensor in flat], frozen(resolved))
    else:
        literals = [i for i, value in enumerate(args) if not _is_tensors(value, op.inputs[i])]
    bound = graph.kernels.get(key)
    if bound is None:
        known = {i for i in literals if op.inputs[i].name in op.host}
        places = {i: sum(len(v) if isinstance(v, list) else 1 for v in grouped[:i]) for i in literals}
        bound = bind(graph, op, flat, resolved, device, name, {places[i] for i in known})
        bound.literals = [
            (i, grouped[i].dtype if i not in known and type(args[i]) in (bool, int, float) else grouped[i])
            for i in literals
        ]
        bound.device = device
        if len(graph.kernels) > _MOST_BOUND:
            graph.kernels.clear()
        graph.kernels[key] = bound
    return _run(graph, op, bound, flat, name)


def _first_of_graph(args: tuple[Any, ...]) -> Any:
    return next(x for x in _flat(args) if getattr(x, "is_eager", None) is False)


def _is_tensors(value: Any, arg: Arg) -> bool:
    """Whether an input was given as tensors, not as Python values."""
    return isinstance(value, EagerTensor) or arg.is_list


def _run(
    graph: EagerGraph, op: Op, bound: BoundKernel, tensors: Sequence[EagerTensor], name: str | None
) -> Any:
    try:
        if len(tensors) == 2:  # a short path for the most common ops
            left, right = tensors
            result = bound.call(left._value, right._value)
        else:
            result = bound.call(*[tensor._value for tensor in tensors])
    except OpError as error:
        if error.op is None and error.node_def is None and not error.message.endswith("]"):
            error._message = f"{error.message}{_place(op, name)}"
        raise
    except Exception as error:
        kind, message = refusal(error, bound.node, [tensor._value for tensor in tensors])
        raise kind(None, None, f"{message}{_place(op, name)}") from error
    if bound.single is not None:
        dtype, key, shape = bound.single
        output: EagerTensor = _new(EagerTensor)
        output._value = result
        output.dtype = dtype
        output._key = key or key_of(result, dtype)
        if shape is not None:
            output._shape = shape
        if recording.tapes:
            _record(graph, op, bound.attrs, tensors, [output])
        return output
    outputs = []
    for value, (dtype, key, shape) in zip(result or (), bound.outputs, strict=True):
        output = _new(EagerTensor)
        output._value, output.dtype, output._key = value, dtype, key or key_of(value, dtype)
        if shape is not None:
            output._shape = shape
        outputs.append(output)
    record = _record(graph, op, bound.attrs, tensors, outputs)
    return op._result(record) if op.outputs else None  # type: ignore[arg-type]


def _record(graph: Any, op: Op, attrs: dict[str, Any], inputs: Any, outputs: list[Any]) -> Record:
    overrides = graph._gradient_overrides
    record = Record(op, attrs, inputs, outputs, overrides.get(op.name) if overrides else None)
    for tape in recording.tapes:
        tape._add(record)
    return record


def _place(op: Op, name: str | None) -> str:
    return f" [Op:{op.name}]{f' name: {name}/' if name else ''}"


def _moved(tensor: EagerTensor, device: torch.device) -> EagerTensor:
    return tensor if tensor.dtype in _OBJECTS else tensor._on(device)


def _constant(graph: EagerGraph, attrs: dict[str, Any]) -> EagerTensor:
    array, dtype = attrs["value"], dtypes.as_dtype(attrs["dtype"])
    return eager_tensor(to_torch(array, graph.device_of_constant(dtype)), dtype)


# ---------------------------------------------------------------------------------- binding


def frozen(value: Any) -> Any:
    """A hashable stand-in for an attribute's value."""
    if isinstance(value, dict):
        return tuple((key, frozen(item)) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return tuple(map(frozen, value))
    try:
        hash(value)
    except TypeError:
        return repr(value) if not hasattr(value, "tobytes") else (value.tobytes(), value.shape)
    return type(value), value


class _Arguments(KernelArguments):
    """What kernels are given in eager mode: an op has one state for each set of attributes, as in TensorFlow.

    A handle that is not shared by name is nobody else's.
    """

    def __init__(self, graph: EagerGraph):
        super().__init__(graph.resources, functools.partial(planned, compile_step))
        self._graph = graph

    def _argument(self, node: Node, name: str) -> Any:
        if name not in node.attrs:
            if name == "state":
                return self._graph.states.setdefault((node.definition, frozen(node.attrs)), {})
            if name == "resources" and node.definition.handle and not node.attrs.get("shared_name"):
                return ResourceManager()
        return super()._argument(node, name)


def bind(
    graph: EagerGraph,
    op: Op,
    inputs: Sequence[EagerTensor],
    attrs: dict[str, Any],
    device: torch.device | None,
    name: str | None,
    known: Set[int] = frozenset(),
) -> BoundKernel:
    """The kernel for inputs like these, some of which are `known` to have these very values."""
    values = [
        _constant_value(x) if i in known else given(f"input_{i}", x.dtype, x.shape, None)
        for i, x in enumerate(inputs)
    ]
    source: Any = Record(op, attrs, (), (), None)
    node = Node(op, (name or op.name).rstrip("/"), values, attrs, source)
    node.device = CPU if op.on_host or device is None else device
    try:
        shapes = op.infer(node.grouped_inputs, attrs, op.name)
    except ValueError as error:
        raise errors.InvalidArgumentError(None, None, f"{error}{_place(op, name)}") from None
    pairs = zip(op.output_types(attrs), shapes, strict=True)
    node.outputs = [Value(node, i, dtype, shape) for i, (dtype, shape) in enumerate(pairs)]
    return BoundKernel(node, _specialized(node) or _call_of(node, _Arguments(graph)))


def _constant_value(tensor: EagerTensor) -> Value:
    attrs = {"value": to_numpy(tensor._value), "dtype": tensor.dtype}
    return make_node(const_op, [], attrs).outputs[0]


def _specialized(node: Node) -> Callable[..., Any] | None:
    rule = node.definition.specialize_rule
    if rule is None or has_objects(node):
        return None
    try:
        chosen = rule(node)
    except ValueError:  # the kernel reports sizes that do not fit
        return None
    if chosen is None:
        return None
    function, args = chosen
    if list(args) == node.inputs:
        return function  # type: ignore[no-any-return]
    template = [(node.inputs.index(arg), None) if isinstance(arg, Value) else (-1, arg) for arg in args]
    return lambda *values: function(*[literal if i < 0 else values[i] for i, literal in template])


def _call_of(node: Node, arguments: KernelArguments) -> Callable[..., Any]:
    op = node.definition
    kernel = kernel_for(node)
    keywords = arguments.of(node, kernel)
    takes_context = wants_context(node, kernel)
    if takes_context or op.blocking:
        kernel = _in_a_step(kernel, takes_context)
    if keywords:
        kernel = functools.partial(kernel, **keywords)
    if not op.host and not op.takes_lists:
        return kernel
    if not op.takes_lists:
        return _with_host_values(kernel, node)
    flags = [(arg.name in op.host, arg.is_list) for arg in op.inputs]

    def call(*values: Any) -> Any:
        grouped = op.group_inputs(values, node.attrs)
        return kernel(
            *[
                value if not is_host else list(map(host_value, value)) if is_list else host_value(value)
                for value, (is_host, is_list) in zip(grouped, flags, strict=True)
            ]
        )

    return call


def _with_host_values(kernel: Callable[..., Any], node: Node) -> Callable[..., Any]:
    """A kernel that gets its host inputs as Python values: those that are known, or those of each call."""
    is_host = [arg.name in node.definition.host for arg in node.definition.inputs]
    known = [None if value.constant is None else value.constant.tolist() for value in node.inputs]
    plan = list(zip(is_host, known, [value.constant is not None for value in node.inputs], strict=True))
    return lambda *values: kernel(
        *[
            value if not host else literal if is_known else host_value(value)
            for value, (host, literal, is_known) in zip(values, plan, strict=True)
        ]
    )


def _in_a_step(kernel: Callable[..., Any], takes_context: bool) -> Callable[..., Any]:
    """A kernel that may wait, or that asks for the context of its step, in a step of its own."""

    def call(*args: Any, **keywords: Any) -> Any:
        context = StepContext()
        if takes_context:
            keywords["context"] = context
        return context.resolve(kernel, *args, **keywords)

    return call
