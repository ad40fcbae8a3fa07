"""Functions of the graph's library, defined in Python: `Defun`, as TensorFlow 1 programs use it.

What the function takes from outside becomes a further argument, which its calls pass by themselves.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tensorboard.compat.proto.attr_value_pb2 import AttrValue
from tensorboard.compat.proto.function_pb2 import FunctionDef, FunctionDefLibrary

from tideflow.functions.func_graph import SHARED
from tideflow.graph import dtypes, errors, functions
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.functions import FunctionBody, FunctionGraph, copy_by_value
from tideflow.graph.graph import Graph
from tideflow.graph.graph_def import attr_proto
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import device, get_default_graph
from tideflow.ops.arrays.creation import guarantee_const, guarantee_const_op
from tideflow.variables.resource import ResourceVariable
from tideflow.variables.store import store_of_default_graph
from tideflow.variables.variable_scope import SCOPES, get_variable_scope, variable_scope

# What programs may give a function to be remembered in its FunctionDef and its calls.
_REMEMBERED = ("_implements", "_reference")


class Defun:
    """A decorator: the function's graph becomes a function in the library of whatever graph calls it.

    With types of arguments, it makes a `DefinedFunction`; without them, an `OverloadedFunction`, which is
    defined for the types of each call.
    """

    def __init__(
        self,
        *input_types: Any,
        func_name: str | None = None,
        grad_func: Any = None,
        python_grad_func: Callable | None = None,
        out_names: Sequence[str] | None = None,
        **options: Any,
    ):
        self._input_types = [dtypes.as_dtype(dtype) for dtype in input_types]
        self._options = dict(
            options,
            func_name=func_name,
            grad_func=grad_func,
            python_grad_func=python_grad_func,
            out_names=out_names,
        )

    def __call__(self, function: Callable) -> DefinedFunction | OverloadedFunction:
        if not callable(function):
            raise ValueError(f"function {function} must be callable")
        names, takes_more = _argument_names(function)
        if self._input_types:
            given = len(self._input_types)
            if given < len(names) or given > len(names) and not takes_more:
                raise ValueError(
                    "The function has fewer arguments than the number of specified input types. "
                    f"It takes {len(names)}{' or more' * takes_more}, and {given} types are given."
                )
            return DefinedFunction(function, names, self._input_types, **self._options)
        if not names and not takes_more:
            return DefinedFunction(function, [], [], **self._options)
        return OverloadedFunction(function, names, self._options)


def _argument_names(function: Callable) -> tuple[list[str], bool]:
    """The names of a function's arguments, and whether it takes any number of others."""
    parameters = inspect.signature(function).parameters.values()
    defaults = tuple(p.default for p in parameters if p.default is not p.empty)
    keywords = [p.name for p in parameters if p.kind in (p.VAR_KEYWORD, p.KEYWORD_ONLY)]
    if defaults or keywords:
        raise ValueError(
            "function with argument defaults or keywords arguments are not supported. "
            f"{function} has defaults {defaults} and keywords {keywords or None}."
        )
    names = [p.name for p in parameters if p.kind is not p.VAR_POSITIONAL]
    return names, len(names) < len(parameters)


class OverloadedFunction:
    """A function that is defined anew for each list of types that it is called with."""

    def __init__(self, function: Callable, argument_names: list[str], options: dict[str, Any]):
        self._function = function
        self._argument_names = argument_names
        self._options = options
        self._instances: dict[str, DefinedFunction] = {}

    def instantiate(self, input_types: Sequence[dtypes.DType]) -> DefinedFunction:
        """The function for arguments of these types, made on first use."""
        key = "".join(_short_name(dtypes.as_dtype(dtype).base_dtype) for dtype in input_types)
        if key not in self._instances:
            options = dict(self._options)
            gradient = options["grad_func"]
            if options["func_name"] is not None:
                options["func_name"] = f"{options['func_name']}_{key}"
            if isinstance(gradient, OverloadedFunction):
                options["grad_func"] = None
            made = DefinedFunction(self._function, self._argument_names, list(input_types), **options)
            self._instances[key] = made
            if isinstance(gradient, OverloadedFunction):
                results = [dtypes.as_dtype(arg.type) for arg in made.definition.signature.output_arg]
                made.set_grad_func(gradient.instantiate([*input_types, *results]))
        return self._instances[key]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """A node that calls the function on these arguments."""
        tensors = [convert_to_tensor(arg) for arg in args]
        return self.instantiate([tensor.dtype.base_dtype for tensor in tensors])(*tensors, **kwargs)


