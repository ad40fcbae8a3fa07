"""Checkpoints in TensorFlow's second format (tensor bundles): file names, messages and constants.

A bundle `PREFIX` is a table, PREFIX.index, and the tensors' bytes in shards, PREFIX.data-00000-of-00001 and
so on. The table has a header under the empty key, and an entry with type, shape and place under each tensor's
name. A tensor that was saved in slices has a list of slices instead of a place; each slice has an entry of
its own.
"""

from __future__ import annotations

from typing import Any

from tensorboard.compat.proto import tensor_shape_pb2, versions_pb2  # noqa: F401 (the schema names them)

from tideflow.graph.own_protos import make_messages
from tideflow.io.slices import TensorSlice

_MESSAGES = make_messages(
    "tensor_bundle",
    {
        "BundleHeaderProto": {
            "num_shards": "int32",
            "endianness": "int32",
            "version": "tensorboard.VersionDef",
        },
        "BundleEntryProto": {
            "dtype": "int32",
            "shape": "tensorboard.TensorShapeProto",
            "shard_id": "int32",
            "offset": "int64",
            "size": "int64",
            "crc32c": "fixed32",
            "slices": "repeated TensorSliceProto",
        },
        "TensorSliceProto": {"extent": "repeated SliceExtentProto"},
        "SliceExtentProto": {"start": "int64", "length": "oneof has_length int64"},
    },
)
BundleHeaderProto = _MESSAGES["BundleHeaderProto"]
BundleEntryProto = _MESSAGES["BundleEntryProto"]
TensorSliceProto = _MESSAGES["TensorSliceProto"]

HEADER_KEY = b""
VERSION = 1
LITTLE_ENDIAN = 0
# Bytes that are read and summed at a time. They fit into a processor's cache; and while the kernel copies
# them, some 50 microseconds, it gives the processor to nobody else, whatever the reader's priority is.
CHUNK = 128 << 10


def index_path(prefix: str) -> str:
    """The file of a bundle's table."""
    return f"{prefix}.index"


def shard_path(prefix: str, shard: int, shards: int) -> str:
    """The file of a shard of a bundle's data."""
    return f"{prefix}.data-{shard:05d}-of-{shards:05d}"


def slice_message(part: TensorSlice) -> Any:
    """The message of a slice. An axis that the slice contains whole has no length."""
    message = TensorSliceProto()
    for start, length in part.extents:
        extent = message.extent.add()
        if length >= 0:
            extent.start, extent.length = start, length
    return message


def slice_from_message(message: Any) -> TensorSlice:
    """The slice that a message describes."""
    return TensorSlice(tuple((e.start, e.length if e.HasField("length") else -1) for e in message.extent))
