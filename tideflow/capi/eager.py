"""Operations that run at once, for the C API."""

from __future__ import annotations

import contextlib
import itertools
import socket
from typing import Any

import numpy as np
import torch
from tensorboard.compat.proto.attr_value_pb2 import AttrValue
from tensorboard.compat.proto.config_pb2 import ConfigProto
from tensorboard.compat.proto.function_pb2 import FunctionDef

from tideflow.capi import functions
from tideflow.capi.graphs import parsed
from tideflow.eager.compiled_body import CompiledBody
from tideflow.eager.context import EagerGraph
from tideflow.eager.tensor import EagerTensor, choose_devices, eager_devices, eager_tensor
from tideflow.graph import errors, node_checks
from tideflow.graph.device import canonical_name
from tideflow.graph.dtypes import as_dtype
from tideflow.graph.errors import type_name
from tideflow.graph.functions import FunctionBody, FunctionGraph, effects_of, op_definition
from tideflow.graph.graph_def import attr_from_proto
from tideflow.graph.op import Op
from tideflow.graph.op_registry import definitions
from tideflow.graph.operation import Tensor
from tideflow.graph.summaries import op_summary
from tideflow.ops.arrays.constants import placeholder
from tideflow.runtime.values import to_torch
from tideflow.session.config import choice_of

_SCHEMA_KINDS = ["string", "int", "float", "bool", "type", "shape", "tensor", "placeholder", "func"]


class Context:
    """Where operations run: it holds their state, and functions."""

    def __init__(self) -> None:
        self.graph = EagerGraph()
        self.calls: dict[Any, CompiledBody] = {}  # operations that call functions, as compiled bodies

    def forget(self) -> None:
        """Forgets what was found for operations."""
        self.graph.forget_kernels()
        self.calls.clear()


def new_context(config: bytes) -> Context:
    message = parsed(ConfigProto, config)
    if config:
        choose_devices(choice_of(message))
    return Context()


def devices(context: Context) -> list[tuple[str, str, int, int]]:
    return [
        (device.name, device.device_type, device.memory_limit_bytes, device.incarnation)
        for device in eager_devices()
    ]


def clear_caches(context: Context) -> None:
    context.forget()


# ------------------------------------------------------------------------------------------------- handles


def new_handle(array: np.ndarray, dtype: int) -> EagerTensor:
    """A tensor with a copy of the array: the caller may write to its own."""
    value = array if array.dtype == object else to_torch(np.array(array, order="C"))
    return eager_tensor(value, as_dtype(dtype))


def value(handle: EagerTensor) -> Any:
    return handle.numpy()


def dims(handle: EagerTensor) -> list[int]:
    return list(handle.shape.as_list())


def dtype(handle: EagerTensor) -> int:
    return handle.dtype.as_datatype_enum


def device_name(handle: EagerTensor) -> str:
    return handle.device


def copy_to_device(handle: EagerTensor, context: Context, name: str) -> EagerTensor:
    with context.graph.as_default(), context.graph.device(canonical_name(name)):
        device = context.graph.requested_device()
    found = handle._value
    if device is None or not isinstance(found, torch.Tensor):
        return handle
    return eager_tensor(found.to(device, copy=True), handle.dtype)


# ------------------------------------------------------------------------------------------------- operations


def check_op(context: Context, op_type: str) -> None:
    """Raises NotFoundError where there is no such op type or function."""
    if op_type not in context.graph._functions and op_type not in definitions():
        raise errors.not_found(
            f"'{op_type}' is neither a type of a primitive operation nor a name of a function registered in "
            f"binary running on {socket.gethostname()}. Make sure the operation or function is registered in "
            "the binary running in this process."
        )


def check_device(name: str) -> str:
    """The full name of a device."""
    return canonical_name(name)


def attr_type(context: Context, op_type: str, name: str) -> tuple[int, bool]:
    """The number of an attribute's kind, and whether it is a list of those."""
    attrs = op_definition(context.graph, op_type).attrs
    if name not in attrs:
        raise errors.invalid_argument(f"Attribute '{name}' does not exist for this operation")
    kind = attrs[name].kind
    plain = kind.removeprefix("list(").removesuffix(")")
    return _SCHEMA_KINDS.index(plain), plain != kind


def _attrs_of_inputs(op: Op, inputs: list[Any]) -> dict[str, Any]:
    """The attributes that follow from the types and numbers of the inputs."""
    if len(inputs) != len(op.inputs):
        raise errors.invalid_argument(
            f"{len(inputs)} inputs specified of {len(op.inputs)} inputs in {op_summary(op)}"
        )
    attrs: dict[str, Any] = {}
    positions = itertools.count()
    for arg, given in zip(op.inputs, inputs, strict=True):
        if arg.is_list and not isinstance(given, list):
            raise errors.invalid_argument(f"Single tensor passed to '{arg.name}', expected list")
        if not arg.is_list and isinstance(given, list):
            raise errors.invalid_argument(f"List provided to input '{arg.name}' when single Tensor expected")
        types = [tensor.dtype.base_dtype for tensor in (given if arg.is_list else [given])]
        if arg.number_attr is not None:
            attrs.setdefault(arg.number_attr, len(types))
        if arg.type_list_attr is not None:
            attrs.setdefault(arg.type_list_attr, types)
        for dtype, position in zip(types, positions, strict=False):
            expected = dtype if arg.type_attr is None else attrs.setdefault(arg.type_attr, dtype)
            if dtype is not expected:
                raise errors.invalid_argument(
                    f"cannot compute {op.name} as input #{position}(zero-based) was expected to be a "
                    f"{type_name(expected)} tensor but is a {type_name(dtype)} tensor"
                )
    return attrs


