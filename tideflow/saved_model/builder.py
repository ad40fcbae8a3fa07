"""Writing SavedModels: graphs with signatures and tags, over one checkpoint and one set of assets."""

from __future__ import annotations

import filecmp
import logging
import os
import shutil
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from tensorboard.compat.proto.meta_graph_pb2 import MetaGraphDef, SignatureDef, TensorInfo
from tensorboard.compat.proto.types_pb2 import DT_INVALID

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import GraphKeys, add_to_collection, get_collection
from tideflow.io import saved_models
from tideflow.io.local_files import as_tensorflow_errors, local_path, make_folder, sync, sync_folder
from tideflow.saved_model import constants
from tideflow.saved_model.signatures import predict_signature_def
from tideflow.train.saver import Saver

if TYPE_CHECKING:
    from tideflow.graph.typing import SessionLike

_log = logging.getLogger("tensorflow")


@export("saved_model.Builder", "saved_model.builder.SavedModelBuilder")
class SavedModelBuilder:
    """Writes a SavedModel. The first graph is added with its variables, which further graphs share.

    Args:
      export_dir: The directory, which must not exist or be empty.

    Raises:
      AssertionError: If the directory is not empty.
    """

    def __init__(self, export_dir: str):
        self._saved_model = saved_models.SavedModel(
            saved_model_schema_version=saved_models.SAVED_MODEL_SCHEMA_VERSION
        )
        self._export_dir = os.fsdecode(export_dir)
        self._has_saved_variables = False
        folder = local_path(self._export_dir)
        if os.path.isdir(folder) and os.listdir(folder):
            raise AssertionError(
                "Export directory already exists, and isn't empty. Please choose a different export "
                f"directory, or delete all the contents of the specified directory: {self._export_dir}"
            )
        make_folder(folder)

    def add_meta_graph_and_variables(
        self,
        sess: SessionLike,
        tags: Iterable[str],
        signature_def_map: Mapping[str, SignatureDef] | None = None,
        assets_collection: Iterable[Tensor] | None = None,
        legacy_init_op: Operation | None = None,
        clear_devices: bool = False,
        main_op: Operation | None = None,
        strip_default_attrs: bool = False,
        saver: Saver | None = None,
    ) -> None:
        """Adds the default graph with the values of its variables in a session.

        It must be the first graph.

        Args:
          sess: The session.
          tags: The tags of the graph, such as `tf.saved_model.tag_constants.SERVING`.
          signature_def_map: The signatures by name.
          assets_collection: Tensors with the paths of files to copy into the model.
          legacy_init_op: An older form of `main_op`.
          clear_devices: Whether the devices of the nodes are removed.
          main_op: An operation to run when the model is loaded.
          strip_default_attrs: Whether attributes with their default values are removed, so that older
            programs can read the graph.
          saver: The Saver of the graph; a new one if None.

        Raises:
          AssertionError: If variables have been written already.
          TypeError: If an argument has the wrong type.
        """
        if self._has_saved_variables:
            raise AssertionError(
                "Graph state including variables and assets has already been saved. Please invoke "
                "`add_meta_graph()` instead."
            )
        check_signatures(signature_def_map or {})
        self._add_collections(assets_collection, main_op or legacy_init_op)
        prefix = saved_models.variables_prefix(self._export_dir)
        make_folder(os.path.dirname(local_path(prefix)))
        saver = saver or _saver_of_everything()
        # The directory may be moved: no state file, which would name where it was.
        saver.save(sess, prefix, write_meta_graph=False, write_state=False)
        self._add(saver, tags, signature_def_map, clear_devices, strip_default_attrs)
        self._has_saved_variables = True

    def add_meta_graph(
        self,
        tags: Iterable[str],
        signature_def_map: Mapping[str, SignatureDef] | None = None,
        assets_collection: Iterable[Tensor] | None = None,
        legacy_init_op: Operation | None = None,
        clear_devices: bool = False,
        main_op: Operation | None = None,
        strip_default_attrs: bool = False,
        saver: Saver | None = None,
    ) -> None:
        """Adds the default graph, which uses the variables of the first one.

        Args:
          tags: The tags of the graph, such as `tf.saved_model.tag_constants.SERVING`.
          signature_def_map: The signatures by name.
          assets_collection: Tensors with the paths of files to copy into the model.
          legacy_init_op: An older form of `main_op`.
          clear_devices: Whether the devices of the nodes are removed.
          main_op: An operation to run when the model is loaded.
          strip_default_attrs: Whether attributes with their default values are removed, so that older
            programs can read the graph.
          saver: The Saver of the graph; a new one if None.

        Raises:
          AssertionError: If no variables have been written.
        """
        if not self._has_saved_variables:
            raise AssertionError(
                "Graph state including variables and assets has not been saved yet. Please invoke "
                "`add_meta_graph_and_variables()` first."
            )
        check_signatures(signature_def_map or {})
        self._add_collections(assets_collection, main_op or legacy_init_op)
        saver = saver or _saver_of_everything()
        self._add(saver, tags, signature_def_map, clear_devices, strip_default_attrs)

    def save(self, as_text: bool = False) -> bytes:
        """Writes the SavedModel message.

        Args:
          as_text: Whether the file has the text form of the message.

        Returns:
          The path of the file, as bytes.
        """
        path = saved_models.write_saved_model(self._saved_model, self._export_dir, as_text)
        _log.info("SavedModel written to: %s", path)
        return os.fsencode(path)

    def _add_collections(self, assets: Iterable[Tensor] | None, main_op: Operation | None) -> None:
        files = _add_assets_to_collection(assets)
        if files:
            copy_assets(self._export_dir, files)
        else:
            _log.info("No assets to write.")
        if main_op is None:
            return
        if not isinstance(main_op, Operation):
            raise TypeError(f"main_op needs to be an Operation: {main_op!r}")
        for key in (constants.MAIN_OP_KEY, constants.LEGACY_INIT_OP_KEY):
            if get_collection(key):
                raise ValueError(f"Graph already contains one or more main ops under the collection {key}.")
        add_to_collection(constants.MAIN_OP_KEY, main_op)

    def _add(
        self,
        saver: Saver,
        tags: Iterable[str],
        signatures: Mapping[str, SignatureDef] | None,
        clear_devices: bool,
        strip_default_attrs: bool,
    ) -> None:
        message: MetaGraphDef = saver.export_meta_graph(
            clear_devices=clear_devices, strip_default_attrs=strip_default_attrs
        )
        message.meta_info_def.tags.extend(tags)
        for key, signature in (signatures or {}).items():
            message.signature_def[key].CopyFrom(signature)
        self._saved_model.meta_graphs.append(message)


