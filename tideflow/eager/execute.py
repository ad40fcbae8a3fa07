"""Runs an op's kernel at once.

A call finds its kernel by the op, the attributes and the types and shapes of the inputs. Where there is none
yet, it is bound as the emitter of plans binds it: attributes resolved, the shape rule asked, the kernel for
the types and the device chosen, the op's specialization taken.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence, Set
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import torch

from tideflow.compile.compiler import compile_step
from tideflow.compile.failures import refusal
from tideflow.compile.function_plans import planned
from tideflow.compile.ir import Node, Value, make_node
from tideflow.compile.kernels import KernelArguments, has_objects, kernel_for, wants_context
from tideflow.compile.prune import given
from tideflow.compile.refusals import refusing
from tideflow.eager.recording import Record, recording, taping
from tideflow.eager.tensor import EagerTensor, Key, eager_tensor, handle_key, key_of
from tideflow.eager.tensor import key as new_key
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.errors import OpError
from tideflow.graph.op import Op
from tideflow.graph.schema import Arg
from tideflow.graph.scopes import graph_of
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays.constants import const_op
from tideflow.ops.helpers.variables import HandleShape
from tideflow.runtime.devices import CPU
from tideflow.runtime.resources import ResourceManager, put_back
from tideflow.runtime.values import host_value, to_numpy, to_torch  # noqa: F401 (kernels are called with it)
from tideflow.runtime.waiting import StepContext

if TYPE_CHECKING:
    from tideflow.eager.context import EagerGraph

_MOST_BOUND = 10_000  # kernels; then all are dropped: the shapes of the program never recur

_MOST_SIZES = 32  # numbers of a list that is taken for sizes; a longer one is data
_MOST_SCALARS = 1_000
_MOST_WRITTEN_OUT = 8  # tensors of a list that a kernel's caller names one by one, which is quicker
_WIDE = 2**31

GRAPH_TENSOR = (
    'An op outside of the function building code is being passed\na "Graph" tensor. It is possible to have '
    "Graph tensors\nleak out of the function building context by including a\ntf.init_scope in your function "
    "building code.\nFor example, the following function will fail:\n  @tf.function\n"
    "  def has_init_scope():\n    my_constant = tf.constant(1.)\n    with tf.init_scope():\n"
    "      added = my_constant * 2\nThe graph tensor has name: {}"
)
_OBJECTS = (dtypes.resource, dtypes.variant)
_new = object.__new__
_scalars: dict[Any, EagerTensor] = {}


class BoundKernel:
    """A kernel for inputs of certain types, shapes and devices, with everything that follows from these."""

    __slots__ = (
        "attrs",
        "call",
        "device",
        "is_direct",
        "literals",
        "node",
        "outputs",
        "places",
        "run",
        "single",
    )

    call: Callable[..., Any]  # takes the values of the inputs, but for those that it knows
    run: Callable[[Sequence[Any], str | None], Any]  # takes the op's arguments and a name

    def __init__(
        self,
        node: Node,
        device: torch.device | None = None,
        literals: Sequence[tuple[int, Any]] = (),
    ):
        self.node = node
        self.attrs = node.attrs
        self.device = device  # to which inputs are moved
        self.literals = literals  # for each Python value: its position, and its tensor or just the type
        # For each output: the type, the key, and the shape of a handle, which says what it is a handle of.
        self.outputs = [
            (
                value.dtype.base_dtype,
                _key_of(value, node.device),
                value.shape if isinstance(value.shape, HandleShape) else None,
            )
            for value in node.outputs
        ]
        op = node.definition
        is_single = len(node.outputs) == 1 and not op.outputs[0].is_list
        self.single = self.outputs[0] if is_single else None
        # Whether it can be called on the values of the arguments as they are, and returns one tensor's value.
        self.is_direct = self.single is not None and self.single[2] is None and device is None
        # Which of the flat inputs it takes: all but the Python values that it knows.
        self.places: Sequence[int] = range(len(node.inputs))
        unknown = {*range(len(op.inputs))} - {i for i, known in literals if type(known) is EagerTensor}
        if op.takes_lists:
            self.is_direct &= len(unknown) == 1 and all(op.inputs[i].name in op.host for i, _ in literals)
            if self.is_direct:
                upto = node.grouped_inputs[: unknown.pop() + 1]
                sizes = [len(x) if isinstance(x, list) else 1 for x in upto]
                self.places = range(sum(sizes[:-1]), sum(sizes))
                self.is_direct = bool(self.places)
        elif self.is_direct:
            self.places = sorted(unknown)


def _key_of(value: Value, device: torch.device) -> Key | None:
    """The key of an output; None if its shape is known only when it is computed."""
    shape = value.shape
    if isinstance(shape, HandleShape):
        return handle_key(shape)
    if not shape.is_fully_defined() or device != CPU:
        return None
    return new_key(value.dtype.base_dtype.as_datatype_enum, shape.tuple)


def execute(
    graph: EagerGraph,
    op: Op,
    args: tuple[Any, ...],
    attrs: dict[str, Any],
    name: str | None,
    key: Any = None,
) -> Any:
    """What the op gives for these inputs: a tensor, several, or None where it has no outputs.

    A caller may know a `key` that is made quicker than that of any call. It begins with the op, says all that
    tells the call from others of the op, and the types of Python values that equal others of another type.
    """
    if key is None:
        count = len(args)
        if count == 1 and type(args[0]) is EagerTensor:
            key = (op, args[0]._key, *attrs.items()) if attrs else (op, args[0]._key)
        elif count == 2 and type(args[0]) is EagerTensor and type(args[1]) is EagerTensor:
            key = op, args[0]._key, args[1]._key
            if attrs:
                key = *key, *attrs.items()
        else:
            if not count and op is const_op:
                return _constant(graph, attrs)
            key = _call_key(op, args)
            if key is not None:
                key = *key, *attrs.items()
    try:
        bound = graph.kernels.get(key)
    except TypeError:  # an attribute is a list
        key = _key_with_lists(op, args, attrs)
        bound = graph.kernels.get(key)
    if graph.uses_devices and graph._thread_scopes.now.devices:
        return graph.placed(_converted(graph, op, args, attrs, name, key))
    if bound is None:
        return _converted(graph, op, args, attrs, name, key)
    return bound.run(args, name)


def _tensors(bound: BoundKernel, args: Sequence[Any]) -> Sequence[Any]:
    """The arguments of a call, flat, with tensors in the place of Python numbers and sizes."""
    if bound.literals:
        args = list(args)
        for i, known in bound.literals:
            args[i] = known if type(known) is EagerTensor else scalar(args[i], known)
    return _flat(args) if bound.node.definition.takes_lists else args


def _run_with_more(
    graph: EagerGraph, op: Op, bound: BoundKernel, args: Sequence[Any], name: str | None
) -> Any:
    """Runs a kernel where inputs are Python values or maybe on another device, or outputs are several."""
    return _run(graph, op, bound, _tensors(bound, args), name)


def _call_key(op: Op, args: tuple[Any, ...]) -> list[Any] | None:
    """What a call has in common with others that run the same kernel, but for attributes; None where that
    takes longer to say than to find the kernel from converted inputs.

    Of a number, its type; of sizes and axes, which kernels take as Python values, the values.
    """
    if len(args) != len(op.inputs):
        return None
    key: list[Any] = [op]
    for (is_list, is_host), value in zip(op.input_kinds, args):
        kind = type(value)
        if kind is EagerTensor:
            key.append(value._key)
        elif kind is list or kind is tuple:
            wanted = EagerTensor if is_list else int
            for item in value:
                if type(item) is not wanted:
                    break
            else:
                if not is_list and len(value) > _MOST_SIZES:
                    return None
                key.append(tuple([item._key for item in value] if is_list else value))
                continue
            pairs = None if is_list or not is_host else _nested(value)
            if pairs is None:
                return None
            key.append(pairs)
        elif kind is float or kind is int or kind is bool:
            if kind is int and not -_WIDE <= value < _WIDE:  # of another type than other integers
                return None
            key.append((kind, value or repr(value)) if is_host else kind)  # 0.0 equals -0.0
        else:
            return None
    return key


def _nested(value: Sequence[Any]) -> tuple[Any, ...] | None:
    """Lists of sizes, such as paddings, as tuples; None of lists of anything else."""
    if len(value) > _MOST_SIZES:
        return None
    for row in value:
        if type(row) is not list and type(row) is not tuple or len(row) > _MOST_SIZES:
            return None
        for item in row:
            if type(item) is not int:
                return None
    return tuple([tuple(row) for row in value])


def _key_with_lists(op: Op, args: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
    """The key of a call that has attributes which are lists; None where they are lists of lists."""
    key = _call_key(op, args)
    if key is None:
        return None
    for word, value in attrs.items():
        key.append((word, tuple(value) if type(value) is list else value))
    try:
        hash(found := tuple(key))
    except TypeError:
        return None
    return found


def _flat(grouped: Sequence[Any]) -> list[EagerTensor]:
    flat: list[EagerTensor] = []
    for value in grouped:
        if isinstance(value, (list, tuple)):
            flat += value
        else:
            flat.append(value)
    return flat


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
    """What `execute` gives where no kernel is known for the call: it converts what is no tensor yet."""
    op.check_call(args)
    symbolic: Any = graph_of(args)
    if symbolic is not graph:
        if not symbolic.takes_eager_calls:
            raise TypeError(GRAPH_TENSOR.format(_first_of_graph(args).name))
        with symbolic.as_default():
            return op(*args, name=name, **attrs)
    for arg in (*op.inputs, *op.outputs):
        if arg.is_ref:
            raise RuntimeError(f"{op.name} op does not support eager execution. Arg '{arg.name}' is a ref.")
    grouped, resolved = op.resolve(args, {**_types_of_tensors(op, args), **attrs})
    flat = _flat(grouped)
    device = graph.device_for(op, flat)
    moved = flat if device is None else [_moved(tensor, device) for tensor in flat]
    if op.handle:
        return _run(graph, op, bind(graph, op, moved, resolved, device, name), flat, name)
    literals: list[int] = []
    key = call_key
    if key is None or graph._thread_scopes.now.devices or graph.accelerated and op.takes_resources:
        key = (op, device, *[tensor._key for tensor in moved], frozen(resolved))
    else:
        literals = [i for i, value in enumerate(args) if not _is_tensors(value, op.inputs[i])]
    bound = graph.kernels.get(key)
    if bound is None:
        known = {i for i in literals if op.inputs[i].name in op.host}
        places = {i: sum(len(v) if isinstance(v, list) else 1 for v in grouped[:i]) for i in literals}
        kept = [
            (i, grouped[i].dtype if i not in known and type(args[i]) in (bool, int, float) else grouped[i])
            for i in literals
        ]
        bound = bind(graph, op, moved, resolved, device, name, {places[i] for i in known}, kept)
        if len(graph.kernels) > _MOST_BOUND:
            graph.forget_kernels()
        graph.kernels[key] = bound
        if not graph.uses_devices:
            graph.known[key] = bound.run
    return _run(graph, op, bound, flat, name)


def _types_of_tensors(op: Op, args: Sequence[Any]) -> dict[str, dtypes.DType]:
    """The type attributes that tensors among the arguments have; Python values before them follow them."""
    found: dict[str, dtypes.DType] = {}
    for arg, value in zip(op.inputs, args, strict=True):
        if arg.type_attr is None or arg.type_attr in found:
            continue
        for item in value if isinstance(value, (list, tuple)) and arg.is_list else (value,):
            if isinstance(item, EagerTensor) or hasattr(item, "dtype") and hasattr(item, "_as_graph_element"):
                found[arg.type_attr] = item.dtype.base_dtype
                break
    return found


def _first_of_graph(args: tuple[Any, ...]) -> Any:
    return next(x for x in _flat(args) if getattr(x, "is_eager", None) is False)


def _is_tensors(value: Any, arg: Arg) -> bool:
    """Whether an input was given as tensors, not as Python values."""
    return isinstance(value, EagerTensor) or arg.is_list


def _run(
    graph: EagerGraph, op: Op, bound: BoundKernel, tensors: Sequence[EagerTensor], name: str | None
) -> Any:
    """Runs a kernel on the tensors, which are copied to its device where they are elsewhere; tapes watch the
    tensors, not the copies.
    """
    try:
        if bound.device is None:
            result = bound.call(*[tensors[i]._value for i in bound.places])
        else:
            result = bound.call(*[_moved(tensors[i], bound.device)._value for i in bound.places])
    except Exception as error:
        raise_failure(error, op, bound, tensors, name)
    except BaseException:
        put_back([tensor._value for tensor in tensors])
        raise
    if bound.single is not None:
        dtype, key, shape = bound.single
        output: EagerTensor = _new(EagerTensor)
        output._value = result
        output.dtype = dtype
        output._key = key or key_of(result, dtype)
        if shape is not None:
            output._shape = shape
        if taping and recording.tapes:
            _record(graph, bound, tensors, (output,))
        return output
    outputs = []
    for value, (dtype, key, shape) in zip(result or (), bound.outputs, strict=True):
        output = _new(EagerTensor)
        output._value, output.dtype, output._key = value, dtype, key or key_of(value, dtype)
        if shape is not None:
            output._shape = shape
        outputs.append(output)
    if taping and recording.tapes:
        _record(graph, bound, tensors, outputs)
    return op._result(Record(op, bound.attrs, tensors, outputs)) if op.outputs else None  # type: ignore[arg-type]


def raise_failure(
    error: Exception, op: Op, bound: BoundKernel, tensors: Sequence[EagerTensor], name: str | None
) -> NoReturn:
    """Raises the error of a kernel as TensorFlow's kind, with the op's name."""
    if isinstance(error, OpError):
        if error.op is None and error.node_def is None and not error.message.endswith("]"):
            error._message = f"{error.message}{_place(op, name)}"
        raise error
    kind, message = refusal(error, bound.node, [tensor._value for tensor in tensors])
    raise kind(None, None, f"{message}{_place(op, name)}") from error


def _record(
    graph: EagerGraph, bound: BoundKernel, inputs: Sequence[EagerTensor], outputs: Sequence[EagerTensor]
) -> None:
    override = graph._gradient_overrides.get(bound.node.definition.name)
    for tape in recording.tapes:
        tape.add(bound, inputs, outputs, override)


def _place(op: Op, name: str | None) -> str:
    scope = "" if not name else f" name: {name}" if name.endswith("/") else f" name: {name}/"
    return f" [Op:{op.name}]{scope}"


def _moved(tensor: EagerTensor, device: torch.device) -> EagerTensor:
    return tensor if tensor.dtype in _OBJECTS else tensor._on(device)


def _constant(graph: EagerGraph, attrs: dict[str, Any]) -> EagerTensor:
    array, dtype = attrs["value"], dtypes.as_dtype(attrs["dtype"])
    return graph.placed(eager_tensor(to_torch(array, graph.device_of_constant(dtype)), dtype))  # type: ignore[no-any-return]


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


class _OnDevice(Record):
    """A call that other tasks know by its device: that of an op that waits for them."""

    __slots__ = ("device",)


def bind(
    graph: EagerGraph,
    op: Op,
    inputs: Sequence[EagerTensor],
    attrs: dict[str, Any],
    device: torch.device | None,
    name: str | None,
    known: Set[int] = frozenset(),
    literals: Sequence[tuple[int, Any]] = (),
) -> BoundKernel:
    """The kernel for inputs like these. Those that are `known` have the same values in every call."""
    values = [
        _constant_value(x) if i in known else given(f"input_{i}", x.dtype, x.shape, None)
        for i, x in enumerate(inputs)
    ]
    source: Any = (_OnDevice if op.blocking else Record)(op, attrs, (), ())
    if op.blocking:
        source.device = graph.requested_name() or ""
    node = Node(op, (name or op.name).rstrip("/"), values, attrs, source)
    node.device = CPU if op.on_host or device is None else device
    try:
        shapes = op.infer(node.grouped_inputs, attrs, op.name, in_step=True)
    except ValueError as error:
        node.definition = refusing(op, str(error))
        shapes = [TensorShape(None)] * len(op.output_types(attrs))
    pairs = zip(op.output_types(attrs), shapes, strict=True)
    node.outputs = [Value(node, i, dtype, shape) for i, (dtype, shape) in enumerate(pairs)]
    bound = BoundKernel(node, device, literals)
    function, terms, known_terms = _specialized(bound) or _terms_of_kernel(bound, _Arguments(graph))
    bound.call = _called_on_values(bound, function, terms, known_terms)
    if bound.is_direct:
        bound.run = _run_directly(graph, bound, function, terms, known_terms)
    else:
        bound.run = functools.partial(_run_with_more, graph, op, bound)
    return bound


# A function, its arguments as expressions of the values `v0`, `v1`, …, and what else they name.
_Terms: TypeAlias = tuple[Callable[..., Any], Sequence[str], dict[str, Any]]


def _constant_value(tensor: EagerTensor) -> Value:
    attrs = {"value": to_numpy(tensor._value), "dtype": tensor.dtype}
    return make_node(const_op, [], attrs).outputs[0]


def _specialized(bound: BoundKernel) -> _Terms | None:
    """What the op chooses for these inputs; None where that is the kernel."""
    node = bound.node
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
    known: dict[str, Any] = {}
    terms = []
    for i, arg in enumerate(args):
        place = node.inputs.index(arg) if isinstance(arg, Value) else -1
        if place in bound.places:
            terms.append(f"v{place}")
            continue
        known[f"k{i}"] = dict(bound.literals)[place]._value if place >= 0 else arg
        terms.append(f"k{i}")
    return function, terms, known


def _terms_of_kernel(bound: BoundKernel, arguments: KernelArguments) -> _Terms:
    """The kernel: with lists as lists, host inputs as Python values, those that are known or those of each
    call, and attributes.
    """
    node = bound.node
    op = node.definition
    kernel = kernel_for(node)
    keywords = arguments.of(node, kernel)
    takes_context = wants_context(node, kernel)
    if takes_context or op.blocking:
        kernel = _in_a_step(kernel, takes_context)
    known: dict[str, Any] = {}
    places = iter(range(len(node.inputs)))

    def term(is_host: bool) -> str:
        place = next(places)
        if not is_host:
            if place in bound.places:
                return f"v{place}"
            known[f"k{place}"] = dict(bound.literals)[place]._value
            return f"k{place}"
        if node.inputs[place].constant is None:
            return f"host_value(v{place})"
        known[f"k{place}"] = node.inputs[place].constant.tolist()
        return f"k{place}"

    terms = []
    for arg, value in zip(op.inputs, node.grouped_inputs, strict=True):
        is_host = arg.name in op.host
        terms.append(f"[{', '.join(term(is_host) for _ in value)}]" if arg.is_list else term(is_host))
    for i, (word, value) in enumerate(keywords.items()):
        known[f"a{i}"] = value
        terms.append(f"{word}=a{i}")
    return kernel, terms, known


def _called_on_values(
    bound: BoundKernel, function: Callable[..., Any], terms: Sequence[str], known: dict[str, Any]
) -> Callable[..., Any]:
    """A function of the kernel's inputs that calls `function` on these terms, which are made of them."""
    values = [f"v{i}" for i in bound.places]
    if list(terms) == values:
        return function
    names = ", ".join(["function", *known])
    source = f"def make({names}):\n    return lambda {', '.join(values)}: function({', '.join(terms)})\n"
    return _maker(source)(function, **known)  # type: ignore[no-any-return]


