"""Functions out of a SavedModel: its library under names of this process, and calls of what was traced."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tensorboard.compat.proto.attr_value_pb2 import NameAttrList
from tensorboard.compat.proto.function_pb2 import FunctionDef
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.node_def_pb2 import NodeDef
from tensorboard.compat.proto.saved_object_graph_pb2 import (
    FunctionSpec as FunctionSpecProto,
)
from tensorboard.compat.proto.saved_object_graph_pb2 import (
    SavedBareConcreteFunction,
    SavedConcreteFunction,
    SavedFunction,
)

from tideflow.functions.concrete import ConcreteFunction, next_number
from tideflow.functions.def_function import Function
from tideflow.functions.func_graph import FuncGraph
from tideflow.functions.structures import from_spec
from tideflow.graph import nest
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.functions import fill_body
from tideflow.graph.op import definitions
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import get_default_graph, init_scope
from tideflow.graph.type_spec import TensorSpec, TypeSpec
from tideflow.saved_model.structured_values import decoded
from tideflow.variables.resource import BaseResourceVariable

_TRACED = re.compile(r"^__inference_(.*)_\d+$")
_BY_NAME = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD)


def clean_name(name: str) -> str:
    """The name of the Python function of which one in a library is a trace."""
    found = _TRACED.match(name)
    return found.group(1) if found else name


# ------------------------------------------------------------------------------------------------ a library


class FunctionLibrary:
    """The functions of a SavedModel. `tensor_of` is what stands for an object that a function captures."""

    def __init__(
        self, graph_def: GraphDef, saved: Any, tensor_of: Callable[[int], Tensor], variable_of: Any
    ) -> None:
        names = {
            message.signature.name: f"__inference_{clean_name(message.signature.name)}_{next_number()}"
            for message in graph_def.library.function
        }
        self._suffix = f"_load_{next_number()}"  # state that models of one file do not share
        self._messages = {
            message.signature.name: self._renamed(message, names) for message in graph_def.library.function
        }
        self._by_new_name = {message.signature.name: message for message in self._messages.values()}
        self._gradients = {
            names[gradient.function_name]: names[gradient.gradient_func]
            for gradient in graph_def.library.gradient
            if gradient.function_name in names and gradient.gradient_func in names
        }
        self._saved = saved
        self._tensor_of, self._variable_of = tensor_of, variable_of
        self._made: dict[str, ConcreteFunction] = {}
        self._being_made: set[str] = set()
        self._bodies: dict[Any, Any] = {}  # of the functions that functions call

    def _renamed(self, function: FunctionDef, names: dict[str, str]) -> FunctionDef:
        message = FunctionDef()
        message.CopyFrom(function)
        message.signature.name = names[function.signature.name]
        for node in message.node_def:
            node.op = names.get(node.op, node.op)
            node.attr.pop("_gradient_op_type", None)  # the gradient of a call follows from the function
            for reference in referred_functions(node):
                reference.name = names.get(reference.name, reference.name)
            op = definitions().get(node.op)
            if op is not None and "shared_name" in op.attrs:
                own = node.attr["shared_name"].s or node.name.encode()
                node.attr["shared_name"].s = own + self._suffix.encode()
        return message

    def called_by(self, name: str) -> dict[str, FunctionDef]:
        """A function and all that it calls, by their names in this process."""
        found: dict[str, FunctionDef] = {}
        waiting = [self.message(name)]
        while waiting:
            message = waiting.pop()
            if message.signature.name in found:
                continue
            found[message.signature.name] = message
            called = [message.signature.name]
            called += [ref.name for node in message.node_def for ref in referred_functions(node)]
            called += [node.op for node in message.node_def]
            called += [self._gradients[key] for key in called if key in self._gradients]
            waiting += [self._by_new_name[key] for key in called if key in self._by_new_name]
        return found

    def message(self, name: str) -> FunctionDef:
        if name not in self._messages:
            raise ValueError(f"The SavedModel has no function '{name}' in its library")
        return self._messages[name]

    def concrete(self, name: str) -> ConcreteFunction:
        """A function that can be called. Each is made once, when it is asked for."""
        if name not in self._made:
            if name in self._being_made:
                raise ValueError(
                    f"There is a cyclic-dependency between functions. Could not resolve '{name}'."
                )
            self._being_made.add(name)
            try:
                self._made[name] = self._new(name)
            finally:
                self._being_made.discard(name)
        return self._made[name]

    def _new(self, name: str) -> ConcreteFunction:
        if name not in self._saved:
            raise ValueError(f"The SavedModel does not say what the function '{name}' takes")
        saved: SavedConcreteFunction = self._saved[name]
        with init_scope():
            bound = [self._tensor_of(number) for number in saved.bound_inputs]
            graph = FuncGraph(clean_name(name), get_default_graph())
        called = self.called_by(name)
        graph._functions = dict(called)
        graph._function_bodies = self._bodies
        graph._function_gradients = {key: value for key, value in self._gradients.items() if key in called}
        graph.structured_input_signature = _signature(decoded(saved.canonicalized_input_signature), name)
        specs = _tensor_specs(graph.structured_input_signature)
        inputs = [_input(graph, spec) for spec in specs]
        for tensor in bound:
            inputs.append(graph.capture(tensor))
        message = self.message(name)
        types = [arg.type for arg in message.signature.input_arg]
        if types != [tensor.dtype.base_dtype.as_datatype_enum for tensor in inputs]:
            raise ValueError(
                f"The function '{name}' of the SavedModel takes other tensors than the model says: {inputs}"
            )
        body = fill_body(graph, message, inputs)
        graph.outputs = body.outputs
        graph.declared_outputs = decoded(saved.output_signature)
        graph.structured_outputs = _packed(graph.declared_outputs, body.outputs, name)
        graph.control_outputs = body.targets
        for number in saved.bound_inputs:
            variable = self._variable_of(number)
            if variable is not None:
                graph.held_variables.append(variable)
        return ConcreteFunction(graph, specs)


def referred_functions(node: NodeDef) -> Iterator[NameAttrList]:
    """The functions that the attributes of a node name."""
    for value in node.attr.values():
        if value.HasField("func"):
            yield value.func
        yield from value.list.func


def _signature(found: Any, name: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if (
        not isinstance(found, tuple)
        or len(found) != 2
        or not isinstance(found[0], tuple)
        or not isinstance(found[1], dict)
    ):
        raise ValueError(f"The arguments of the function '{name}' of the SavedModel are {found!r}")
    return found


def _tensor_specs(structure: Any) -> list[TensorSpec]:
    """The specs of all tensors that arguments are made of, in the order of a function's inputs."""
    leaves = [leaf for leaf in nest.flatten(structure) if isinstance(leaf, TypeSpec)]
    return [spec for leaf in leaves for spec in nest.flatten(leaf._component_specs)]


