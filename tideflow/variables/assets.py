"""Files that belong to a program: a SavedModel takes them along."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor, register_tensor_conversion_function
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import device, init_scope
from tideflow.variables.trackable import Trackable

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


class TrackableAsset(Trackable):
    """A file, as the tensor of its path."""

    def __init__(self, path: TensorLike) -> None:
        with init_scope(), device("CPU"):
            self._path = convert_to_tensor(path, dtype=dtypes.string, name="asset_path")

    @property
    def asset_path(self) -> Tensor:
        """Where the file lies."""
        return self._path


def _path_of(
    asset: TrackableAsset, dtype: Any = None, name: str | None = None, as_ref: bool = False
) -> Tensor:
    return convert_to_tensor(asset.asset_path, dtype, name)


register_tensor_conversion_function(TrackableAsset, _path_of)
