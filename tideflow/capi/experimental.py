"""Checkpoints that are read, and texts of graphs and functions, for the C API."""

from __future__ import annotations

from typing import Any

from google.protobuf import text_format
from tensorboard.compat.proto.function_pb2 import FunctionDef

from tideflow.graph.graph import Graph
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
