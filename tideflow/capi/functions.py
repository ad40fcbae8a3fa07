"""Functions made of graphs, for the C API. A function is its FunctionDef."""

from __future__ import annotations

import hashlib
import re

from tensorboard.compat.proto.attr_value_pb2 import AttrValue
from tensorboard.compat.proto.function_pb2 import FunctionDef

from tideflow.capi.graphs import building, check_owner, parsed
from tideflow.graph.functions import free_name, function_message
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation, Tensor


def from_graph(
    graph: Graph,
    name: str,
    append_hash: bool,
    operations: list[Operation] | None,
    inputs: list[Tensor],
    outputs: list[Tensor],
    output_names: list[str] | None,
    controls: list[Operation],
    control_names: list[str] | None,
    description: str,
) -> FunctionDef:
    """A function of a graph's operations: of all that are not inputs, or of those given."""
    _check_inputs(inputs)
    sources = {tensor.op for tensor in inputs}
    chosen = [op for op in graph.get_operations() if op not in sources] if operations is None else operations
    check_owner(graph, [*chosen, *sources, *(tensor.op for tensor in outputs), *controls])
    inside = set(chosen)
    for op in chosen:
        for tensor in op.inputs:
            if tensor.op not in inside and tensor not in inputs:
                raise ValueError(
                    f"Input {op.inputs.index(tensor)}, '{tensor.name}', of node '{op.name}' in function "
                    f"'{name}' is not available. You might need to include it in inputs or include "
                    "its source node in the body"
                )
    for names, what in ((output_names, "output"), (control_names, "control output")):
        for name_of_output in names or ():
            if names.count(name_of_output) > 1:
                raise ValueError(
                    f"Cannot have duplicate {what} names. Name '{name_of_output}' appears more than once in "
                    f"'{what.replace(' ', '_')}_names' array."
                )
    taken = {op.name for op in chosen}
    arguments = {tensor: free_name(_argument_name(tensor), taken) for tensor in inputs}
    for tensor in outputs:
        if tensor not in arguments and tensor.op not in inside:
            raise ValueError(f"TF_Output {tensor.name} is neither in the function body nor among its inputs")
    if output_names is None:
        output_names = [free_name(_argument_name(tensor), taken) for tensor in outputs]
    message = function_message(
        name,
        arguments,
        chosen,
        dict(zip(output_names, outputs, strict=True)),
        dict(zip(control_names or [op.name for op in controls], controls, strict=True)),
    )
    message.signature.is_stateful = any(op.definition.stateful for op in chosen)
    message.signature.description = description
    if append_hash:
        digest = hashlib.sha256(message.SerializeToString(deterministic=True)).hexdigest()
        message.signature.name = f"{name}_{digest[:11]}"
    return message


def _check_inputs(inputs: list[Tensor]) -> None:
    seen: set[Tensor] = set()
    for tensor in inputs:
        if tensor in seen:
            raise ValueError(f"TF_Output {tensor.name} appears more than once in the input list")
        if tensor.dtype._is_ref_dtype:
            raise ValueError(f"TF_Output {tensor.name} has a reference type, which no function takes")
        seen.add(tensor)


def _argument_name(tensor: Tensor) -> str:
    """A name of lower case, as arguments of op types have."""
    name = re.sub(r"[^a-z0-9_]", "_", tensor.op.name.lower())
    return name if name[:1].isalpha() else f"arg_{name}"


def add(graph: Graph, function: FunctionDef, gradient: FunctionDef | None) -> None:
    """Adds a function, and its gradient function, to a graph's library."""
    with building:
        for each in (function, gradient):
            if each is None:
                continue
            name = each.signature.name
            if graph._functions.setdefault(name, _copy(each)) != each:
                raise ValueError(
                    f"Cannot add function '{name}' because a different function with the same name already "
                    "exists."
                )
        if gradient is not None:
            name, given = function.signature.name, gradient.signature.name
            if graph._function_gradients.setdefault(name, given) != given:
                raise ValueError(
                    f"Cannot assign gradient function '{given}' to '{name}' because it already has gradient "
                    f"function '{graph._function_gradients[name]}'"
                )


def of_graph(graph: Graph) -> list[FunctionDef]:
    return [_copy(function) for function in graph._functions.values()]


def _copy(function: FunctionDef) -> FunctionDef:
    """A function of its own for whoever may change it."""
    copied = FunctionDef()
    copied.CopyFrom(function)
    return copied


def name(function: FunctionDef) -> str:
    return function.signature.name


def to_message(function: FunctionDef) -> bytes:
    return function.SerializeToString()


def from_message(data: bytes) -> FunctionDef:
    return parsed(FunctionDef, data, "Invalid FunctionDef given to TF_FunctionImportFunctionDef")


def set_attr(function: FunctionDef, key: str, data: bytes) -> None:
    refusal = "Unparseable AttrValue proto passed to TF_FunctionSetAttrValueProto"
    function.attr[key].CopyFrom(parsed(AttrValue, data, refusal))


def get_attr(function: FunctionDef, key: str) -> bytes:
    if key not in function.attr:
        raise ValueError(f"Function '{function.signature.name}' has no attr named '{key}'.")
    return function.attr[key].SerializeToString()
