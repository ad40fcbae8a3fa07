"""`tf.train.queue_report`: where a pipeline stands, and who waits for whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorboard.compat.proto.summary_pb2 import Summary

from tideflow.export import export

if TYPE_CHECKING:
    from tideflow.graph.typing import SessionLike

_UNBOUNDED = 1 << 62
_KINDS = ("queue", "barrier", "staging area", "accumulator")
_WAITING = ("waiting to enqueue", "waiting to dequeue")
_HEADER = ("name", "kind", "size", "capacity", "state", "waiting")


@export("train.queue_report")
def queue_report(session: SessionLike) -> str:
    """Describes the queues, barriers, staging areas and accumulators of a session.

    Args:
      session: The session.

    Returns:
      A table as text: how full each is, whether it is closed, and how many steps wait to enqueue and to
      dequeue.
    """
    reports = _reports(session)
    if not reports:
        return "The session has no queues."
    rows = [_HEADER, *map(_row, reports)]
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])


@export("train.queue_summary")
def queue_summary(session: SessionLike) -> Any:
    """Describes the queues of a session for TensorBoard.

    Args:
      session: The session.

    Returns:
      A `tf.Summary` for `FileWriter.add_summary`: for each queue, its size, the part of its capacity that is
      used, and how many steps wait to enqueue and to dequeue.
    """
    message = Summary()
    for report in _reports(session):
        facts = {key.replace(" ", "_"): report[key] for key in ("size", *_WAITING)}
        if _is_bounded(report):
            facts["fraction_full"] = report["size"] / report["capacity"]
        for fact, number in facts.items():
            message.value.add(tag=f"queues/{report['name']}/{fact}", simple_value=number)
    return message


def _reports(session: Any) -> list[dict[str, Any]]:
    found = [resource.report() for kind in _KINDS for resource in session._resources.all(kind)]
    return sorted(found, key=lambda report: report["name"])


def _is_bounded(report: dict[str, Any]) -> bool:
    return report["capacity"] is not None and report["capacity"] < _UNBOUNDED


def _row(report: dict[str, Any]) -> tuple[str, ...]:
    bounded = _is_bounded(report)
    return (
        report["name"],
        report["kind"],
        str(report["size"]),
        str(report["capacity"]) if bounded else "unbounded",
        _state(report, bounded),
        _waiting(report) or "nobody",
    )


def _state(report: dict[str, Any], bounded: bool) -> str:
    is_full = bounded and report["size"] >= report["capacity"]
    level = "empty" if not report["size"] else "full" if is_full else ""
    return ", ".join(filter(None, [level, "closed" if report["closed"] else ""])) or "open"


def _waiting(report: dict[str, Any]) -> str:
    sides = (("to put in", report[_WAITING[0]]), ("to take out", report[_WAITING[1]]))
    return ", ".join(f"{count} {what}" for what, count in sides if count)
