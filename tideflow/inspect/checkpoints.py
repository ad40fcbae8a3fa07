"""Checkpoints as people see them: tensors, sizes, statistics; one tensor; the checkpoints of a directory."""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np

from tideflow.inspect.report import Report, Table, byte_count, plural, shape_text
from tideflow.inspect.statistics import COLUMNS, histogram_text, statistics_of
from tideflow.io.bundle import BundleReader, Entry
from tideflow.io.bundle_format import index_path
from tideflow.io.checkpoint_state import checkpoint_exists, get_checkpoint_state
from tideflow.io.object_graph import GRAPH_KEY, read_object_graph
from tideflow.io.old_checkpoints import OldReader, open_checkpoint

_NO_CELLS = [""] * len(COLUMNS)


def checkpoint_report(prefix: str, tensor: str | None = None, statistics: bool = True) -> Report:
    """A checkpoint's tensors, or one of them."""
    with open_checkpoint(prefix) as reader:
        return _tensor_report(reader, tensor) if tensor else _whole_report(reader, statistics)


def size_of(entry: Entry) -> int:
    """The bytes that a tensor takes in its files."""
    return entry.size or entry.count * max(entry.dtype.size or 0, 0)


def _whole_report(reader: BundleReader, statistics: bool) -> Report:
    entries = {name: reader.entry(name) for name in reader}
    total = sum(size_of(entry) for entry in entries.values())
    entries.pop(GRAPH_KEY, None)
    values = sum(entry.count for entry in entries.values())
    rows = [_row(reader, name, entry, statistics) for name, entry in entries.items()]
    facts = {
        "contents": f"{plural(len(entries), 'tensor')}, {plural(values, 'value')}",
        "size": byte_count(total),
        "written by": _author(reader),
    }
    written = _written(reader)
    if written:
        facts["written at"] = written
    columns = ["name", "dtype", "shape", "slices", "size", *COLUMNS]
    numbers = ("slices", "size", *COLUMNS)
    table = Table.of("", columns, rows, numbers, optional=("mean", "size", "slices", "min", "max", "norm"))
    return Report(f"Checkpoint {reader.prefix}", facts, [table])


def _author(reader: BundleReader) -> str:
    if isinstance(reader, OldReader):
        return "tf.train.Saver, first format"
    graph = read_object_graph(reader)
    if graph is None:
        return "tf.train.Saver"
    return f"tf.train.Checkpoint ({plural(len(graph.nodes), 'object')})"


def _written(reader: BundleReader) -> str:
    path = index_path(reader.prefix)
    if not os.path.exists(path):
        return ""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(os.path.getmtime(path)))


def _row(reader: BundleReader, name: str, entry: Entry, statistics: bool) -> list[Any]:
    cells = _NO_CELLS
    if statistics:
        found = statistics_of(reader.read(name))
        cells = found.cells() if found else _NO_CELLS
    slices = len(entry.slices) or ""
    return [entry.name, entry.dtype.name, shape_text(entry.shape), slices, byte_count(size_of(entry)), *cells]


def _tensor_report(reader: BundleReader, name: str) -> Report:
    entry = reader.entry(name)
    value = reader.read(name)
    facts = {
        "dtype": entry.dtype.name,
        "shape": shape_text(entry.shape),
        "size": f"{byte_count(size_of(entry))}, {plural(entry.count, 'value')}",
        "place": reader.place(name),
    }
    if entry.slices:
        facts["slices"] = ", ".join(map(str, entry.slices))
    found = statistics_of(value)
    if found:
        facts |= {label: cell for label, cell in zip(COLUMNS, found.cells()) if cell}
        bars = histogram_text(value, found)
        if bars:
            facts["distribution"] = bars
    return Report(f"Tensor {name} of {reader.prefix}", facts, text=_values_text(value))


def _values_text(value: np.ndarray) -> str:
    if value.dtype == object and not value.shape:
        return repr(value[()][:1000])
    with np.printoptions(threshold=200, edgeitems=4, linewidth=100, precision=6):
        return str(value)


def directory_table(directory: str) -> tuple[Table | None, str | None]:
    """The checkpoints that a directory's state names, and the newest of them."""
    state = get_checkpoint_state(directory)
    if state is None:
        return None, None
    rows = []
    for prefix in state.all_model_checkpoint_paths:
        if not checkpoint_exists(prefix):
            rows.append([os.path.relpath(prefix, directory), "", "", "is gone!"])
            continue
        with open_checkpoint(prefix) as reader:
            total = sum(size_of(reader.entry(name)) for name in reader)
            newest = "newest" if prefix == state.model_checkpoint_path else ""
            rows.append([os.path.relpath(prefix, directory), byte_count(total), _written(reader), newest])
    newest = state.model_checkpoint_path
    table = Table.of("Checkpoints", ["prefix", "size", "written at", ""], rows, numbers=("size",))
    return table, newest if checkpoint_exists(newest) else None
