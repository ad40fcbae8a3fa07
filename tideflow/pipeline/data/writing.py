"""Blocks written to files: TFRecords of Examples, Arrow or Parquet."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tideflow.graph import errors
from tideflow.io.records import TFRecordOptions, TFRecordWriter
from tideflow.pipeline.data.examples import serialize_examples

_SUFFIX = {"tfrecord": ".gz", "arrow": ".arrow", "parquet": ".parquet"}
_FAST = 1  # the level of compression: half the time of the usual one, for a tenth more bytes


class FileSet:
    """Files of the same name in several folders. They appear when all are whole.

    Args:
      folder: The folder that the others are in.
      format: "tfrecord", "arrow" or "parquet".
      name: The name of every file, without its suffix.
    """

    def __init__(self, folder: str, format: str, name: str) -> None:
        if format not in _SUFFIX:
            raise errors.invalid_argument(f"format is {format!r}: it must be one of {', '.join(_SUFFIX)}")
        self._folder, self._format, self._name = folder, format, name
        self._writers: dict[str, Any] = {}
        self.rows: dict[str, int] = {}

    def write(self, folder: str, block: pa.RecordBatch) -> None:
        """Appends a block to the file in a folder."""
        writer = self._writers.get(folder)
        if writer is None:
            os.makedirs(os.path.join(self._folder, folder), exist_ok=True)
            writer = self._writers[folder] = _opened(self._beside(folder), self._format, block.schema)
        if self._format == "tfrecord":
            for record in serialize_examples(block):
                writer.write(record)
        else:
            writer.write_batch(block)
        self.rows[folder] = self.rows.get(folder, 0) + block.num_rows

    def _path(self, folder: str) -> str:
        return os.path.join(self._folder, folder, self._name + _SUFFIX[self._format])

    def _beside(self, folder: str) -> str:
        return os.path.join(self._folder, folder, f".{self._name}.{os.getpid()}.tmp")

    def __enter__(self) -> FileSet:
        return self

    def __exit__(self, kind: Any, *exc: Any) -> None:
        for writer in self._writers.values():
            writer.close()
        for folder in self._writers:
            if kind is None:
                os.replace(self._beside(folder), self._path(folder))
            else:
                os.remove(self._beside(folder))


def _opened(path: str, format: str, schema: pa.Schema) -> Any:
    if format == "tfrecord":
        return TFRecordWriter(path, TFRecordOptions("GZIP", compression_level=_FAST))
    if format == "arrow":
        return pa.ipc.new_file(path, schema)
    return pq.ParquetWriter(path, schema)


def write_blocks(
    path: str | os.PathLike[str], blocks: Iterable[pa.RecordBatch], format: str = "tfrecord"
) -> int:
    """Writes blocks to one file, which appears when it is whole.

    Args:
      path: The file; the suffix of the format is added if it is not there.
      blocks: The rows.
      format: "tfrecord" (Examples, compressed by GZIP), "arrow" or "parquet".

    Returns:
      The number of rows.
    """
    folder, name = os.path.split(os.fspath(path))
    with FileSet(folder, format, name.removesuffix(_SUFFIX.get(format, ""))) as files:
        for block in blocks:
            files.write("", block)
    return files.rows.get("", 0)
