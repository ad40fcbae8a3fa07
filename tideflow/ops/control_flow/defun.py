"""Functions of the graph's library, defined in Python: `Defun`, as TensorFlow 1 programs use it.

What the function takes from outside becomes a further argument, which its calls pass by themselves.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from tideflow.graph import dtypes, functions
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.functions import FunctionBody, FunctionGraph
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import get_default_graph


class Defun:
    """A decorator: the function's graph becomes a function in the library of whatever graph calls it."""

    def __init__(self, *input_types: Any, **options: Any):
        self._input_types = [dtypes.as_dtype(dtype) for dtype in input_types]
        self._options = options

    def __call__(self, function: Callable) -> DefinedFunction:
        if not callable(function):
            raise ValueError(f"function {function} must be callable")
        return DefinedFunction(function, self._input_types, **self._options)


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

    def add_to_graph(self, graph: Graph) -> None:
        """Defines the function in a graph."""
        self._defined(graph)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """A node that calls the function on these arguments."""
        graph = get_default_graph()
        if not self._input_types and args:
            self._input_types = [convert_to_tensor(arg).dtype.base_dtype for arg in args]
        if len(args) != len(self._input_types):
            raise ValueError(f"Expected number of arguments: {len(self._input_types)}, received: {len(args)}")
        name, body = self._defined(graph)
        call = functions.call_definition(graph, name)
        result = call.node(*args, *body.graph.captured, name=kwargs.get("name"))
        if self._shape_func is not None:
            for tensor, shape in zip(result.outputs, self._shape_func(result), strict=True):
                tensor.set_shape(shape)
        outputs = list(result.outputs)
        return result if not outputs else outputs[0] if len(outputs) == 1 else outputs

    def _defined(self, graph: Graph) -> tuple[str, FunctionBody]:
        if graph not in self._definitions:
            body = self._traced(graph)
            message = functions.function_def("", body, self._out_names)
            name = self._func_name or f"{self._function.__name__}_{_digest(message)}"
            functions.add_function(graph, name, body, self._out_names)
            if self._grad_func is not None:
                self._grad_func.add_to_graph(graph)
                graph._function_gradients[name] = self._grad_func._defined(graph)[0]
            self._definitions[graph] = name, body
            if self._python_grad_func is not None:
                functions.call_definition(graph, name).gradient(self._python_gradient)
        return self._definitions[graph]

    def _python_gradient(self, op: Operation, *grads: Any) -> Any:
        return self._python_grad_func(op, *grads)

    def _traced(self, graph: Graph) -> FunctionBody:
        body = FunctionGraph(graph)
        names = self._function.__code__.co_varnames if hasattr(self._function, "__code__") else ()
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