@export("saved_model.simple_save")
def simple_save(
    session: SessionLike,
    export_dir: str,
    inputs: Mapping[str, Any],
    outputs: Mapping[str, Any],
    legacy_init_op: Operation | None = None,
) -> None:
    """Writes a SavedModel with one signature, for serving.

    Args:
      session: The session that has the variables' values.
      export_dir: The directory, which must not exist or be empty.
      inputs: The input tensors by name.
      outputs: The output tensors by name.
      legacy_init_op: An operation to run when the model is loaded.
    """
    signature = predict_signature_def(inputs, outputs)
    builder = SavedModelBuilder(export_dir)
    builder.add_meta_graph_and_variables(
        session,
        tags=[constants.SERVING],
        signature_def_map={constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: signature},
        assets_collection=get_collection(GraphKeys.ASSET_FILEPATHS),
        main_op=legacy_init_op,
        clear_devices=True,
    )
    builder.save()


def _saver_of_everything() -> Saver:
    everything = get_collection(GraphKeys.GLOBAL_VARIABLES) + get_collection(GraphKeys.SAVEABLE_OBJECTS)
    return Saver(everything, sharded=True, allow_empty=True)


# ---------------------------------------------------------------------------------------- signatures


def check_signatures(signatures: Mapping[str, SignatureDef]) -> None:
    for signature in signatures.values():
        for info in (*signature.inputs.values(), *signature.outputs.values()):
            _check_tensor_info(info)
    reserved = {
        constants.INIT_OP_SIGNATURE_KEY: "initialization",
        constants.TRAIN_OP_SIGNATURE_KEY: "the train op",
    }
    for key, purpose in reserved.items():
        if key in signatures:
            raise KeyError(
                f'SignatureDef map key "{key}" is reserved for {purpose}. Please use a different key.'
            )


def _check_tensor_info(info: TensorInfo) -> None:
    encoding = info.WhichOneof("encoding")
    if encoding is None:
        raise AssertionError(
            "All TensorInfo protos used in the SignatureDefs must have one of the 'encoding' fields (e.g., "
            f"name or coo_sparse) set: {info}"
        )
    if encoding == "composite_tensor":
        for part in info.composite_tensor.components:
            _check_tensor_info(part)
    elif info.dtype == DT_INVALID:
        raise AssertionError(
            f"All TensorInfo protos used in the SignatureDefs must have the dtype field set: {info}"
        )


# -------------------------------------------------------------------------------------------- assets


def copy_assets(export_dir: str, files: Mapping[str, str]) -> None:
    """Copies files under the names that the model has for them; one that is there is kept."""
    folder = local_path(os.path.join(os.fsdecode(export_dir), saved_models.ASSETS_DIRECTORY))
    make_folder(folder)
    for name, source in files.items():
        target = os.path.join(folder, name)
        if not os.path.exists(target):
            with as_tensorflow_errors(source):
                shutil.copyfile(local_path(source), target)
                with open(target, "rb") as copied:
                    sync(copied)
    sync_folder(folder)
    _log.info("Assets written to: %s", folder)


def _add_assets_to_collection(assets: Iterable[Tensor] | None) -> dict[str, str]:
    """Notes the assets in the graph; returns which files they are, by their names in the model."""
    files: dict[str, str] = {}
    if assets is None:
        _log.info("No assets to save.")
        return files
    for tensor in assets:
        source = _asset_path(tensor)
        if not source:
            raise ValueError(f"Invalid asset filepath tensor {tensor}")
        name = name_in_model(source, files)
        files[name] = source
        add_to_collection(constants.ASSETS_KEY, saved_models.packed_asset(name, tensor.name))
    _log.info("Assets added to graph.")
    return files


def _asset_path(tensor: Tensor) -> str:
    if not isinstance(tensor, Tensor):
        raise TypeError("Asset path tensor must be a Tensor.")
    if tensor.op.definition.role != "constant":
        raise TypeError("Asset path tensor must be of type constant.")
    if tensor.dtype != dtypes.string:
        raise TypeError("Asset path tensor must be of dtype string.")
    value = tensor.op.attrs["value"]
    if value.size != 1:
        raise TypeError("Asset path tensor must be a scalar.")
    return os.fsdecode(value.item())


def name_in_model(source: str, files: Mapping[str, str]) -> str:
    """The file's own name, numbered where another file has it."""
    name = os.path.basename(source)
    if name not in files or files[name] == source:
        return name
    with as_tensorflow_errors(source):
        if filecmp.cmp(local_path(source), local_path(files[name]), shallow=False):
            return name
    number = 1
    while f"{name}_{number}" in files:
        number += 1
    return f"{name}_{number}"
