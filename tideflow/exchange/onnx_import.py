"""A graph made of an ONNX file. Images stay as ONNX has them, with their channels first."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from tideflow.exchange.onnx_operators import (  # noqa: F401  they register their operators
    classical,
    control_flow,
    elementwise,
    images,
    normalizations,
    products,
    quantized,
    random,
    recurrent,
    reductions,
    sampling,
    sequences,
    shapes,
    signals,
    texts,
)
from tideflow.exchange.onnx_operators.registry import OPERATORS, Given, dtype_of
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.dtypes import DType, as_dtype
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Tensor
from tideflow.graph.partial import constant_value
from tideflow.graph.scopes import get_default_graph, name_scope
from tideflow.ops.arrays.constants import constant, identity, placeholder
from tideflow.session.session import Session

_SAME_DOMAINS = {"ai.onnx": ""}
_LARGEST_FOLDED = 4096  # elements: what is larger is data, not sizes
_DEEPEST = 64  # functions that call each other

Functions = Mapping[tuple[str, str], Any]


@dataclass(frozen=True)
class Imported:
    """What an ONNX file has become.

    Attributes:
      inputs: What it takes, by name.
      outputs: What it computes, by name. A sequence is a list of tensors.
    """

    inputs: Mapping[str, Tensor]
    outputs: Mapping[str, Tensor]


def import_onnx(
    path: str | os.PathLike[str], inputs: Mapping[str, Tensor] | None = None, name: str = "onnx"
) -> Imported:
    """Adds the graph of an ONNX file to the current graph; its initializers are constants.

    Args:
      path: The file; numbers that it keeps in other files are beside it.
      inputs: Tensors in the place of some of its inputs; placeholders are made for the others.
      name: The name scope of the operations.

    Returns:
      Its inputs and outputs.

    Raises:
      ValueError: If the file is no ONNX model, or has operators that are not known here; all are named.
    """
    try:
        model = onnx.load(path)
    except OSError:
        raise
    except Exception as error:
        raise ValueError(f"{os.fspath(path)} is no ONNX model: {error}") from None
    _check_names(model, os.fspath(path))
    functions = {(_domain(each), each.name): each for each in model.functions}
    _check_known(model, functions, os.fspath(path))
    with name_scope(name):
        return _imported(model.graph, _Scope(_opset(model), functions), inputs or {})


def _opset(message: Any) -> int:
    """The version of the operators of ONNX itself."""
    return max((each.version for each in message.opset_import if _domain(each) == ""), default=1)


def _domain(message: Any) -> str:
    return _SAME_DOMAINS.get(message.domain, message.domain)


def _check_names(model: Any, path: str) -> None:
    """Raises ValueError where a name is no text: protocol buffers give its bytes then."""
    for graph in (model.graph, *model.functions):
        for node in _nodes(graph):
            names = (node.op_type, node.domain, *node.input, *node.output, *(a.name for a in node.attribute))
            if not all(isinstance(name, str) for name in names):
                raise ValueError(f"{path} is no ONNX model: names that are no text in node {node.name!r}")
    values = (*model.graph.initializer, *model.graph.input, *model.graph.output)
    for name in (each.name for each in values):
        if not isinstance(name, str):
            raise ValueError(f"{path} is no ONNX model: the name {name!r} is no text")


def _check_known(model: Any, functions: Functions, path: str) -> None:
    opset = _opset(model)
    unknown = {
        f"{node.op_type} (node '{node.name}')": None
        for graph in (model.graph, *model.functions)
        for node in _nodes(graph)
        if (key := (_domain(node), node.op_type)) not in OPERATORS
        and key not in functions
        and not _is_defined_by_others(node, opset)
    }
    if unknown:
        raise ValueError(f"{path} has operators that are not known here: {', '.join(unknown)}")


def _schema(node: Any, opset: int) -> Any:
    try:
        return onnx.defs.get_schema(node.op_type, max(opset, 1), _domain(node))
    except onnx.defs.SchemaError:
        return None


def _is_defined_by_others(node: Any, opset: int) -> bool:
    schema = _schema(node, opset)
    return schema is not None and (schema.has_function or schema.has_context_dependent_function)


def _nodes(graph: Any) -> Iterator[Any]:
    """The nodes of a graph or function, those of branches and bodies too."""
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            for inner in (attribute.g, *attribute.graphs):
                yield from _nodes(inner)


@dataclass
class _Scope:
    """The values of a graph by name, and the graph around it.

    Attributes:
      opset: The version of the operators.
      functions: The model's own operators.
      outer: The scope of the graph whose node has this one as an attribute.
      attributes: What a function was called with.
      values: Tensors, and lists of them.
      arrays: The values that are known.
      borrowed: Placeholders for values of an outer graph, while a body is tried in another.
      depth: How many functions have called each other.
    """

    opset: int
    functions: Functions
    outer: _Scope | None = None
    attributes: dict[str, Any] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    borrowed: dict[str, Tensor] = field(default_factory=dict)
    depth: int = 0

    def owner(self, name: str) -> _Scope:
        """The scope that has a value.

        Raises:
          ValueError: If none has: nodes must come after those whose values they take.
        """
        scope: _Scope | None = self
        while scope is not None:
            if name in scope.values:
                return scope
            scope = scope.outer
        raise ValueError(f"there is no value '{name}' yet")

    def value(self, name: str) -> Any:
        """A value, in the current graph."""
        owner = self.owner(name)
        found = owner.values[name]
        if isinstance(found, list):
            return [self._here(f"{name}/{i}", each, owner) for i, each in enumerate(found)]
        return self._here(name, found, owner)

    def _here(self, name: str, found: Any, owner: _Scope) -> Any:
        if not isinstance(found, Tensor) or found.graph is get_default_graph() or _in_context(found.graph):
            return found
        if name in owner.arrays:
            return constant(owner.arrays[name])
        if name not in self.borrowed or self.borrowed[name].graph is not get_default_graph():
            self.borrowed[name] = placeholder(found.dtype, found.shape)
        return self.borrowed[name]

    def array(self, name: str) -> np.ndarray | None:
        """A value, where it is known before a step runs."""
        owner = self.owner(name)
        if name not in owner.arrays and isinstance(owner.values[name], Tensor):
            known = constant_value(owner.values[name])
            if known is not None:
                owner.arrays[name] = known
        return owner.arrays.get(name)

    def attribute(self, name: str) -> Any:
        """What a function was called with under this name; None where it was not."""
        scope: _Scope | None = self
        while scope is not None:
            if name in scope.attributes:
                return scope.attributes[name]
            scope = scope.outer
        return None

    def set(self, name: str, value: Any) -> None:
        """Notes what a node has made."""
        if isinstance(value, np.ndarray):
            self.arrays[name] = value
            value = constant(value, name=_plain(name))
        self.values[name] = value


def _in_context(graph: Any) -> bool:
    """Whether a tensor of the graph is captured by the current one, as in the body of a function."""
    outer = getattr(get_default_graph(), "outer_graph", None)
    return outer is not None and (outer is graph)


def _imported(graph: Any, scope: _Scope, given: Mapping[str, Any]) -> Imported:
    _add_initializers(graph, scope)
    wanted = [each for each in graph.input if each.name not in scope.values]
    if unknown := set(given).difference(each.name for each in wanted):
        raise ValueError(f"The model has no input {sorted(unknown)}, but {[each.name for each in wanted]}")
    inputs = {}
    for each in wanted:
        made = given.get(each.name)
        inputs[each.name] = scope.values[each.name] = (
            _placeholder(each) if made is None else _converted(made, each)
        )
    for node in graph.node:
        _add(node, scope)
    outputs = {each.name: _output(each.name, scope.value(each.name)) for each in graph.output}
    return Imported(inputs, outputs)


def _output(name: str, value: Any) -> Any:
    if isinstance(value, list):
        return [_output(f"{name}_{i}", each) for i, each in enumerate(value)]
    return identity(value, name=f"output/{_plain(name)}")


def _add_initializers(graph: Any, scope: _Scope) -> None:
    for each in graph.initializer:
        scope.set(each.name, _array(each))
    for each in graph.sparse_initializer:
        scope.set(each.values.name, _dense(each))


def _array(message: Any) -> np.ndarray:
    try:
        array = numpy_helper.to_array(message)
    except Exception as error:
        raise ValueError(f"the numbers of '{message.name}' cannot be read: {error}") from None
    array = _widened(array)
    try:
        as_dtype(array.dtype)
    except TypeError:
        raise ValueError(f"the numbers of '{message.name}' are of type {array.dtype.name}") from None
    return array


def _widened(array: np.ndarray) -> np.ndarray:
    """Integers of 4 bits and fewer take 8 here; other numbers of fewer than 8 bits have no form."""
    if array.dtype.name in ("int4", "int2"):
        return array.astype(np.int8)
    return array.astype(np.uint8) if array.dtype.name in ("uint4", "uint2") else array


def _dense(message: Any) -> np.ndarray:
    values, places = _array(message.values), _array(message.indices)
    made = np.zeros(list(message.dims), values.dtype)
    made[np.unravel_index(places, made.shape) if places.ndim == 1 else tuple(places.T)] = values
    return made


def _add(node: Any, scope: _Scope) -> None:
    """Adds what one node computes."""
    try:
        given = _given(node, scope)
        with name_scope(_plain(node.name or node.op_type)):
            made = _made(node, given, scope)
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError) as error:
        raise ValueError(f"{node.op_type} (node '{node.name}'): {error}") from error
    for name, value in zip(node.output, made if isinstance(made, tuple) else (made,)):
        if name:
            scope.set(name, value)


def _given(node: Any, scope: _Scope) -> Given:
    attributes, subgraphs = {}, {}
    for each in _attributes(node, scope):
        if each.type == onnx.AttributeProto.GRAPH:
            subgraphs[each.name] = partial(_subgraph, each.g, scope)
        else:
            attributes[each.name] = onnx.helper.get_attribute_value(each)
    return Given(
        inputs=[scope.value(name) if name else None for name in node.input],
        arrays=[scope.array(name) if name else None for name in node.input],
        attributes=attributes,
        opset=scope.opset,
        outputs=len(node.output),
        subgraphs=subgraphs,
    )


def _attributes(node: Any, scope: _Scope) -> Iterator[Any]:
    """The attributes of a node, those of the function that it stands in among them."""
    for each in node.attribute:
        if not each.ref_attr_name:
            yield each
        elif (found := scope.attribute(each.ref_attr_name)) is not None:
            named = onnx.AttributeProto()
            named.CopyFrom(found)
            named.name = each.name
            yield named


def _subgraph(graph: Any, outer: _Scope, *inputs: Any) -> list[Any]:
    """Adds a branch or body to the current graph; its outputs."""
    scope = _Scope(outer.opset, outer.functions, outer)
    _add_initializers(graph, scope)
    for each, value in zip(graph.input, inputs, strict=True):
        scope.set(each.name, value)
    for node in graph.node:
        _add(node, scope)
    return [scope.value(each.name) for each in graph.output]


def _made(node: Any, given: Given, scope: _Scope) -> Any:
    """What an operator makes: a value, or a tuple of them. What follows from small constants is an array."""
    key = _domain(node), node.op_type
    if key in scope.functions or key not in OPERATORS:
        return _called(node, given, scope)
    make = OPERATORS[key]
    known = all(array is not None and array.size <= _LARGEST_FOLDED for array in given.arrays)
    if not given.arrays or not known or given.subgraphs or node.op_type in random.NAMES:
        return make(given)
    with Graph().as_default() as graph:
        found = make(replace(given, inputs=[constant(array) for array in given.arrays]))
        values = found if isinstance(found, tuple) else (found,)
        if not all(_is_small(value) for value in values):
            found = None
        elif not all(isinstance(value, np.ndarray) for value in values):
            with Session(graph=graph) as session:
                found = tuple(np.asarray(value) for value in session.run(values))
    return make(given) if found is None else found


def _called(node: Any, given: Given, outer: _Scope) -> tuple[Any, ...]:
    """The nodes of a function: one of the model's own, or one by which ONNX defines an operator."""
    function = outer.functions.get((_domain(node), node.op_type)) or _definition(node, given, outer)
    if outer.depth > _DEEPEST:
        raise ValueError("functions call each other without end")
    scope = _Scope(
        _opset(function) if function.opset_import else outer.opset, outer.functions, depth=outer.depth + 1
    )
    scope.attributes = {each.name: each for each in function.attribute_proto}
    schema = _schema(node, outer.opset)
    if schema is not None:
        defaults = {name: each.default_value for name, each in schema.attributes.items()}
        scope.attributes.update({name: each for name, each in defaults.items() if each.name})
    scope.attributes.update({each.name: each for each in _attributes(node, outer)})
    for name, value, array in zip(function.input, given.inputs, given.arrays):
        scope.set(name, value if array is None else array)
    for name in function.input[len(given.inputs) :]:
        scope.set(name, None)
    for each in function.node:
        _add(each, scope)
    return tuple(scope.value(name) if name in scope.values else None for name in function.output)


