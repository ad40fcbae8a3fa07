"""Functions of the graph's library, defined in Python: `Defun`, as TensorFlow 1 programs use it.

What the function takes from outside becomes a further argument, which its calls pass by themselves.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from tideflow.functions.func_graph import SHARED
from tideflow.graph import dtypes, functions
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.functions import FunctionBody, FunctionGraph
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import get_default_graph

# What a program says of how a function is compiled: plans write calls out in their place in any case.
_HINTS = {
    "capture_resource_var_by_value",
    "compiled",
    "noinline",
    "separate_compiled_gradients",
    "whitelisted_stateful_ops",
}


class Defun:
    """A decorator: the function's graph becomes a function in the library of whatever graph calls it."""

    def __init__(self, *input_types: Any, **options: Any):
        self._input_types = [dtypes.as_dtype(dtype) for dtype in input_types]
        self._options = options

    def __call__(self, function: Callable) -> DefinedFunction | OverloadedFunction:
        if not callable(function):
            raise ValueError(f"function {function} must be callable")
        names, any_number = _arguments(function)
        count = len(self._input_types)
        if not count and (names or any_number):
            return OverloadedFunction(function, **self._options)
        if count < len(names) or count > len(names) and not any_number:
            raise ValueError(
                "The function has fewer arguments than the number of specified input types."
                f" It takes {', '.join(names) or 'none'}; types are given for {count}."
            )
        return DefinedFunction(function, self._input_types, **self._options)


def _arguments(function: Callable) -> tuple[list[str], bool]:
    """The names of a function's arguments, and whether it takes any number more."""
    found = inspect.getfullargspec(function)
    if found.varkw or found.defaults:
        raise ValueError(
            "function with argument defaults or keywords arguments are not supported. "
            f"{function} has defaults {found.defaults} and keywords {found.varkw}."
        )
    return found.args[inspect.ismethod(function) :], found.varargs is not None


class OverloadedFunction:
    """A function whose arguments have no types of their own: each combination makes a function."""

    def __init__(
        self,
        function: Callable,
        func_name: str | None = None,
        grad_func: OverloadedFunction | None = None,
        **options: Any,
    ):
        self._function = function
        self._func_name = func_name
        self._grad_func = grad_func
        self._options = options
        self._defined: dict[tuple[dtypes.DType, ...], DefinedFunction] = {}

    def instantiate(self, input_types: Sequence[Any]) -> DefinedFunction:
        """The function for arguments of these types."""
        types = tuple(dtypes.as_dtype(dtype).base_dtype for dtype in input_types)
        if types not in self._defined:
            name = self._func_name and f"{self._func_name}_{''.join(map(_short_name, types))}"
            defined = DefinedFunction(self._function, list(types), func_name=name, **self._options)
            if self._grad_func is not None:
                defined.set_grad_func(self._grad_func.instantiate([*types, *defined.output_types]))
            self._defined[types] = defined
        return self._defined[types]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """A node that calls the function on these arguments."""
        tensors = [convert_to_tensor(arg) for arg in args]
        return self.instantiate([tensor.dtype for tensor in tensors])(*tensors, **kwargs)


def _short_name(dtype: dtypes.DType) -> str:
    """A type as names of functions have it: f32, qu8."""
    letters = dtype.name.rstrip("0123456789")
    return letters[: 2 if dtype.is_quantized else 1] + dtype.name[len(letters) :]