def _input(graph: FuncGraph, spec: TensorSpec) -> Tensor:
    name = spec.name or "args"
    made = graph.add_input(spec.dtype, spec.shape, "".join(c if c.isalnum() else "_" for c in name))
    made.op._set_attr("_user_specified_name", name)
    return made


def _packed(structure: Any, tensors: Sequence[Tensor], name: str) -> Any:
    """The results with the tensors of a body in the place of their specs."""
    left = list(tensors)

    def made(leaf: Any) -> Any:
        if not isinstance(leaf, TypeSpec):
            return leaf
        specs = nest.flatten(leaf._component_specs)
        taken = [left.pop(0) for _ in specs[: len(left)]]
        if len(taken) != len(specs) or any(t.dtype != s.dtype for t, s in zip(taken, specs, strict=True)):
            raise ValueError(f"The function '{name}' of the SavedModel returns no {leaf}")
        for tensor, spec in zip(taken, specs, strict=True):
            if tensor.shape.is_compatible_with(spec.shape):
                tensor.set_shape(spec.shape)
        return taken[0] if isinstance(leaf, TensorSpec) else from_spec(leaf, taken)

    packed = nest.map_structure(made, structure) if nest.is_nested(structure) else made(structure)
    if left:
        raise ValueError(f"The function '{name}' of the SavedModel returns more than the model says: {left}")
    return packed


# ------------------------------------------------------------------------------------------------ functions


def bare_function(saved: SavedBareConcreteFunction, library: FunctionLibrary) -> ConcreteFunction:
    """A single trace, whose arguments are tensors with names."""
    concrete = library.concrete(saved.concrete_function_name)
    count = len(concrete.inputs) - len(concrete.captured_inputs)
    if len(saved.argument_keywords) != count or not 0 <= saved.allowed_positional_arguments <= count:
        raise ValueError(
            f"The function '{saved.concrete_function_name}' of the SavedModel takes {count} tensors, not "
            f"{list(saved.argument_keywords)}"
        )
    concrete._arg_keywords = list(saved.argument_keywords)
    concrete._num_positional_args = saved.allowed_positional_arguments
    return concrete


