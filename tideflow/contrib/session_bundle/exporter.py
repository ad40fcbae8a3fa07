"""Exporter: writes a checkpoint and a graph with signatures, for servers that read no SavedModels."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import Message
from tensorboard.compat.proto.graph_pb2 import GraphDef

import tideflow as tf
from tideflow.contrib.session_bundle import gc
from tideflow.contrib.session_bundle.manifest_pb2 import AssetFile, Signature, Signatures
from tideflow.export import export
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import add_to_collection, get_default_graph
from tideflow.platform import gfile, logging
from tideflow.platform.deprecation import deprecated
from tideflow.train.saver import Saver
from tideflow.variables.global_step import global_step as value_of_global_step

_SAVED_MODEL = ("2017-06-30", "No longer supported. Switch to SavedModel immediately.")
_TYPE_URL = "type.googleapis.com/tensorflow"  # what servers know the messages by


@export("contrib.session_bundle.exporter.gfile_copy_callback")
@deprecated(*_SAVED_MODEL)
def gfile_copy_callback(
    files_to_copy: Mapping[str | bytes, str | bytes], export_dir_path: str | bytes
) -> None:
    """Copies files into a directory.

    Args:
      files_to_copy: The names that the files get, by their paths.
      export_dir_path: The directory.
    """
    logging.info("Write assets into: %s using gfile_copy.", export_dir_path)
    gfile.makedirs(export_dir_path)
    for source, name in files_to_copy.items():
        gfile.copy(source, os.path.join(os.fsdecode(export_dir_path), os.fsdecode(name)), overwrite=True)


@export("contrib.session_bundle.exporter.regression_signature")
@deprecated(*_SAVED_MODEL)
def regression_signature(input_tensor: Tensor, output_tensor: Tensor) -> Signature:
    """Makes the signature of a regression.

    Args:
      input_tensor: The tensor that a server feeds.
      output_tensor: The tensor of the values.

    Returns:
      The signature.
    """
    signature = Signature()
    signature.regression_signature.input.tensor_name = input_tensor.name
    signature.regression_signature.output.tensor_name = output_tensor.name
    return signature


@export("contrib.session_bundle.exporter.classification_signature")
@deprecated(*_SAVED_MODEL)
def classification_signature(
    input_tensor: Tensor, classes_tensor: Tensor | None = None, scores_tensor: Tensor | None = None
) -> Signature:
    """Makes the signature of a classification.

    Args:
      input_tensor: The tensor that a server feeds.
      classes_tensor: The tensor of the classes.
      scores_tensor: The tensor of the scores.

    Returns:
      The signature.
    """
    signature = Signature()
    signature.classification_signature.input.tensor_name = input_tensor.name
    if classes_tensor is not None:
        signature.classification_signature.classes.tensor_name = classes_tensor.name
    if scores_tensor is not None:
        signature.classification_signature.scores.tensor_name = scores_tensor.name
    return signature


@export("contrib.session_bundle.exporter.generic_signature")
@deprecated(*_SAVED_MODEL)
def generic_signature(name_tensor_map: Mapping[str, Tensor]) -> Signature:
    """Makes a signature of any tensors.

    Args:
      name_tensor_map: The tensors by the names that a server uses.

    Returns:
      The signature.
    """
    signature = Signature()
    for name, tensor in name_tensor_map.items():
        signature.generic_signature.map[name].tensor_name = tensor.name
    return signature


def _packed(message: Message, kind: str) -> AnyMessage:
    return AnyMessage(type_url=f"{_TYPE_URL}.{kind}", value=message.SerializeToString())


@export("contrib.session_bundle.exporter.Exporter")
class Exporter:
    """Writes exports of a model, each named after its global step.

    Args:
      saver: The saver of the model's variables.
    """

    def __init__(self, saver: Saver):
        definition = saver.as_saver_def()
        definition.ClearField("max_to_keep")
        self._saver = Saver(saver_def=definition)
        self._has_init = False
        self._assets: dict[str, str] = {}

    @deprecated(*_SAVED_MODEL)
    def init(
        self,
        graph_def: GraphDef | None = None,
        init_op: Operation | None = None,
        clear_devices: bool = False,
        default_graph_signature: Signature | None = None,
        named_graph_signatures: Mapping[str, Signature] | None = None,
        assets_collection: Sequence[Tensor] | None = None,
        assets_callback: Callable = gfile_copy_callback,
    ) -> None:
        """Notes in the graph what an export holds.

        Args:
          graph_def: The graph to export; the default graph if None.
          init_op: The operation that a server runs first.
          clear_devices: Whether the operations of the exported graph have no devices.
          default_graph_signature: The signature that a server takes if it is told no other.
          named_graph_signatures: Signatures by name.
          assets_collection: Constant tensors of paths of files that the graph needs.
          assets_callback: A function that copies these files.

        Raises:
          RuntimeError: If it is called twice.
          TypeError: If a tensor of a path is no constant string, or `init_op` is no operation.
        """
        assets = [(os.path.basename(_path_of(tensor)), tensor) for tensor in assets_collection or ()]
        self._assets.update({_path_of(tensor): name for name, tensor in assets})
        if self._has_init:
            raise RuntimeError("init should be called only once")
        self._has_init = True
        if graph_def or clear_devices:
            graph = GraphDef()
            graph.CopyFrom(graph_def or get_default_graph().as_graph_def())
            if clear_devices:
                for node in graph.node:
                    node.device = ""
            add_to_collection("serving_graph", _packed(graph, "GraphDef"))
        if init_op:
            if not isinstance(init_op, Operation):
                raise TypeError(f"init_op needs to be an Operation: {init_op}")
            add_to_collection("serving_init_op", init_op)
        signatures = Signatures()
        if default_graph_signature:
            signatures.default_signature.CopyFrom(default_graph_signature)
        for name, signature in (named_graph_signatures or {}).items():
            signatures.named_signatures[name].CopyFrom(signature)
        add_to_collection("serving_signatures", _packed(signatures, "serving.Signatures"))
        for name, tensor in assets:
            asset = AssetFile(filename=name)
            asset.tensor_binding.tensor_name = tensor.name
            add_to_collection("serving_assets", _packed(asset, "serving.AssetFile"))
        self._assets_callback = assets_callback

    @deprecated(*_SAVED_MODEL)
    def export(
        self,
        export_dir_base: str,
        global_step_tensor: Tensor,
        sess: Any = None,
        exports_to_keep: gc.Filter | None = None,
    ) -> bytes:
        """Writes an export, into a directory named after the global step.

        Args:
          export_dir_base: Where to make the directory.
          global_step_tensor: The global step.
          sess: The session that holds the variables.
          exports_to_keep: A function that chooses which exports stay; all if None.

        Returns:
          The path of the directory, as bytes.

        Raises:
          RuntimeError: If `init` was not called, or the directory exists.
        """
        if not self._has_init:
            raise RuntimeError("init must be called first")
        base = export_dir_base.removesuffix("/")
        directory = os.path.join(base, f"{value_of_global_step(sess, global_step_tensor):08d}")
        if gfile.exists(directory):
            raise RuntimeError(
                "Overwriting exports can cause corruption and are not allowed. Duplicate export dir: "
                f"{directory}"
            )
        temporary = f"{directory}-tmp"
        gfile.makedirs(temporary)
        self._saver.save(sess, os.path.join(temporary, "export"), meta_graph_suffix="meta")
        if self._assets_callback and self._assets:
            folder = os.path.join(temporary, "assets")
            gfile.makedirs(folder)
            self._assets_callback(self._assets, folder)
        gfile.rename(temporary, directory)
        if exports_to_keep:
            for path in gc.negation(exports_to_keep)(gc.get_paths(base, _numbered)):
                gfile.rmtree(path.path)
        return os.fsencode(directory)


def _numbered(path: gc.Path) -> gc.Path | None:
    name = os.path.basename(path.path)
    return path._replace(export_version=int(name)) if re.fullmatch(r"\d{8}", name) else None


def _path_of(tensor: Any) -> str:
    if not isinstance(tensor, Tensor):
        raise TypeError("tensor is not a Tensor")
    value = tf.get_static_value(tensor)
    if value is None:
        raise TypeError("Only constants tensor are supported")
    if tensor.dtype != tf.string:
        raise TypeError("File paths should be string")
    if value.size != 1:
        raise TypeError("Only scalar tensors are supported")
    path = os.fsdecode(value.item())
    if not path:
        raise ValueError(f"invalid asset filepath tensor {tensor}")
    return path
