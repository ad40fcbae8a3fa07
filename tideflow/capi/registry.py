"""Op types, their kernels and libraries of them, for the C API."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable

from google.protobuf import text_format
from tensorboard.compat.proto.api_def_pb2 import ApiDef, ApiDefs
from tensorboard.compat.proto.op_def_pb2 import OpList

from tideflow.capi.graphs import parsed
from tideflow.graph import errors
from tideflow.graph.graph_def import op_def_proto
from tideflow.graph.op import Op
from tideflow.graph.op_registry import definitions
from tideflow.graph.own_protos import make_messages
from tideflow.platform.libraries import load_op_library
from tideflow.runtime.devices import local_devices

_messages = make_messages(
    "kernel_def",
    {
        "AttrConstraint": {"name": "string", "allowed_values": "tensorboard.AttrValue"},
        "KernelDef": {
            "op": "string",
            "device_type": "string",
            "constraint": "repeated AttrConstraint",
            "host_memory_arg": "repeated string",
            "label": "string",
            "priority": "int32",
        },
        "KernelList": {"kernel": "repeated KernelDef"},
    },
)
KernelList = _messages["KernelList"]


def _op_list(ops: Iterable[Op]) -> bytes:
    ordered = sorted((op for op in ops if op.importable), key=lambda op: op.name)
    return OpList(op=[op_def_proto(op) for op in ordered]).SerializeToString()


def all_ops() -> bytes:
    """The OpList of all registered op types."""
    return _op_list(definitions().values())


_libraries: dict[str, bytes] = {}  # a library that is loaded again registers nothing


def load_library(path: str) -> bytes:
    """Loads a library, and returns the OpList of its op types."""
    if os.sep in path and not os.path.exists(path):
        raise errors.not_found(f"{path}: cannot open shared object file: No such file or directory")
    known = set(definitions())
    load_op_library(path)
    new = [definitions()[name] for name in definitions().keys() - known]
    if new or path not in _libraries:
        _libraries[path] = _op_list(new)
    return _libraries[path]


def kernels(op_type: str | None) -> bytes:
    """The KernelList of an op type, or of all: one kernel of each device type for all types of values."""
    ops = definitions()
    chosen = [ops[name] for name in sorted(ops) if op_type is None or name == op_type]
    message = KernelList()
    device_types = sorted({device.device_type for device in local_devices()})
    for op in chosen:
        for device_type in ["CPU"] if op.on_host else device_types:
            hosts = [arg.name for arg in op.inputs if device_type != "CPU" and arg.name in op.host]
            message.kernel.add(op=op.name, device_type=device_type, host_memory_arg=hosts)
    return message.SerializeToString()


# ------------------------------------------------------------------------------------------------ ApiDefs


class ApiDefMap:
    """The ApiDefs of the op types of an OpList."""

    def __init__(self, op_list: bytes):
        self.defs = {op.name: _api_def(op) for op in parsed(OpList, op_list, "Unparseable OpList").op}
        self.was_read = False


def _api_def(op: object) -> ApiDef:
    made = ApiDef(graph_op_name=op.name, visibility=ApiDef.VISIBLE, summary=op.summary)
    made.description = op.description
    made.endpoint.add(name=op.name)
    for args, field in ((op.input_arg, made.in_arg), (op.output_arg, made.out_arg)):
        for arg in args:
            field.add(name=arg.name, rename_to=arg.name, description=arg.description)
    made.arg_order.extend(arg.name for arg in op.input_arg)
    for attr in op.attr:
        added = made.attr.add(name=attr.name, rename_to=attr.name, description=attr.description)
        if attr.HasField("default_value"):
            added.default_value.CopyFrom(attr.default_value)
    return made


def new_api_defs(op_list: bytes) -> ApiDefMap:
    return ApiDefMap(op_list)


def put_api_defs(api_defs: ApiDefMap, text: str) -> None:
    """Changes ApiDefs by an ApiDefs message in text form."""
    if api_defs.was_read:
        raise RuntimeError("Cannot call TF_ApiDefMapPut after TF_ApiDefMapGet has been called.")
    try:
        changes = text_format.Parse(text, ApiDefs())
    except text_format.ParseError as error:
        raise ValueError(f"Failed to parse ApiDef: {error}") from None
    for change in changes.op:
        if change.graph_op_name in api_defs.defs:
            _change(api_defs.defs[change.graph_op_name], change)


def _change(made: ApiDef, change: ApiDef) -> None:
    if change.visibility:
        made.visibility = change.visibility
    if change.arg_order and len(change.arg_order) != len(made.in_arg):
        raise errors.failed_precondition(
            f"Invalid number of arguments {len(change.arg_order)} for {made.graph_op_name}. Expected: "
            f"{len(made.in_arg)}"
        )
    for field in ("endpoint", "arg_order"):
        if getattr(change, field):
            made.ClearField(field)
            getattr(made, field).extend(getattr(change, field))
    for field in ("in_arg", "out_arg", "attr"):
        items = {item.name: item for item in getattr(made, field)}
        for item in getattr(change, field):
            if item.name not in items:
                what = "Attribute" if field == "attr" else "Argument"
                raise errors.failed_precondition(
                    f"{what} {item.name} not defined in base api for {made.graph_op_name}"
                )
            items[item.name].MergeFrom(item)
    for field in (
        "summary",
        "description",
        "description_prefix",
        "description_suffix",
        "deprecation_message",
    ):
        if getattr(change, field):
            setattr(made, field, getattr(change, field))


def get_api_def(api_defs: ApiDefMap, name: str) -> bytes | None:
    api_defs.was_read = True
    found = api_defs.defs.get(name)
    return None if found is None else found.SerializeToString()


# ------------------------------------------------------------------------------------------------ logs


class _Listener(logging.Handler):
    def __init__(self, listener: Callable[[str], None]):
        super().__init__()
        self._listener = listener

    def emit(self, record: logging.LogRecord) -> None:
        self._listener(self.format(record))


def listen_to_logs(listener: Callable[[str], None]) -> None:
    """Calls `listener` with every line that is logged."""
    logging.getLogger("tensorflow").addHandler(_Listener(listener))
