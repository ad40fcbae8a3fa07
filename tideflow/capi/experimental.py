"""Checkpoints that are read, options, facts of op types, and texts of graphs and functions, for the C API."""

from __future__ import annotations

from typing import Any

from google.protobuf import text_format
from tensorboard.compat.proto.config_pb2 import ConfigProto, RunOptions
from tensorboard.compat.proto.function_pb2 import FunctionDef

from tideflow.capi.graphs import parsed
from tideflow.cluster import ports
from tideflow.graph import errors
from tideflow.graph.graph import Graph
from tideflow.graph.op_registry import definition
from tideflow.train.checkpoint_utils import CheckpointReader


def open_checkpoint(path: str) -> CheckpointReader:
    return CheckpointReader(path)


def variables(reader: CheckpointReader) -> list[tuple[str, int, list[int]]]:
    """The name, the type and the sizes of all variables."""
    types = reader.get_variable_to_dtype_map()
    return [
        (name, types[name].as_datatype_enum, sizes)
        for name, sizes in sorted(reader.get_variable_to_shape_map().items())
    ]


def value(reader: CheckpointReader, name: str) -> Any:
    return reader.get_tensor(name)


def graph_text(graph: Graph) -> str:
    return text_format.MessageToString(graph.as_graph_def())


def function_text(function: FunctionDef) -> str:
    return text_format.MessageToString(function)


# ------------------------------------------------------------------------------------------------- options


def config(xla: int, allow_growth: int, cpu_devices: int) -> bytes:
    """A ConfigProto with as many CPU devices; 0 leaves their number open."""
    message = ConfigProto()
    if cpu_devices:
        message.device_count["CPU"] = cpu_devices
    message.gpu_options.allow_growth = bool(allow_growth)
    return with_xla(message.SerializeToString(), xla)


def with_xla(given: bytes, enable: int) -> bytes:
    message = parsed(ConfigProto, given)
    optimizer = message.graph_options.optimizer_options
    optimizer.global_jit_level = optimizer.ON_1 if enable else optimizer.OFF
    return message.SerializeToString()


def run_options(full_trace: int) -> bytes:
    level = RunOptions.FULL_TRACE if full_trace else RunOptions.NO_TRACE
    return RunOptions(trace_level=level).SerializeToString()


def unused_port() -> int:
    with ports.reserved(1) as found:
        return found[0]


# ------------------------------------------------------------------------------------------------- op types


def is_stateful(op_type: str) -> bool:
    return definition(op_type).stateful


def number_attr(op_type: str, index: int) -> str | None:
    """The attribute that says how many tensors an input has, if one does."""
    inputs = definition(op_type).inputs
    if not 0 <= index < len(inputs):
        raise errors.invalid_argument(f"{op_type} has {len(inputs)} inputs, and no input {index}")
    return inputs[index].number_attr
