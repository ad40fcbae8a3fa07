"""Names of `tensorflow.python.training.tracking`, beside the public ones: objects, and savers of them."""

from __future__ import annotations

import os
from typing import Any

import tideflow as tf
from tideflow.io.object_graph import read_object_graph
from tideflow.io.old_checkpoints import open_checkpoint
from tideflow.train import object_saver
from tideflow.train.checkpoint import CheckpointLoadStatus, InitializationOnlyStatus, NameBasedSaverStatus
from tideflow.variables.trackable import children_of


class ObjectGraphView:
    """A root object, and all that is reached from it."""

    def __init__(self, root: Any, saveables_cache: Any = None):
        self.root = root
        self.saveables_cache = saveables_cache

    def list_dependencies(self, obj: Any) -> list[tuple[str, Any]]:
        """The objects that one holds, by name."""
        return [(name, child) for name, child in children_of(obj)]

    def list_objects(self) -> list[Any]:
        """The root and all objects below it."""
        return object_saver.list_objects(self.root)

    def frozen_saveable_objects(self, object_map: Any = None, to_graph: Any = None) -> list[Any]:
        """What a saver saves of the objects as they are now."""
        return object_saver.frozen_saveables(self.root)


class TrackableSaver:
    """Saves and restores the objects of a view, without a number of its own."""

    def __init__(self, graph_view: ObjectGraphView):
        self._graph_view = graph_view
        self._saver = object_saver.ObjectSaver(graph_view.root)
        self._restorer = object_saver.ObjectRestorer()

    def save(self, file_prefix: str, checkpoint_number: int | None = None, session: Any = None) -> str:
        """Writes a checkpoint, and returns its prefix."""
        if checkpoint_number:
            file_prefix = f"{file_prefix}-{int(checkpoint_number)}"
        return self._saver.save(file_prefix, session)

    def restore(self, save_path: str | None) -> Any:
        """Prepares a restore, as `tf.train.Checkpoint.restore` does."""
        root = self._graph_view.root
        if save_path is None:
            return InitializationOnlyStatus(root)
        save_path = os.fspath(save_path)
        with open_checkpoint(save_path) as reader:
            graph = read_object_graph(reader)
        if graph is None:
            return NameBasedSaverStatus(root, save_path)
        status = CheckpointLoadStatus(root, save_path, graph, self._restorer)
        if tf.executing_eagerly():
            status.restore_now()
        return status


def gather_initializers(root_trackable: Any) -> list[Any]:
    """The initializers of all objects below a root."""
    objects = object_saver.list_objects(root_trackable)
    found = [getattr(each, "initializer", None) for each in objects]
    return [initializer for initializer in found if initializer is not None]


def add_variable(
    trackable: Any,
    name: str,
    shape: Any = None,
    dtype: Any = tf.float32,
    initializer: Any = None,
    trainable: bool = True,
) -> Any:
    """Makes a variable that an object holds under a name.

    Args:
      trackable: The object.
      name: The name.
      shape: The shape; that of the initial value if None.
      dtype: The type.
      initializer: A function of a shape and a type, or the initial value.
      trainable: Whether optimizers change it by default.

    Returns:
      The variable.
    """
    if any(known == name for known, _ in children_of(trackable)):
        raise ValueError(
            f"A variable named '{name}' already exists in this Trackable, but Trackable._add_variable called "
            "to create another with that name. Variable names must be unique within a Trackable object."
        )
    if initializer is None:
        initializer = (
            tf.glorot_uniform_initializer() if tf.as_dtype(dtype).is_floating else tf.zeros_initializer()
        )
    if callable(initializer):
        maker = initializer() if isinstance(initializer, type) else initializer
        value: Any = lambda: maker(shape if shape is not None else (), dtype=dtype)
    else:
        value = initializer
    variable = tf.Variable(value, trainable=trainable, name=name, dtype=dtype, use_resource=True)
    trackable._track_trackable(variable, name=name)
    return variable
