"""Reading SavedModels: a graph by its tags, its variables, its assets, and what it runs at the start."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from google.protobuf.message import DecodeError
from tensorboard.compat.proto.meta_graph_pb2 import AssetFileDef, MetaGraphDef

from tideflow.export import export, expose
from tideflow.graph import errors
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import GraphKeys, get_collection
from tideflow.io import saved_models
from tideflow.io.local_files import local_path
from tideflow.saved_model import constants
from tideflow.saved_model.signatures import load_op_from_signature_def
from tideflow.session.session import BaseSession
from tideflow.train.meta_graph import import_meta_graph_with_return_elements
from tideflow.train.saver import Saver
from tideflow.variables.exported_names import prepend_name_scope

if TYPE_CHECKING:
    from tideflow.graph.typing import SessionLike

_log = logging.getLogger("tensorflow")

expose(
    saved_models.contains_saved_model,
    "saved_model.contains_saved_model",
    "saved_model.maybe_saved_model_directory",
    "saved_model.loader.maybe_saved_model_directory",
)


@export("saved_model.load", "saved_model.loader.load")
def load(
    sess: SessionLike,
    tags: Iterable[str],
    export_dir: str,
    import_scope: str | None = None,
    *,
    trusted: bool = True,
    **saver_kwargs: Any,
) -> MetaGraphDef:
    """Loads a SavedModel into a session: adds its graph, restores its variables and runs its initialization.

    Args:
      sess: The session.
      tags: The tags of the graph: exactly those.
      export_dir: The directory.
      import_scope: The name scope of the new operations.
      trusted: False for a model that somebody else made: the session refuses, from now on, operations that
        reach files or Python functions of the process. Only while the model is loaded it may read its own
        variables and assets.
      **saver_kwargs: Arguments of `tf.train.import_meta_graph`.

    Returns:
      The MetaGraphDef.

    Raises:
      RuntimeError: If the model has no graph with these tags.
      tf.errors.PermissionDeniedError: If the model is not trusted, and what it runs at the start reaches
        other files, or Python.
    """
    return SavedModelLoader(export_dir).load(sess, tags, import_scope, trusted=trusted, **saver_kwargs)


class SavedModelLoader:
    """A SavedModel directory, and the steps of which loading is made."""

    def __init__(self, export_dir: str):
        self.export_dir = export_dir
        self.variables_path = saved_models.variables_prefix(export_dir)
        self.saved_model = saved_models.read_saved_model(export_dir)

    def get_meta_graph_def_from_tags(self, tags: Iterable[str]) -> MetaGraphDef:
        """The graph that has these tags and no others."""
        wanted = set(tags)
        available = []
        for message in self.saved_model.meta_graphs:
            available.append(set(message.meta_info_def.tags))
            if available[-1] == wanted:
                return message
        raise RuntimeError(
            f"MetaGraphDef associated with tags {str(tags).strip('[]')} could not be found in SavedModel. To "
            "inspect available tag-sets in the SavedModel, please use the SavedModel CLI: `saved_model_cli`"
            f"\navailable_tags: {available}"
        )

    def load_graph(
        self, graph: Graph, tags: Iterable[str], import_scope: str | None = None, **saver_kwargs: Any
    ) -> tuple[Saver | None, Any]:
        """Adds the graph; returns its saver and the elements that were asked for."""
        message = self.get_meta_graph_def_from_tags(tags)
        with graph.as_default():
            return import_meta_graph_with_return_elements(message, import_scope=import_scope, **saver_kwargs)

    def restore_variables(self, sess: Any, saver: Saver | None, import_scope: str | None = None) -> None:
        """Gives the variables their values."""
        if isinstance(saver, Saver):
            folder = local_path(os.path.dirname(self.variables_path))
            if not os.path.isdir(folder):
                raise errors.not_found(f"{folder}; No such file or directory")
            self._check_own(sess, _files_in(folder))
            named = sess.graph.get_tensor_by_name(saver.saver_def.filename_tensor_name)
            with sess.graph.as_default(), _may_read(sess, [named]):
                saver.restore(sess, self.variables_path)
            return
        kinds = (GraphKeys.GLOBAL_VARIABLES, GraphKeys.SAVEABLE_OBJECTS)
        if saver is not None or any(sess.graph.get_collection(key, import_scope) for key in kinds):
            raise ValueError(
                "No tf.train.Saver object was passed to the function SavedModelLoader.restore_variables. "
                "Since there are variables in the graph, a saver is required."
            )
        _log.info("The specified SavedModel has no variables; no checkpoints were restored.")

    def run_init_ops(self, sess: Any, tags: Iterable[str], import_scope: str | None = None) -> None:
        """Runs what the model starts with, if anything, with its assets where they are now."""
        message = self.get_meta_graph_def_from_tags(tags)
        with sess.graph.as_default():
            assets = asset_paths(self.export_dir, message, import_scope)
            init_op = get_init_op(message, import_scope)
            if init_op is not None:
                self._check_own(sess, assets.values())
                with _may_read(sess, [sess.graph.get_tensor_by_name(name) for name in assets]):
                    sess.run([init_op], feed_dict=assets)

    def _check_own(self, sess: Any, paths: Iterable[str]) -> None:
        """Refuses links out of the directory, in a model that is not trusted."""
        if isinstance(sess, BaseSession) and not sess._trusted:
            check_own(self.export_dir, paths)

    def load(
        self,
        sess: Any,
        tags: Iterable[str],
        import_scope: str | None = None,
        *,
        trusted: bool = True,
        **saver_kwargs: Any,
    ) -> MetaGraphDef:
        """All the steps; returns the message of the graph. A session that loads a model that is not `trusted`
        refuses operations that reach files or Python from then on.
        """
        tags = list(tags)
        if not trusted:
            if not isinstance(sess, BaseSession):
                raise TypeError(f"trusted=False needs a tf.Session, not a {type(sess).__name__}")
            sess._distrust()
        with sess.graph.as_default():
            saver, _ = self.load_graph(sess.graph, tags, import_scope, **saver_kwargs)
            self.restore_variables(sess, saver, import_scope)
            self.run_init_ops(sess, tags, import_scope)
        return self.get_meta_graph_def_from_tags(tags)


def check_own(export_dir: str, paths: Iterable[str]) -> None:
    """Raises PermissionDeniedError if a path of a SavedModel is a link out of it."""
    folder = os.path.realpath(local_path(os.fsdecode(export_dir)))
    for path in paths:
        if os.path.commonpath([folder, os.path.realpath(local_path(path))]) != folder:
            raise errors.permission_denied(
                f"{path} is a link out of the SavedModel {export_dir}, which is not trusted."
            )


def check_own_variables(export_dir: str) -> None:
    """The same for the files of its variables."""
    folder = local_path(os.path.dirname(saved_models.variables_prefix(export_dir)))
    check_own(export_dir, _files_in(folder) if os.path.isdir(folder) else [])


def _files_in(folder: str) -> list[str]:
    return [os.path.join(folder, name) for name in os.listdir(folder)]


def _may_read(sess: Any, own_files: list[Tensor]) -> contextlib.AbstractContextManager[None]:
    """Lets a model read the files that its loader names, even if it is not trusted."""
    return sess._may_read(own_files) if isinstance(sess, BaseSession) else contextlib.nullcontext()


# ---------------------------------------------------------------------------- what a graph starts with


def get_init_op(message: MetaGraphDef, import_scope: str | None = None) -> Operation | Tensor | None:
    """What a graph that was just imported runs first: named by a signature, or in a collection."""
    key = constants.INIT_OP_SIGNATURE_KEY
    if key in message.signature_def:
        return load_op_from_signature_def(message.signature_def[key], key, import_scope)
    for key in (constants.MAIN_OP_KEY, constants.LEGACY_INIT_OP_KEY):
        if key in message.collection_def:
            names = message.collection_def[key].node_list.value
            if len(names) != 1:
                raise RuntimeError(f"Expected exactly one SavedModel init op. Found: {list(names)}")
            return get_collection(key)[0]
    return None


def asset_paths(export_dir: str, message: MetaGraphDef, import_scope: str | None = None) -> dict[str, str]:
    """Where the graph's assets lie in this directory, by the names of the tensors that say so."""
    folder = os.path.join(os.fsdecode(export_dir), saved_models.ASSETS_DIRECTORY)
    return {
        prepend_name_scope(asset.tensor_info.name, import_scope): _inside(folder, asset.filename)
        for asset in _assets(message)
    }


def _assets(message: MetaGraphDef) -> list[AssetFileDef]:
    if message.asset_file_def:
        return list(message.asset_file_def)
    if constants.ASSETS_KEY not in message.collection_def:
        return []
    try:
        items = message.collection_def[constants.ASSETS_KEY].any_list.value
        return [AssetFileDef.FromString(item.value) for item in items]
    except DecodeError as error:
        raise errors.data_loss(
            f"The collection {constants.ASSETS_KEY!r} holds what is no AssetFileDef: {error}",
        ) from None


def _inside(folder: str, filename: str) -> str:
    """The file's path; a model's assets are files of its own directory."""
    parts = filename.replace("\\", "/").split("/")
    if not filename or os.path.isabs(filename) or ".." in parts or "\0" in filename:
        raise errors.invalid_argument(
            f"The SavedModel's asset {filename!r} is outside of its directory {folder}: a file name inside "
            "of it is expected",
        )
    return os.path.join(folder, filename)
