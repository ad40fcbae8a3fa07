"""A data set divided into splits and written, in one pass."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from tideflow.pipeline.data.faults import Faults
from tideflow.pipeline.data.sources import Source
from tideflow.pipeline.data.splits import split_block
from tideflow.pipeline.engine.run import transform_blocks

if TYPE_CHECKING:
    import pyarrow as pa


def write_splits(
    sources: Sequence[Source],
    folder: str | os.PathLike[str],
    splits: Mapping[str, int],
    features: Sequence[str] | None = None,
    format: str = "tfrecord",
    workers: int | None = None,
    ray: str | None = None,
    progress: Callable[[int, int], None] | None = None,
    faults: Faults | None = None,
) -> dict[str, int]:
    """Writes each split to a folder of its own, `Split-NAME`. The same sources make the same bytes.

    Args:
      sources: What is read.
      folder: The folder that the others are made in.
      splits: By the name of a split, its share: `{"train": 2, "eval": 1}`.
      features: The features that decide, so that rows that agree in them stay together. By default all.
      format: "tfrecord", "arrow" or "parquet".
      workers: As for `accumulate`, like the following ones.
      ray: The address of a Ray cluster.
      progress: Called with the number of sources that are done and of all.
      faults: Gets the faulty rows.

    Returns:
      By split, how many rows it has.
    """
    function = partial(_split, dict(splits), features)
    name = "data_tfrecord" if format == "tfrecord" else "data"
    rows = transform_blocks(sources, function, folder, format, workers, ray, progress, faults, name)
    return {name: rows.get(f"Split-{name}", 0) for name in splits}


def _split(
    splits: Mapping[str, int], features: Sequence[str] | None, block: pa.RecordBatch
) -> dict[str, pa.RecordBatch]:
    return {f"Split-{name}": rows for name, rows in split_block(block, splits, features).items()}
