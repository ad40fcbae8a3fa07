"""`tf.train.queue_report`: where a pipeline stands, and who waits for whom."""

from __future__ import annotations

from typing import Any

from tideflow.export import export

_UNBOUNDED = 1 << 62
_KINDS = ("queue", "barrier", "staging area", "accumulator")
_HEADER = ("name", "kind", "size", "capacity", "state", "waiting")


@export("train.queue_report")
def queue_report(session: Any) -> str:
    """A table of the session's queues, barriers, staging areas and accumulators: how full each is, whether
    it is closed, and how many steps wait to put something in or to take something out.
    """
    reports = [resource.report() for kind in _KINDS for resource in session._resources.all(kind)]
    if not reports:
        return "The session has no queues."
    rows = [_HEADER, *map(_row, sorted(reports, key=lambda report: report["name"]))]
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])


def _row(report: dict[str, Any]) -> tuple[str, ...]:
    capacity = report["capacity"]
    bounded = capacity is not None and capacity < _UNBOUNDED
    return (
        report["name"],
        report["kind"],
        str(report["size"]),
        str(capacity) if bounded else "unbounded",
        _state(report, bounded),
        _waiting(report) or "nobody",
    )


def _state(report: dict[str, Any], bounded: bool) -> str:
    is_full = bounded and report["size"] >= report["capacity"]
    level = "empty" if not report["size"] else "full" if is_full else ""
    return ", ".join(filter(None, [level, "closed" if report["closed"] else ""])) or "open"


def _waiting(report: dict[str, Any]) -> str:
    sides = (("to put in", report["waiting to enqueue"]), ("to take out", report["waiting to dequeue"]))
    return ", ".join(f"{count} {what}" for what, count in sides if count)
