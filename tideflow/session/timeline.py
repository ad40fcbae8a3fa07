"""A step's statistics as a trace that Chrome (chrome://tracing) and Perfetto show."""

from __future__ import annotations

import json
from typing import Any


class Timeline:
    """Turns a `StepStats` message, from a run with `trace_level=FULL_TRACE`, into a trace."""

    def __init__(self, step_stats: Any, graph: Any = None):
        self._step_stats = step_stats
        self._graph = graph

    def generate_chrome_trace_format(self, show_dataflow: bool = True, show_memory: bool = False) -> str:
        """The trace as JSON: a process for each device, an event for each op, arrows for the dataflow."""
        events: list[dict[str, Any]] = []
        made_at: dict[str, tuple[int, int, int]] = {}  # an op's process, thread and end
        for process, device in enumerate(self._step_stats.dev_stats):
            name = {"name": f"{device.device} Compute"}
            events.append({"name": "process_name", "ph": "M", "pid": process, "args": name})
            for stats in device.node_stats:
                event = _event(stats, process)
                events.append(event)
                made_at[stats.node_name] = (process, event["tid"], event["ts"] + event["dur"])
                if show_memory:
                    events += _memory(stats, process)
        if show_dataflow:
            for event in [e for e in events if e["ph"] == "X"]:
                events += _arrows(event, made_at, len(events))
        return json.dumps({"traceEvents": events}, indent=4, separators=(",", ": "))


def _event(stats: Any, process: int) -> dict[str, Any]:
    op, _, arguments = stats.timeline_label.partition(" = ")[2].partition("(")
    inputs = [name.strip() for name in arguments.removesuffix(")").split(",") if name.strip()]
    named = {f"input{i}": name for i, name in enumerate(inputs)}
    return {
        "name": op or stats.node_name,
        "cat": "Op",
        "ph": "X",
        "pid": process,
        "tid": stats.thread_id,
        "ts": stats.all_start_micros,
        "dur": max(1, stats.all_end_rel_micros),
        "args": {"name": stats.node_name, "op": op, **named},
    }


def _memory(stats: Any, process: int) -> list[dict[str, Any]]:
    return [
        {
            "name": used.allocator_name,
            "cat": "Memory",
            "ph": "C",
            "pid": process,
            "ts": stats.all_start_micros,
            "args": {used.allocator_name: used.total_bytes},
        }
        for used in stats.memory
    ]


def _arrows(
    event: dict[str, Any], made_at: dict[str, tuple[int, int, int]], first: int
) -> list[dict[str, Any]]:
    arrows = []
    sources = [name for key, name in event["args"].items() if key.startswith("input") and name in made_at]
    for i, source in enumerate(sources):
        process, thread, end = made_at[source]
        flow = {"name": source, "cat": "DataFlow", "id": first + i}
        arrows.append({**flow, "ph": "s", "pid": process, "tid": thread, "ts": end})
        arrows.append({**flow, "ph": "t", "pid": event["pid"], "tid": event["tid"], "ts": event["ts"]})
    return arrows
