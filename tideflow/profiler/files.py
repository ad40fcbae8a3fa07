"""A profile in files of other tools: Chrome's traces, pprof."""

from __future__ import annotations

import gzip
from typing import Any

from tideflow.graph.own_protos import make_messages
from tideflow.io.local_files import write_bytes
from tideflow.profiler.model import Model, ModelNode
from tideflow.profiler.views import Entry
from tideflow.session.timeline import ChromeTrace

_messages = make_messages(
    "pprof",
    {
        "PprofProfile": {
            "sample_type": "1 repeated PprofValueType",
            "sample": "2 repeated PprofSample",
            "location": "4 repeated PprofLocation",
            "function": "5 repeated PprofFunction",
            "string_table": "6 repeated string",
        },
        "PprofValueType": {"type": "int64", "unit": "int64"},
        "PprofSample": {"location_id": "repeated int64", "value": "repeated int64"},
        "PprofLocation": {"id": "1 int64", "line": "4 repeated PprofLine"},
        "PprofLine": {"function_id": "int64", "line": "int64"},
        "PprofFunction": {"id": "1 int64", "name": "2 int64", "filename": "4 int64"},
    },
)
_VALUES = {  # what a sample counts: the name, the unit, and where it is found
    ("op_count", "count"): "definition_count",
    ("all_time", "microseconds"): "exec_micros",
    ("bytes", "bytes"): "requested_bytes",
    ("params", "count"): "parameters",
    ("float_ops", "count"): "float_ops",
}


def write_timelines(root: Entry, model: Model, outfile: str) -> None:
    """Writes what ran of the nodes shown, a file `outfile_STEP` for each step, a row for each device."""
    nodes: dict[str, ModelNode] = {}
    waiting = [root]
    while waiting:
        entry = waiting.pop()
        nodes.update({node.name: node for node in entry.nodes})
        waiting += entry.children
    for step in model.steps:
        trace = ChromeTrace()
        pids: dict[str, int] = {}
        for node in nodes.values():
            ran = node.steps.get(step)
            for device, times in {**ran.cpu, **ran.accelerator}.items() if ran else ():
                if device not in pids:
                    pids[device] = len(pids)
                    trace.name_process(device, pids[device])
                for start, micros in times:
                    facts = {"name": node.name, "op": node.op}
                    trace.add("X", "Op", node.op, pids[device], 0, start, dur=micros, args=facts)
        write_bytes(f"{outfile}_{step}", trace.format_to_string().encode())


def write_pprof(model: Model, step: int, outfile: str) -> None:
    """Writes the nodes by the lines that made them, for `pprof`."""
    profile = _messages["PprofProfile"]()
    words: dict[str, int] = {"": 0}
    lines: dict[str, int] = {}

    def word(text: str) -> int:
        return words.setdefault(text, len(words))

    for name, unit in _VALUES:
        profile.sample_type.add(type=word(name), unit=word(unit))
    for node in model.nodes.values():
        counts, trace = node.counts(step), model.trace_of(node)
        for line in trace:
            if line not in lines:
                lines[line] = len(lines) + 1
                _add_line(profile, line, lines[line], word)
        where = [lines[line] for line in reversed(trace)]
        profile.sample.add(location_id=where, value=[counts[key] for key in _VALUES.values()])
    profile.string_table.extend(words)
    write_bytes(outfile, gzip.compress(profile.SerializeToString()))


def _add_line(profile: Any, line: str, number: int, word: Any) -> None:
    file, at, function = line.split(":", 2)
    profile.function.add(id=number, name=word(function), filename=word(file))
    profile.location.add(id=number).line.add(function_id=number, line=int(at))
