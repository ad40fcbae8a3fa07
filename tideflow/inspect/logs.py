"""Event files and files of records as people see them."""

from __future__ import annotations

import math
import os
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from tideflow.graph import errors
from tideflow.graph.errors import DataLossError
from tideflow.graph.example_proto import Example, SequenceExample
from tideflow.graph.tensor_proto import make_ndarray
from tideflow.inspect.report import Report, Table, byte_count, number, plural, shape_text
from tideflow.io.events import summary_iterator
from tideflow.io.records import RecordFile

_END_OF_TIME = 253402300800  # the year 10000, in seconds
_SHOWN = 60  # steps of a tag, or values of a feature


def event_files(directory: str) -> dict[str, list[str]]:
    """The event files below a directory, by the run (the folder) they are of."""
    runs = {}
    for folder, _, names in os.walk(directory):
        found = sorted(os.path.join(folder, name) for name in names if "tfevents" in name)
        if found:
            runs[os.path.relpath(folder, directory)] = found
    return dict(sorted(runs.items()))


@dataclass
class _Tag:
    """What was logged under a name."""

    kind: str
    steps: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)


@dataclass
class _Log:
    """What event files have in them."""

    tags: dict[tuple[str, str], _Tag] = field(default_factory=dict)
    events: int = 0
    first: float = math.inf
    last: float = -math.inf
    others: Counter = field(default_factory=Counter)
    damage: list[str] = field(default_factory=list)


def log_report(headline: str, runs: dict[str, list[str]], tag: str | None = None) -> Report:
    """Tags of event files with their steps and values, or the values of one tag."""
    log = _Log()
    for run, paths in runs.items():
        for path in paths:
            _take(log, run, path)
    if tag:
        return _tag_report(log, tag)
    facts = {
        "files": f"{plural(sum(map(len, runs.values())), 'file')}, {plural(log.events, 'event')}",
        "from": _when(log.first),
        "until": _when(log.last),
        "also": ", ".join(f"{name} ({count})" for name, count in sorted(log.others.items())),
        "damaged": "; ".join(log.damage),
    }
    rows = [_tag_row(run, name, found) for (run, name), found in log.tags.items()]
    numbers = ("points", "first step", "last step", "first", "last", "min", "max")
    columns = ["tag", "run" if len(runs) > 1 else "", "kind", *numbers]
    rows = rows if len(runs) > 1 else [_without_run(row) for row in rows]
    table = Table.of("", columns, rows, numbers, optional=("first", "first step", "kind", "min", "max"))
    return Report(headline, {label: fact for label, fact in facts.items() if fact}, [table])


def _without_run(row: list[Any]) -> list[Any]:
    return [row[0], "", *row[2:]]


def _when(seconds: float) -> str:
    if not 0 <= seconds < _END_OF_TIME:
        return ""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


def _take(log: _Log, run: str, path: str) -> None:
    try:
        for event in summary_iterator(path):
            log.events += 1
            if event.HasField("file_version"):
                continue
            log.first, log.last = min(log.first, event.wall_time), max(log.last, event.wall_time)
            if not event.HasField("summary"):
                log.others[(event.WhichOneof("what") or "nothing").replace("_", " ")] += 1
            for value in event.summary.value:
                kind, scalar = _kind_and_scalar(value)
                tag = log.tags.setdefault((run, value.tag), _Tag(kind))
                tag.steps.append(event.step)
                if scalar is not None:
                    tag.values.append(scalar)
    except DataLossError as error:  # what is whole in front of the damage is shown
        log.damage.append(error.message)


def _kind_and_scalar(value: Any) -> tuple[str, float | None]:
    """What a summary is of, and its number where it is one."""
    kind = value.WhichOneof("value") or "nothing"
    if kind == "simple_value":
        return "scalar", value.simple_value
    if kind == "tensor":
        plugin = value.metadata.plugin_data.plugin_name or "tensor"
        shape = [dim.size for dim in value.tensor.tensor_shape.dim]
        return plugin.rstrip("s"), _tensor_scalar(value.tensor) if plugin == "scalars" and not shape else None
    return {"histo": "histogram"}.get(kind, kind), None


def _tensor_scalar(tensor: Any) -> float | None:
    try:
        return float(make_ndarray(tensor))
    except (TypeError, ValueError, OverflowError):
        return None


def _tag_row(run: str, name: str, tag: _Tag) -> list[Any]:
    finite = [value for value in tag.values if math.isfinite(value)]
    ends = [number(value) for value in (tag.values[0], tag.values[-1])] if tag.values else ["", ""]
    bounds = [number(min(finite)), number(max(finite))] if finite else ["", ""]
    return [name, run, tag.kind, len(tag.steps), tag.steps[0], tag.steps[-1], *ends, *bounds]


