"""Passes over sources: by threads or processes on all cores, or by tasks of Ray.

A pass is one call for each source, and its results are taken in the order of the sources. So what comes out
is the same, bit by bit, however many workers there are, and the part of a killed worker is simply done again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from tideflow.graph import errors
from tideflow.pipeline.data.faults import Faults
from tideflow.pipeline.data.sources import Source, WiderTypes
from tideflow.pipeline.data.writing import FileSet
from tideflow.pipeline.engine.accumulators import Accumulator, Rows, Together
from tideflow.pipeline.engine.workers import by_processes, by_ray, by_threads, threads_at_hand

if TYPE_CHECKING:
    import pyarrow as pa

_SMALL = 32 << 20  # bytes; less is done without other processes, whose start would take longer
_ROWS = "the rows that were added"


def accumulate(
    sources: Sequence[Source],
    accumulators: Mapping[str, Accumulator],
    workers: int | None = None,
    ray: str | None = None,
    progress: Callable[[int, int], None] | None = None,
    faults: Faults | None = None,
) -> dict[str, Any]:
    """Runs accumulators over all rows, in one pass.

    Args:
      sources: What is read (`data.sources.find_sources`).
      accumulators: By the name of its result.
      workers: The number of threads, or of processes where reading and adding hold Python's lock and the data
        are worth their start; 1 is this thread itself. By default as many as cores, or 1 for small data whose
        reading or adding holds the lock.
      ray: The address of a Ray cluster whose tasks do it instead, or "auto".
      progress: Called with the number of sources that are done and of all.
      faults: Gets the faulty rows. By default a faulty row raises a DataLossError at the end.

    Returns:
      The results by name.

    Raises:
      DataLossError: If rows are faulty and `faults` is not given.
      InternalError: If rows were lost between reading and adding, or if workers are killed again and again.
    """
    from tideflow.pipeline.engine.memory import reused_memory  # loaded when asked for

    with reused_memory():
        return _accumulate(sources, accumulators, workers, ray, progress, faults)


def _accumulate(
    sources: Sequence[Source],
    accumulators: Mapping[str, Accumulator],
    workers: int | None,
    ray: str | None,
    progress: Callable[[int, int], None] | None,
    faults: Faults | None,
) -> dict[str, Any]:
    together = Together({**accumulators, _ROWS: Rows()})
    found = Faults()
    while True:
        state, read = together.create(), 0
        try:
            threaded = together.is_threaded and all(source.is_threaded for source in sources)
            parts = _each(partial(_accumulated, together), sources, workers, ray, progress, threaded)
            for part in parts:
                state = together.merge([state, part.state])
                read += part.rows
                found.merge([part.faults])
            break
        except WiderTypes as wider:
            sources = [source.widened(wider.types) for source in sources]
            found = Faults()
    with threads_at_hand(workers or _cores()):
        results = together.extract(state)
    if results.pop(_ROWS) != read:
        raise errors.internal(f"Of {read} rows that were read, not all were added")
    _hand_over(found, faults)
    return results


def transform_blocks(
    sources: Sequence[Source],
    function: Callable[[pa.RecordBatch], Any],
    write_to: str | os.PathLike[str],
    format: str = "tfrecord",
    workers: int | None = None,
    ray: str | None = None,
    progress: Callable[[int, int], None] | None = None,
    faults: Faults | None = None,
    file_name: str = "data",
) -> dict[str, int]:
    """Writes what a function makes of every block, in one pass. Of each source comes a file of its own.

    Args:
      sources: What is read.
      function: Of a block, a block of as many rows; or blocks by the name of the folder in `write_to` they
        belong in, of as many together. It is pickled, so it is no lambda.
      write_to: The folder.
      format: "tfrecord" (Examples, compressed by GZIP), "arrow" or "parquet".
      workers: As for `accumulate`.
      ray: As for `accumulate`. The folder must be one that all machines share.
      progress: As for `accumulate`.
      faults: As for `accumulate`.
      file_name: What the names of the files begin with.

    Returns:
      By folder ("" for `write_to` itself), how many rows were written.

    Raises:
      InternalError: If rows were lost between reading and writing.
    """
    write = partial(_written, function, os.fspath(write_to), format, file_name, len(sources))
    while True:
        counts: dict[str, int] = {}
        found, read = Faults(), 0
        try:
            for part in _each(write, list(enumerate(sources)), workers, ray, progress):
                for name, rows in part.state.items():
                    counts[name] = counts.get(name, 0) + rows
                read += part.rows
                found.merge([part.faults])
            break
        except WiderTypes as wider:
            sources = [source.widened(wider.types) for source in sources]
    if sum(counts.values()) != read:
        raise errors.internal(f"Of {read} rows that were read, {sum(counts.values())} were written")
    _hand_over(found, faults)
    return counts


@dataclass
class _Part:
    """What was made of one source."""

    state: Any
    rows: int
    faults: Faults


def _accumulated(together: Together, source: Source) -> _Part:
    state, rows, faults = together.create(), 0, Faults()
    for block in source.blocks(faults):
        if block.num_rows:
            rows += block.num_rows
            state = together.add(state, block)
    return _Part(together.settle(state), rows, faults)


def _written(
    function: Callable[[Any], Any],
    folder: str,
    format: str,
    file_name: str,
    count: int,
    numbered: tuple[int, Source],
) -> _Part:
    number, source = numbered
    rows_read, faults = 0, Faults()
    with FileSet(folder, format, f"{file_name}-{number:05d}-of-{count:05d}") as files:
        for block in source.blocks(faults):
            rows_read += block.num_rows
            made = function(block)
            for name, rows in made.items() if isinstance(made, Mapping) else [("", made)]:
                files.write(name, rows)
    return _Part(files.rows, rows_read, faults)


def _each(
    task: Callable[[Any], Any],
    sources: Sequence[Any],
    workers: int | None,
    ray: str | None,
    progress: Callable[[int, int], None] | None,
    threaded: bool = False,
) -> Iterator[Any]:
    """The results of a task for every source, in the order of the sources, as they come."""
    if workers is not None and workers < 1:
        raise errors.invalid_argument(f"the number of workers is to be 1 or more, and is {workers}")
    done = 0
    if ray is not None:
        results = by_ray(task, sources, ray)
    else:
        size = sum((source[1] if isinstance(source, tuple) else source).size for source in sources)
        is_small = size < _SMALL
        if workers is None:
            workers = 1 if is_small and not threaded else _cores()
        workers = min(workers, len(sources))
        several = by_threads if threaded or is_small else by_processes
        results = map(task, sources) if workers <= 1 else several(task, sources, workers)
    for result in results:
        done += 1
        if progress is not None:
            progress(done, len(sources))
        yield result
    if done != len(sources):
        raise errors.internal(f"Of {len(sources)} parts only {done} were done")


def _cores() -> int:
    return len(os.sched_getaffinity(0))


def _hand_over(found: Faults, faults: Faults | None) -> None:
    if faults is not None:
        faults.merge([found])
    elif len(found):
        raise errors.data_loss(f"{len(found)} rows are faulty, the first: {found.first[0]}")