def execute(
    context: Context,
    op_type: str,
    device: str,
    inputs: list[EagerTensor | list[EagerTensor]],
    attrs: dict[str, bytes],
) -> list[EagerTensor]:
    """What an operation gives for these inputs."""
    op = op_definition(context.graph, op_type)
    grouped = _grouped(op, inputs)
    named = {**_attrs_of_inputs(op, grouped), **_checked(op, attrs)}
    node_checks.check_all_there(named, op, op_type)
    given = {key: found for key, found in named.items() if key in op.attrs}
    place = context.graph.device(device) if device else contextlib.nullcontext()
    with context.graph.as_default(), place:
        if op.calls_functions or op_type in context.graph._functions:
            return _called(context, op, grouped, given)
        return _flat(op(*grouped, **given))


def _called(context: Context, op: Op, inputs: list[Any], attrs: dict[str, Any]) -> list[EagerTensor]:
    """What an operation gives that calls functions: compiled with them, as a step of a session is."""
    tensors = _flat(inputs)
    key = op.name, repr(attrs), tuple([tensor._key for tensor in tensors])
    if key not in context.calls:
        body = _body(context, op, inputs, attrs)
        context.calls[key] = CompiledBody(op.name, body, lambda: context.graph)
    return context.calls[key].values(tensors)


def _body(context: Context, op: Op, inputs: list[Any], attrs: dict[str, Any]) -> FunctionBody:
    made = FunctionGraph(context.graph)
    with made.as_default():
        arguments = [
            [_argument(each) for each in given] if isinstance(given, list) else _argument(given)
            for given in inputs
        ]
        outputs = _flat(op(*arguments, **attrs))
    return FunctionBody(
        made, _flat(arguments), [each for each in outputs if isinstance(each, Tensor)], effects_of(made)
    )


def _argument(tensor: EagerTensor) -> Tensor:
    made = placeholder(tensor.dtype, tensor.shape)
    made.set_shape(tensor.shape)  # that of a handle says what it is a handle of
    return made


def _checked(op: Op, attrs: dict[str, bytes]) -> dict[str, Any]:
    """The values of attributes, which must be those that the op type has."""
    for key, data in attrs.items():
        if key not in op.attrs and not key.startswith("_"):
            raise node_checks.unknown_attr(key, op, op.name)
        if key in op.attrs:
            node_checks.check_message(key, AttrValue.FromString(data), op, op.name)
    return _read(attrs)


def _read(attrs: dict[str, bytes]) -> dict[str, Any]:
    return {key: attr_from_proto(parsed(AttrValue, data)) for key, data in attrs.items()}


def _grouped(op: Op, inputs: list[Any]) -> list[Any]:
    """Inputs as the op type takes them: a list may have been given tensor by tensor."""
    if len(inputs) == len(op.inputs) or any(isinstance(given, list) for given in inputs):
        lists = [isinstance(given, list) for given in inputs]
        return [
            [given] if arg.is_list and not is_list else given
            for arg, given, is_list in zip(op.inputs, inputs, lists, strict=False)
        ] + inputs[len(op.inputs) :]
    lists = [arg.is_list for arg in op.inputs]
    if lists.count(True) != 1:
        return inputs
    before = lists.index(True)
    after = len(lists) - before - 1
    stop = len(inputs) - after
    return [*inputs[:before], inputs[before:stop], *inputs[stop:]]


def _flat(made: Any) -> list[Any]:
    if made is None:
        return []
    if isinstance(made, (list, tuple)):
        return [tensor for each in made for tensor in _flat(each)]
    return [made]


def input_length(context: Context, op_type: str, inputs: list[Any], name: str) -> int:
    """How many tensors an input has been given."""
    op = op_definition(context.graph, op_type)
    for arg, given in zip(op.inputs, _grouped(op, inputs), strict=False):
        if arg.name == name:
            return len(given) if isinstance(given, list) else 1
    raise errors.invalid_argument(f"Input '{name}' not found")


def output_length(
    context: Context, op_type: str, inputs: list[Any], attrs: dict[str, bytes], name: str
) -> int:
    """How many tensors an output has."""
    op = op_definition(context.graph, op_type)
    known = {**_attrs_of_inputs(op, _grouped(op, inputs)), **_read(attrs)}
    for arg in op.outputs:
        if arg.name == name:
            if arg.number_attr is not None:
                return int(known[arg.number_attr])
            return len(known[arg.type_list_attr]) if arg.type_list_attr is not None else 1
    raise errors.invalid_argument(f"Output '{name}' not found")


def tensor_text(handle: EagerTensor) -> str:
    return f"{handle.dtype.name} {handle.shape} on {handle.device}: {handle.numpy()}"


def op_text(op_type: str, inputs: list[Any], attrs: dict[str, bytes]) -> str:
    given = ", ".join(f"{tensor.dtype.name}{tensor.shape}" for tensor in _flat(inputs))
    named = ", ".join(f"{key}={found!r}" for key, found in _read(attrs).items())
    return f"{op_type}({given}) [{named}]"


# ------------------------------------------------------------------------------------------------- functions


def add_function(context: Context, function: FunctionDef) -> None:
    functions.add(context.graph, function, None)


def remove_function(context: Context, name: str) -> None:
    if name not in context.graph._functions:
        raise errors.invalid_argument(f"Tried to remove non-existent function '{name}'.")
    del context.graph._functions[name]
    context.graph._function_calls.pop(name, None)
    for key in [key for key in context.graph._function_bodies if key[0] == name]:
        del context.graph._function_bodies[key]
    context.forget()


def has_function(context: Context, name: str) -> bool:
    return name in context.graph._functions