def _definition(node: Any, given: Given, scope: _Scope) -> Any:
    """How ONNX defines an operator by others, for inputs of these types."""
    schema = _schema(node, scope.opset)
    if schema.has_function:
        return schema.function_body
    types = [_type(value) for value in given.inputs]
    function = onnx.FunctionProto()
    resolved = onnx.NodeProto()
    resolved.CopyFrom(node)
    del resolved.attribute[:]
    resolved.attribute.extend(_attributes(node, scope))
    function.ParseFromString(schema.get_context_dependent_function(resolved.SerializeToString(), types))
    return function


def _type(value: Any) -> bytes:
    """A tensor's type, as ONNX writes it."""
    made = onnx.TypeProto()
    if isinstance(value, Tensor):
        code = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(value.dtype.as_numpy_dtype))
        shape = None if value.shape.ndims is None else value.shape.as_list()
        made = onnx.helper.make_tensor_type_proto(code, shape)
    return bytes(made.SerializeToString())


def _is_small(value: Any) -> bool:
    size = value.size if isinstance(value, np.ndarray) else None
    if isinstance(value, Tensor):
        size = value.shape.num_elements()
    return size is not None and size <= _LARGEST_FOLDED


def _converted(value: Any, each: Any) -> Any:
    return value if isinstance(value, list) else convert_to_tensor(value, _dtype(each))


def _placeholder(each: Any) -> Tensor:
    if not each.type.HasField("tensor_type"):
        raise ValueError(
            f"input '{each.name}' is no tensor: give a list of tensors in its place, by `inputs`"
        )
    tensor = each.type.tensor_type
    shape = None
    if tensor.HasField("shape"):
        shape = [dim.dim_value if dim.HasField("dim_value") else None for dim in tensor.shape.dim]
    return placeholder(_dtype(each), shape, name=_plain(each.name))


def _dtype(each: Any) -> DType:
    return dtype_of(each.type.tensor_type.elem_type)


def _plain(name: str) -> str:
    """A name that a graph takes."""
    kept = re.sub(r"[^A-Za-z0-9_.-]", "_", name)
    return kept if kept[:1].isalnum() or kept.startswith(".") else f"n{kept}"