class RestoredFunction(Function):
    """A function with the traces that were saved. A call uses the one that fits its arguments."""

    def __init__(self, saved: SavedFunction, library: FunctionLibrary) -> None:
        names = list(saved.concrete_functions)

        def restored_function_body(*args: Any, **kwargs: Any) -> Any:
            concrete, args, kwargs = self._fitting(args, kwargs)
            result = concrete._call_filtered(args, kwargs)
            return None if isinstance(result, Operation) else result  # the call of a function without results

        signature, input_signature = _spec_of(saved.function_spec)
        restored_function_body.__signature__ = signature  # type: ignore[attr-defined]
        called = clean_name(names[0]) if names else "restored_function_body"
        super().__init__(restored_function_body, called, input_signature, autograph=False)
        self._names, self._library = names, library

    @property
    def concrete_functions(self) -> list[ConcreteFunction]:
        """The traces that were saved."""
        return [self._library.concrete(name) for name in self._names]

    def _all_traces(self) -> list[ConcreteFunction]:
        return self.concrete_functions

    def _concrete_for(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[ConcreteFunction, tuple[Any, ...], dict[str, Any]]:
        args, kwargs = self._function_spec.canonicalize_function_inputs(*args, **kwargs)
        return self._fitting(args, kwargs)

    def _fitting(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[ConcreteFunction, tuple[Any, ...], dict[str, Any]]:
        """The first trace that takes these arguments as they are, or else as tensors; and the arguments."""
        for convert in (False, True):
            for concrete in self.concrete_functions:
                fitted = _fitted(concrete.structured_input_signature, (tuple(args), kwargs), convert)
                if fitted is not None:
                    return concrete, *fitted
        options = "\n\n".join(
            f"Option {i}:\n  {_listed(taken)}\n  Keyword arguments: {by_name}"
            for i, (taken, by_name) in enumerate(
                (concrete.structured_input_signature for concrete in self.concrete_functions), 1
            )
        )
        raise ValueError(
            f"Could not find matching function to call loaded from the SavedModel. Got:\n  {_listed(args)}\n"
            f"  Keyword arguments: {kwargs}\n\nExpected these arguments to match one of the following "
            f"{len(self._names)} option(s):\n\n{options}"
        )


def _listed(positional: Sequence[Any]) -> str:
    return f"Positional arguments ({len(positional)} total):\n    * " + "\n    * ".join(map(str, positional))


def _spec_of(message: FunctionSpecProto) -> tuple[inspect.Signature, Any]:
    """The parameters of a saved function, and the one signature of its calls, if it has one."""
    found = decoded(message.fullargspec)
    try:
        args = list(found.args)[1:] if message.is_method else list(found.args)
        defaults = list(found.defaults or ())
        by_name, named_defaults = list(found.kwonlyargs or ()), dict(found.kwonlydefaults or {})
        kind = inspect.Parameter
        parameters = [
            kind(name, kind.POSITIONAL_OR_KEYWORD, default=default)
            for name, default in zip(args, [kind.empty] * (len(args) - len(defaults)) + defaults, strict=True)
        ]
        if found.varargs:
            parameters.append(kind(found.varargs, kind.VAR_POSITIONAL))
        parameters += [
            kind(name, kind.KEYWORD_ONLY, default=named_defaults.get(name, kind.empty)) for name in by_name
        ]
        if found.varkw:
            parameters.append(kind(found.varkw, kind.VAR_KEYWORD))
        signature = inspect.Signature(parameters)
    except (AttributeError, TypeError) as error:
        raise ValueError(f"The SavedModel describes a function's parameters as {found!r}") from error
    given = decoded(message.input_signature) if message.HasField("input_signature") else None
    if any(parameter.kind in _BY_NAME for parameter in parameters):
        given = None
    return signature, given


def _fitted(expected: Any, given: Any, convert: bool) -> tuple[Any, Any] | None:
    """The arguments as a trace takes them; None if it does not."""
    try:
        leaves = nest.flatten_up_to(expected, given)
        nest.assert_same_structure(given, nest.pack_sequence_as(expected, leaves), check_types=False)
    except (TypeError, ValueError):
        return None
    for i, (leaf, spec) in enumerate(zip(leaves, nest.flatten(expected), strict=True)):
        if isinstance(spec, TensorSpec):
            leaves[i] = _as_tensor(leaf, spec, convert)
            if leaves[i] is None:
                return None
        elif isinstance(spec, TypeSpec):
            try:
                if not spec.is_compatible_with(leaf):
                    return None
            except TypeError:  # a value that has no spec
                return None
        elif not _are_equal(leaf, spec):
            return None
    packed: tuple[Any, Any] = nest.pack_sequence_as(given, leaves)
    return packed


def _are_equal(value: Any, saved: Any) -> bool:
    """Whether a plain value is the one that the function was traced with."""
    return not isinstance(value, (Tensor, BaseResourceVariable)) and bool(value == saved)


def _as_tensor(value: Any, spec: TensorSpec, convert: bool) -> Any:
    """The value for an argument that is a tensor of this type and shape; None if it is none."""
    if isinstance(value, TensorSpec):
        return value if spec.is_compatible_with(value) else None
    if not isinstance(value, (Tensor, BaseResourceVariable)) and not convert:
        return None
    if not isinstance(value, Tensor):
        try:
            value = convert_to_tensor(value, preferred_dtype=spec.dtype)
        except (TypeError, ValueError):
            return None
    return value if spec.is_compatible_with(value) else None