class DefinedFunction:
    """A function that can be called in any graph. It is defined there by its first call."""

    def __init__(
        self,
        function: Callable,
        input_types: list[dtypes.DType],
        func_name: str | None = None,
        grad_func: DefinedFunction | None = None,
        python_grad_func: Callable | None = None,
        out_names: list[str] | None = None,
        shape_func: Callable | None = None,
        capture_by_value: bool = False,
        **options: Any,
    ):
        if unknown := options.keys() - _HINTS:
            raise ValueError(f"Unknown keyword arguments: {', '.join(sorted(unknown))}")
        self._function = function
        self._input_types = input_types
        self._func_name = func_name
        self._grad_func = grad_func
        self._python_grad_func = python_grad_func
        self._out_names = out_names
        self._shape_func = shape_func
        self._definitions: dict[Graph, tuple[str, FunctionBody]] = {}

    @property
    def name(self) -> str:
        """The function's name in the default graph's library."""
        return self._defined(get_default_graph())[0]

    @property
    def definition(self) -> Any:
        """The FunctionDef."""
        graph = get_default_graph()
        return graph._functions[self._defined(graph)[0]]

    @property
    def captured_inputs(self) -> list[Tensor]:
        """What the function takes from outside, beyond its arguments."""
        return list(self._defined(get_default_graph())[1].graph.captured)

    @property
    def declared_input_types(self) -> list[dtypes.DType]:
        return self._input_types

    @property
    def output_types(self) -> list[dtypes.DType]:
        """The types of what the function returns."""
        return [tensor.dtype.base_dtype for tensor in self._defined(get_default_graph())[1].outputs]

    @property
    def stateful_ops(self) -> list[tuple[str, str]]:
        """The operations that every call runs, as pairs of a name and a type."""
        return [(op.name, op.type) for op in self._defined(get_default_graph())[1].targets]

    @property
    def grad_func_name(self) -> str | None:
        """The name of the function that is the gradient of this one, if it has one."""
        return self._grad_func.name if self._grad_func is not None else None

    @property
    def python_grad_func(self) -> Callable | None:
        """The Python function that adds the gradient of a call to a graph, if there is one."""
        return self._python_grad_func

    def set_grad_func(self, grad_func: DefinedFunction) -> None:
        """Makes another function the gradient of this one, wherever it is defined."""
        if self._grad_func is not None:
            raise AssertionError(f"The function {self._function.__name__} has a gradient function already")
        self._grad_func = grad_func
        for graph, (name, _) in self._definitions.items():
            self._add_gradient(graph, name)

    def add_to_graph(self, graph: Graph) -> None:
        """Defines the function in a graph."""
        self._defined(graph)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """A node that calls the function on these arguments."""
        graph = get_default_graph()
        if len(args) != len(self._input_types):
            raise ValueError(f"Expected number of arguments: {len(self._input_types)}, received: {len(args)}")
        name, body = self._defined(graph)
        call = functions.call_definition(graph, name)
        result = call.node(*args, *body.graph.captured, name=kwargs.get("name"))
        if self._shape_func is not None:
            for tensor, shape in zip(result.outputs, self._shape_func(result), strict=True):
                tensor.set_shape(shape)
        outputs = tuple(result.outputs)
        return result if not outputs else outputs[0] if len(outputs) == 1 else outputs

    def _defined(self, graph: Graph) -> tuple[str, FunctionBody]:
        if graph not in self._definitions:
            body = self._traced(graph)
            message = functions.function_def("", body, self._out_names)
            name = self._func_name or f"{self._function.__name__}_{_digest(message)}"
            functions.add_function(graph, name, body, self._out_names)
            if self._grad_func is not None:
                self._add_gradient(graph, name)
            self._definitions[graph] = name, body
            if self._python_grad_func is not None:
                functions.call_definition(graph, name).gradient(self._python_gradient)
        return self._definitions[graph]

    def _add_gradient(self, graph: Graph, name: str) -> None:
        gradient: Any = self._grad_func
        graph._function_gradients[name] = gradient._defined(graph)[0]

    def _python_gradient(self, op: Operation, *grads: Any) -> Any:
        gradient: Any = self._python_grad_func
        return gradient(op, *grads)

    def _traced(self, graph: Graph) -> FunctionBody:
        body = FunctionGraph(graph)
        body.take_collections(shared=SHARED)
        names, _ = _arguments(self._function)
        with body.as_default():
            args = [
                body.add_input(dtype, None, names[i] if i < len(names) else f"arg{i}")
                for i, dtype in enumerate(self._input_types)
            ]
            results = self._function(*args)
            if results is None:
                results = []
            if isinstance(results, Operation):
                results = []
            results = list(results) if isinstance(results, (list, tuple)) else [results]
            outputs = [body.capture(convert_to_tensor(value)) for value in results]
        return FunctionBody(body, list(body.inputs), outputs, functions.effects_of(body))


def _digest(message: Any) -> str:
    return hashlib.sha1(message.SerializeToString(deterministic=True)).hexdigest()[:11]
