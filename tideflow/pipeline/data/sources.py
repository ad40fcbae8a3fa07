"""Sources of blocks: files, or parts of files that workers read side by side.

`find_sources("data/*.csv")` finds them. A `Source` is small and is pickled; `blocks` opens the file and
yields its rows (`engine/accumulators.py` says in which form).
"""

from __future__ import annotations

import glob
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tideflow.graph import errors
from tideflow.pipeline.data.faults import Faults

if TYPE_CHECKING:
    import pyarrow as pa

PathLike = str | os.PathLike[str]

_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".tfrecord": "tfrecord",
    ".tfrecords": "tfrecord",
    ".record": "tfrecord",
    ".gz": "tfrecord",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}


class WiderTypes(Exception):
    """Values that do not fit the types of their columns: the types they need, for `Source.widened`."""

    def __init__(self, types: Mapping[str, str]) -> None:
        super().__init__(dict(types))
        self.types = dict(types)


class Source(ABC):
    """Rows that one worker reads: a file or a part of one."""

    path: str
    is_threaded = (
        False  # whether blocks are read outside of Python's lock, so that threads read parts at once
    )

    @property
    @abstractmethod
    def size(self) -> int:
        """About how many bytes are read: what tells large data from small."""

    @abstractmethod
    def blocks(self, faults: Faults) -> Iterator[pa.RecordBatch]:
        """Yields the rows. Faulty ones are added to `faults` instead.

        Raises:
          WiderTypes: If the types of the columns were guessed too narrow.
        """

    def widened(self, types: Mapping[str, str]) -> Source:
        """The same rows with wider types of columns."""
        return self


@dataclass(frozen=True)
class Blocks(Source):
    """Rows that are in memory already."""

    given: Sequence[pa.RecordBatch] = field(repr=False)
    path: str = "memory"

    @property
    def size(self) -> int:
        return sum(block.nbytes for block in self.given)

    def blocks(self, faults: Faults) -> Iterator[pa.RecordBatch]:
        yield from self.given


def find_sources(
    data: PathLike | Sequence[PathLike], format: str | None = None, part_bytes: int = 1 << 24, **options: Any
) -> list[Source]:
    """Finds the files of a data set and divides large ones into parts.

    Args:
      data: A file, a folder, a pattern with `*`, or a list of these. Of a folder all files are taken whose
        suffix is known, and none whose name begins with `_` or `.`.
      format: "csv", "tfrecord", "sequence" (TFRecords of SequenceExamples), "parquet" or "arrow". By default
        each file's suffix says it.
      part_bytes: How many bytes a part has at most, about. Parts begin and end between rows.
      **options: Of CSV files: `delimiter`, `column_names` (of files without a line of names) and `types`
        (by column "int", "float" or "bytes"; others are found in the data).

    Returns:
      The sources, in the order of the files' names and of the rows in them.

    Raises:
      NotFoundError: If there is no such file.
      InvalidArgumentError: If the format of a file is not known, or if it is no file but, say, a pipe.
    """
    paths = files_of(data)
    by_format: dict[str, list[str]] = {}
    for path in paths:
        by_format.setdefault(format or _format_of(path), []).append(path)
    sources: list[Source] = []
    for kind, files in by_format.items():
        sources += _parts(kind, files, part_bytes, options)
    return sources


def files_of(data: PathLike | Sequence[PathLike]) -> list[str]:
    """The files that a path, a folder, a pattern or a list of these names, sorted."""
    given = [data] if isinstance(data, (str, os.PathLike)) else list(data)
    files: dict[str, str] = {}  # by the folder itself, whatever links lead there: a loop of them has no end
    for each in [os.fspath(path) for path in given]:
        if os.path.isdir(each):
            found = [os.path.join(each, name) for name in os.listdir(each) if name[0] not in "_."]
            found = [path for path in found if os.path.isfile(path) and _suffix(path) in _SUFFIXES]
        elif os.path.isfile(each):
            found = [each]
        elif os.path.exists(each):
            raise errors.invalid_argument(
                f"{each} is no regular file: data are read more than once, so write them to a file first"
            )
        else:
            found = [path for path in matching(each) if os.path.isfile(path)]
        if not found:
            raise errors.not_found(f"No data at {each}: there is no such file, or no file of a known kind")
        for path in sorted(found, key=len, reverse=True):
            folder, name = os.path.split(path)
            files[os.path.join(os.path.realpath(folder), name)] = path
    return sorted(files.values())


def matching(pattern: str) -> Iterator[str]:
    """The paths that match a pattern. `**` stands for folders within folders, each of which is entered once.

    `glob` would follow links that lead back up again and again.
    """
    before, stars, after = pattern.partition(f"**{os.sep}")
    if not stars:
        yield from glob.glob(pattern)
        return
    seen: set[str] = set()
    for top in sorted(glob.glob(before)) if before else [os.curdir]:
        for folder, folders, _ in os.walk(top, followlinks=True):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            real = os.path.realpath(folder)
            if real in seen:
                folders.clear()
                continue
            seen.add(real)
            inside = glob.escape(os.path.normpath(folder))
            yield from matching(after if inside == os.curdir else os.path.join(inside, after))


def _suffix(path: str) -> str:
    base, suffix = os.path.splitext(path)
    inner = os.path.splitext(base)[1]
    return inner if suffix == ".gz" and inner in _SUFFIXES else suffix


def _format_of(path: str) -> str:
    suffix = _suffix(path)
    if suffix in _SUFFIXES:
        return _SUFFIXES[suffix]
    if "-of-" in os.path.basename(path):  # examples-00000-of-00001, as TensorFlow names its files
        return "tfrecord"
    raise errors.invalid_argument(
        f"{path} has a suffix that is not known ({', '.join(_SUFFIXES)}). Say its format"
    )


def _parts(kind: str, files: Sequence[str], part_bytes: int, options: dict[str, Any]) -> Iterable[Source]:
    if kind == "csv":
        from tideflow.pipeline.data.csv_files import csv_sources  # loaded when asked for

        return csv_sources(files, part_bytes, **options)
    if options:
        raise errors.invalid_argument(f"{', '.join(options)}: only CSV files have these options")
    if kind in ("tfrecord", "sequence"):
        from tideflow.pipeline.data.record_files import record_sources  # loaded when asked for

        return record_sources(files, sequences=kind == "sequence")
    if kind in ("parquet", "arrow"):
        from tideflow.pipeline.data.arrow_files import arrow_sources  # loaded when asked for

        return arrow_sources(files, kind, part_bytes)
    raise errors.invalid_argument(f"Format {kind!r} is not known: csv, tfrecord, sequence, parquet or arrow")
