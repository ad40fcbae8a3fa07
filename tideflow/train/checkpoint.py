"""`tf.train.Checkpoint`: objects and all that is theirs, saved and restored by how they are reached."""

from __future__ import annotations

import logging
import os
import sys
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph.scopes import colocate_with, device, executing_eagerly
from tideflow.io.checkpoint_state import write_state
from tideflow.io.object_graph import read_object_graph, readable_paths
from tideflow.io.old_checkpoints import open_checkpoint
from tideflow.train import object_saver
from tideflow.train.object_saver import Matching, ObjectRestorer, ObjectSaver, session_or_default
from tideflow.train.saver import Saver
from tideflow.variables.base import Variable
from tideflow.variables.trackable import AutoTrackable, Trackable, children_of, restore_when_made

if TYPE_CHECKING:
    from tideflow.graph.typing import SessionLike

_log = logging.getLogger("tensorflow")


@export("train.Checkpoint")
class Checkpoint(AutoTrackable):
    """A group of objects that are saved and restored together.

    The keys of values in a checkpoint are paths of attribute names, so that they do not depend on the names
    of variables. Attributes that are set later belong to the group too.

    Args:
      **kwargs: The objects by attribute name: variables, layers, optimizers, other checkpoints, lists and
        dictionaries.
    """

    _untracked = frozenset({"_counter", "_count_up", "_restoring"})

    def __init__(self, **kwargs: Any):
        self._counter: Variable | None = None
        self._count_up: Any = None
        self._saver = ObjectSaver(self)
        self._restorer = ObjectRestorer()
        for name, value in sorted(kwargs.items()):
            if not isinstance(value, Trackable):
                raise ValueError(
                    "`Checkpoint` was expecting a trackable object (an object derived from `TrackableBase`), "
                    f"got {value}. If you believe this object should be trackable (i.e. it is part of the "
                    "TensorFlow Python API and manages state), please open an issue."
                )
            setattr(self, name, value)

    @property
    def _checkpoint_dependencies(self) -> list[tuple[str, Any]]:
        counter = [] if self._counter is None else [("save_counter", self._counter)]
        return super()._checkpoint_dependencies + counter

    @property
    def save_counter(self) -> Variable:
        """A variable with the number of `save` calls.

        It is saved with the objects and numbers the checkpoints.
        """
        if self._counter is None:
            with device("/cpu:0"):
                self._counter = Variable(
                    0, name="save_counter", dtype="int64", trainable=False, use_resource=True
                )
        return self._counter

    def count_save(self, session: SessionLike) -> int:
        """Increments the save counter.

        Args:
          session: The session.

        Returns:
          The number of the save.
        """
        if executing_eagerly():
            return int(self.save_counter.assign_add(1).numpy())
        is_new = self._counter is None
        with session.graph.as_default():
            counter = self.save_counter
            if self._count_up is None:
                with colocate_with(counter):
                    self._count_up = counter.assign_add(1, read_value=True)
            self._saver.prepare()
        if is_new:
            session.run(counter.initializer)
        return int(session.run(self._count_up))

    def write(self, file_prefix: str, session: SessionLike | None = None) -> str:
        """Writes a checkpoint, without a number and without an entry in the directory's checkpoint state.

        Args:
          file_prefix: The prefix of the checkpoint's files.
          session: The session; the default session if None.

        Returns:
          The prefix.
        """
        return self._saver.save(os.fspath(file_prefix), session)

    def save(self, file_prefix: str, session: SessionLike | None = None) -> str:
        """Writes a numbered checkpoint and records it in the directory's checkpoint state.

        Args:
          file_prefix: The prefix of the checkpoint's files; the number is appended.
          session: The session; the default session if None.

        Returns:
          The prefix with the number.
        """
        session = session_or_default(session)
        file_prefix = os.fspath(file_prefix)
        path = self.write(f"{file_prefix}-{self.count_save(session)}", session)
        write_state(os.path.dirname(file_prefix), path, [path], save_relative_paths=True)
        return path

    def restore(self, save_path: str | None) -> LoadStatus:
        """Prepares a restore, which the result performs: `status.initialize_or_restore(session)`.

        It restores the objects that belong to the group at that time, even if they are made after this call.
        A checkpoint of `tf.train.Saver` is matched by the names of variables.

        Args:
          save_path: The prefix of the checkpoint; None to initialize the variables instead.

        Returns:
          A status object, with assertions about the match and the methods that restore.

        Raises:
          NotFoundError: If there is no such checkpoint.
        """
        status = self._status(save_path)
        if not executing_eagerly():
            _ = self.save_counter
            return status
        _ = self.save_counter
        if isinstance(status, CheckpointLoadStatus):
            self._restoring = status  # which restores what is made later
            status.restore_now()
        elif isinstance(status, NameBasedSaverStatus):
            status.run_restore_ops()
        return status

    def _status(self, save_path: str | None) -> LoadStatus:
        if save_path is None:
            return InitializationOnlyStatus(self)
        save_path = os.fspath(save_path)
        with open_checkpoint(save_path) as reader:
            graph = read_object_graph(reader)
        if graph is None:
            return NameBasedSaverStatus(self, save_path)
        return CheckpointLoadStatus(self, save_path, graph, self._restorer)