def _short_name(dtype: dtypes.DType) -> str:
    """A type as names of functions have it: f32, qu8."""
    letters = dtype.name.rstrip("0123456789")
    return letters[: 2 if dtype.is_quantized else 1] + dtype.name[len(letters) :]


class DefinedFunction:
    """A function that can be called in any graph. It is traced there when it is first needed."""

    def __init__(
        self,
        function: Callable,
        argument_names: list[str],
        input_types: Sequence[dtypes.DType],
        func_name: str | None = None,
        grad_func: DefinedFunction | None = None,
        python_grad_func: Callable | None = None,
        out_names: Sequence[str] | None = None,
        shape_func: Callable | None = None,
        capture_by_value: bool = False,
        whitelisted_stateful_ops: Iterable[Operation] = (),
        capture_resource_var_by_value: bool = True,
        **attributes: Any,
    ):
        self._function = function
        self._argument_names = argument_names
        self._input_types = tuple(input_types)
        self._func_name = func_name
        self._grad_func = grad_func
        self.python_grad_func = python_grad_func
        self._out_names = out_names
        self._shape_func = shape_func
        self._capture = (capture_by_value, frozenset(whitelisted_stateful_ops), capture_resource_var_by_value)
        self._attributes = attributes
        self._device = next(iter(get_default_graph()._local.devices[-1:]), None)
        self._traces: dict[Graph, tuple[FunctionDef, FunctionBody | None, list[Tensor]]] = {}

    @property
    def name(self) -> str:
        """The function's name."""
        name: str = self.definition.signature.name
        return name

    @property
    def definition(self) -> FunctionDef:
        """The FunctionDef, as traced in the default graph."""
        return self._trace(get_default_graph())[0]

    @property
    def _signature(self) -> Any:
        return self.definition.signature

    @property
    def captured_inputs(self) -> list[Tensor]:
        """What the function takes from outside, beyond its arguments."""
        return list(self._trace(get_default_graph())[2])

    @property
    def stateful_ops(self) -> list[tuple[str, str]]:
        """The name and the type of each stateful operation of the body."""
        body = self._trace(get_default_graph())[1]
        return [(op.name, op.type) for op in body.targets] if body is not None else []

    @property
    def declared_input_types(self) -> tuple[dtypes.DType, ...]:
        """The types of the arguments."""
        return self._input_types

    @property
    def grad_func_name(self) -> str | None:
        """The name of the function that is this one's gradient, if one was given."""
        return self._grad_func.name if self._grad_func is not None else None

    def set_grad_func(self, grad_func: DefinedFunction) -> None:
        """Says which function is this one's gradient.

        Args:
          grad_func: The function, of this one's arguments and the gradients of its results.
        """
        if self._grad_func is not None:
            raise AssertionError(f"{self.name} has a gradient function already: {self._grad_func.name}")
        self._grad_func = grad_func

    def add_to_graph(self, g: Graph) -> None:
        """Adds the function, and its gradient where one was given, to a graph's library.

        Args:
          g: The graph.
        """
        message, body, _ = self._trace(g)
        name = message.signature.name
        known = g._functions.get(name)
        if known is not message:
            if known is not None and known != message:
                raise errors.invalid_argument(
                    f"Cannot add function '{name}' because a different function with the same name already "
                    "exists."
                )
            g._functions[name] = message
            if body is not None:
                g._function_bodies[(name, "[]")] = body
            g._mutated()
        if self._grad_func is not None and self.python_grad_func is not None:
            raise ValueError(f"Gradient defined twice for function {name}")
        if self._grad_func is not None:
            self._grad_func.add_to_graph(g)
            g._function_gradients[name] = self._grad_func.name
        if self.python_grad_func is not None:
            functions.call_definition(g, name).gradient(self._python_gradient)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """A node that calls the function on these arguments."""
        graph = get_default_graph()
        message, _, captured = self._trace(graph)
        expected = len(message.signature.input_arg) - len(captured)
        if len(args) != expected:
            raise ValueError(f"Expected number of arguments: {expected}, received: {len(args)}")
        name = kwargs.pop("name", None)
        attributes = _attributes(kwargs)
        self.add_to_graph(graph)
        call = functions.call_definition(graph, message.signature.name)
        with graph._attr_scope(attributes):
            result = call.node(*(convert_to_tensor(arg) for arg in args), *captured, name=name)
        if self._shape_func is not None:
            self._set_shapes(result)
        outputs = tuple(result.outputs)
        return result if not outputs else outputs[0] if len(outputs) == 1 else outputs

    def _set_shapes(self, call: Operation) -> None:
        shapes = self._shape_func(call)
        if len(shapes) != len(call.outputs):
            raise ValueError(f"shape_func produced {len(shapes)} shapes for {len(call.outputs)} outputs")
        for tensor, shape in zip(call.outputs, shapes, strict=True):
            tensor.set_shape(shape)

    def _python_gradient(self, op: Operation, *grads: Any) -> Any:
        return self.python_grad_func(op, *grads)

    def _trace(self, graph: Graph) -> tuple[FunctionDef, FunctionBody | None, list[Tensor]]:
        """The FunctionDef, the body and what it takes from a graph. Each graph has its own."""
        if graph not in self._traces:
            body = self._traced(graph)
            message = self._message(body)
            self._traces[graph] = message, body, list(body.graph.captured)
        return self._traces[graph]

    def _message(self, body: FunctionBody) -> FunctionDef:
        given, made = self._out_names, len(body.outputs)
        if given and len(given) != made:
            raise errors.invalid_argument(
                "output names must be either empty or equal in size to outputs. "
                f"output names size = {len(given)} outputs size = {made}"
            )
        message = functions.function_def("", body, list(given) if given else None)
        message.signature.description = self._function.__doc__ or ""
        for key, value in _attributes(self._attributes).items():
            message.attr[key].CopyFrom(value)
        message.signature.name = self._func_name or self._unique_name(message)
        return message

    def _unique_name(self, message: FunctionDef) -> str:
        base = getattr(self._function, "__name__", type(self._function).__name__)
        if self._grad_func is not None:
            base += f"_{self._grad_func.name}"
        digest = hashlib.sha1(message.SerializeToString(deterministic=True)).hexdigest()[:11]
        return f"{base}_{digest}"

    def _traced(self, graph: Graph) -> FunctionBody:
        body = _DefunGraph(graph, *self._capture)
        names = self._argument_names
        with body.as_default(), device(self._device), variable_scope("", custom_getter=body.variable):
            args = [
                body.add_input(dtype, None, names[i] if i < len(names) else f"arg{i}")
                for i, dtype in enumerate(self._input_types)
            ]
            results = self._function(*args)
            if results is None or isinstance(results, Operation):
                results = ()
            results = list(results) if isinstance(results, (list, tuple)) else [results]
            if any(result is None for result in results):
                raise ValueError(
                    f"Function {self._func_name or self._function.__name__} can not return None."
                )
            outputs = [body.capture(convert_to_tensor(value)) for value in results]
        return FunctionBody(body, list(body.inputs), outputs, functions.effects_of(body))


