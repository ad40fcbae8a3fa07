"""Advice: what of a profile is worth a look."""

from __future__ import annotations

from typing import Any

from tideflow.graph import errors
from tideflow.profiler import report
from tideflow.profiler.model import Model
from tideflow.profiler.options import Options, ProfileOptionBuilder
from tideflow.profiler.protos import AdviceProto
from tideflow.profiler.views import Entry, code_view, op_view, scope_view

_TOP = 3
_BUSY = 0.5  # of the time an accelerator should be
_BY_TIME = ProfileOptionBuilder.time_and_memory(min_bytes=0)


def advice(model: Model, options: dict[str, Any] | None) -> Any:
    """The reports of the checkers that are asked for, or of all; printed too, as TensorFlow does."""
    wanted = dict.fromkeys(_CHECKERS) if options is None else options
    unknown = set(wanted) - {*_CHECKERS, "JobChecker"}
    if unknown:
        raise errors.invalid_argument(
            f"Unknown checkers {sorted(unknown)}; there are {', '.join(_CHECKERS)}."
        )
    message = AdviceProto()
    for name, check in _CHECKERS.items():
        if name not in wanted:
            continue
        reports = check(model) if model.steps else []
        message.checkers[name].reports.extend(reports)
        print(f"\n{name}:", *reports, sep="\n")
    return message


def _cost(entry: Entry) -> str:
    micros = (entry.own[key] for key in ("cpu_exec_micros", "accelerator_exec_micros", "exec_micros"))
    cpu, accelerator, total = map(report.time, micros)
    return f"{entry.name}, cpu: {cpu}, accelerator: {accelerator}, total: {total}"


def _expensive_operations(model: Model) -> list[str]:
    """The op types, the scopes and the lines of the program that take the most time."""
    types = op_view(model, Options(_BY_TIME))
    whole = types.total["exec_micros"]
    lines, entry = [], types
    while entry.children and len(lines) < _TOP:
        (entry,) = entry.children
        share = 100 * entry.own["exec_micros"] / whole
        lines.append(f"top {len(lines) + 1} operation type: {_cost(entry)} ({share:.2f}%)")
    scopes = scope_view(model, Options(_BY_TIME)).children[:_TOP]
    for scope in scopes:
        scope.own = scope.total
    nodes = [f"top {i} graph node: {_cost(scope)}" for i, scope in enumerate(scopes, 1)]
    return [text for text in ("\n".join(lines), "\n".join(nodes), "\n".join(_lines(model))) if text]


def _lines(model: Model) -> list[str]:
    """The way down to the line that takes the most."""
    found, entry = [], code_view(model, Options(_BY_TIME))
    while entry.children and len(found) < _TOP:
        entry = entry.children[0]
        entry.own = entry.total
        found.append(f"{'  ' * len(found)}{_cost(entry)}")
    return found


def _operations(model: Model) -> list[str]:
    """Formats that are slow where they run."""
    slow = [node for node in model.nodes.values() if node.data_format == "NHWC" and "gpu" in node.device]
    if not slow:
        return []
    return [f"Found operation using NHWC data_format on GPU. Maybe NCHW is faster: {slow[0].name}"]


def _accelerators(model: Model) -> list[str]:
    """Accelerators that are idle for most of a step."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for node in model.nodes.values():
        for ran in node.steps.values():
            for device, times in ran.accelerator.items():
                spans.setdefault(device, []).extend(times)
    reports = []
    for device, times in sorted(spans.items()):
        whole = max(start + micros for start, micros in times) - min(start for start, _ in times)
        busy = sum(micros for _, micros in times) / max(1, whole)
        if busy < _BUSY:
            reports.append(f"device: {device} low utilization: {busy:.2f}")
    return reports


_CHECKERS = {
    "ExpensiveOperationChecker": _expensive_operations,
    "OperationChecker": _operations,
    "AcceleratorUtilizationChecker": _accelerators,
}