_DIRECTLY = """\
def make(graph, bound, function{names}):
    dtype, key, _ = bound.single
    def run(args, name):
        try:
            result = function({terms})
        except BaseException as error:
            _fail(error, bound, args, name)
        output = _new(EagerTensor)
        output._value = result
        output.dtype = dtype
        output._key = {key}
        if taping and recording.tapes:
            _record(graph, bound, _tensors(bound, args), (output,))
        return output
    return run
"""


def _run_directly(
    graph: EagerGraph,
    bound: BoundKernel,
    function: Callable[..., Any],
    terms: Sequence[str],
    known: dict[str, Any],
) -> Callable[..., Any]:
    """A function from the op's arguments to its output tensor, written out to call nothing but the kernel."""
    called = ", ".join(terms)
    for i, dtype in bound.literals:
        if type(dtype) is not EagerTensor:  # a number, of which the kernel knows the type
            known = {**known, f"t{i}": dtype}
            called = re.sub(rf"\bv{i}\b", f"scalar(args[{i}], t{i})._value", called)
    if bound.node.definition.takes_lists:
        first, count = bound.places[0], len(bound.places)
        place = next(i for i, x in enumerate(bound.node.definition.inputs) if x.is_list)
        values = ", ".join(f"v{i}" for i in bound.places)
        if count > _MOST_WRITTEN_OUT:
            called = called.replace(f"[{values}]", f"[tensor._value for tensor in args[{place}]]")
        for i in range(first, first + count):
            called = re.sub(rf"\bv{i}\b", f"args[{place}][{i - first}]._value", called)
    else:
        called = re.sub(r"\bv(\d+)\b", r"args[\1]._value", called)
    source = _DIRECTLY.format(
        names="".join(f", {name}" for name in known),
        terms=called,
        key="key_of(result, dtype)" if bound.single[1] is None else "key",  # type: ignore[index]
    )
    return _maker(source)(graph, bound, function, **known)  # type: ignore[no-any-return]


def _fail(error: BaseException, bound: BoundKernel, args: Sequence[Any], name: str | None) -> NoReturn:
    tensors = _tensors(bound, args)
    if isinstance(error, Exception):
        raise_failure(error, bound.node.definition, bound, tensors, name)
    put_back([tensor._value for tensor in tensors])  # an interrupt, maybe while the kernel had a buffer
    raise error


@functools.lru_cache(1_000)
def _maker(source: str) -> Any:
    made: dict[str, Any] = {}
    exec(source, globals(), made)
    return made["make"]


def _in_a_step(kernel: Callable[..., Any], takes_context: bool) -> Callable[..., Any]:
    """A kernel that may wait, or that asks for the context of its step, in a step of its own."""

    def call(*args: Any, **keywords: Any) -> Any:
        context = StepContext()
        if takes_context:
            keywords["context"] = context
        return context.resolve(kernel, *args, **keywords)

    return call
