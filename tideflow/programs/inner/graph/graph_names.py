"""Names that tests and libraries take from `tensorflow.python.framework.ops`, beside the public ones."""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Callable, Sequence
from typing import Any

from tensorboard.compat.proto.node_def_pb2 import NodeDef

from tideflow.autodiff import registry
from tideflow.eager.tensor import EagerTensor
from tideflow.graph import collection_protos, convert, dtypes, scopes
from tideflow.graph.composite import IndexedSlices
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.stacks import default_graphs

NullContextmanager = contextlib.nullcontext
internal_convert_to_tensor = convert.convert_to_tensor
internal_convert_n_to_tensor = convert.convert_n_to_tensor
uid = itertools.count(1).__next__
tensor_id = id


def convert_to_tensor_v2(value: Any, dtype: Any = None, dtype_hint: Any = None, name: Any = None) -> Tensor:
    """`convert_to_tensor` with the name that TensorFlow 2 has for a preferred type."""
    return convert.convert_to_tensor(value, dtype, name, preferred_dtype=dtype_hint)


def get_gradient_function(op: Operation | None) -> Callable | None:
    """The gradient function of an operation; None where it has none by declaration, or no inputs."""
    return registry.gradient_function(op) if op is not None and op.inputs else None


def default_session(session: Any) -> contextlib.AbstractContextManager:
    """A block in which a session is the default one."""
    return session.as_default()


def dismantle_graph(graph: Graph) -> None:
    """Nothing: what a graph holds goes with it."""


def has_default_graph() -> bool:
    """Whether a `with` block has made a graph the default one."""
    return bool(default_graphs.items)


def inside_function() -> bool:
    """Whether the default graph is a function's."""
    return scopes.get_default_graph().building_function


def executing_eagerly_outside_functions() -> bool:
    """Whether operations outside of functions run at once."""
    with scopes.init_scope():
        return scopes.executing_eagerly()


def get_all_collection_keys() -> list[Any]:
    """The keys of the default graph's collections."""
    return scopes.get_default_graph().get_all_collection_keys()


def get_name_scope() -> str:
    """The default graph's name scope."""
    return scopes.get_default_graph().get_name_scope()


def get_collection_proto_type(collection_name: str) -> Any:
    """The class of the messages in which a collection is saved; None if it has none."""
    return _proto_function(collection_name, "proto_type")


def get_to_proto_function(collection_name: str) -> Callable | None:
    """The function that makes messages of a collection's items; None if there is none."""
    return _proto_function(collection_name, "to_proto")


def get_from_proto_function(collection_name: str) -> Callable | None:
    """The function that makes a collection's items of messages; None if there is none."""
    return _proto_function(collection_name, "from_proto")


def _proto_function(collection_name: str, which: str) -> Any:
    return getattr(collection_protos.proto_functions.get(collection_name), which, None)


def register_proto_function(
    collection_name: str,
    proto_type: Any = None,
    to_proto: Callable | None = None,
    from_proto: Callable | None = None,
) -> None:
    """Registers how the items of a collection become messages and come back. What is None is left out."""
    for name, function in (("to_proto", to_proto), ("from_proto", from_proto)):
        if function is not None and not callable(function):
            raise TypeError(f"{name} must be callable.")
    if collection_name in collection_protos.proto_functions:
        raise KeyError(f"Registering two proto functions with name '{collection_name}'!")
    if proto_type is not None and from_proto is not None:
        given = () if to_proto is None else (to_proto,)
        collection_protos.register_proto_function(collection_name, proto_type, from_proto, *given)


def _NodeDef(op_type: str, name: str, attrs: dict[str, Any] | None = None) -> NodeDef:
    """A NodeDef without inputs."""
    node = NodeDef(op=op_type, name=name)
    for key, value in (attrs or {}).items():
        node.attr[key].CopyFrom(value)
    return node


def internal_convert_to_tensor_or_indexed_slices(
    value: Any, dtype: Any = None, name: str | None = None, as_ref: bool = False
) -> Any:
    """A tensor of a value; indexed slices stay what they are."""
    if isinstance(value, IndexedSlices | EagerTensor | Tensor):
        if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(value.dtype):
            raise ValueError(
                f"Tensor conversion requested dtype {dtypes.as_dtype(dtype).name} for Tensor with dtype "
                f"{value.dtype.name}: {str(value)!r}"
            )
        return value
    return convert.convert_to_tensor(value, dtype, name, as_ref=as_ref)


def internal_convert_n_to_tensor_or_indexed_slices(
    values: Sequence[Any], dtype: Any = None, name: str | None = None, as_ref: bool = False
) -> list[Any]:
    """The same of each value; None stays None."""
    if not isinstance(values, Sequence):
        raise TypeError("values must be a sequence.")
    return [
        value
        if value is None
        else internal_convert_to_tensor_or_indexed_slices(value, dtype, name and f"{name}_{i}", as_ref)
        for i, value in enumerate(values)
    ]


convert_n_to_tensor_or_indexed_slices = internal_convert_n_to_tensor_or_indexed_slices


def name_from_scope_name(name: str) -> str:
    """The name of an operation that stands for a scope: without the slash at its end."""
    return name.removesuffix("/")


def prepend_name_scope(name: str, import_scope: str | None) -> str:
    """A name in a scope; `^` and `loc:@`, which say what the name is for, stay at its front."""
    if not import_scope:
        return name
    scope = import_scope.removesuffix("/")
    mark = next((mark for mark in ("loc:@", "^") if mark in name), "")
    return f"{mark}{scope}/{name.replace(mark, '', 1)}"


def strip_name_scope(name: str, export_scope: str | None) -> str:
    """A name without the scope that it begins with."""
    if not export_scope:
        return name
    scope = re.escape(export_scope.removesuffix("/"))
    return re.sub(rf"(\^|loc:@|^){scope}/+(.*)", r"\1\2", name)


def _get_graph_from_inputs(op_input_list: Sequence[Any], graph: Graph | None = None) -> Graph:
    """The graph of the inputs, which must be one."""
    first: Any = None
    for value in op_input_list:
        element = value if isinstance(value, (Tensor, Operation)) else _element_of(value)
        if element is None or scopes.get_default_graph().building_function:
            continue
        if graph is None:
            first, graph = element, element.graph
        elif element.graph is not graph and first is not None:
            raise ValueError(f"{element} must be from the same graph as {first}.")
        elif element.graph is not graph:
            raise ValueError(f"{element} is not from the passed-in graph.")
    return scopes.get_default_graph() if graph is None else graph


def _element_of(value: Any) -> Tensor | Operation | None:
    """What stands for a variable, or another such thing, in its graph."""
    return value._as_graph_element() if hasattr(value, "_as_graph_element") else None
