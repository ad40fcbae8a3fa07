"""SavedModel directories, in TensorFlow's layout: a message, a checkpoint and assets."""

from __future__ import annotations

import functools
import os
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, text_format
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import DecodeError
from tensorboard.compat.proto import meta_graph_pb2
from tensorboard.compat.proto.meta_graph_pb2 import AssetFileDef

from tideflow.graph.own_protos import make_messages
from tideflow.io.local_files import local_path, read_bytes, replace_bytes

ASSETS_DIRECTORY = "assets"
VARIABLES_DIRECTORY = "variables"
VARIABLES_FILENAME = "variables"
SAVED_MODEL_FILENAME_PB = "saved_model.pb"
SAVED_MODEL_FILENAME_PBTXT = "saved_model.pbtxt"
SAVED_MODEL_SCHEMA_VERSION = 1
_LARGEST_MESSAGE = 2**31 - 1  # bytes, of any protocol buffer

SavedModel = make_messages(
    "saved_model",
    {
        "SavedModel": {
            "saved_model_schema_version": "int64",
            "meta_graphs": "repeated tensorboard.MetaGraphDef",
        }
    },
)["SavedModel"]

_ASSET_TYPE = "type.googleapis.com/tensorflow.AssetFileDef"


def variables_prefix(export_dir: str) -> str:
    """The prefix of the model's checkpoint."""
    return os.path.join(os.fsdecode(export_dir), VARIABLES_DIRECTORY, VARIABLES_FILENAME)


def contains_saved_model(export_dir: str) -> bool:
    """Whether a directory has the file of a SavedModel. The file is not read.

    Args:
      export_dir: The directory.

    Returns:
      True if there is a binary or a text file.
    """
    folder = local_path(export_dir)
    names = (SAVED_MODEL_FILENAME_PBTXT, SAVED_MODEL_FILENAME_PB)
    return any(os.path.exists(os.path.join(folder, name)) for name in names)


def read_saved_model(export_dir: str) -> Any:
    """The SavedModel message of a directory, from its binary file or, if there is none, its text file."""
    folder = local_path(export_dir)
    binary, text = (
        os.path.join(folder, name) for name in (SAVED_MODEL_FILENAME_PB, SAVED_MODEL_FILENAME_PBTXT)
    )
    try:
        if os.path.exists(binary):
            _check_size(binary)
            return SavedModel.FromString(read_bytes(binary))
        if os.path.exists(text):
            return parse_text(read_bytes(text), SavedModel())
    except (DecodeError, UnicodeDecodeError, text_format.ParseError) as error:
        path = binary if os.path.exists(binary) else text
        raise OSError(f"Cannot parse file {path}: {error}.") from None
    raise OSError(
        f"SavedModel file does not exist at: {os.fsdecode(export_dir)}/"
        f"{{{SAVED_MODEL_FILENAME_PBTXT}|{SAVED_MODEL_FILENAME_PB}}}"
    )


def _check_size(path: str) -> None:
    """Refuses a file that is too large for a message before it is read into memory."""
    size = os.path.getsize(path)
    if size > _LARGEST_MESSAGE:
        raise OSError(f"Cannot parse file {path}: {size} bytes are more than a message can have.")


def write_saved_model(message: Any, export_dir: str, as_text: bool) -> str:
    """Writes the message into its directory; returns the file's path."""
    name = SAVED_MODEL_FILENAME_PBTXT if as_text else SAVED_MODEL_FILENAME_PB
    path = os.path.join(os.fsdecode(export_dir), name)
    # Maps in a fixed order: the same model is the same bytes in every process.
    replace_bytes(path, as_text_bytes(message) if as_text else message.SerializeToString(deterministic=True))
    return path


# ------------------------------------------------------------------------------------------- text form


@functools.cache
def _tensorflow_types() -> descriptor_pool.DescriptorPool:
    """The messages that an Any of a collection may contain, under TensorFlow's names.

    They have a pool of their own: TensorFlow itself may have added them to the default pool.
    """
    pool = descriptor_pool.DescriptorPool()
    _add_renamed(pool, meta_graph_pb2.DESCRIPTOR, set())
    return pool


def _add_renamed(pool: descriptor_pool.DescriptorPool, file: Any, seen: set[str]) -> None:
    if file.name in seen:
        return
    seen.add(file.name)
    for dependency in file.dependencies:
        _add_renamed(pool, dependency, seen)
    description = descriptor_pb2.FileDescriptorProto.FromString(file.serialized_pb)
    description.package = description.package.replace("tensorboard", "tensorflow")
    _rename_types(description.message_type)
    pool.Add(description)


def _rename_types(messages: Any) -> None:
    for message in messages:
        for field in message.field:
            if field.type_name:
                field.type_name = field.type_name.replace(".tensorboard.", ".tensorflow.")
        _rename_types(message.nested_type)


def as_text_bytes(message: Any) -> bytes:
    """The text form of a message, as TensorFlow writes it."""
    return text_format.MessageToString(message, descriptor_pool=_tensorflow_types()).encode()


def parse_text(data: bytes, message: Any) -> Any:
    """Fills a message from its text form, with TensorFlow's type names or TensorBoard's."""
    return text_format.Parse(data.decode(), message, descriptor_pool=_tensorflow_types())


# -------------------------------------------------------------------------------------------- assets


def packed_asset(filename: str, tensor_name: str) -> AnyMessage:
    """An item of the asset collection."""
    asset = AssetFileDef(filename=filename)
    asset.tensor_info.name = tensor_name
    return AnyMessage(type_url=_ASSET_TYPE, value=asset.SerializeToString())
