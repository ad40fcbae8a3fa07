"""The nodes by which a saver saves and restores, under the names that TensorFlow gives them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorboard.compat.proto.saver_pb2 import SaverDef

from tideflow.graph import device as devices
from tideflow.graph.fresh_names import fresh_id
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import control_dependencies, device, name_scope
from tideflow.ops.arrays import constants, shapes
from tideflow.ops.control_flow import grouping
from tideflow.ops.files import checkpoints
from tideflow.ops.strings import joined
from tideflow.train.saveables import on_cpu, saveables_of

Shards = list[tuple[str, list[Any]]]


class SaverBuilder:
    """Adds the nodes of a saver to the graph. Subclasses may save and restore by other operations."""

    def __init__(self, write_version: int = SaverDef.V2):
        self._write_version = write_version

    def build(
        self,
        names_to_saveables: Any,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
        restore_sequentially: bool = False,
        filename: str | None = "model",
    ) -> SaverDef:
        """Makes the nodes; the message says which of them to feed and to run."""
        saveables = saveables_of(names_to_saveables)
        with name_scope(name, "save", [saveable.op for saveable in saveables]):
            path = constants.placeholder_with_default(filename or "model", shape=(), name="filename")
            path = constants.placeholder_with_default(path, shape=(), name="Const")
            if sharded:
                shards = by_device(saveables)
                saved = self._save_sharded(path, shards)
                restored = self._restore_sharded(path, shards, reshape)
            else:
                saved = self._save(path, saveables)
                restored = self._restore(path, saveables, reshape, "restore_all")
        return SaverDef(
            filename_tensor_name=path.name,
            save_tensor_name=saved.name,
            restore_op_name=restored.name,
            max_to_keep=max_to_keep or 0,
            sharded=sharded,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            version=self._write_version,
        )

    def build_restore(self, saveables: Sequence[Any]) -> SaverDef:
        """Makes only the nodes that restore."""
        with name_scope("restore"):
            path = constants.placeholder_with_default("model", shape=(), name="filename")
            restored = self._restore_sharded(path, by_device(saveables), reshape=False)
        return SaverDef(filename_tensor_name=path.name, restore_op_name=restored.name)

    # ------------------------------------------------------------------------------------------------- saving

    def save_op(self, filename_tensor: Tensor, saveables: Sequence[Any]) -> Operation:
        """The operation that saves."""
        specs = [spec for saveable in saveables for spec in saveable.specs]
        names = [spec.name for spec in specs]
        slices = [spec.slice_spec for spec in specs]
        tensors = [spec.tensor for spec in specs]
        if self._write_version == SaverDef.V1:
            return checkpoints.save_slices_op(filename_tensor, names, slices, tensors, name="save")
        return checkpoints.save_v2_op(filename_tensor, names, slices, tensors)

    def _save(self, path: Tensor, saveables: Sequence[Any]) -> Tensor:
        return grouping.with_dependencies([self.save_op(path, saveables)], path)

    def _save_sharded(self, path: Tensor, shards: Shards) -> Tensor:
        """Every device saves its own; in the second format under names that a merge then replaces."""
        if self._write_version != SaverDef.V1:
            written = merged_shards(path, shards, lambda name, saveables: self._save(name, saveables).op)
            with device(on_cpu(shards[-1][0])), control_dependencies(written):
                return constants.identity(path)
        count = constants.constant(len(shards), name="num_shards")
        saves = []
        for shard, (place, saveables) in enumerate(shards):
            with device(place):
                saves.append(self._save(checkpoints.sharded_filename_op(path, shard, count), saveables))
        with control_dependencies([save.op for save in saves]):
            return checkpoints.sharded_filespec_op(path, count)

    # ---------------------------------------------------------------------------------------------- restoring

    def restore_ops(self, filename_tensor: Tensor, saveables: Sequence[Any]) -> list[Tensor]:
        """The tensors of all saveables, out of the file."""
        specs = [spec for saveable in saveables for spec in saveable.specs]
        with device("CPU:0"):
            return checkpoints.restore_v2_op(
                filename_tensor,
                [spec.name for spec in specs],
                [spec.slice_spec for spec in specs],
                dtypes=[spec.dtype.base_dtype for spec in specs],
            )

    def _restore(self, path: Tensor, saveables: Sequence[Any], reshape: bool, name: str) -> Operation:
        tensors = iter(self.restore_ops(path, saveables))
        assigned = []
        for saveable in saveables:
            wanted = [_shape_of(spec.tensor) for spec in saveable.specs] if reshape else None
            assigned.append(saveable.restore([next(tensors) for _ in saveable.specs], wanted))
        return grouping.group(*assigned, name=name)

    def _restore_sharded(self, path: Tensor, shards: Shards, reshape: bool) -> Operation:
        restored = []
        for name, saveables in shards:
            with device(name):
                restored.append(self._restore(path, saveables, reshape, "restore_shard"))
        return grouping.group(*restored, name="restore_all")


def merged_shards(path: Tensor, shards: Shards, save: Callable[[Tensor, list[Any]], Any]) -> list[Any]:
    """The operations by which `save` writes on each device; the last one makes one checkpoint of all."""
    base = joined.string_join([path, f"_temp_{fresh_id().hex}/part"])
    count = constants.constant(len(shards), name="num_shards")
    names, saves = [], []
    for shard, (place, saveables) in enumerate(shards):
        with device(on_cpu(place)):
            names.append(checkpoints.sharded_filename_op(base, shard, count))
            saves.append(save(names[-1], saveables))
    with control_dependencies(saves), device(on_cpu(shards[-1][0])):
        return [*saves, checkpoints.merge_v2_checkpoints_op(names, path, delete_old_dirs=True)]


def _shape_of(tensor: Any) -> Any:
    known = tensor.get_shape()
    return known.as_list() if known.is_fully_defined() else shapes.shape(tensor)


def by_device(saveables: Sequence[Any]) -> Shards:
    """What is saved together, by its device; devices sorted by name."""
    shards: dict[str, list[Any]] = {}
    for saveable in saveables:
        places = {devices.canonical_name(spec.device) for spec in saveable.specs}
        if len(places) != 1:
            raise ValueError(f"All tensors of a saveable object must be on the same device: {saveable.name}")
        shards.setdefault(places.pop(), []).append(saveable)
    return sorted(shards.items())
