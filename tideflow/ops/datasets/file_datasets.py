"""Datasets of records of files: lines, TFRecords, CSV, databases; and datasets written to files."""

from __future__ import annotations

from typing import Any

from tideflow.graph.op import Op
from tideflow.graph.schema import attr
from tideflow.io.databases import lmdb_items
from tideflow.ops.files.csv_records import csv_row_reader
from tideflow.ops.helpers.datasets import STRUCTURE, dataset_op
from tideflow.ops.helpers.types import types
from tideflow.runtime import dataset_files as files
from tideflow.runtime import datasets
from tideflow.runtime.datasets import as_cell, dataset_in

_TESTS = "tests/ops/datasets/test_file_datasets.py"


def _paths(filenames: Any) -> list[bytes]:
    return filenames if isinstance(filenames, list) else [filenames]


def _text_lines(filenames, compression_type, buffer_size):
    kind = files.checked_compression(compression_type)
    return as_cell(files.Files(_paths(filenames), lambda path: files.lines(path, kind)))


text_line_dataset_op = dataset_op(
    "TextLineDataset",
    "filenames: string, compression_type: string, buffer_size: int64",
    _text_lines,
    host="filenames compression_type buffer_size",
    structure={},
    stateful=True,
    touches="files",
    covered_by=_TESTS,
)


def _records(filenames, compression_type, buffer_size):
    kind = files.checked_compression(compression_type)
    return as_cell(files.Files(_paths(filenames), lambda path: files.records(path, kind)))


tf_record_dataset_op = dataset_op(
    "TFRecordDataset",
    "filenames: string, compression_type: string, buffer_size: int64",
    _records,
    host="filenames compression_type buffer_size",
    structure={},
    stateful=True,
    touches="files",
    covered_by=_TESTS,
)


def _fixed_records(filenames, header, size, footer, buffer_size, compression_type=b""):
    kind = files.checked_compression(compression_type)
    if size <= 0:
        raise datasets.refuse(f"record_bytes must be > 0, but is {size}")
    return as_cell(
        files.Files(_paths(filenames), lambda path: files.fixed_records(path, kind, header, size, footer))
    )


_FIXED = (
    "filenames: string, header_bytes: int64, record_bytes: int64, footer_bytes: int64, buffer_size: int64"
)
fixed_length_record_dataset_op = dataset_op(
    "FixedLengthRecordDataset",
    _FIXED,
    _fixed_records,
    host="filenames header_bytes record_bytes footer_bytes buffer_size",
    structure={},
    stateful=True,
    touches="files",
    covered_by=_TESTS,
)
fixed_length_record_dataset_v2_op = dataset_op(
    "FixedLengthRecordDatasetV2",
    f"{_FIXED}, compression_type: string",
    _fixed_records,
    host="filenames header_bytes record_bytes footer_bytes buffer_size compression_type",
    structure={},
    stateful=True,
    touches="files",
    covered_by=_TESTS,
)


def _csv(
    filenames, compression, buffer_size, header, delimiter, quotes, na_value, select, record_defaults, *,
    output_types,
):  # fmt: skip
    parse = csv_row_reader(
        record_defaults, output_types, delimiter.decode(), quotes, na_value.decode(), select
    )
    kind = files.checked_compression(compression)
    read = lambda path: files.csv_records(path, kind, header, quotes, delimiter)
    return as_cell(files.Files(_paths(filenames), read, parse))


def _csv_op(name: str) -> Op:
    return dataset_op(
        name,
        "filenames: string, compression_type: string, buffer_size: int64, header: bool, field_delim: string, "
        "use_quote_delim: bool, na_value: string, select_cols: int64, record_defaults: output_types",
        _csv,
        host="filenames compression_type buffer_size header field_delim use_quote_delim na_value select_cols",
        structure={
            **STRUCTURE,
            "output_types": attr("list(type)", allowed=types("float double int32 int64 string"), minimum=1),
        },
        stateful=True,
        touches="files",
        metadata=False,
        covered_by=_TESTS,
    )


csv_dataset_op = _csv_op("CSVDataset")
experimental_csv_dataset_op = _csv_op("ExperimentalCSVDataset")


def _matching_files(patterns):
    return as_cell(files.Matches(_paths(patterns)))


def _matching_files_op(name: str) -> Op:
    return dataset_op(
        name,
        "patterns: string",
        _matching_files,
        host="patterns",
        structure={},
        stateful=True,
        touches="files",
        metadata=False,
        covered_by=_TESTS,
    )


matching_files_dataset_op = _matching_files_op("MatchingFilesDataset")
experimental_matching_files_dataset_op = _matching_files_op("ExperimentalMatchingFilesDataset")


def _sql(driver_name, data_source_name, query, *, output_types):
    if driver_name != b"sqlite":
        raise datasets.refuse(
            f"The database type, {driver_name.decode()}, is not supported by SqlDataset. The set of "
            "supported databases is: {'sqlite'}."
        )
    text = query.decode()
    return as_cell(
        files.Files([data_source_name], lambda path: files.queried(path.decode(), text, output_types), tuple)
    )


def _sql_op(name: str) -> Op:
    return dataset_op(
        name,
        "driver_name: string, data_source_name: string, query: string",
        _sql,
        host="driver_name data_source_name query",
        stateful=True,
        touches="files",
        metadata=False,
        covered_by=_TESTS,
    )


sql_dataset_op = _sql_op("SqlDataset")
experimental_sql_dataset_op = _sql_op("ExperimentalSqlDataset")


def _lmdb(filenames):
    def pair(item: tuple[bytes, bytes]) -> datasets.Element:
        return tuple(map(files.string, item))

    return as_cell(files.Files(_paths(filenames), lambda path: lmdb_items(path, "LMDBDataset"), pair))


def _lmdb_op(name: str) -> Op:
    return dataset_op(
        name,
        "filenames: string",
        _lmdb,
        host="filenames",
        stateful=True,
        touches="files",
        metadata=False,
        covered_by=_TESTS,
    )


lmdb_dataset_op = _lmdb_op("LMDBDataset")
experimental_lmdb_dataset_op = _lmdb_op("ExperimentalLMDBDataset")


def _write_records(dataset, filename, compression_type, *, resources, context):
    iteration = datasets.Iteration(resources)
    try:
        given = datasets.elements(dataset_in(dataset), iteration, context)
        files.written_to_records(given, filename, files.checked_compression(compression_type))
    finally:
        iteration.stop()


def _to_records_op(name: str) -> Op:
    """An op that writes the elements of a dataset to a TFRecord file."""
    op = Op(
        name,
        "input_dataset: variant, filename: string, compression_type: string",
        host="filename compression_type",
        stateful=True,
        blocking=True,
        on_host=True,
        differentiable=False,
        touches="files",
    )
    op.shape(lambda dataset, filename, compression_type: [])
    op.kernel(_write_records)
    op.samples(covered_by=_TESTS)
    return op


to_records_op = _to_records_op("DatasetToTFRecord")
experimental_to_records_op = _to_records_op("ExperimentalDatasetToTFRecord")