# ------------------------------------------------------------------------------------------------ bodies


class _DefunGraph(FunctionGraph):
    """The body of a Defun while it is traced. Its variables are made outside, in the caller's scope."""

    def __init__(
        self, outer: Graph, by_value: bool, stateful_allowed: frozenset[Operation], variables_by_value: bool
    ):
        super().__init__(outer)
        self._by_value, self._stateful_allowed = by_value, stateful_allowed
        self._variables_by_value = variables_by_value
        self._copies: dict[Operation, Operation] = {}
        self._outer_scope = get_variable_scope()
        self.extra_vars: list[Any] = []
        self.take_collections(shared=[key for key in SHARED if key != SCOPES])
        self._collections.pop(SCOPES, None)

    def capture(self, tensor: Tensor, name: str | None = None) -> Tensor:
        if tensor.is_eager or tensor.graph is self:
            return super().capture(tensor, name)
        if self._by_value:
            return copy_by_value(tensor, self, self._copies, self._stateful_allowed.__contains__)
        is_new = tensor not in self.captured
        inner = super().capture(tensor, name)
        if is_new and _is_guaranteed_constant(tensor):
            with self.as_default(), self.control_dependencies(None):
                self._copies[inner.op] = guarantee_const(inner).op
        known = self._copies.get(inner.op)
        return known.outputs[0] if known is not None else inner

    def variable(self, getter: Callable, name: str, **arguments: Any) -> Any:
        """Stands for `get_variable` in the body."""
        with self.outer.as_default():
            made = self._outer_scope.get_variable(store_of_default_graph(), name, **arguments)
            self.extra_vars.append(made)
            if isinstance(made, ResourceVariable) and self._variables_by_value:
                return made.value()
            return made


