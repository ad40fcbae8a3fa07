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

OPS: dict[str, Op] = {}


_FIRST, _SECOND = (REFERENCE, ""), (RESOURCE, "V2")


def _maker(
    kind: type[readers.Reader],
    attrs: dict[str, Any],
    only_new: dict[str, Any] | None = None,
    generations: tuple[tuple[str, str], ...] = (_FIRST, _SECOND),
) -> None:
    """The generations of an op that makes a reader; the second may know more attributes."""
    for handle, suffix in generations:
        settings = {**attrs, **(only_new or {})} if suffix else attrs
        op = Op(
            f"{kind.kind}{suffix}",
            f" -> reader_handle: {handle}",
            stateful=True,
            handle=True,
            differentiable=False,
            **settings,
            **NAMED,
        )
        op.shape(lambda handle=handle: [2] if handle == REFERENCE else [])

        def kernel(*, resources, node, kind=kind, settings=tuple(settings)):
            options = {key: node.attrs[key] for key in settings}
            return found(
                "reader",
                lambda name: kind(name, resources.store.is_closed, **options),
                resources,
                node,
                lambda made: {"type": made.kind},
            )

        op.kernel(kernel)
        op.samples(covered_by="tests/queues/test_readers.py")
        OPS[op.name] = op


_maker(readers.IdentityReader, {})
_maker(readers.WholeFileReader, {})
_maker(readers.TextLineReader, {"skip_header_lines": 0})
_maker(
    readers.FixedLengthRecordReader,
    {"header_bytes": 0, "record_bytes": attr("int"), "footer_bytes": 0, "hop_bytes": 0},
    only_new={"encoding": ""},
)
_maker(readers.TFRecordReader, {"compression_type": ""})
_maker(readers.LMDBReader, {}, generations=(_FIRST,))


def _method(name: str, takes: str, gives: str, shape: Callable, kernel: Callable, **options: Any) -> None:
    """Both generations of an op that does something with a reader."""
    for handle, suffix in (_FIRST, _SECOND):
        inputs = ", ".join(filter(None, [f"reader_handle: {handle}", takes.replace("QUEUE", handle)]))
        op = Op(
            f"{name}{suffix}",
            f"{inputs} -> {gives}" if gives else inputs,
            stateful=suffix == "V2",
            differentiable=False,
            **options,
        )
        op.shape(shape)
        op.kernel(kernel)
        op.samples(covered_by="tests/queues/test_readers.py")
        OPS[op.name] = op


def _strings(values: list[bytes]) -> np.ndarray:
    made = np.empty(len(values), object)
    made[:] = values
    return made


def _read(reader_handle, queue_handle, *, context):
    key, value = held(reader_handle).read(held(queue_handle), context)
    return np.array(key, object), np.array(value, object)


def _read_up_to(reader_handle, queue_handle, num_records, *, context):
    keys, values = held(reader_handle).read_up_to(held(queue_handle), int(num_records), context)
    return _strings(keys), _strings(values)


def _restore(reader_handle, state, *, context):
    if state.ndim:
        raise errors.invalid_argument(f"Reader state must be scalar, but had shape: {list(state.shape)}")
    held(reader_handle).restore(state.item(), context)


def _scalar(shape: TensorShape, what: str) -> None:
    if shape.ndims not in (None, 0):
        raise ShapeError(f"Shape must be rank 0 but is rank {shape.ndims}: '{what}' is one value")


def _batch_shape(reader_handle, queue_handle, num_records):
    _scalar(num_records, "num_records")
    return [[None], [None]]


def _restore_shape(reader_handle, state):
    _scalar(state, "state")
    return []


_method(
    "ReaderRead",
    "queue_handle: QUEUE",
    "key: string, value: string",
    lambda reader_handle, queue_handle: [[], []],
    _read,
    blocking=True,
)
_method(
    "ReaderReadUpTo",
    "queue_handle: QUEUE, num_records: int64",
    "keys: string, values: string",
    _batch_shape,
    _read_up_to,
    blocking=True,
)
_method(
    "ReaderNumRecordsProduced",
    "",
    "records_produced: int64",
    lambda reader_handle: [],
    lambda reader_handle: torch.tensor(held(reader_handle).records_produced),
)
_method(
    "ReaderNumWorkUnitsCompleted",
    "",
    "units_completed: int64",
    lambda reader_handle: [],
    lambda reader_handle: torch.tensor(held(reader_handle).units_completed),
)
_method(
    "ReaderSerializeState",
    "",
    "state: string",
    lambda reader_handle: [],
    lambda reader_handle, *, context: np.array(held(reader_handle).serialized(context), object),
    blocking=True,
)
_method("ReaderRestoreState", "state: string", "", _restore_shape, _restore, blocking=True)
_method(
    "ReaderReset",
    "",
    "",
    lambda reader_handle: [],
    lambda reader_handle, *, context: held(reader_handle).reset(context),
    blocking=True,
)