def _tag_report(log: _Log, name: str) -> Report:
    found = {run: tag for (run, known), tag in log.tags.items() if known == name}
    if not found:
        known = ", ".join(sorted({tag for _, tag in log.tags}))
        raise errors.not_found(f"There is no tag {name!r}. There are: {known}")
    report = Report(f"Tag {name}")
    for run, tag in found.items():
        values = tag.values or [math.nan] * len(tag.steps)
        rows = [[step, number(value) if tag.values else ""] for step, value in zip(tag.steps, values)]
        left_out = f"the last {_SHOWN} of {len(rows)}" if len(rows) > _SHOWN else ""
        title = run if len(found) > 1 else ""
        report.tables.append(Table.of(title, ["step", "value"], rows[-_SHOWN:], ("step", "value"), left_out))
    return report


# --------------------------------------------------------------------------------------------------- records


def record_report(path: str, compression: str, record: str | None = None) -> Report:
    """A file of records: how many, how long, and of Examples their features; or one record, by its number."""
    if record is not None:
        return _one_record(path, compression, record)
    lengths, features, examples = [], {}, 0
    for data in _records(path, compression):
        lengths.append(len(data))
        message = _example(data)
        if message is not None:
            examples += 1
            for name, feature in _features(message):
                _count_feature(features.setdefault(name, {}), feature)
    facts = {"records": plural(len(lengths), "record"), "file": byte_count(os.path.getsize(path))}
    if compression:
        facts["compression"] = compression
    if lengths:
        average = byte_count(round(sum(lengths) / len(lengths)))
        facts["lengths"] = f"{byte_count(min(lengths))} to {byte_count(max(lengths))}, {average} on average"
    if examples:
        facts["messages"] = plural(examples, "Example")
    rows = [_feature_row(name, found, examples) for name, found in sorted(features.items())]
    numbers = ("in records", "values", "min", "max")
    table = Table.of("Features", ["name", "kind", *numbers], rows, numbers=numbers)
    return Report(f"TFRecord {path}", facts, [table] if rows else [])


def _records(path: str, compression: str) -> Iterator[bytes]:
    with RecordFile(path, compression) as file:
        for _, data in file:
            yield data


def _example(data: bytes) -> Any | None:
    """The Example or SequenceExample that bytes are; None where they are something else."""
    for kind in (Example, SequenceExample):
        try:
            message = kind.FromString(data)
        except DecodeError:
            continue
        if any(feature.WhichOneof("kind") for _, feature in _features(message)):
            return message
    return None


def _features(message: Any) -> Iterator[tuple[str, Any]]:
    """The features of an Example, or of a SequenceExample's context and lists."""
    if isinstance(message, Example):
        yield from message.features.feature.items()
        return
    yield from message.context.feature.items()
    for name, listed in message.feature_lists.feature_list.items():
        for feature in listed.feature:
            yield f"{name} (list)", feature


def _count_feature(found: dict[str, Any], feature: Any) -> None:
    kind = feature.WhichOneof("kind")
    values = getattr(feature, kind).value if kind else []
    found.setdefault("kinds", Counter())[(kind or "nothing").removesuffix("_list")] += 1
    found["least"] = min(found.get("least", len(values)), len(values))
    found["most"] = max(found.get("most", len(values)), len(values))
    if values:
        sizes = [len(value) for value in values] if kind == "bytes_list" else np.asarray(values)
        found["min"] = min(found.get("min", math.inf), float(np.min(sizes)))
        found["max"] = max(found.get("max", -math.inf), float(np.max(sizes)))


def _feature_row(name: str, found: dict[str, Any], examples: int) -> list[Any]:
    kinds = " or ".join(found["kinds"])
    counts = str(found["least"]) if found["least"] == found["most"] else f"{found['least']}–{found['most']}"
    bounds = [number(found.get(key)) for key in ("min", "max")]
    if kinds == "bytes":
        bounds = [f"{bound} B" if bound else "" for bound in bounds]
    share = "all" if found["kinds"].total() == examples else f"{found['kinds'].total()} of {examples}"
    return [name, kinds, share, counts, *bounds]


def _one_record(path: str, compression: str, record: str) -> Report:
    if not record.isdecimal():
        raise errors.invalid_argument(f"Records are named by their numbers from 0 on, not {record!r}")
    for position, data in enumerate(_records(path, compression)):
        if position == int(record):
            message = _example(data)
            text = repr(data[:2000]) if message is None else _example_text(message)
            return Report(f"Record {record} of {path}", {"length": byte_count(len(data))}, text=text)
    raise errors.not_found(f"There is no record {record} in {path}")


def _example_text(message: Any) -> str:
    lines = []
    for name, feature in sorted(_features(message), key=lambda found: found[0]):
        kind = feature.WhichOneof("kind")
        values = list(getattr(feature, kind).value) if kind else []
        shown = ", ".join(_value_text(value) for value in values[:_SHOWN])
        more = ", …" if len(values) > _SHOWN else ""
        lines.append(f"{name}  {kind or 'nothing'} {shape_text([len(values)])}  {shown}{more}")
    return "\n".join(lines)


def _value_text(value: Any) -> str:
    if isinstance(value, bytes):
        return repr(value[:40]) + ("…" if len(value) > 40 else "")
    return number(value) if isinstance(value, float) else str(value)
