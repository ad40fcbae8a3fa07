"""ConcreteFunction: one trace of a function, called on tensors."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from tensorboard.compat.proto.function_pb2 import FunctionDef

from tideflow.autodiff import functions as function_gradients
from tideflow.eager.recording import recording
from tideflow.functions.execution import Executable, check_eager
from tideflow.functions.func_graph import FuncGraph
from tideflow.functions.lifting import inferred_shapes
from tideflow.functions.structures import flat_tensors, packer
from tideflow.graph import dtypes, errors, nest
from tideflow.graph.composite import is_composite
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import control_dependencies, get_default_graph
from tideflow.graph.shapes import TensorShape
from tideflow.graph.type_spec import TensorSpec
from tideflow.variables.resource import BaseResourceVariable

_numbers = itertools.count()


def next_number() -> int:
    """A number that no other function of this process has in its name."""
    return next(_numbers)


class ConcreteFunction:
    """A function that was traced for arguments of one signature.

    It is made by `get_concrete_function`, and called on tensors by position or by their names. In eager mode
    a call runs the compiled function; in a graph it adds an operation that calls it.
    """

    def __init__(self, func_graph: FuncGraph, signature: Sequence[Any] | None = None) -> None:
        self._func_graph = func_graph
        self._signature = signature
        self._arg_keywords: list[str] | None = None
        self._num_positional_args: int | None = None
        self._name = f"__inference_{func_graph.name}_{next_number()}"
        self._body = func_graph.body()
        self._pack = packer(func_graph.structured_outputs)
        handles = {
            inner: outer._value  # type: ignore[attr-defined]
            for outer, inner in func_graph.captured.items()
            if outer.is_eager and outer.dtype is dtypes.resource
        }
        self._quick_captured: list[Any] | None = None  # the values of what is captured and fed
        self._executable = Executable(func_graph.name, self._body, handles)

    # ------------------------------------------------------------------------------------- what it is

    @property
    def name(self) -> bytes:
        """The function's name in the libraries of graphs."""
        return self._name.encode()

    @property
    def graph(self) -> FuncGraph:
        """The graph of the function."""
        return self._func_graph

    @property
    def inputs(self) -> list[Tensor]:
        """The tensors of the graph that stand for arguments, then those for what is captured."""
        return self._func_graph.inputs

    @property
    def outputs(self) -> list[Tensor]:
        """The tensors of the graph that a call returns."""
        return self._func_graph.outputs

    @property
    def captured_inputs(self) -> list[Tensor]:
        """The tensors from outside that a call takes, beyond its arguments."""
        return list(self._func_graph.captured)

    @property
    def variables(self) -> list[Any]:
        """The variables that the function uses."""
        return self._func_graph.variables

    @property
    def trainable_variables(self) -> list[Any]:
        """The trainable variables that the function uses."""
        return self._func_graph.trainable_variables

    @property
    def structured_input_signature(self) -> Any:
        """The arguments as they were given, with a spec in the place of each tensor."""
        return self._func_graph.structured_input_signature

    @property
    def structured_outputs(self) -> Any:
        """What the Python function returned, made of tensors of the graph; of specs, if it was loaded."""
        declared = self._func_graph.declared_outputs
        return self._func_graph.structured_outputs if declared is None else declared

    @property
    def output_dtypes(self) -> Any:
        """The types of what a call returns."""
        return nest.map_structure(lambda x: None if x is None else x.dtype, self.structured_outputs)

    @property
    def output_shapes(self) -> Any:
        """The static shapes of what a call returns."""
        return nest.map_structure(
            lambda x: x.shape if hasattr(x, "shape") else TensorShape(None), self.structured_outputs
        )

    @property
    def function_def(self) -> FunctionDef:
        """The FunctionDef message."""
        library = Graph()
        self.add_to_graph(library)
        return library._functions[self._name]

    def add_to_graph(self, g: Graph | None = None) -> None:
        """Adds the function, and those it calls, to a graph's library; the default graph's if None."""
        graph = get_default_graph() if g is None else g
        if not graph.is_eager:
            function_gradients.define(graph, self._name, self._body)

    def add_gradient_functions_to_graph(self, g: Graph | None = None) -> None:
        """Adds the functions that compute gradients to a graph's library; the default graph's if None."""
        graph = get_default_graph() if g is None else g
        if graph.is_eager:
            return
        self.add_to_graph(graph)
        body = self._body
        ys = [y for y in body.outputs if function_gradients.carries_gradient(y)]
        derived = function_gradients.derivative(body, ys, self._func_graph.name)
        known = {*body.outputs, *body.inputs}
        more = [tensor for tensor in derived.intermediates if tensor not in known]
        forward = function_gradients.with_outputs(body, [*body.outputs, *more])
        function_gradients.define(graph, derived.names[0], forward)
        function_gradients.define(graph, derived.names[1], derived.body)

    # ------------------------------------------------------------------------------------- calls

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function on tensors or variables.

        Args:
          *args: Tensors, by position.
          **kwargs: Tensors, by the names of the arguments or of their specs.

        Returns:
          What the Python function returned, with the tensors of this call.

        Raises:
          TypeError: If arguments are missing or too many.
          ValueError: If an argument is no tensor.
        """
        names = self._arg_keywords
        if names is None or self._num_positional_args is None:
            if self._signature is None:
                raise AssertionError(
                    "Tried to call a concrete function obtained from an internal API through the public "
                    "interface. Use get_concrete_function instead."
                )
            if kwargs:
                raise NotImplementedError(
                    "Keyword arguments not supported when calling a wrap_function-decorated function."
                )
            return self._call_flat(args)
        if len(args) > self._num_positional_args:
            raise TypeError(
                f"Expected at most {self._num_positional_args} positional arguments (and the rest keywords, "
                f"of {names}), got {args}. When calling a concrete function, positional arguments may not be "
                "bound to Tensors within nested structures."
            )
        given = list(args)
        for name in names[len(args) :]:
            if name not in kwargs:
                there = [*names[: len(given)], *kwargs]
                raise TypeError(
                    f"Expected argument names {names} but got values for {there}. Missing: "
                    f"{[name for name in names if name not in there]}."
                )
            given.append(kwargs.pop(name))
        for name in kwargs:
            if name in names:
                raise TypeError(f"Got two values for keyword '{name}'.")
            raise TypeError(f"Keyword arguments {list(kwargs)} unknown. Expected {names}.")
        self._check_types(given)
        return self._call_flat(given)

    def _check_types(self, given: Sequence[Any]) -> None:
        """Checks eager tensors: those of graphs are checked by the operation that calls the function."""
        for i, (value, known) in enumerate(zip(given, self.inputs, strict=False)):
            if getattr(value, "is_eager", False) and value.dtype is not known.dtype.base_dtype:
                wanted, found = map(errors.type_name, (known.dtype.base_dtype, value.dtype))
                raise errors.invalid_argument(
                    f"cannot compute {self._name} as input #{i}(zero-based) was expected to be a {wanted} "
                    f"tensor but is a {found} tensor [Op:{self._name}]"
                )

    def _call_filtered(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Calls the function on the tensors among the arguments of the Python function."""
        return self._call_flat(
            flat_tensors((args, [kwargs[key] for key in sorted(kwargs)]) if kwargs else args)
        )

    def _call_eager(self, args: Sequence[Any]) -> Any:
        """Calls the function in eager mode, on eager tensors: the way of most calls."""
        if recording.tapes or self._quick_captured is None:
            return self._call_filtered(tuple(args), {})
        return self._pack(self._executable.run([arg._value for arg in args] + self._quick_captured))

    def _call_flat(self, args: Sequence[Any]) -> Any:
        """Calls the function on the tensors of its arguments, in order."""
        tensors = self._input_tensors(args)
        given = len(tensors)
        tensors += self.captured_inputs
        if not get_default_graph().is_eager:
            node = self._call_in_graph(tensors)
            return node if self.structured_outputs is None else self._pack(node.outputs)
        check_eager(tensors)
        outputs = self._executable(tensors)
        if self._quick_captured is None:
            now: Any = self.captured_inputs
            places = [i - given for i in self._executable.fed_positions() if i >= given]
            self._quick_captured = [now[i]._value for i in places]
        return self._pack(outputs)

    def _input_tensors(self, args: Sequence[Any]) -> list[Any]:
        """The arguments as tensors: variables are their handles, each of them once."""
        tensors: list[Any] = []
        seen: set[int] = set()
        for i, arg in enumerate(args):
            if isinstance(arg, BaseResourceVariable):
                if id(arg.handle) not in seen:  # a variable that is given twice is one input
                    seen.add(id(arg.handle))
                    tensors.append(arg.handle)
            elif isinstance(arg, Tensor):
                tensors.append(arg)
            elif is_composite(arg):
                raise AssertionError(f"Expected all args to be Tensors or Variables; but got {arg!r}")
            elif self._signature is not None and isinstance(self._signature[i], TensorSpec):
                tensors.append(convert_to_tensor(arg, self._signature[i].dtype))
            else:
                raise ValueError(
                    "All inputs to `ConcreteFunction`s must be Tensors; on invocation of "
                    f"{self._func_graph.name}, the {i}-th input ({arg}) was not a Tensor."
                )
        return tensors

    def _call_in_graph(self, tensors: list[Tensor]) -> Operation:
        for i, (tensor, known) in enumerate(zip(tensors, self.inputs, strict=True)):
            if not known.shape.is_compatible_with(tensor.shape):
                names = self._arg_keywords
                which = f"'{names[i]}'" if names and i < len(names) else f"with index {i}"
                raise ValueError(
                    f"The argument {which} (value {tensor}) is not compatible with the shape this function "
                    f"was traced with. Expected shape {known.shape}, but got shape {tensor.shape}.\n\nIf you "
                    "called get_concrete_function, you may need to pass a tf.TensorSpec(..., shape=...) with "
                    "a less specific shape, having None on axes which can vary."
                )
        with control_dependencies(self._func_graph.outside_controls):
            node = function_gradients.call_node(self._name, self._body, tensors)
        self._infer_shapes(node, tensors)
        return node

    def _infer_shapes(self, node: Operation, tensors: Sequence[Tensor]) -> None:
        """Gives a call's outputs the shapes that follow from what is known of its inputs now."""
        if all(tensor.shape.is_fully_defined() for tensor in node.outputs):
            return
        if all(a.shape.tuple == b.shape.tuple for a, b in zip(tensors, self.inputs, strict=True)):
            return
        shapes = inferred_shapes(self.outputs, dict(zip(self.inputs, tensors, strict=True)))
        for output, shape in zip(node.outputs, shapes, strict=False):
            output.set_shape(shape)
