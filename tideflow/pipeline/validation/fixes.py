"""What would mend an anomaly: the exact change of the schema, or what to change in the data."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from google.protobuf import text_format

from tideflow.io.local_files import as_tensorflow_errors
from tideflow.pipeline.data.whole_files import write_whole
from tideflow.pipeline.messages.anomalies import Anomalies, AnomalyInfo
from tideflow.pipeline.messages.schema import Schema
from tideflow.pipeline.schema.editing import schema_text
from tideflow.pipeline.validation.diffs import apply_regions, diff_text

_FIND_SOURCE = "find out what changed where the data come from"
# By the type of a reason: what to mend in the data if the schema is right.
_DATA = {
    "BOOL_TYPE_BIG_INT": "write 0 or 1 in this feature",
    "BOOL_TYPE_SMALL_INT": "write 0 or 1 in this feature",
    "BOOL_TYPE_UNEXPECTED_STRING": "write the true or the false value of the schema in this feature",
    "BOOL_TYPE_UNEXPECTED_FLOAT": "write 0 or 1 in this feature",
    "ENUM_TYPE_INVALID_UTF8": "encode the strings in UTF-8",
    "ENUM_TYPE_UNEXPECTED_STRING_VALUES": "write one of the values of the domain: look for misspellings",
    "FEATURE_TYPE_HIGH_NUMBER_VALUES": "write fewer values in these rows",
    "FEATURE_TYPE_LOW_NUMBER_VALUES": "write more values in these rows",
    "FEATURE_TYPE_LOW_FRACTION_PRESENT": "fill in this feature in the rows that lack it",
    "FEATURE_TYPE_LOW_NUMBER_PRESENT": "fill in this feature in the rows that lack it",
    "FEATURE_TYPE_NOT_PRESENT": f"fill in this feature: {_FIND_SOURCE}",
    "FEATURE_TYPE_HIGH_UNIQUE": "look for misspellings and for values that belong to another feature",
    "FEATURE_TYPE_LOW_UNIQUE": f"look for values that no longer come: {_FIND_SOURCE}",
    "FLOAT_TYPE_BIG_FLOAT": "correct the numbers that are too big: look for another unit",
    "FLOAT_TYPE_SMALL_FLOAT": "correct the numbers that are too small: look for another unit",
    "FLOAT_TYPE_STRING_NOT_FLOAT": "write numbers in this feature",
    "FLOAT_TYPE_HAS_NAN": "leave the feature out where there is no number",
    "FLOAT_TYPE_HAS_INF": "leave the feature out where there is no finite number",
    "INT_TYPE_BIG_INT": "correct the integers that are too big",
    "INT_TYPE_SMALL_INT": "correct the integers that are too small",
    "INT_TYPE_NOT_INT_STRING": "write integers in this feature",
    "LOW_SUPPORTED_IMAGE_FRACTION": "encode the images as BMP, GIF, JPEG or PNG",
    "MAX_IMAGE_BYTE_SIZE_EXCEEDED": "make the images smaller",
    "SCHEMA_MISSING_COLUMN": f"bring the column back: {_FIND_SOURCE}",
    "SCHEMA_NEW_COLUMN": "remove the column, or give it the name it has in the schema",
    "COMPARATOR_CONTROL_DATA_MISSING": "compute the other data's statistics with this feature in them",
    "COMPARATOR_L_INFTY_HIGH": f"{_FIND_SOURCE}: the shares of the values differ",
    "COMPARATOR_NORMALIZED_ABSOLUTE_DIFFERENCE_HIGH": f"{_FIND_SOURCE}: the counts of the values differ",
    "COMPARATOR_JENSEN_SHANNON_DIVERGENCE_HIGH": f"{_FIND_SOURCE}: the distributions differ",
    "COMPARATOR_LOW_NUM_EXAMPLES": "look for rows that were lost",
    "COMPARATOR_HIGH_NUM_EXAMPLES": "look for rows that came twice",
    "DATASET_LOW_NUM_EXAMPLES": "look for rows that were lost",
    "DATASET_HIGH_NUM_EXAMPLES": "look for rows that came twice",
    "SPARSE_FEATURE_MISSING_VALUE": "write the value feature wherever an index feature is there",
    "SPARSE_FEATURE_MISSING_INDEX": "write every index feature wherever the value feature is there",
    "SPARSE_FEATURE_LENGTH_MISMATCH": "write as many indices as values",
    "WEIGHTED_FEATURE_MISSING_VALUE": "write the value feature wherever the weight feature is there",
    "WEIGHTED_FEATURE_MISSING_WEIGHT": "write the weight feature wherever the value feature is there",
    "WEIGHTED_FEATURE_LENGTH_MISMATCH": "write as many weights as values",
    "VALUE_NESTEDNESS_MISMATCH": "write lists as deep as the schema says",
    "DOMAIN_INVALID_FOR_TYPE": "write values that are of the feature's domain",
    "UNEXPECTED_DATA_TYPE": "write values of the type of the schema",
    "SEQUENCE_VALUE_TOO_FEW_OCCURRENCES": "write the token more often in each sequence",
    "SEQUENCE_VALUE_TOO_MANY_OCCURRENCES": "write the token less often in each sequence",
    "SEQUENCE_VALUE_TOO_SMALL_FRACTION": "write the token in more sequences",
    "SEQUENCE_VALUE_TOO_LARGE_FRACTION": "write the token in fewer sequences",
    "FEATURE_COVERAGE_TOO_LOW": "make the vocabulary again from data like these",
    "FEATURE_COVERAGE_TOO_SHORT_AVG_TOKEN_LENGTH": "make the vocabulary again from data like these",
    "INVALID_FEATURE_SHAPE": "write the number of values of the shape in every row",
    "STATS_NOT_AVAILABLE": "compute the statistics with semantic domains enabled",
    "CUSTOM_VALIDATION": f"{_FIND_SOURCE}: the condition does not hold",
}


@dataclass(frozen=True)
class Fix:
    """How an anomaly can be mended.

    Attributes:
      number: What `accept` takes; from 1.
      path: The path of the feature, as text; empty for an anomaly of the whole dataset.
      types: The names of the anomaly's types.
      severity: "ERROR", "WARNING" or "UNKNOWN".
      short_description: The anomaly in few words.
      description: The anomaly.
      diff: The change of the schema's text that accepts the data; empty if no change does.
      data: What to mend in the data instead.
    """

    number: int
    path: str
    types: tuple[str, ...]
    severity: str
    short_description: str
    description: str
    diff: str
    data: str


def fixes(anomalies: Any) -> list[Fix]:
    """Lists how each anomaly can be mended.

    Args:
      anomalies: An `Anomalies`, from `validate_statistics`.

    Returns:
      One `Fix` for each anomaly: of the dataset first, then of features in the order of their paths.
    """
    return [_fix(number, path, info) for number, (path, info) in enumerate(_infos(anomalies), 1)]


def _infos(anomalies: Any) -> list[tuple[str, Any]]:
    whole = [("", anomalies.dataset_anomaly_info)] if anomalies.HasField("dataset_anomaly_info") else []
    return whole + sorted(anomalies.anomaly_info.items())


def _fix(number: int, path: str, info: Any) -> Fix:
    types = tuple(AnomalyInfo.Type.Name(reason.type) for reason in info.reason)
    advice = dict.fromkeys(_DATA[kind] for kind in types if kind in _DATA)
    return Fix(
        number=number,
        path=path,
        types=types,
        severity=AnomalyInfo.Severity.Name(info.severity),
        short_description=info.short_description,
        description=info.description,
        diff=diff_text(info.diff_regions) if _changes(info) else "",
        data="; ".join(advice) or "nothing: the schema contradicts itself",
    )


def _changes(info: Any) -> bool:
    kinds = {region.WhichOneof("details") for region in info.diff_regions}
    return not kinds <= {"unchanged", "hidden"}


def accept(anomalies: Any, numbers: Collection[int] | None = None) -> Any:
    """Makes the schema that accepts the data of some anomalies.

    Args:
      anomalies: An `Anomalies`, from `validate_statistics`.
      numbers: The numbers of the fixes that are accepted; all if None.

    Returns:
      A `Schema`: that of `anomalies.baseline` after the changes.

    Raises:
      ValueError: There is no fix of a number, it does not change the schema, or two of them change the same
        line differently.
    """
    infos = [info for _, info in _infos(anomalies)]
    chosen = range(1, len(infos) + 1) if numbers is None else sorted(set(numbers))
    for number in chosen:
        if not 1 <= number <= len(infos):
            raise ValueError(f"there is no fix {number}: there are {len(infos)}")
        if not _changes(infos[number - 1]) and numbers is not None:
            raise ValueError(f"fix {number} does not change the schema: the data must be mended")
    text = apply_regions(
        schema_text(anomalies.baseline), [infos[number - 1].diff_regions for number in chosen]
    )
    return text_format.Parse(text, Schema())


def has_errors(anomalies: Any) -> bool:
    """Whether data are not to be used: there are anomalies that are errors, or there are no data.

    Args:
      anomalies: An `Anomalies`.
    """
    return anomalies.data_missing or any(info.severity == AnomalyInfo.ERROR for _, info in _infos(anomalies))


def write_anomalies_text(anomalies: Any, output_path: str | os.PathLike[str]) -> None:
    """Writes anomalies as text.

    Args:
      anomalies: An `Anomalies`.
      output_path: The file.
    """
    with as_tensorflow_errors(os.fspath(output_path)):
        write_whole(output_path, text_format.MessageToString(anomalies, as_utf8=False))


def load_anomalies_text(input_path: str | os.PathLike[str]) -> Any:
    """Reads anomalies that were written as text.

    Args:
      input_path: The file.

    Returns:
      An `Anomalies`.
    """
    with as_tensorflow_errors(os.fspath(input_path)):
        return text_format.Parse(Path(input_path).read_text(encoding="utf-8"), Anomalies())


def load_anomalies_binary(input_path: str | os.PathLike[str]) -> Any:
    """Reads anomalies that were written as a message.

    Args:
      input_path: The file.

    Returns:
      An `Anomalies`.
    """
    with as_tensorflow_errors(os.fspath(input_path)):
        return Anomalies.FromString(Path(input_path).read_bytes())
