"""`tf.train.Saver`: checkpoints of a session's variables, numbered, kept and deleted."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any

from tensorboard.compat.proto.saver_pb2 import SaverDef

from tideflow.export import export, expose
from tideflow.graph.collection_protos import register_proto_function
from tideflow.graph.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError
from tideflow.graph.scopes import GraphKeys, executing_eagerly, get_collection, get_default_graph
from tideflow.interrupts import Lock, deferred
from tideflow.io.checkpoint_state import (
    DEFAULT_STATE_FILE,
    checkpoint_exists,
    get_checkpoint_mtimes,
    meta_graph_path,
    remove_checkpoint,
    write_state,
)
from tideflow.io.local_files import replace_bytes
from tideflow.platform import logging
from tideflow.session.session import BaseSession
from tideflow.train import restoring
from tideflow.train.eager_saving import restore_now, save_now
from tideflow.train.saveables import saveables_of
from tideflow.train.saver_graph import SaverBuilder
from tideflow.variables.exported_names import prepend_name_scope, strip_name_scope
from tideflow.variables.global_step import global_step as global_step_of
from tideflow.variables.meta_graph import export_meta_graph

if TYPE_CHECKING:
    from tideflow.graph.typing import SessionLike, TensorLike

expose(SaverDef, "train.SaverDef")

_NAMES = ("filename_tensor_name", "save_tensor_name", "restore_op_name")
_MISMATCH = "a mismatch between the current graph and the graph from the checkpoint"
_MISSING = "a Variable name or other graph key that is missing from the checkpoint"


@export("train.Saver")
class Saver:
    """Saves variables to checkpoints and restores them.

    It keeps the newest checkpoints and deletes older ones.

        saver = tf.train.Saver()
        saver.save(session, "model/weights", global_step=100)  # model/weights-100
        saver.restore(session, "model/weights-100")

    Args:
      var_list: The variables: a list, or a dictionary with their names in the checkpoint; all that can be
        saved if None.
      reshape: Whether a value may be restored into a variable of another shape with the same number of
        elements.
      sharded: Whether each device writes a file of its own.
      max_to_keep: How many of the newest checkpoints are kept; all if 0 or None.
      keep_checkpoint_every_n_hours: One checkpoint in so many hours is kept forever.
      name: The name scope of the operations.
      restore_sequentially: Whether variables of one device are restored one after the other, to save memory.
      saver_def: A SaverDef message. If given, its operations are used instead of new ones.
      builder: The builder of the operations; the usual one if None.
      defer_build: Whether the operations are added by `build`, later.
      allow_empty: Whether there may be no variables.
      write_version: The format of checkpoints, `SaverDef.V2` or the old `SaverDef.V1`.
      pad_step_number: Whether step numbers in names have leading zeros.
      save_relative_paths: Whether the checkpoint state has paths relative to its directory.
      filename: The default of the file name in the graph.

    Raises:
      TypeError: If `var_list` is invalid.
      ValueError: If there are no variables, or two have one name.
    """

    def __init__(
        self,
        var_list: Sequence[Any] | Mapping[str, Any] | None = None,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
        restore_sequentially: bool = False,
        saver_def: SaverDef | None = None,
        builder: Any = None,
        defer_build: bool = False,
        allow_empty: bool = False,
        write_version: int = SaverDef.V2,
        pad_step_number: bool = False,
        save_relative_paths: bool = False,
        filename: str | None = None,
    ):
        if defer_build and var_list:
            raise ValueError(
                "If `var_list` is provided then build cannot be deferred. Either set defer_build=False or "
                "var_list=None."
            )
        self._var_list = var_list
        self._reshape = reshape
        self._sharded = sharded
        self._max_to_keep = max_to_keep
        self._keep_checkpoint_every_n_hours = keep_checkpoint_every_n_hours
        self._name = name
        self._restore_sequentially = restore_sequentially
        self._builder = builder
        self._allow_empty = allow_empty
        self._write_version = write_version
        self._pad_step_number = pad_step_number
        self._save_relative_paths = save_relative_paths
        self._filename = filename
        self._is_built = False
        self._is_empty = False
        self._last_checkpoints: list[tuple[str, float]] = []
        self._next_checkpoint_time = 0.0
        self._numbers = itertools.count(1)  # the numbers of saves, in the order in which they begin
        self._newest: dict[str, tuple[int, str]] = {}  # the last one and its prefix, by state file
        self._books = Lock()
        self.saver_def = saver_def
        if not defer_build:
            self.build()

    def __repr__(self) -> str:
        what = "" if self._var_list is None else f" of {len(self._var_list)} variables"
        kept = f"keeps {self._max_to_keep}" if self._max_to_keep else "keeps all"
        last = f", last {self.last_checkpoints[-1]!r}" if self.last_checkpoints else ""
        return f"<{type(self).__name__}{what}, {kept} checkpoints{last}>"

    def build(self) -> None:
        """Adds the operations that save and restore, if the constructor has deferred it."""
        if self._is_built:
            return
        self._is_built = True
        if self.saver_def is not None:
            self._check_saver_def()
            self._write_version = self.saver_def.version
            if self._name:  # the graph was imported into this scope
                for field in _NAMES:
                    named = prepend_name_scope(getattr(self.saver_def, field), self._name)
                    setattr(self.saver_def, field, named)
        elif not self._build_nodes():
            return
        self._next_checkpoint_time = time.time() + self.saver_def.keep_checkpoint_every_n_hours * 3600

    def _build_nodes(self) -> bool:
        """Adds the nodes; False where there is nothing to save, and that is allowed."""
        if executing_eagerly():
            return self._prepare_eagerly()
        if self._var_list is None:
            collections = (GraphKeys.GLOBAL_VARIABLES, GraphKeys.SAVEABLE_OBJECTS)
            self._var_list = [value for key in collections for value in get_collection(key)]
        if not self._var_list:
            if not self._allow_empty:
                raise ValueError("No variables to save")
            self._is_empty = True
            return False
        self._builder = self._builder or SaverBuilder(self._write_version)
        self.saver_def = self._builder.build(
            self._var_list,
            reshape=self._reshape,
            sharded=self._sharded,
            max_to_keep=self._max_to_keep,
            keep_checkpoint_every_n_hours=self._keep_checkpoint_every_n_hours,
            name=self._name,
            restore_sequentially=self._restore_sequentially,
            filename=self._filename,
        )
        self._check_saver_def()
        return True

    def _prepare_eagerly(self) -> bool:
        """What is saved, in eager mode: the variables given, under the names that they have now."""
        if self._var_list is None:
            raise RuntimeError(
                "When eager execution is enabled, `var_list` must specify a list or dict of variables to save"
            )
        self._saveables = saveables_of(self._var_list)
        self.saver_def = SaverDef(
            max_to_keep=self._max_to_keep or 0,
            keep_checkpoint_every_n_hours=self._keep_checkpoint_every_n_hours,
            version=self._write_version,
        )
        return True

    def _check_built(self, doing: str) -> None:
        if not self._is_built:
            raise RuntimeError(f"`build()` should be called before {doing} if defer_build==True")

    def _check_saver_def(self) -> None:
        if not isinstance(self.saver_def, SaverDef):
            raise ValueError(f"saver_def must be a saver_pb2.SaverDef: {self.saver_def}")
        if not self.saver_def.save_tensor_name:
            raise ValueError(f"saver_def must specify the save_tensor_name: {self.saver_def}")
        if not self.saver_def.restore_op_name:
            raise ValueError(f"saver_def must specify the restore_op_name: {self.saver_def}")

    # ------------------------------------------------------------------------------------------- as a message

    def as_saver_def(self) -> SaverDef | None:
        """The SaverDef message with the names of the operations."""
        return self.saver_def

    def to_proto(self, export_scope: str | None = None) -> SaverDef | None:
        """Converts the saver to a SaverDef message.

        Args:
          export_scope: A name scope, which is removed from the names in the message.

        Returns:
          The message, or None if the saver is not in the scope.
        """
        if export_scope is None:
            return self.saver_def
        if not all(getattr(self.saver_def, name).startswith(export_scope) for name in _NAMES):
            return None
        message = SaverDef()
        message.CopyFrom(self.saver_def)
        for name in _NAMES:
            setattr(message, name, strip_name_scope(getattr(message, name), export_scope))
        return message

    @staticmethod
    def from_proto(saver_def: SaverDef, import_scope: str | None = None) -> Saver:
        """Makes a saver from a SaverDef message, of operations that exist in the graph.

        Args:
          saver_def: The message.
          import_scope: The name scope under which the operations were imported.

        Returns:
          The saver.
        """
        return Saver(saver_def=saver_def, name=import_scope)

    def export_meta_graph(
        self,
        filename: str | None = None,
        collection_list: Sequence[str] | None = None,
        as_text: bool = False,
        export_scope: str | None = None,
        clear_devices: bool = False,
        clear_extraneous_savers: bool = False,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ) -> Any:
        """Exports the default graph with its collections and this saver.

        Args:
          filename: A file to write the message into; none if None.
          collection_list: The names of the collections to include; all if None.
          as_text: Whether the file has the text form of the message.
          export_scope: A name scope. If given, only its nodes are exported.
          clear_devices: Whether the devices of the nodes are removed.
          clear_extraneous_savers: Whether other savers and their nodes are removed.
          strip_default_attrs: Whether attributes with their default values are removed.
          save_debug_info: Whether the tracebacks of the operations are written into a second file.

        Returns:
          The MetaGraphDef.
        """
        return export_meta_graph(
            filename=filename,
            graph_def=get_default_graph().as_graph_def(add_shapes=True),
            saver_def=self.saver_def,
            collection_list=collection_list,
            as_text=as_text,
            export_scope=export_scope,
            clear_devices=clear_devices,
            clear_extraneous_savers=clear_extraneous_savers,
            strip_default_attrs=strip_default_attrs,
            save_debug_info=save_debug_info,
        )

    # ---------------------------------------------------------------------------------- checkpoints that stay

    @property
    def last_checkpoints(self) -> list[str]:
        """The prefixes of the checkpoints that the saver keeps for now, oldest first."""
        return [path for path, _ in self._last_checkpoints]

    def set_last_checkpoints(self, last_checkpoints: Sequence[str]) -> None:
        """Sets the checkpoints that the saver manages; an older form of `set_last_checkpoints_with_time`.

        Args:
          last_checkpoints: The prefixes, oldest first.
        """
        assert isinstance(last_checkpoints, list)
        self._last_checkpoints = [(path, float("inf")) for path in last_checkpoints]

    def set_last_checkpoints_with_time(self, last_checkpoints_with_time: Sequence[tuple[str, float]]) -> None:
        """Sets the checkpoints that the saver manages.

        Args:
          last_checkpoints_with_time: Pairs of prefix and time of writing, oldest first.
        """
        assert isinstance(last_checkpoints_with_time, list)
        self._last_checkpoints = last_checkpoints_with_time

    def recover_last_checkpoints(self, checkpoint_paths: Sequence[str]) -> None:
        """Makes the saver manage existing checkpoints, for instance after a restart.

        Args:
          checkpoint_paths: Prefixes of checkpoints. Those that do not exist are ignored.
        """
        there = [path for path in checkpoint_paths if checkpoint_exists(path)]
        self.set_last_checkpoints_with_time(list(zip(there, get_checkpoint_mtimes(there))))

    def _record(self, path: str, newest: str) -> list[str]:
        """Notes a checkpoint, before the newest if it is another; returns those whose time has come."""
        if not self.saver_def.max_to_keep:
            return []
        kept = [(name, when) for name, when in self._last_checkpoints if name != path]
        names = [name for name, _ in kept]
        kept.insert(names.index(newest) if newest in names else len(kept), (path, time.time()))
        due = []
        if len(kept) > self.saver_def.max_to_keep:  # one goes where one comes, however many were taken over
            name, when = kept.pop(0)
            if when > self._next_checkpoint_time:  # one in so many hours stays for good
                self._next_checkpoint_time += self.saver_def.keep_checkpoint_every_n_hours * 3600
            else:
                due.append(name)
        self._last_checkpoints = kept
        return due

    # -------------------------------------------------------------------------------------- saving, restoring

    def save(
        self,
        sess: SessionLike,
        save_path: str,
        global_step: TensorLike | None = None,
        latest_filename: str | None = None,
        meta_graph_suffix: str = "meta",
        write_meta_graph: bool = True,
        write_state: bool = True,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ) -> str | None:
        """Writes a checkpoint.

        Args:
          sess: The session that has the variables' values.
          save_path: The prefix of the checkpoint's files.
          global_step: A number to append to the prefix: an int, a variable or a tensor.
          latest_filename: The name of the checkpoint state file; "checkpoint" if None.
          meta_graph_suffix: The suffix of the file with the graph.
          write_meta_graph: Whether the graph is written beside the checkpoint.
          write_state: Whether the checkpoint is recorded in the checkpoint state file.
          strip_default_attrs: Whether attributes with their default values are removed from the graph.
          save_debug_info: Whether the tracebacks of the operations are written too.

        Returns:
          The prefix, for `restore`; None if the saver has no variables.

        Raises:
          TypeError: If `sess` is not a session.
          ValueError: If the path or the file name is not valid, or the parent directory does not exist.
        """
        self._check_built("save")
        if not isinstance(sess, BaseSession) and not executing_eagerly():
            raise TypeError(f"'sess' must be a Session; {sess}")
        save_path = os.fspath(save_path)
        latest_filename = latest_filename or DEFAULT_STATE_FILE
        if os.path.dirname(latest_filename):
            raise ValueError("'latest_filename' must not contain path components")
        number = next(self._numbers)
        prefix = self._numbered(sess, save_path, global_step, latest_filename)
        written = None if self._is_empty else self._write(sess, prefix)
        try:
            if write_meta_graph and not executing_eagerly():
                path = meta_graph_path(prefix, meta_graph_suffix)
                is_synced_with_state = written is not None and write_state
                with sess.graph.as_default():
                    message = self.export_meta_graph(
                        path if save_debug_info else None,
                        strip_default_attrs=strip_default_attrs,
                        save_debug_info=save_debug_info,
                    )
                if not save_debug_info:
                    contents = message.SerializeToString(deterministic=True)
                    replace_bytes(path, contents, sync_name=not is_synced_with_state)
        finally:
            if written is not None and write_state:
                self._keep_books(number, save_path, written, latest_filename, meta_graph_suffix)
        return written

    def _numbered(self, sess: Any, save_path: str, global_step: Any, latest_filename: str) -> str:
        if global_step is None:
            if os.path.basename(save_path) == latest_filename and not self._sharded:
                raise ValueError(
                    f"'latest_filename' collides with 'save_path': '{latest_filename}' and '{save_path}'"
                )
            return save_path
        step = int(global_step) if isinstance(global_step, Integral) else global_step_of(sess, global_step)
        return f"{save_path}-{step:08d}" if self._pad_step_number else f"{save_path}-{step}"

    def _write(self, sess: Any, prefix: str) -> str:
        try:
            if executing_eagerly():
                return save_now(prefix, self._saveables)
            written = sess.run(self.saver_def.save_tensor_name, {self.saver_def.filename_tensor_name: prefix})
        except (FailedPreconditionError, NotFoundError) as error:
            folder = os.path.dirname(prefix)
            if not folder or os.path.isdir(folder):
                raise
            raise ValueError(f"Parent directory of {prefix} doesn't exist, can't save.") from error
        return os.fsdecode(written)

    @deferred
    def _keep_books(
        self, number: int, save_path: str, written: str, latest_filename: str, meta_graph_suffix: str
    ) -> None:
        """First the state names the newest checkpoint; only then may an old one go. Of two saves at once, the
        newest is the one that began last, whichever ends last.
        """
        folder = os.path.dirname(save_path)
        state = os.path.join(folder, latest_filename)
        with self._books:
            self._newest[state] = max(self._newest.get(state, (0, "")), (number, written))
            newest = self._newest[state][1]
            due = self._record(written, newest)
            write_state(
                folder,
                newest,
                self.last_checkpoints,
                latest_filename,
                save_relative_paths=self._save_relative_paths,
            )
        for path in due:
            remove_checkpoint(path, self.saver_def.version, meta_graph_suffix)

    def plan_restore(self, save_path: str, renamed: Mapping[str, str] | None = None) -> restoring.RestorePlan:
        """Describes what `restore` would do to the saver's variables, without changing anything.

        Args:
          save_path: The prefix of the checkpoint.
          renamed: As in `restore`.

        Returns:
          The plan.
        """
        self._check_built("plan_restore")
        return restoring.plan(get_default_graph(), self.saver_def, os.fspath(save_path), renamed)

    def restore(
        self, sess: SessionLike, save_path: str | None, renamed: Mapping[str, str] | None = None
    ) -> None:
        """Restores the variables from a checkpoint: all, or none if a name, type or shape differs.

        Args:
          sess: The session.
          save_path: The prefix of the checkpoint.
          renamed: Names in the checkpoint and the names that the saver knows: `{"w": "layer/kernel"}`, or of
            scopes, `{"old/": "new/"}`.

        Raises:
          ValueError: If there is no such checkpoint.
          NotFoundError: If the checkpoint does not have a variable.
          InvalidArgumentError: If a type or a shape differs.
        """
        if self._is_empty:
            return
        if save_path is None:
            raise ValueError("Can't load save_path when it is None.")
        self._check_built("restore")
        save_path = os.fspath(save_path)
        if not checkpoint_exists(save_path):
            raise ValueError(f"The passed save_path is not a valid checkpoint: {save_path}")
        logging.info("Restoring parameters from %s", os.fsdecode(save_path))
        try:
            if executing_eagerly():
                restore_now(save_path, self._saveables, renamed)
                return
            restoring.restore(sess, self.saver_def, save_path, renamed)
        except NotFoundError as error:
            raise _explained(error, _MISSING) from error
        except InvalidArgumentError as error:
            raise _explained(error, _MISMATCH) from error


def _explained(error: Any, cause: str) -> Any:
    return type(error)(
        error.node_def,
        error.op,
        f"Restoring from checkpoint failed. This is most likely due to {cause}. Please ensure that you have "
        f"not altered the graph expected based on the checkpoint. Original error:\n\n{error.message}",
    )


register_proto_function(GraphKeys.SAVERS, SaverDef, Saver.from_proto)
