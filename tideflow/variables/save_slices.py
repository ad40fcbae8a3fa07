"""The parts of partitioned variables in checkpoints."""

from __future__ import annotations

from collections.abc import Sequence

from tensorboard.compat.proto.variable_pb2 import SaveSliceInfoDef

from tideflow.variables.exported_names import prepend_name_scope, strip_name_scope


class SaveSliceInfo:
    """The part of a partitioned variable that this variable is. A checkpoint has the whole under one name.

    Args:
      full_name: The name of the whole variable.
      full_shape: The shape of the whole variable.
      var_offset: The offset of the part along each axis.
      var_shape: The shape of the part.
      save_slice_info_def: A SaveSliceInfoDef message, which replaces the other arguments.
      import_scope: The name scope under which the variable of the message was imported.
    """

    def __init__(
        self,
        full_name: str | None = None,
        full_shape: Sequence[int] | None = None,
        var_offset: Sequence[int] | None = None,
        var_shape: Sequence[int] | None = None,
        save_slice_info_def: SaveSliceInfoDef | None = None,
        import_scope: str | None = None,
    ) -> None:
        if save_slice_info_def is not None:
            self.full_name = prepend_name_scope(save_slice_info_def.full_name, import_scope)
            self.full_shape = list(save_slice_info_def.full_shape)
            self.var_offset = list(save_slice_info_def.var_offset)
            self.var_shape = list(save_slice_info_def.var_shape)
        else:
            self.full_name = full_name
            self.full_shape = full_shape
            self.var_offset = var_offset
            self.var_shape = var_shape

    @property
    def spec(self) -> str:
        """The part as checkpoints write it: the full shape, then offset,size for each axis."""
        sizes = " ".join(str(size) for size in self.full_shape)
        parts = ":".join(f"{offset},{size}" for offset, size in zip(self.var_offset, self.var_shape))
        return f"{sizes} {parts}"

    def to_proto(self, export_scope: str | None = None) -> SaveSliceInfoDef | None:
        """The SaveSliceInfoDef message; None if the variable is not in the exported scope."""
        if export_scope is not None and not self.full_name.startswith(export_scope):
            return None
        return SaveSliceInfoDef(
            full_name=strip_name_scope(self.full_name, export_scope),
            full_shape=self.full_shape,
            var_offset=self.var_offset,
            var_shape=self.var_shape,
        )
