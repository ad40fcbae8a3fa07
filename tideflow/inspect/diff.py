"""Two checkpoints beside each other: which tensors changed, and by how much."""

from __future__ import annotations

import math

from tideflow.inspect.report import Report, Table, number, plural, shape_text
from tideflow.inspect.statistics import difference, statistics_of
from tideflow.io.bundle import BundleReader
from tideflow.io.object_graph import GRAPH_KEY
from tideflow.io.old_checkpoints import open_checkpoint


def diff_of(one: str, other: str) -> Report:
    """What changed from one checkpoint to another; the most changed first."""
    with open_checkpoint(one) as a, open_checkpoint(other) as b:
        names = [name for name in a if name in b and name != GRAPH_KEY]
        alike = [name for name in names if _kind(a, name) == _kind(b, name)]
        changed = [row for name in alike if (row := _changed(a, b, name))]
        tables = [
            _changes([row for _, row in sorted(changed, key=lambda found: -found[0])]),
            _others(a, b, [name for name in names if name not in alike]),
            _alone(a, [name for name in a if name not in b], f"Only in {a.prefix}"),
            _alone(b, [name for name in b if name not in a], f"Only in {b.prefix}"),
        ]
    facts = {
        "changed": plural(len(changed), "tensor"),
        "unchanged": plural(len(alike) - len(changed), "tensor"),
    }
    return Report(f"From {one} to {other}", facts, [table for table in tables if table.rows])


def _kind(reader: BundleReader, name: str) -> tuple:
    entry = reader.entry(name)
    return entry.dtype, entry.shape


def _changed(a: BundleReader, b: BundleReader, name: str) -> tuple[float, list[str]] | None:
    """How much a tensor changed, and that in a row; None where it did not."""
    before, after = a.read(name), b.read(name)
    gap, greatest, count = difference(before, after)
    if not count:
        return None
    norms = [found.norm if found else None for found in map(statistics_of, (before, after))]
    relative = gap / norms[0] if norms[0] else math.inf
    entry = a.entry(name)
    share = f"{count:,} of {entry.count:,}"
    cells = [
        *map(number, norms),
        number(gap),
        f"{relative:.2%}" if math.isfinite(relative) else "",
        number(greatest),
    ]
    return relative, [name, entry.dtype.name, shape_text(entry.shape), *cells, share]


def _changes(rows: list[list[str]]) -> Table:
    numbers = ("norm before", "norm after", "norm of change", "relative", "max change", "values changed")
    optional = ("values changed", "max change", "dtype", "norm after", "shape", "norm before")
    return Table.of("Changed", ["name", "dtype", "shape", *numbers], rows, numbers, optional=optional)


def _others(a: BundleReader, b: BundleReader, names: list[str]) -> Table:
    def said(reader: BundleReader, name: str) -> str:
        dtype, shape = _kind(reader, name)
        return f"{dtype.name} {shape_text(shape)}"

    rows = [[name, said(a, name), said(b, name)] for name in names]
    return Table.of("Of another type or shape", ["name", "before", "after"], rows)


def _alone(reader: BundleReader, names: list[str], title: str) -> Table:
    entries = [reader.entry(name) for name in names if name != GRAPH_KEY]
    rows = [[entry.name, entry.dtype.name, shape_text(entry.shape)] for entry in entries]
    return Table.of(title, ["name", "dtype", "shape"], rows)
