"""Tables of numbers with a column to predict, from files of comma-separated values."""

from __future__ import annotations

import csv
from collections import namedtuple
from typing import TYPE_CHECKING

import numpy as np

from tideflow.export import export
from tideflow.platform.gfile import GFile

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

Dataset = namedtuple("Dataset", ["data", "target"])


def _divided(
    rows: list[list[str]], target_dtype: DTypeLike, features_dtype: DTypeLike, target_column: int
) -> Dataset:
    target = [row.pop(target_column) for row in rows]
    return Dataset(data=np.array(rows).astype(features_dtype), target=np.array(target).astype(target_dtype))


@export("contrib.learn.datasets.base.load_csv_with_header")
def load_csv_with_header(
    filename: str, target_dtype: DTypeLike, features_dtype: DTypeLike, target_column: int = -1
) -> Dataset:
    """Reads a table whose first line says how many rows and features it has.

    Args:
      filename: The file.
      target_dtype: The type of the column to predict.
      features_dtype: The type of the other columns.
      target_column: Which column is to be predicted.

    Returns:
      The features as `data`, and the column to predict as `target`.

    Raises:
      ValueError: If the table is not of the size that its first line says.
    """
    with GFile(filename) as file:
        header, *rows = csv.reader(file)
    table = _divided(rows, target_dtype, features_dtype, target_column)
    wanted = int(header[0]), int(header[1])
    if table.data.shape != wanted:
        raise ValueError(f"{filename} says that it has {wanted} rows and features, not {table.data.shape}")
    return table


@export("contrib.learn.datasets.base.load_csv_without_header")
def load_csv_without_header(
    filename: str, target_dtype: DTypeLike, features_dtype: DTypeLike, target_column: int = -1
) -> Dataset:
    """Reads a table that has rows only.

    Args:
      filename: The file.
      target_dtype: The type of the column to predict.
      features_dtype: The type of the other columns.
      target_column: Which column is to be predicted.

    Returns:
      The features as `data`, and the column to predict as `target`.
    """
    with GFile(filename) as file:
        return _divided(list(csv.reader(file)), target_dtype, features_dtype, target_column)
