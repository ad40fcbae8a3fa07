"""Tracing: Python functions become graphs, one for each signature of the arguments."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from tideflow.eager.locks import give_lock
from tideflow.export import export
from tideflow.functions.concrete import ConcreteFunction
from tideflow.functions.control_dependencies import add_control_dependencies
from tideflow.functions.func_graph import FuncGraph
from tideflow.functions.function_spec import FunctionSpec
from tideflow.functions.structures import (
    flat_tensors,
    from_spec,
    is_value_of_tensors,
    key_of_arguments,
    made_of,
    signature_of,
    tensors_in,
)
from tideflow.graph import nest
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.functions import free_name
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import get_default_graph, graph_outside
from tideflow.graph.shapes import TensorShape
from tideflow.graph.type_spec import TensorSpec, TypeSpec
from tideflow.graph.user_functions import converted
from tideflow.ops.arrays import constants
from tideflow.variables.base import creators_of
from tideflow.variables.resource import BaseResourceVariable, ResourceVariable

if TYPE_CHECKING:
    from tideflow.graph.typing import Structure

Creator = Callable[..., Any]

_MUTATED = (
    "Function to be traced should not modify structure of input arguments. Check if your function has list "
    "and dictionary operations that alter input arguments, such as `list.pop`, `list.append`"
)


# ------------------------------------------------------------------------------------------------ one trace


def traced(
    name: str,
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    names: Sequence[str],
    creator: Creator,
    shapes: Sequence[TensorShape | None] | None = None,
    graph: FuncGraph | None = None,
) -> FuncGraph:
    """The graph of what a function does with arguments like these, which may be specs. `creator` makes the
    variables that it makes; `shapes` are less specific ones for the tensors.
    """
    outer = get_default_graph()
    graph = FuncGraph(name, outer) if graph is None else graph
    creators_of(graph).insert(0, creator)
    scopes = {} if outer.is_eager else {"devices": outer._local.devices}
    with graph.as_default(), graph._local.block(**scopes):
        sizes = None if shapes is None else iter(shapes)
        inner_args = tuple(
            _inputs_like(graph, arg, name, sizes) for arg, name in zip(args, names, strict=True)
        )
        inner_kwargs = {key: _inputs_like(graph, kwargs[key], key, sizes) for key in sorted(kwargs)}
        given = list(nest.leaves_with_paths((inner_args, inner_kwargs)))
        graph.structured_input_signature = (
            signature_of(inner_args, names),
            signature_of(inner_kwargs),
        )
        result = function(*inner_args, **inner_kwargs)
        leaves = [_returned(leaf, function) for leaf in nest.flatten(result)]
        graph.structured_outputs = (
            nest.pack_sequence_as(result, leaves) if nest.is_nested(result) else leaves[0]
        )
        left = list(nest.leaves_with_paths((inner_args, inner_kwargs)))
        if len(left) != len(given) or any(p != q or a is not b for (p, a), (q, b) in zip(left, given)):
            raise ValueError(_MUTATED)
        graph.outputs = [graph.capture(tensor) for leaf in leaves for tensor in tensors_in(leaf)]
        results = [tensor for tensor in graph.outputs if tensor.op.definition is constants.identity_op]
        chosen = graph.chosen_effects
        graph.control_outputs = add_control_dependencies(graph, results) if chosen is None else chosen
    _put_arguments_first(graph, [leaf for _, leaf in given])
    return graph


def _inputs_like(graph: FuncGraph, structure: Any, name: str, shapes: Any) -> Any:
    """The structure, with new inputs of the graph in the place of tensors and specs."""

    def new_input(spec: Any) -> Tensor:
        known = spec.shape if shapes is None else next(shapes)
        called = getattr(spec, "name", None) if isinstance(spec, TensorSpec) else None
        made = graph.add_input(spec.dtype, known, free_of_slashes(called or name))
        made.op._set_attr("_user_specified_name", called or name)
        made._variable = getattr(spec, "_variable", None)
        return made

    def inner(leaf: Any) -> Any:
        if isinstance(leaf, (Tensor, TensorSpec)):
            return new_input(leaf)
        if isinstance(leaf, BaseResourceVariable):
            handle = graph.capture(leaf.handle, free_of_slashes(name))
            handle.op._set_attr("_user_specified_name", name)
            return leaf
        if isinstance(leaf, TypeSpec):
            return from_spec(leaf, [new_input(spec) for spec in nest.flatten(leaf._component_specs)])
        if is_value_of_tensors(leaf):
            return made_of(leaf, [new_input(tensor) for tensor in tensors_in(leaf)])
        return leaf

    return nest.map_structure(inner, structure) if nest.is_nested(structure) else inner(structure)


def free_of_slashes(name: str) -> str:
    """A name that a node can have in its scope."""
    return "".join(c if c.isalnum() or c in "_." else "_" for c in name) or "args"


def _returned(value: Any, function: Callable[..., Any]) -> Any:
    """What a function returned, as tensors that are its own."""
    if value is None:
        return None
    if is_value_of_tensors(value):
        return made_of(value, [constants.identity(part) for part in tensors_in(value)])
    try:
        if isinstance(value, Operation):
            raise TypeError("an operation has no value")
        return constants.identity(convert_to_tensor(value))
    except (ValueError, TypeError) as error:
        if isinstance(value, Tensor):
            raise
        raise TypeError(
            "To be compatible with tf.contrib.eager.defun, Python functions must return zero or more "
            f"Tensors; in compilation of {function}, found return value of type {type(value)}, which is not "
            "a Tensor."
        ) from error


def _put_arguments_first(graph: FuncGraph, given: Sequence[Any]) -> None:
    """Orders the inputs: those of the arguments, variables among them, then what is captured."""
    order: list[Tensor] = []
    for tensor in [tensor for leaf in given for tensor in tensors_in(leaf)]:
        if not isinstance(tensor, BaseResourceVariable):
            order.append(tensor)
        elif tensor.handle in graph.captured:  # no more where a variable is given twice
            order.append(graph.captured.pop(tensor.handle))
    graph.inputs[:] = [*order, *graph.captured.values()]


# ------------------------------------------------------------------------------------------------ many traces


class Tracer:
    """A Python function with the traces that were made of it, by what calls must have in common."""

    _lock: Any

    def __init__(
        self,
        function: Callable[..., Any],
        name: str,
        spec: FunctionSpec,
        creator: Creator | None = None,
        relax_shapes: bool = False,
    ) -> None:
        self.python_function = function
        self._name = name
        self.function_spec = spec
        self._creator = made_in_function if creator is None else creator
        self._relax_shapes = relax_shapes
        self._traces: dict[Any, ConcreteFunction] = {}
        self._relaxed: dict[Any, tuple[list[TensorShape | None], ConcreteFunction]] = {}
        self._missed: set[Any] = set()
        self.count = 0  # how often it was traced
        self._bound: weakref.WeakKeyDictionary[Any, Tracer] = weakref.WeakKeyDictionary()
        give_lock(self)
        functools.update_wrapper(self, function, updated=())

    @property
    def input_signature(self) -> tuple[Any, ...] | None:
        """The signature that all calls must have; None where each has its own."""
        return self.function_spec.input_signature

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function: traces it, if it was not traced for arguments like these."""
        concrete, args, kwargs = self.concrete_for(args, kwargs)
        return concrete._call_filtered(args, kwargs)

    def concrete_for(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[ConcreteFunction, tuple[Any, ...], dict[str, Any]]:
        """The trace for these arguments, made if there is none, and the arguments as it takes them."""
        args, kwargs = self.function_spec.canonicalize_function_inputs(*args, **kwargs)
        return self._found((args, kwargs), args, kwargs), args, kwargs

    def _found(self, keyed: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> ConcreteFunction:
        where = _calling_context()
        signature = self.input_signature
        key = where, key_of_arguments(keyed if signature is None else signature)
        try:
            hash(key)
        except TypeError as error:
            raise TypeError(
                "Arguments supplied to `defun`-generated functions must be hashable.  Original error: "
                f"{error}"
            ) from error
        found = self._traces.get(key)
        if found is not None:
            return found
        with self._lock:
            if key in self._traces:
                return self._traces[key]
            if self._relax_shapes and signature is None and where in self._missed:
                return self._relaxed_trace(where, args, kwargs)
            made = self._trace(args if signature is None else signature, kwargs)
            self._missed.add(where)
            self._traces[key] = made
            return made

    def _trace(self, args: Sequence[Any], kwargs: dict[str, Any], shapes: Any = None) -> ConcreteFunction:
        names = self.function_spec.argument_names(len(args))
        graph = traced(self._name, self.python_function, args, kwargs, names, self._creator, shapes)
        self.count += 1
        return ConcreteFunction(graph)

    def _relaxed_trace(self, where: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> ConcreteFunction:
        """For less specific shapes: what those of all calls with tensors of these ranks have in common."""
        key = where, key_of_arguments((args, kwargs), ranks_only=True)
        leaves = flat_tensors((args, [kwargs[name] for name in sorted(kwargs)]))
        shapes: list[Any] = [leaf.shape for leaf in leaves if isinstance(leaf, Tensor)]
        if key in self._relaxed:
            known, found = self._relaxed[key]
            if all(_contains(wide, shape) for wide, shape in zip(known, shapes, strict=True)):
                return found
            shapes = [_common(a, b) for a, b in zip(known, shapes, strict=True)]
        made = self._trace(args, kwargs, shapes)
        self._relaxed[key] = shapes, made
        return made

    @property
    def _function_cache(self) -> SimpleNamespace:
        """The traces by what they were made for, and those of less specific shapes."""
        return SimpleNamespace(
            primary=self._traces,
            arg_relaxed=self._relaxed,
            arg_relaxed_shapes={key: shapes for key, (shapes, _) in self._relaxed.items()},
            missed=self._missed,
        )

    def all_traces(self) -> list[ConcreteFunction]:
        """The traces that were made."""
        return [*self._traces.values(), *(found for _, found in self._relaxed.values())]

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The trace for arguments like these.

        Args:
          *args: Tensors, specs of tensors, or Python values, by position; none where the function has an
            input signature.
          **kwargs: The same by name.

        Returns:
          The ConcreteFunction.

        Raises:
          ValueError: If the arguments do not fit the input signature.
        """
        if self.input_signature is None:
            concrete = self.concrete_for(args, kwargs)[0]
        else:
            self._check_like_signature(args, kwargs)
            concrete = self._found(self.input_signature, self.input_signature, {})
        return named_arguments(concrete)

    def _check_like_signature(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if kwargs:
            raise ValueError(
                "Cannot define a TensorFlow function from a Python function with keyword arguments when "
                "input_signature is provided."
            )
        if not args:
            return
        specs = nest.flatten(self.input_signature)
        try:
            flat = nest.flatten_up_to(self.input_signature, args)
        except (ValueError, TypeError):
            raise ValueError("Structure of Python function inputs does not match input_signature.") from None
        if any(not isinstance(arg, (Tensor, TypeSpec)) and not is_value_of_tensors(arg) for arg in flat):
            raise ValueError(
                "When input_signature is provided, all inputs to the Python function must be Tensors or "
                "tf.TensorSpec objects."
            )
        if any(not spec.is_compatible_with(arg) for spec, arg in zip(specs, flat, strict=True)):
            raise ValueError(
                f"Python inputs incompatible with input_signature: inputs ({args}), input_signature "
                f"({self.input_signature})"
            )

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """The function of an instance, where this one decorates a method."""
        if instance is None:
            return self
        if instance not in self._bound:
            method = weak_method(self.python_function, instance)
            spec = FunctionSpec(method, self.input_signature)
            self._bound[instance] = Tracer(method, self._name, spec, self._creator, self._relax_shapes)
        return self._bound[instance]


def weak_method(function: Callable[..., Any], instance: Any) -> Callable[..., Any]:
    """A method of an instance that does not keep the instance."""
    reference = weakref.ref(instance)

    def method(*args: Any, **kwargs: Any) -> Any:
        held = reference()
        if held is None:
            raise ReferenceError(
                f"The object whose method {function.__name__} is called does not exist any more"
            )
        return function(held, *args, **kwargs)

    functools.update_wrapper(method, function)
    method.__signature__ = FunctionSpec.without_first(function)  # type: ignore[attr-defined]
    return method


def named_arguments(concrete: ConcreteFunction) -> ConcreteFunction:
    """The function, whose arguments can be given by name."""
    taken: set[str] = set()
    captured = set(concrete.graph.captured.values())
    arguments = [tensor for tensor in concrete.inputs if tensor not in captured]
    concrete._arg_keywords = [
        free_name(tensor.op.attrs["_user_specified_name"], taken) for tensor in arguments
    ]
    concrete._num_positional_args = len(arguments)
    return concrete


def _calling_context() -> Any:
    """What traces depend on, beyond arguments: the graph around all functions, and colocation in it."""
    graph = graph_outside()
    return None if graph.is_eager else (graph, get_default_graph()._local.colocations)


def _contains(wide: TensorShape | None, shape: TensorShape) -> bool:
    if wide is None or wide.ndims is None:
        return True
    if shape.ndims != wide.ndims:
        return False
    return all(a is None or a == b for a, b in zip(wide.as_list(), shape.as_list(), strict=True))


def _common(a: TensorShape | None, b: TensorShape | None) -> TensorShape:
    if a is None or b is None or a.ndims is None or a.ndims != b.ndims:
        return TensorShape(None)
    return TensorShape([x if x == y else None for x, y in zip(a.as_list(), b.as_list(), strict=True)])


# ------------------------------------------------------------------------------------------------ variables


def made_in_function(next_creator: Creator, **arguments: Any) -> Any:
    """A variable that a traced function makes: it is made outside, like any."""
    for word in ("validate_shape", "expected_shape", "use_resource"):
        arguments.pop(word, None)
    return ResourceVariable(**arguments)


made_in_function.of_a_function = True  # type: ignore[attr-defined]


# ------------------------------------------------------------------------------------------------ defun


@export("contrib.eager.defun")
def defun(
    func: Callable[..., Any] | None = None,
    input_signature: Structure[Any] | None = None,
    autograph: bool = True,
    experimental_autograph_options: Any = None,
    experimental_relax_shapes: bool = False,
) -> Any:
    """Makes a function that is traced and compiled for each signature of its arguments.

    It differs from `tf.function` in that every trace may make variables.

    Args:
      func: The function; where it is left out, a decorator is returned.
      input_signature: A structure of `tf.TensorSpec`: the one signature that all calls have.
      autograph: Whether Python's `if` and loops over tensors become parts of the graph.
      experimental_autograph_options: Further options of that conversion.
      experimental_relax_shapes: Whether a second trace is made for less specific shapes, to avoid more.

    Returns:
      The function, or the decorator.
    """

    def decorated(function: Callable[..., Any]) -> Tracer:
        spec = FunctionSpec(function, input_signature)
        called = getattr(function, "__name__", "function")
        if autograph:
            function = converted(
                function, user_requested=True, optional_features=experimental_autograph_options
            )
        return Tracer(function, called, spec, relax_shapes=experimental_relax_shapes)

    return decorated if func is None else decorated(func)


def defun_with_attributes(
    func: Callable[..., Any] | None = None,
    input_signature: Structure[Any] | None = None,
    attributes: dict[str, Any] | None = None,
    autograph: bool = True,
    experimental_autograph_options: Any = None,
    experimental_relax_shapes: bool = False,
) -> Any:
    """`defun`, with attributes: `func_name` is the function's name, others are notes that nothing reads.

    Args:
      func: The function; where it is left out, a decorator is returned.
      input_signature: A structure of `tf.TensorSpec`: the one signature that all calls have.
      attributes: The attributes by name.
      autograph: Whether Python's `if` and loops over tensors become parts of the graph.
      experimental_autograph_options: Further options of that conversion.
      experimental_relax_shapes: Whether a second trace is made for less specific shapes, to avoid more.

    Returns:
      The function, or the decorator.
    """
    options = (input_signature, autograph, experimental_autograph_options, experimental_relax_shapes)

    def decorated(function: Callable[..., Any]) -> Tracer:
        made = defun(function, *options)
        made._name = (attributes or {}).get("func_name", made._name)
        return made  # type: ignore[no-any-return]

    return decorated if func is None else decorated(func)
