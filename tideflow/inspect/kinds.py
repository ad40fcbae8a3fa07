"""What a path is: found out from its name where that says it, from its first bytes where it does not."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

from google.protobuf import text_format
from google.protobuf.message import DecodeError
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.meta_graph_pb2 import MetaGraphDef

from tideflow.graph import errors
from tideflow.graph.errors import DataLossError, NotFoundError
from tideflow.inspect.checkpoints import checkpoint_report, directory_table
from tideflow.inspect.graphs import graph_report, meta_graph_report, saved_model_report
from tideflow.inspect.logs import event_files, log_report, record_report
from tideflow.inspect.report import Report
from tideflow.io import saved_models
from tideflow.io.checkpoint_state import checkpoint_exists
from tideflow.io.local_files import local_path, read_bytes
from tideflow.io.records import RecordFile
from tideflow.io.tables import is_table

_CHECKPOINT_FILE = re.compile(r"\.(index|data-\d{5}-of-\d{5})$")
_OP_TYPE = re.compile(r"[A-Za-z_][A-Za-z0-9_.>\-/]*$")
_KNOWN = (
    "a checkpoint, a SavedModel, a GraphDef or MetaGraphDef (.pb, .pbtxt, .meta), an event file or a TFRecord"
)


def report_of(path: Any, tensor: str | None = None, statistics: bool = True) -> Report:
    """Describes what lies at a path; with `tensor`, one tensor, node, tag or record of it."""
    path = local_path(path)
    prefix = _CHECKPOINT_FILE.sub("", path)
    if os.path.isdir(path):
        return _directory_report(path, tensor, statistics)
    if checkpoint_exists(prefix) and (prefix != path or not os.path.isfile(path) or is_table(path)):
        return checkpoint_report(prefix, tensor, statistics)
    if not os.path.exists(path):
        raise errors.not_found(f"{path}; there is no such file, nor a checkpoint of that prefix")
    if os.path.basename(path) in (
        saved_models.SAVED_MODEL_FILENAME_PB,
        saved_models.SAVED_MODEL_FILENAME_PBTXT,
    ):
        return _saved_model(os.path.dirname(path) or ".", tensor, statistics)
    return _file_report(path, tensor)


def _directory_report(path: str, tensor: str | None, statistics: bool) -> Report:
    """A directory: the model, or the newest checkpoint, or the log that is in it."""
    if saved_models.contains_saved_model(path):
        return _saved_model(path, tensor, statistics)
    table, newest = directory_table(path)
    runs = event_files(path)
    if tensor and (newest or runs):
        return _one_of_directory(path, newest, runs, tensor)
    parts = [checkpoint_report(newest, statistics=statistics)] if newest else []
    if runs:
        parts.append(log_report(f"Log {path}", runs))
    if not parts and table is None:
        raise errors.invalid_argument(f"{path} is a directory with none of these in it: {_KNOWN}")
    if table is None and len(parts) == 1:
        return parts[0]
    return Report(f"Directory {path}", tables=[table] if table else [], parts=parts)


def _one_of_directory(path: str, newest: str | None, runs: dict[str, list[str]], name: str) -> Report:
    """A tensor of the newest checkpoint, or else a tag of the log."""
    try:
        if newest:
            return checkpoint_report(newest, name)
    except NotFoundError:
        if not runs:
            raise
    return log_report(f"Log {path}", runs, name)


def _saved_model(directory: str, tensor: str | None, statistics: bool) -> Report:
    try:
        model = saved_models.read_saved_model(directory)
    except OSError as error:
        raise errors.data_loss(str(error)) from None
    return saved_model_report(model, directory, tensor, statistics)


def _file_report(path: str, tensor: str | None) -> Report:
    if "tfevents" in os.path.basename(path):
        return log_report(f"Event file {path}", {".": [path]}, tensor)
    compression = _record_compression(path)
    if compression is not None:
        return record_report(path, compression, tensor)
    data = read_bytes(path)
    for read in (_meta_graph, _graph):
        found = read(data)
        if found is not None:
            kind, describe, message = found
            return describe(message, f"{kind} {path}", tensor)
    raise errors.data_loss(f"{path} is none of these: {_KNOWN}")


def _record_compression(path: str) -> str | None:
    """How a file of records is compressed; None where it is no such file."""
    for compression in ("", "GZIP", "ZLIB"):
        try:
            with RecordFile(path, compression) as file:
                if file.take(1)[1]:
                    return compression
        except DataLossError:
            continue
    return None


_Found = tuple[str, Callable[..., Report], Any]


def _parsed(message: Any, data: bytes) -> Any | None:
    """The message that bytes are, or text is; None where they are not."""
    try:
        return message.FromString(data)
    except DecodeError:
        pass
    try:
        return saved_models.parse_text(data, message())
    except (UnicodeDecodeError, text_format.ParseError, RecursionError):
        return None


def _meta_graph(data: bytes) -> _Found | None:
    message = _parsed(MetaGraphDef, data)
    if message is None or not _is_graph(message.graph_def):
        return None
    return "MetaGraphDef", meta_graph_report, message


def _graph(data: bytes) -> _Found | None:
    message = _parsed(GraphDef, data)
    return ("GraphDef", graph_report, message) if message is not None and _is_graph(message) else None


def _is_graph(graph: Any) -> bool:
    """Whether a message that could be parsed as a graph is one: bytes of other messages often can be."""
    return bool(graph.node) and all(node.name and _OP_TYPE.match(node.op) for node in graph.node)
