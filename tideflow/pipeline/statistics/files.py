"""Statistics in files: TFRecords of a message, as TensorFlow Data Validation writes them, or text."""

from __future__ import annotations

import glob
import os
from typing import Any

from google.protobuf import text_format
from google.protobuf.message import DecodeError

from tideflow.graph import errors
from tideflow.io.local_files import as_tensorflow_errors
from tideflow.io.records import RecordFile, TFRecordWriter
from tideflow.pipeline.data.whole_files import write_whole, written_whole
from tideflow.pipeline.messages.statistics import DatasetFeatureStatisticsList

_TEXT = (".pbtxt", ".txt", ".textproto")
_BINARY = (".pb", ".binpb")


def write_statistics(statistics: Any, path: str | os.PathLike[str]) -> None:
    """Writes statistics: text to a `.pbtxt` file, a message to a `.pb` file, and else a TFRecord file.

    Args:
      statistics: A DatasetFeatureStatisticsList.
      path: The file, which appears whole or not at all.
    """
    path = os.fspath(path)
    with as_tensorflow_errors(path):
        if path.endswith(_TEXT):
            write_whole(path, text_format.MessageToString(statistics))
        elif path.endswith(_BINARY):
            write_whole(path, statistics.SerializeToString())
        else:
            with written_whole(path) as place, TFRecordWriter(place) as writer:
                writer.write(statistics.SerializeToString())


def load_statistics(path: str | os.PathLike[str]) -> Any:
    """Reads statistics that `write_statistics` or TensorFlow Data Validation wrote.

    Args:
      path: A file, or a pattern of files whose data sets are taken together.

    Returns:
      A DatasetFeatureStatisticsList.

    Raises:
      NotFoundError: If there is no such file.
      InvalidArgumentError: If a file has something else in it.
    """
    path = os.fspath(path)
    files = [path] if os.path.exists(path) else sorted(glob.glob(path))
    if not files:
        raise errors.not_found(f"No statistics at {path}")
    result = DatasetFeatureStatisticsList()
    for file in files:
        try:
            result.MergeFrom(_read(file))
        except (DecodeError, text_format.ParseError, UnicodeDecodeError) as error:
            raise errors.invalid_argument(f"{file} is no DatasetFeatureStatisticsList: {error}") from None
    return result


def _read(path: str) -> Any:
    result = DatasetFeatureStatisticsList()
    if path.endswith(_TEXT):
        with open(path) as file:
            return text_format.Parse(file.read(), result)
    if path.endswith(_BINARY):
        with open(path, "rb") as file:
            return DatasetFeatureStatisticsList.FromString(file.read())
    with RecordFile(path, "GZIP" if path.endswith(".gz") else "") as records:
        for _, record in records:
            result.MergeFromString(record)
    return result
