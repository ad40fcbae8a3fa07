"""The part of a dataset for one of several workers: some of its files, or else some of its elements."""

from __future__ import annotations

from collections.abc import Callable

from tideflow.runtime.dataset_batches import Batch
from tideflow.runtime.dataset_files import FileCache
from tideflow.runtime.dataset_functions import Filter, FlatMap, Interleave, Map
from tideflow.runtime.dataset_joins import Concatenate, Zip
from tideflow.runtime.dataset_portions import Rebatch
from tideflow.runtime.dataset_random import Shuffle, ShuffleAndRepeat, ShuffleBySeeds
from tideflow.runtime.dataset_threads import ParallelMap, Prefetch
from tideflow.runtime.datasets import Dataset, MemoryCache, OfOne, Repeat, Same, Shard, Skip, Take, refuse

# Transformations that mean the same for each worker's files.
_LOOKED_THROUGH = (
    Batch, FileCache, Filter, Map, MemoryCache, ParallelMap, Prefetch, Rebatch, Repeat, Same, Shard, Shuffle,
    ShuffleAndRepeat, Skip, Take,
)  # fmt: skip


def part_for_worker(
    dataset: Dataset, workers: int, index: int, reads_files: Callable[[Dataset], bool]
) -> Dataset:
    """The part of one of several workers.

    Args:
      dataset: The dataset.
      workers: The number of workers.
      index: The number of the worker, from 0.
      reads_files: Whether the function of an interleaving dataset reads files that its source names.
    """
    if workers < 1:
        raise refuse(f"num_workers must be greater than zero (currently num_workers = {workers}).")
    if not 0 <= index < workers:
        raise refuse(f"index must be between 0 and {workers - 1} (currently index = {index}).")
    if workers == 1:
        return dataset

    def of_files(at: Dataset) -> Dataset | None:
        if isinstance(at, Zip | Concatenate):
            parts = [of_files(source) for source in at.sources]
            found = [part for part in parts if part is not None]
            return type(at)(found) if len(found) == len(parts) else None
        if isinstance(at, FlatMap | Interleave) and reads_files(at):
            return at.over(_of_names(at.source, workers, index))
        if isinstance(at, _LOOKED_THROUGH):
            part = of_files(at.source)
            return None if part is None else at.over(part)
        return None

    part = of_files(dataset)
    return Shard(dataset, workers, index, require_non_empty=True) if part is None else part


def _of_names(source: Dataset, workers: int, index: int) -> Dataset:
    """The names of one worker. All workers take theirs from one order, and shuffle their own."""
    ordered, shuffle = _without_shuffle(source)
    part = Shard(ordered, workers, index, require_non_empty=True)
    return part if shuffle is None else shuffle.over(part)


def _without_shuffle(dataset: Dataset) -> tuple[Dataset, OfOne | None]:
    """A dataset without the last shuffle in it, and the shuffle."""
    if isinstance(dataset, Shuffle | ShuffleBySeeds):
        return dataset.source, dataset
    if not isinstance(dataset, OfOne):
        return dataset, None
    source, shuffle = _without_shuffle(dataset.source)
    return (dataset, None) if shuffle is None else (dataset.over(source), shuffle)
