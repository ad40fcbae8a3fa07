"""`tensorflow.python.training.saving.functional_saver`: checkpoints of saveable objects, without a Saver."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tensorboard.compat.proto.saver_pb2 import SaverDef

import tideflow as tf
from tideflow.ops.files import checkpoints
from tideflow.train.saveables import is_saveable
from tideflow.train.saver_graph import SaverBuilder, by_device, merged_shards

sharded_filename = checkpoints.sharded_filename_op


class _SingleDeviceSaver:
    """Saves and restores on the current device.

    Args:
      saveable_objects: What is saved.
    """

    def __init__(self, saveable_objects: Iterable[Any]):
        self._saveables = list(saveable_objects)
        for saveable in self._saveables:
            if not is_saveable(saveable):
                raise ValueError(f"Expected a list of SaveableObjects, got {saveable}.")

    def save(self, file_prefix: Any) -> tf.Operation | None:
        """Writes a checkpoint.

        Args:
          file_prefix: The path of the checkpoint.

        Returns:
          The operation; None in eager mode.
        """
        with tf.device("cpu:0"):
            return SaverBuilder().save_op(file_prefix, self._saveables)

    def restore(self, file_prefix: Any) -> dict[str, Any]:
        """Gives everything its value in a checkpoint.

        Args:
          file_prefix: The path of the checkpoint.

        Returns:
          The operations that restore, by the names of what they restore.
        """
        tensors = iter(SaverBuilder().restore_ops(file_prefix, self._saveables))
        return {
            saveable.name: saveable.restore([next(tensors) for _ in saveable.specs], None)
            for saveable in self._saveables
        }


class MultiDeviceSaver:
    """Saves every object on its device, into one checkpoint.

    Args:
      saveable_objects: What is saved.
    """

    def __init__(self, saveable_objects: Iterable[Any]):
        saveables = list(saveable_objects)
        for saveable in saveables:
            if not is_saveable(saveable):
                raise ValueError(f"Expected a dictionary of SaveableObjects, got {saveable}.")
        self._shards = by_device(saveables)

    def to_proto(self) -> SaverDef:
        """The message by which a Saver of this graph saves and restores."""
        path = tf.placeholder(tf.string, [], name="saver_filename")
        saved = tf.function(self._saved, autograph=False)(path)
        restored = tf.function(self._restored, autograph=False)(path)
        return SaverDef(
            filename_tensor_name=path.name,
            save_tensor_name=saved.name,
            restore_op_name=restored.op.name,
            version=SaverDef.V2,
        )

    def _saved(self, path: tf.Tensor) -> tf.Tensor:
        with tf.control_dependencies([self.save(path)]):
            return tf.identity(path)

    def _restored(self, path: tf.Tensor) -> tf.Tensor:
        with tf.control_dependencies(list(self.restore(path).values())):
            return tf.identity(path)

    def save(self, file_prefix: Any) -> tf.Operation | None:
        """Writes a checkpoint.

        Args:
          file_prefix: The path of the checkpoint.

        Returns:
          The operation; None in eager mode.
        """
        *_, merge = merged_shards(
            file_prefix, self._shards, lambda prefix, saveables: _SingleDeviceSaver(saveables).save(prefix)
        )
        return merge

    def restore(self, file_prefix: Any) -> dict[str, Any]:
        """Gives everything its value in a checkpoint.

        Args:
          file_prefix: The path of the checkpoint.

        Returns:
          The operations that restore, by the names of what they restore.
        """
        restored = {}
        for place, saveables in self._shards:
            with tf.device(place):
                restored.update(_SingleDeviceSaver(saveables).restore(file_prefix))
        return restored
