"""Features of any kind as forests take them: numbers in one matrix, and what its columns were."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.export import export
from tideflow.runtime.forest_data import CATEGORICAL, FLOAT

if TYPE_CHECKING:
    from tideflow.graph.composite import SparseTensor
    from tideflow.graph.operation import Tensor
    from tideflow.graph.typing import TensorLike

_log = logging.getLogger("tensorflow")
_KINDS = {
    tf.string: CATEGORICAL,
    tf.int32: CATEGORICAL,
    tf.int64: CATEGORICAL,
    tf.float32: FLOAT,
    tf.float64: FLOAT,
}


@export("contrib.tensor_forest.data_ops.CastToFloat")
def CastToFloat(tensor: Tensor) -> Tensor:
    """Makes numbers of type float32 of integers and strings, as forests compare them.

    Args:
      tensor: A tensor of any type.

    Returns:
      The tensor; strings as their hashes.
    """
    if tensor.dtype == tf.string:
        return tf.contrib.tensor_forest.tensor_forest_ops.reinterpret_string_to_float(tensor)
    return tf.cast(tensor, tf.float32) if tensor.dtype.is_integer else tensor


@export("contrib.tensor_forest.data_ops.DataColumn")
class DataColumn:
    """A column: its name, the kind of its values, how many it has for an example."""

    def __init__(self) -> None:
        self.name: str = ""
        self.original_type: Any = ""
        self.size: Any = 0

    def SerializeToString(self) -> str:
        """The column as text."""
        return f"name: {self.name} original_type: {self.original_type} size: {self.size}"


@export("contrib.tensor_forest.data_ops.DataColumnCollection")
class DataColumnCollection:
    """Columns in order."""

    def __init__(self) -> None:
        self.cols: list[DataColumn] = []

    def add(self) -> DataColumn:
        """Adds a column, which is returned."""
        self.cols.append(DataColumn())
        return self.cols[-1]

    def size(self) -> int:
        """The number of columns."""
        return len(self.cols)

    def SerializeToString(self) -> str:
        """The columns as text."""
        return "".join(f"{{{column.SerializeToString()}}}" for column in self.cols)


@export("contrib.tensor_forest.data_ops.TensorForestDataSpec")
class TensorForestDataSpec:
    """What the columns of a forest's features are, dense and sparse."""

    def __init__(self) -> None:
        self.sparse = DataColumnCollection()
        self.dense = DataColumnCollection()
        self.dense_features_size: Any = 0

    def SerializeToString(self) -> str:
        """The columns as text."""
        dense, sparse = self.dense.SerializeToString(), self.sparse.SerializeToString()
        return f"dense_features_size: {self.dense_features_size} dense: [{dense}] sparse: [{sparse}]"


@export("contrib.tensor_forest.data_ops.GetColumnName")
def GetColumnName(column_key: Any, col_num: int) -> str:
    """Names a column.

    Args:
      column_key: Its name, or an object with a `column_name`.
      col_num: Its number, for one that has no name.

    Returns:
      The name.
    """
    return column_key if isinstance(column_key, str) else getattr(column_key, "column_name", str(col_num))


def _described(columns: DataColumnCollection, name: str, kind: int, size: Any) -> None:
    column = columns.add()
    column.name, column.original_type, column.size = name, kind, size


@export("contrib.tensor_forest.data_ops.ParseDataTensorOrDict")
def ParseDataTensorOrDict(
    data: TensorLike | SparseTensor | Mapping[Any, Any],
) -> tuple[Tensor | None, SparseTensor | None, TensorForestDataSpec]:
    """Puts features together, the dense ones in a matrix and the sparse ones in a sparse tensor.

    Args:
      data: A tensor [examples, features], a sparse one, or several by name.

    Returns:
      The dense features, the sparse ones (None where there are none), and what the columns were.
    """
    spec = TensorForestDataSpec()
    if isinstance(data, tf.SparseTensor):
        _described(spec.sparse, "sparse_features", _KINDS[data.dtype], -1)
        return None, data, spec
    if not isinstance(data, dict):
        tensor = tf.convert_to_tensor(data)
        _described(spec.dense, "dense_features", _KINDS[tensor.dtype], tensor.shape[1])
        spec.dense_features_size = tensor.shape[1]
        return tensor, None, spec
    dense, sparse = [], []
    for name in sorted(data):
        feature = data[name]
        if not isinstance(feature, tf.SparseTensor):
            size = 1 if feature.shape.ndims == 1 else feature.shape[1].value
            _described(spec.dense, GetColumnName(name, len(dense)), _KINDS[feature.dtype], size)
            spec.dense_features_size += size
            dense.append(CastToFloat(feature))
        elif feature.dtype == tf.float32:
            _log.info("TensorForest does not support sparse continuous.")
        else:
            if not spec.sparse.size():
                _described(spec.sparse, "all_sparse", CATEGORICAL, -1)
            numbers = CastToFloat(feature.values)
            sparse.append(tf.SparseTensor(feature.indices, numbers, feature.dense_shape))
    _log.info(spec.SerializeToString())
    joined = tf.concat(dense, 1) if dense else None
    return joined, tf.sparse_concat(1, sparse) if sparse else None, spec


@export("contrib.tensor_forest.data_ops.ParseLabelTensorOrDict")
def ParseLabelTensorOrDict(labels: TensorLike | SparseTensor | Mapping[Any, Any]) -> Tensor:
    """Makes one tensor of labels.

    Args:
      labels: A tensor, a sparse one, or several by name.

    Returns:
      A tensor of type float32; those by name side by side.
    """

    def dense(tensor: Any) -> Any:
        is_sparse = isinstance(tensor, tf.SparseTensor)
        return tf.sparse_tensor_to_dense(tensor, default_value=-1) if is_sparse else tensor

    if isinstance(labels, dict):
        return tf.cast(tf.concat([dense(labels[name]) for name in sorted(labels)], 1), tf.float32)
    return tf.cast(dense(labels), tf.float32)
