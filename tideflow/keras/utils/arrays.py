"""Arrays of labels, and arrays in HDF5 files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from tideflow.export import export
from tideflow.keras.saving.hdf5 import require_h5py


@export("keras.utils.to_categorical")
def to_categorical(y: Any, num_classes: int | None = None, dtype: str = "float32") -> np.ndarray:
    """Converts numbers of classes to one-hot rows.

    Args:
      y: The numbers, as an array.
      num_classes: The number of classes; the largest number plus one if None.
      dtype: The type of the result.

    Returns:
      An array with an axis more.
    """
    y = np.array(y, dtype="int")
    shape = y.shape
    if shape and shape[-1] == 1 and len(shape) > 1:
        shape = tuple(shape[:-1])
    y = y.ravel()
    if not num_classes:
        num_classes = int(np.max(y)) + 1
    rows = np.zeros((y.shape[0], num_classes), dtype=dtype)
    rows[np.arange(y.shape[0]), y] = 1
    return np.reshape(rows, (*shape, num_classes))


@export("keras.utils.normalize")
def normalize(x: Any, axis: int = -1, order: int = 2) -> np.ndarray:
    """Divides an array by its norm along an axis.

    Args:
      x: The array.
      axis: The axis.
      order: The order of the norm.

    Returns:
      An array of the same shape.
    """
    norm = np.atleast_1d(np.linalg.norm(x, order, axis))
    norm[norm == 0] = 1
    return x / np.expand_dims(norm, axis)


def rows_of_file(data: Any, numbers: np.ndarray) -> np.ndarray:
    """Rows of a dataset in the order of `numbers`: the file gives them in its own order, and each once."""
    ordered, places = np.unique(numbers, return_inverse=True)
    return data[ordered][places]


@export("keras.utils.HDF5Matrix")
class HDF5Matrix:
    """A part of a dataset in an HDF5 file, in the place of an array.

    Args:
      datapath: The path of the file.
      dataset: The name of the dataset in it.
      start: The first row.
      end: The end of the rows, which is not included; the last row if None.
      normalizer: A function that is applied to what is read.
    """

    refs: Counter[str] = Counter()  # how many parts of a file were taken, by its path

    def __init__(
        self,
        datapath: str,
        dataset: str,
        start: int = 0,
        end: int | None = None,
        normalizer: Callable | None = None,
    ):
        self._file = require_h5py().File(datapath, "r")
        self.refs[datapath] += 1
        self.data = self._file[dataset]
        self.start = start
        self.end = self.data.shape[0] if end is None else end
        self.normalizer = normalizer

    def __len__(self) -> int:
        return self.end - self.start

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            start, stop = key.start or 0, len(self) if key.stop is None else key.stop
            self._check(stop - 1)
            found = self.data[start + self.start : stop + self.start]
        elif isinstance(key, (int, np.integer)):
            self._check(key)
            found = self.data[int(key) + self.start]
        else:
            numbers = np.asarray(key, dtype=np.int64)
            self._check(max(numbers, default=-1))
            found = rows_of_file(self.data, numbers + self.start)
        return found if self.normalizer is None else self.normalizer(found)

    def _check(self, row: int) -> None:
        if row >= len(self):
            raise IndexError(f"row {row} of {len(self)}")

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the part."""
        return (len(self), *self.data.shape[1:])

    @property
    def dtype(self) -> Any:
        """The type of the elements, normalized or not."""
        return self[0:1].dtype

    @property
    def ndim(self) -> int:
        """The rank."""
        return self.data.ndim

    @property
    def size(self) -> Any:
        """The number of elements."""
        return np.prod(self.shape)
