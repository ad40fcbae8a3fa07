"""Tables of numbers with a column to predict, from files of comma-separated values."""

from __future__ import annotations

import csv
from collections import namedtuple
from typing import TYPE_CHECKING

import numpy as np

from tideflow.export import export, expose
from tideflow.platform.deprecation import deprecated
from tideflow.platform.gfile import GFile

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

Dataset = namedtuple("Dataset", ["data", "target"])
expose(Dataset, "contrib.learn.datasets.base.Dataset")


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


@export("contrib.learn.datasets.base.shrink_csv")
@deprecated(None, "Use tf.data instead.")
def shrink_csv(filename: str, ratio: int) -> None:
    """Writes some of a table's rows to a file whose name has `_small` before the suffix.

    Args:
      filename: The file of the table.
      ratio: Each row whose number is a multiple of this is taken.
    """
    with GFile(filename) as whole, GFile(filename.replace(".", "_small."), "w") as small:
        csv.writer(small).writerows(
            row for number, row in enumerate(csv.reader(whole)) if number % ratio == 0
        )