# ------------------------------------------------------------------------------------- how a restore has gone


class LoadStatus:
    """What `Checkpoint.restore` returns: checks that chain, and the restoring itself."""

    def __init__(self, root: Any):
        self._root = root

    def assert_consumed(self) -> LoadStatus:
        """Raises AssertionError unless all objects, and all values of the checkpoint, have been matched.

        Returns:
          This status.
        """
        raise AssertionError(_NO_CHECKPOINT)

    def assert_existing_objects_matched(self) -> LoadStatus:
        """Raises AssertionError unless all objects of the program have been matched.

        Returns:
          This status.
        """
        raise AssertionError(_NO_CHECKPOINT)

    def assert_nontrivial_match(self) -> LoadStatus:
        """Raises AssertionError if no object except the root has been matched.

        Returns:
          This status.
        """
        raise AssertionError(_NO_CHECKPOINT)

    def expect_partial(self) -> LoadStatus:
        """Suppresses warnings about values of the checkpoint that were not used.

        Returns:
          This status.
        """
        return self

    def run_restore_ops(self, session: SessionLike | None = None) -> None:
        """Restores the values of all objects that belong to the group now.

        Args:
          session: The session; the default session if None.
        """
        raise AssertionError(
            "No checkpoint specified, so no restore ops are available (save_path=None to Saver.restore)."
        )

    def initialize_or_restore(self, session: SessionLike | None = None) -> None:
        """Restores the values in the checkpoint and initializes all other variables.

        Args:
          session: The session; the default session if None.
        """
        session = session_or_default(session)
        if executing_eagerly():
            return  # all variables have values
        with session.graph.as_default():
            session.run(object_saver.initializers_of(object_saver.list_objects(self._root)))


_NO_CHECKPOINT = "No checkpoint specified (save_path=None); nothing is being restored."


class InitializationOnlyStatus(LoadStatus):
    """There is no checkpoint: variables are initialized."""


