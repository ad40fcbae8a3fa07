"""Summaries that steps write to files by themselves: `tf.contrib.summary`'s ops."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary

from tideflow.graph import dtypes, errors
from tideflow.graph.op import Op
from tideflow.graph.schema import attr
from tideflow.ops.files import summaries
from tideflow.ops.helpers.session_objects import NAMED, found, held
from tideflow.ops.helpers.types import REAL, types
from tideflow.runtime.event_logs import EventLog
from tideflow.runtime.values import to_numpy

summary_writer_op = Op(
    "SummaryWriter", " -> writer: resource", stateful=True, handle=True, differentiable=False, **NAMED
)


@summary_writer_op.shape
def _summary_writer_shape():
    return []


@summary_writer_op.kernel
def _summary_writer_kernel(*, resources, node):
    return found("summary writer", EventLog, resources, node)


summary_writer_op.samples(covered_by="tests/ops/files/test_summary_writers.py")

_WRITES = dict(stateful=True, on_host=True, differentiable=False)


def _on_writers(name: str, inputs: str, kernel: Callable, **attrs: Any) -> Op:
    """An op that does something to a writer. Samples of it would need one: programs test them."""
    op = Op(name, f"writer: resource{', ' if inputs else ''}{inputs}", **_WRITES, **attrs)
    op.shape(lambda *inputs: [])
    op.kernel(kernel)
    op.samples(covered_by="tests/ops/files/test_summary_writers.py")
    return op


def _one(value: Any, what: str) -> Any:
    array = to_numpy(value)
    if array.ndim:
        raise errors.invalid_argument(f"{what} is expected, not one of shape {list(array.shape)}")
    return array[()]


def _create(writer, logdir, max_queue, flush_millis, filename_suffix):
    folder, suffix = (_one(text, "a string").decode() for text in (logdir, filename_suffix))
    most, millis = (int(_one(number, "a number")) for number in (max_queue, flush_millis))
    held(writer).open(folder, most, millis, suffix)
    return []


create_summary_file_writer_op = _on_writers(
    "CreateSummaryFileWriter",
    "logdir: string, max_queue: int32, flush_millis: int32, filename_suffix: string",
    _create,
    touches="files",
)


def _flush(writer):
    held(writer).flush()
    return []


flush_summary_writer_op = _on_writers("FlushSummaryWriter", "", _flush)


def _close(writer):
    held(writer).close()
    return []


close_summary_writer_op = _on_writers("CloseSummaryWriter", "", _close)


def _write(writer: Any, step: Any, **content: Any) -> list:
    event = Event(wall_time=time.time(), step=int(_one(step, "a step")), **content)
    held(writer).write(event)
    return []


# ----------------------------------------------------------------------------------------- what is written


def _write_tensor(writer, step, tensor, tag, summary_metadata, *, T):
    summary = Summary.FromString(summaries.tensor_summary(tag, tensor, summary_metadata, T=T).item())
    if not _one(summary_metadata, "metadata"):
        summary.value[0].ClearField("metadata")
    return _write(writer, step, summary=summary)


write_summary_op = _on_writers(
    "WriteSummary", "step: int64, tensor: T, tag: string, summary_metadata: string", _write_tensor
)


def _write_scalar(writer, step, tag, value):
    name, number = _one(tag, "a tag").decode(), _one(value, "a number")
    return _write(writer, step, summary=Summary(value=[Summary.Value(tag=name, simple_value=number)]))


write_scalar_summary_op = _on_writers(
    "WriteScalarSummary", "step: int64, tag: string, value: T", _write_scalar, T=REAL
)


def _write_histogram(writer, step, tag, values, *, node):
    summary = summaries.histogram_summary(tag, values, node=node)
    return _write(writer, step, summary=Summary.FromString(summary.item()))


write_histogram_summary_op = _on_writers(
    "WriteHistogramSummary",
    "step: int64, tag: string, values: T",
    _write_histogram,
    T=attr("type", dtypes.float32, allowed=(*REAL, dtypes.bool)),
)


def _write_image(writer, step, tag, tensor, bad_color, *, max_images):
    summary = summaries.image_summary(tag, tensor, max_images=max_images, bad_color=to_numpy(bad_color))
    return _write(writer, step, summary=Summary.FromString(summary.item()))


write_image_summary_op = _on_writers(
    "WriteImageSummary",
    "step: int64, tag: string, tensor: T, bad_color: uint8",
    _write_image,
    max_images=attr("int", 3, minimum=1),
    T=attr("type", dtypes.float32, allowed=types("uint8 double float half")),
)


def _write_audio(writer, step, tag, tensor, sample_rate, *, max_outputs):
    rate = float(_one(sample_rate, "a sample rate"))
    summary = summaries.audio_summary(tag, tensor, rate, max_outputs=max_outputs)
    return _write(writer, step, summary=Summary.FromString(summary.item()))


write_audio_summary_op = _on_writers(
    "WriteAudioSummary",
    "step: int64, tag: string, tensor: float32, sample_rate: float32",
    _write_audio,
    max_outputs=attr("int", 3, minimum=1),
)


def _message(kind: Any, data: bytes) -> Any:
    try:
        return kind.FromString(data)
    except DecodeError:
        raise errors.invalid_argument(f"What is to be written is no {kind.__name__}") from None


def _write_raw(writer, step, tensor):
    summary = Summary()
    for data in np.ravel(tensor).tolist():
        try:
            summary.MergeFrom(Summary.FromString(data))
        except DecodeError:
            raise errors.DataLossError(
                None, None, "Bad tf.compat.v1.Summary binary proto tensor string"
            ) from None
    return _write(writer, step, summary=summary)


write_raw_proto_summary_op = _on_writers("WriteRawProtoSummary", "step: int64, tensor: string", _write_raw)


def _write_graph(writer, step, tensor):
    return _write(writer, step, graph_def=_one(tensor, "a graph"))


write_graph_summary_op = _on_writers("WriteGraphSummary", "step: int64, tensor: string", _write_graph)


def _import_event(writer, event):
    held(writer).write(_message(Event, _one(event, "an event")))
    return []


import_event_op = _on_writers("ImportEvent", "event: string", _import_event)
