"""`tensorflow.contrib.layers.python.layers.feature_column_ops`: columns transformed one at a time."""

from __future__ import annotations

from typing import Any


class _Transformer:
    """Keeps what columns were transformed to, so that each is transformed once.

    Args:
      columns_to_tensors: The features, and the columns transformed already. New ones are put in.
    """

    def __init__(self, columns_to_tensors: dict[Any, Any]):
        self._columns_to_tensors = columns_to_tensors

    def transform(self, feature_column: Any) -> Any:
        """The tensor of a column.

        Raises:
          ValueError: If the column makes none.
        """
        if feature_column not in self._columns_to_tensors:
            feature_column.insert_transformed_feature(self._columns_to_tensors)
        if feature_column not in self._columns_to_tensors:
            raise ValueError(f"Column {feature_column.name} is not supported.")
        return self._columns_to_tensors[feature_column]