def _is_guaranteed_constant(tensor: Tensor) -> bool:
    """Whether all that a tensor is made of is guaranteed to be constant."""
    stack, seen = [tensor.op], set()
    while stack:
        op = stack.pop()
        if op in seen or op.definition is guarantee_const_op:
            continue
        if not op.inputs:
            return False
        seen.add(op)
        stack += [given.op for given in op.inputs]
    return True


def _of_current_function(name: str) -> list[Any]:
    graph = get_default_graph()
    return list(getattr(graph, name)) if isinstance(graph, _DefunGraph) else []


def get_extra_vars() -> list[Any]:
    """The variables that the function whose body is being made has asked for.

    Returns:
      A list of variables, empty outside of a function.
    """
    return _of_current_function("extra_vars")


def get_extra_inputs() -> list[Tensor]:
    """What the function whose body is being made has taken from outside.

    Returns:
      A list of tensors of the outer graph, empty outside of a function.
    """
    return _of_current_function("captured")


def get_extra_args() -> list[Tensor]:
    """The arguments of the function whose body is being made that stand for what it took from outside.

    Returns:
      A list of tensors of the function, empty outside of a function.
    """
    graph = get_default_graph()
    return list(graph.captured.values()) if isinstance(graph, _DefunGraph) else []


def _attributes(options: dict[str, Any]) -> dict[str, AttrValue]:
    """The attributes of a FunctionDef, or of a call, that these options mean."""
    options = dict(options)
    attributes = {"_disable_call_shape_inference": AttrValue(b=True)}
    if "noinline" in options:
        attributes["_noinline"] = AttrValue(b=bool(options.pop("noinline")))
    if "compiled" in options:
        compiled = bool(options.pop("compiled"))
        separate = bool(options.pop("separate_compiled_gradients", False))
        attributes["_XlaCompile"] = AttrValue(b=compiled)
        attributes["_XlaSeparateCompiledGradients"] = AttrValue(b=separate)
    for key in list(options):
        if key.startswith("experimental_") or key in _REMEMBERED:
            attributes[key] = attr_proto(options.pop(key))
    if options:
        raise ValueError(f"Unknown keyword arguments: {options.keys()}")
    return attributes


# ------------------------------------------------------------------------------------------------ messages


def _from_definition(fdef: FunctionDef, grad_func: DefinedFunction | None = None) -> DefinedFunction:
    """A function that is defined by a FunctionDef. What it once captured is among its arguments."""

    def no_source(*_: Any) -> None:
        raise AssertionError(f"{fdef.signature.name} is defined by its FunctionDef")

    types = [dtypes.as_dtype(arg.type) for arg in fdef.signature.input_arg]
    names = [arg.name for arg in fdef.signature.input_arg]
    made = DefinedFunction(no_source, names, types, func_name=fdef.signature.name, grad_func=grad_func)
    message = FunctionDef()
    message.CopyFrom(fdef)
    made._trace = lambda graph: (message, None, [])
    return made


def from_library(lib: FunctionDefLibrary) -> list[DefinedFunction]:
    """Makes the functions of a library, each after the one that is its gradient.

    Args:
      lib: A FunctionDefLibrary.

    Returns:
      A list of functions.

    Raises:
      ValueError: If the library lacks a function that it names, or gradients go round in a circle.
    """
    messages = {message.signature.name: message for message in lib.function}
    gradient_of = {pair.function_name: pair.gradient_func for pair in lib.gradient}
    for name in (*gradient_of, *gradient_of.values()):
        if name not in messages:
            raise ValueError(f"FunctionDefLibrary missing '{name}' FunctionDef\n{lib}")
    made: dict[str, DefinedFunction] = {}

    def make(name: str, asking: tuple[str, ...]) -> DefinedFunction:
        if name in asking:
            raise ValueError(f"FunctionDefLibrary contains cyclic gradient functions!\n{lib}")
        if name not in made:
            gradient = gradient_of.get(name)
            known = make(gradient, (*asking, name)) if gradient is not None else None
            made[name] = _from_definition(messages[name], known)
        return made[name]

    return [make(name, ()) for name in messages]
