"""The numbers in tables of pandas and of dask, and input functions of arrays and tables."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tideflow.estimator.inputs.arrays import numpy_input_fn as core_numpy_input_fn
from tideflow.estimator.inputs.frames import pandas_input_fn as core_pandas_input_fn
from tideflow.export import export
from tideflow.platform.deprecation import deprecated

if TYPE_CHECKING:
    import numpy as np
    import pandas

_DIRECTLY = "Please access pandas data directly."
_DASK = "Please feed input to tf.data to support dask."
_NUMBERS = {"bool"} | {f"{kind}{size}" for kind in ("int", "uint") for size in (8, 16, 32, 64)}
_NUMBERS |= {"float16", "float32", "float64"}


def _classes(module: str, *names: str) -> tuple[type, ...]:
    """Classes of a library, if it is loaded. Otherwise the program has no objects of them."""
    library = sys.modules.get(module)
    return tuple(getattr(library, name) for name in names) if library else ()


def _check_numbers(table: Any, what: str) -> None:
    bad = [
        f"'{name}' type='{table[name].dtype.name}'"
        for name in table
        if table[name].dtype.name not in _NUMBERS
    ]
    if bad:
        raise ValueError(
            f"Data types for extracting {what} must be int, float, or bool. Found: {', '.join(bad)}"
        )


@export("contrib.learn.extract_pandas_data", "contrib.learn.io.extract_pandas_data")
@deprecated(None, _DIRECTLY)
def extract_pandas_data(data: Any) -> Any:
    """Makes an array of floats of a table.

    Args:
      data: A `pandas.DataFrame`; anything else is returned as it is.

    Returns:
      The array.

    Raises:
      ValueError: If a column has other things than numbers.
    """
    if not isinstance(data, _classes("pandas", "DataFrame")):
        return data
    _check_numbers(data, "pandas data")
    return data.values.astype("float")


@export("contrib.learn.extract_pandas_matrix", "contrib.learn.io.extract_pandas_matrix")
@deprecated(None, _DIRECTLY)
def extract_pandas_matrix(data: Any) -> Any:
    """Makes an array of a table, of whatever type its columns have.

    Args:
      data: A `pandas.DataFrame`; anything else is returned as it is.

    Returns:
      The array.
    """
    return data.values if isinstance(data, _classes("pandas", "DataFrame")) else data


@export("contrib.learn.extract_pandas_labels", "contrib.learn.io.extract_pandas_labels")
@deprecated(None, _DIRECTLY)
def extract_pandas_labels(labels: Any) -> Any:
    """Makes an array of a table of labels.

    Args:
      labels: A `pandas.DataFrame` of one column; anything else is returned as it is.

    Returns:
      The array.

    Raises:
      ValueError: If there are several columns, or other things than numbers.
    """
    if not isinstance(labels, _classes("pandas", "DataFrame")):
        return labels
    if len(labels.columns) > 1:
        raise ValueError("Only one column for labels is allowed.")
    _check_numbers(labels, "labels")
    return labels.values


def is_dask(data: Any) -> bool:
    return isinstance(data, _classes("dask.dataframe", "Series", "DataFrame"))


def _numbered(data: Any) -> Any:
    """A table of dask with its rows numbered through all of its parts."""
    lengths = data.map_partitions(len).compute()
    starts = [0, *lengths.cumsum().tolist()]
    numbered = data.to_delayed()
    dask_frames = sys.modules["dask.dataframe"]
    dask = sys.modules["dask"]

    @dask.delayed
    def moved(part: Any, start: int) -> Any:
        part = part.copy()
        part.index += start
        return part

    parts = [moved(part, start) for part, start in zip(numbered, starts[:-1], strict=True)]
    divisions = [*starts[:-1], max(starts[-1] - 1, 0)]
    return dask_frames.from_delayed(parts, meta=data._meta, divisions=divisions)


@export("contrib.learn.extract_dask_data", "contrib.learn.io.extract_dask_data")
@deprecated(None, _DASK)
def extract_dask_data(data: Any) -> Any:
    """Numbers the rows of a table of dask.

    Args:
      data: A table or a column of dask; anything else is returned as it is.

    Returns:
      The table.
    """
    return _numbered(data) if is_dask(data) else data


@export("contrib.learn.extract_dask_labels", "contrib.learn.io.extract_dask_labels")
@deprecated(None, _DASK)
def extract_dask_labels(labels: Any) -> Any:
    """Numbers the rows of labels in a table of dask.

    Args:
      labels: A table with one column, or a column, of dask; anything else is returned as it is.

    Returns:
      The table.

    Raises:
      ValueError: If there are several columns.
    """
    if not is_dask(labels):
        return labels
    if isinstance(labels, _classes("dask.dataframe", "DataFrame")) and len(labels.columns) > 1:
        raise ValueError("Only one column for labels is allowed.")
    return _numbered(labels)


@export("contrib.learn.io.pandas_input_fn")
@deprecated(None, "Please use tf.compat.v1.estimator.inputs.pandas_input_fn")
def pandas_input_fn(
    x: pandas.DataFrame,
    y: pandas.Series | pandas.DataFrame | None = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool = True,
    queue_capacity: int = 1000,
    num_threads: int = 1,
    target_column: str = "target",
) -> Callable[[], Any]:
    """Makes an input function of a table.

    Args:
      x: The table of the features.
      y: The labels.
      batch_size: The number of rows in a batch.
      num_epochs: How often the table is read; without end if None.
      shuffle: Whether rows come in random order.
      queue_capacity: The size of the queue.
      num_threads: How many threads read; one if the order matters.
      target_column: The name of the labels' column.

    Returns:
      The input function.
    """
    return core_pandas_input_fn(
        x, y, batch_size, num_epochs, shuffle, queue_capacity, num_threads, target_column
    )


@export("contrib.learn.io.numpy_input_fn")
@deprecated(None, "Use tf.compat.v1.estimator.inputs.numpy_input_fn.")
def numpy_input_fn(
    x: np.ndarray | dict[str, np.ndarray],
    y: np.ndarray | dict[str, np.ndarray] | None = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool = True,
    queue_capacity: int = 1000,
    num_threads: int = 1,
) -> Callable[[], Any]:
    """Makes an input function of arrays.

    Args:
      x: The features, as an array or arrays by name.
      y: The labels, likewise.
      batch_size: The number of rows in a batch.
      num_epochs: How often the arrays are read; without end if None.
      shuffle: Whether rows come in random order.
      queue_capacity: The size of the queue.
      num_threads: How many threads read; one if the order matters.

    Returns:
      The input function.
    """
    return core_numpy_input_fn(x, y, batch_size, num_epochs, shuffle, queue_capacity, num_threads)
