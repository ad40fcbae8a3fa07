"""Saving and restoring in eager mode: the same saveables as a graph's, by ops that run at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tideflow.graph.shapes import TensorShape
from tideflow.io.old_checkpoints import open_checkpoint
from tideflow.ops.files.checkpoints import restore_v2_op, save_v2_op
from tideflow.ops.helpers.variables import variable_shape_of


def save_now(prefix: str, saveables: Sequence[Any]) -> str:
    """Writes the saveables into one checkpoint."""
    specs = [spec for saveable in saveables for spec in saveable.specs]
    names, slices = [spec.name for spec in specs], [spec.slice_spec for spec in specs]
    save_v2_op(prefix, names, slices, [spec.tensor for spec in specs])
    return prefix


def restore_now(prefix: str, saveables: Sequence[Any], keys: dict[str, str] | None = None) -> None:
    """Gives the saveables what a checkpoint has: all of them, or none where anything is amiss.

    `keys` are the names in the checkpoint of what is called something else there.
    """
    restored = []
    with open_checkpoint(prefix) as reader:
        for saveable in saveables:
            specs = saveable.specs
            names = [(keys or {}).get(spec.name, spec.name) for spec in specs]
            slices, types = [spec.slice_spec for spec in specs], [spec.dtype.base_dtype for spec in specs]
            _check_shape(reader, saveable, names[0])
            restored.append(restore_v2_op(prefix, names, slices, dtypes=types))
    for saveable, tensors in zip(saveables, restored, strict=True):
        saveable.restore(tensors, None)


def _check_shape(reader: Any, saveable: Any, key: str) -> None:
    handle = getattr(saveable, "_handle", None)
    if handle is None or saveable.specs[0].slice_spec or key not in reader:
        return
    known, found = variable_shape_of(handle.shape), reader.entry(key).shape
    if not known.is_compatible_with(found):
        raise ValueError(f"Shapes {known} and {TensorShape(found)} are incompatible (key {key!r})")
