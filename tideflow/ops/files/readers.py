"""Readers as ops. Each comes in two generations, with a reference to a string and with a resource as the
handle; a read may wait for work, so it is `blocking`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tideflow.graph import errors
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.schema import attr
from tideflow.graph.shapes import TensorShape
from tideflow.ops.helpers.session_objects import NAMED, REFERENCE, RESOURCE, found, held
from tideflow.runtime import readers

_TESTS = "tests/ops/files/test_readers.py"


def _reader_op(name: str, handle: str, kind: type[readers.Reader], **settings: Any) -> Op:
    """An op that makes a reader, to which its attributes are given as settings."""
    op = Op(
        name,
        f" -> reader_handle: {handle}",
        stateful=True,
        handle=True,
        differentiable=False,
        touches="" if kind is readers.IdentityReader else "files",
        **settings,
        **NAMED,
    )
    op.shape(lambda: [2] if handle == REFERENCE else [])

    @op.kernel
    def _kernel(*, resources, node):
        options = {key: node.attrs[key] for key in settings}
        return found(
            "reader",
            lambda name: kind(name, resources.store.is_closed, **options),
            resources,
            node,
            lambda made: {"type": made.kind},
        )

    op.samples(covered_by=_TESTS)
    return op


identity_reader_op = _reader_op("IdentityReader", REFERENCE, readers.IdentityReader)
identity_reader_v2_op = _reader_op("IdentityReaderV2", RESOURCE, readers.IdentityReader)

whole_file_reader_op = _reader_op("WholeFileReader", REFERENCE, readers.WholeFileReader)
whole_file_reader_v2_op = _reader_op("WholeFileReaderV2", RESOURCE, readers.WholeFileReader)

text_line_reader_op = _reader_op("TextLineReader", REFERENCE, readers.TextLineReader, skip_header_lines=0)
text_line_reader_v2_op = _reader_op("TextLineReaderV2", RESOURCE, readers.TextLineReader, skip_header_lines=0)

_SIZES = {"header_bytes": 0, "record_bytes": attr("int"), "footer_bytes": 0, "hop_bytes": 0}
fixed_length_record_reader_op = _reader_op(
    "FixedLengthRecordReader", REFERENCE, readers.FixedLengthRecordReader, **_SIZES
)
fixed_length_record_reader_v2_op = _reader_op(
    "FixedLengthRecordReaderV2", RESOURCE, readers.FixedLengthRecordReader, **_SIZES, encoding=""
)

tf_record_reader_op = _reader_op("TFRecordReader", REFERENCE, readers.TFRecordReader, compression_type="")
tf_record_reader_v2_op = _reader_op("TFRecordReaderV2", RESOURCE, readers.TFRecordReader, compression_type="")

lmdb_reader_op = _reader_op("LMDBReader", REFERENCE, readers.LMDBReader)
lmdb_reader_op.samples(covered_by="tests/queues/test_readers.py")


def _on_reader(name: str, signature: str, shape: Callable, kernel: Callable, **options: Any) -> Op:
    """An op that does something with a reader; like TensorFlow's list of op types, it calls only ops of the
    second generation stateful.
    """
    is_second = signature.startswith("reader_handle: resource")
    op = Op(name, signature, stateful=is_second, differentiable=False, **options)
    op.shape(shape)
    op.kernel(kernel)
    op.samples(covered_by=_TESTS)
    return op


def _scalar(shape: TensorShape, what: str) -> None:
    if shape.ndims not in (None, 0):
        raise ShapeError(f"Shape must be rank 0 but is rank {shape.ndims}: '{what}' is one value")


def _one_value(reader_handle):
    return []


def _record_shape(reader_handle, queue_handle):
    return [[], []]


def _read(reader_handle, queue_handle, *, context):
    key, value = held(reader_handle).read(held(queue_handle), context)
    return np.array(key, object), np.array(value, object)


read_op = _on_reader(
    "ReaderRead",
    "reader_handle: Ref(string), queue_handle: Ref(string) -> key: string, value: string",
    _record_shape,
    _read,
    blocking=True,
)
read_v2_op = _on_reader(
    "ReaderReadV2",
    "reader_handle: resource, queue_handle: resource -> key: string, value: string",
    _record_shape,
    _read,
    blocking=True,
)


def _batch_shape(reader_handle, queue_handle, num_records):
    _scalar(num_records, "num_records")
    return [[None], [None]]


def _strings(values: list[bytes]) -> np.ndarray:
    made = np.empty(len(values), object)
    made[:] = values
    return made


def _read_up_to(reader_handle, queue_handle, num_records, *, context):
    keys, values = held(reader_handle).read_up_to(held(queue_handle), int(num_records), context)
    return _strings(keys), _strings(values)


read_up_to_op = _on_reader(
    "ReaderReadUpTo",
    "reader_handle: Ref(string), queue_handle: Ref(string), num_records: int64 -> keys: string, "
    "values: string",
    _batch_shape,
    _read_up_to,
    blocking=True,
)
read_up_to_v2_op = _on_reader(
    "ReaderReadUpToV2",
    "reader_handle: resource, queue_handle: resource, num_records: int64 -> keys: string, values: string",
    _batch_shape,
    _read_up_to,
    blocking=True,
)


def _records_produced(reader_handle):
    return torch.tensor(held(reader_handle).records_produced)


num_records_produced_op = _on_reader(
    "ReaderNumRecordsProduced",
    "reader_handle: Ref(string) -> records_produced: int64",
    _one_value,
    _records_produced,
)
num_records_produced_v2_op = _on_reader(
    "ReaderNumRecordsProducedV2",
    "reader_handle: resource -> records_produced: int64",
    _one_value,
    _records_produced,
)


def _units_completed(reader_handle):
    return torch.tensor(held(reader_handle).units_completed)


num_work_units_completed_op = _on_reader(
    "ReaderNumWorkUnitsCompleted",
    "reader_handle: Ref(string) -> units_completed: int64",
    _one_value,
    _units_completed,
)
num_work_units_completed_v2_op = _on_reader(
    "ReaderNumWorkUnitsCompletedV2",
    "reader_handle: resource -> units_completed: int64",
    _one_value,
    _units_completed,
)


def _serialize(reader_handle, *, context):
    return np.array(held(reader_handle).serialized(context), object)


serialize_state_op = _on_reader(
    "ReaderSerializeState",
    "reader_handle: Ref(string) -> state: string",
    _one_value,
    _serialize,
    blocking=True,
)
serialize_state_v2_op = _on_reader(
    "ReaderSerializeStateV2",
    "reader_handle: resource -> state: string",
    _one_value,
    _serialize,
    blocking=True,
)


def _restore_shape(reader_handle, state):
    _scalar(state, "state")
    return []


def _restore(reader_handle, state, *, context):
    if state.ndim:
        raise errors.invalid_argument(f"Reader state must be scalar, but had shape: {list(state.shape)}")
    held(reader_handle).restore(state.item(), context)


restore_state_op = _on_reader(
    "ReaderRestoreState",
    "reader_handle: Ref(string), state: string",
    _restore_shape,
    _restore,
    blocking=True,
)
restore_state_v2_op = _on_reader(
    "ReaderRestoreStateV2",
    "reader_handle: resource, state: string",
    _restore_shape,
    _restore,
    blocking=True,
)


def _reset(reader_handle, *, context):
    held(reader_handle).reset(context)


reset_op = _on_reader("ReaderReset", "reader_handle: Ref(string)", _one_value, _reset, blocking=True)
reset_v2_op = _on_reader("ReaderResetV2", "reader_handle: resource", _one_value, _reset, blocking=True)