class CheckpointLoadStatus(LoadStatus):
    """A restore from a checkpoint of objects."""

    def __init__(self, root: Any, save_path: str, graph: Any, restorer: ObjectRestorer):
        super().__init__(root)
        self._save_path = save_path
        self._graph = graph
        self._restorer = restorer
        self._partial = False
        self._states_restored: set[str] = set()
        self._values_restored: set[str] = set()  # by key, in eager mode
        self._unresolved: list[str] = []
        self._match()

    def _match(self) -> Matching:
        """Objects and their partners by now; the program's own state, which needs no session, is restored."""
        found = object_saver.matched(self._root, self._graph)
        for one, other in found.clashes:
            _log.warning(
                "Inconsistent references when loading the checkpoint into this object graph. Two checkpoint "
                "references resolved to different objects (%s and %s).",
                one,
                other,
            )
        paths = readable_paths(self._graph)
        numbers = range(len(self._graph.nodes))
        self._unresolved = [paths.get(n, f"object {n}") for n in numbers if n not in found.bound]
        self._restore_states(found)
        return found

    def _restore_states(self, found: Matching) -> None:
        new = {key: state for key, state in found.states.items() if key not in self._states_restored}
        self._states_restored |= new.keys()
        if new:
            with open_checkpoint(self._save_path) as reader:
                for key, state in new.items():
                    state.deserialize(reader.read(key)[()])

    def assert_consumed(self) -> CheckpointLoadStatus:
        self.assert_existing_objects_matched()
        found = self._match()
        paths = readable_paths(self._graph)
        for number, node in enumerate(self._graph.nodes):
            if number not in found.bound:
                raise AssertionError(f"Unresolved object in checkpoint {paths.get(number, number)}: {node}")
        if found.unused_values:
            lines = (f"{paths[n]} ({found.bound[n]}): {names}" for n, names in found.unused_values.items())
            raise AssertionError(
                "Unused attributes in these objects (the attributes exist in the checkpoint but were not "
                "restored):\n" + "\n".join(lines)
            )
        return self

    def _unmatched(self) -> tuple[list[Any], int]:
        """Objects of the program without partner (lists and dictionaries of nothing need none)."""
        bound = self._match().bound
        partners = {id(partner) for partner in bound.values()}
        objects = object_saver.list_objects(self._root)
        return [one for one in objects if id(one) not in partners and not _is_empty(one)], len(bound)

    def assert_existing_objects_matched(self) -> CheckpointLoadStatus:
        unmatched, _ = self._unmatched()
        if unmatched:
            raise AssertionError(
                "Some Python objects were not bound to checkpointed values, likely due to changes in the "
                f"Python program: {unmatched}"
            )
        return self

    def assert_nontrivial_match(self) -> CheckpointLoadStatus:
        unmatched, bound = self._unmatched()
        if bound > 1:
            return self
        if unmatched:
            raise AssertionError(
                "Nothing except the root object matched a checkpointed value. Typically this means that the "
                "checkpoint does not match the Python program. The following objects have no matching "
                f"checkpointed value: {unmatched}"
            )
        raise AssertionError(f"Nothing to load. No dependencies have been added to {self._root} yet.")

    def expect_partial(self) -> CheckpointLoadStatus:
        self._partial = True
        return self

    def restore_now(self) -> None:
        """Restores, in eager mode, what has not been restored yet, and the rest as objects are made."""
        found = self._match()
        new = {key: value for key, value in found.values.items() if key not in self._values_restored}
        self._values_restored |= new.keys()
        self._restorer.restore(None, self._save_path, new)
        if self._unresolved:
            restore_when_made(self, self._root)

    def run_restore_ops(self, session: SessionLike | None = None) -> None:
        if executing_eagerly():
            self.restore_now()
            return
        self._restore(session_or_default(session))

    def _restore(self, session: Any) -> Matching:
        with session.graph.as_default():
            found = self._match()
        self._restorer.restore(session, self._save_path, found.values)
        return found

    def initialize_or_restore(self, session: SessionLike | None = None) -> None:
        if executing_eagerly():
            self.restore_now()
            return
        session = session_or_default(session)
        found = self._restore(session)
        restored = {id(partner) for partner in found.bound.values()}
        with session.graph.as_default():
            others = [one for one in object_saver.list_objects(self._root) if id(one) not in restored]
            session.run(object_saver.initializers_of(others))

    def __del__(self) -> None:
        if getattr(self, "_partial", True) or sys.is_finalizing():
            return
        for path in self._unresolved:
            _log.warning("Unresolved object in checkpoint: %s", path)
        if self._unresolved:
            _log.warning(
                "A checkpoint was restored (tf.train.Checkpoint.restore) but not all checkpointed values "
                "were used. Use expect_partial() on the load status object to silence these warnings, or "
                "assert_consumed() to make the check explicit."
            )


def _is_empty(value: Any) -> bool:
    return isinstance(value, (list, dict)) and not children_of(value)


class NameBasedSaverStatus(LoadStatus):
    """A restore from a checkpoint that `tf.train.Saver` wrote: variables are found by their names."""

    def __init__(self, root: Checkpoint, save_path: str):
        super().__init__(root)
        self._save_path = save_path
        self._restored: set[int] = set()

    def assert_consumed(self) -> NameBasedSaverStatus:
        for one in object_saver.list_objects(self._root):
            if id(one) not in self._restored:
                raise AssertionError(f"Object not restored: {one}")
        return self

    assert_existing_objects_matched = assert_nontrivial_match = assert_consumed

    def run_restore_ops(self, session: SessionLike | None = None) -> None:
        if executing_eagerly():
            objects = object_saver.list_objects(self._root)
            wanted = [one for one in objects if isinstance(one, Variable) and one is not self._root._counter]
            Saver(wanted).restore(None, self._save_path)
            self._restored = {id(one) for one in objects}
            return
        session = session_or_default(session)
        with session.graph.as_default(), open_checkpoint(self._save_path) as reader:
            objects = object_saver.list_objects(self._root)
            counter = self._root.save_counter
            wanted = [one for one in objects if isinstance(one, Variable) and one is not counter]
            if counter.op.name in reader:
                wanted.append(counter)
            else:  # the other kind of checkpoint has no such thing
                session.run(counter.initializer)
            Saver(wanted).restore(session, self._save_path)
        self._restored = {id(one) for one in objects}

    initialize_or_restore = run_restore_ops
