"""A profile told: as messages, as text."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tideflow.profiler.model import ModelNode
from tideflow.profiler.options import Options
from tideflow.profiler.protos import GraphNodeProto, MultiGraphNodeProto
from tideflow.profiler.views import ROOT, SCOPE, Entry

_COUNTS = (
    "exec_micros accelerator_exec_micros cpu_exec_micros requested_bytes peak_bytes residual_bytes "
    "output_bytes parameters float_ops"
).split()

# ------------------------------------------------------------------------------------------------ messages


def graph_message(root: Entry) -> Any:
    """The profile as a GraphNodeProto."""
    whole = GraphNodeProto()
    waiting = [(whole, root)]
    while waiting:
        message, entry = waiting.pop()
        (node,) = entry.nodes
        _describe(message, entry.name, node, entry.own if entry.accounted else Counter())
        _set_totals(message, entry.total)
        message.total_run_count = entry.total["run_count"]
        message.total_definition_count = entry.total["definition_count"]
        waiting += [(message.children.add(), child) for child in entry.children]
    return whole


def _describe(message: Any, name: str, node: ModelNode, counts: Counter) -> None:
    message.name, message.run_count = name, counts["run_count"]
    for count in _COUNTS:
        setattr(message, count, counts[count])
    if node.steps:
        message.devices.append(node.device)
    if counts:
        for i, dims in node.input_shapes.items():
            shape = message.input_shapes[i]
            shape.unknown_rank = dims is None
            for length in dims or ():
                shape.dim.add(size=length)


def _set_totals(message: Any, total: Counter) -> None:
    for count in _COUNTS:
        setattr(message, f"total_{count}", total[count])


def multi_message(root: Entry, options: Options, with_nodes: bool) -> Any:
    """The profile as a MultiGraphNodeProto, on request with the nodes that each line stands for."""
    whole = MultiGraphNodeProto()
    waiting = [(whole, root)]
    while waiting:
        message, entry = waiting.pop()
        message.name = entry.name
        for count in _COUNTS:
            setattr(message, count, entry.own[count])
        _set_totals(message, entry.total)
        for node in entry.nodes if with_nodes else ():
            counts = node.counts(options.step)
            inner = message.graph_nodes.add()
            _describe(inner, node.name, node, counts)
            _set_totals(inner, counts)
            inner.total_run_count, inner.total_definition_count = counts["run_count"], 1
        waiting += [(message.children.add(), child) for child in entry.children]
    return whole


# ------------------------------------------------------------------------------------------------ text


def number(count: float) -> str:
    """A count in few characters."""
    for unit in ("", "k", "m", "b", "t"):
        if count < 1000 or unit == "t":
            return f"{count:.2f}{unit}" if unit else str(count)
        count /= 1000
    raise AssertionError


def size(count: float) -> str:
    """Bytes in few characters."""
    for unit in ("B", "KB", "MB", "GB", "TB"):
        if count < 1000 or unit == "TB":
            return f"{count}{unit}" if unit == "B" else f"{count:.2f}{unit}"
        count /= 1000
    raise AssertionError


def time(micros: int) -> str:
    """Microseconds in few characters."""
    if micros < 1000:
        return f"{micros}us"
    if micros < 1_000_000:
        return f"{micros / 1e3:.2f}ms"
    if micros < 60_000_000:
        return f"{micros / 1e6:.2f}sec"
    return f"{micros / 60e6:.2f}min" if micros < 3_600_000_000 else f"{micros / 3600e6:.2f}hr"


# An attribute that can be selected: its column, the count behind it, how that is written, and its unit.
_MEMORY = {
    "bytes": ("requested bytes", "requested_bytes", size, ""),
    "peak_bytes": ("peak bytes", "peak_bytes", size, ""),
    "residual_bytes": ("residual bytes", "residual_bytes", size, ""),
    "output_bytes": ("output bytes", "output_bytes", size, ""),
}
_TIME = {
    "micros": ("total execution time", "exec_micros", time, ""),
    "accelerator_micros": ("accelerator execution time", "accelerator_exec_micros", time, ""),
    "cpu_micros": ("cpu execution time", "cpu_exec_micros", time, ""),
}
_PARAMETERS = {"params": ("# parameters", "parameters", number, " params")}
_OPERATIONS = {"float_ops": ("# float_ops", "float_ops", number, " float_ops")}
_FLOPS = {"float_ops": ("# float_ops", "float_ops", number, " flops")}
_TREE_COLUMNS = {**_PARAMETERS, **_FLOPS, **_MEMORY, **_TIME}
_LIST_COLUMNS = {**_MEMORY, **_TIME, **_PARAMETERS, **_OPERATIONS}
_WORDS = {"device": "assigned devices", "op_types": "op types"}

_VIEW_DOCS = {
    "scope": "scope: The nodes in the model graph are organized by their names, which is hierarchical like "
    "filesystem.",
    "op": "op: The nodes are operation kernel type, such as MatMul, Conv2D. Graph nodes belonging to the "
    "same type are aggregated together.",
    "code": "code: When python trace is available, the nodes are python lines and their are organized by the "
    "python call stack.",
    "graph": "graph: The nodes in the model graph are organized by the dataflow: below each what it takes.",
}
_CPU = (
    "cpu execution time: The time from the start to the end of the operation. It's the sum of actual cpu run "
    "time plus the time that it spends waiting if part of computation is launched asynchronously."
)
_ACCELERATOR = (
    "accelerator execution time: Time spent executing on the accelerator. This is normally measured by the "
    "actual hardware library."
)
_DOCS = {
    "bytes": "requested bytes: The memory requested by the operation, accumulatively.",
    "peak_bytes": "peak bytes: The peak amount of memory that the operation is holding at some point.",
    "residual_bytes": "residual bytes: The memory not de-allocated after the operation finishes.",
    "output_bytes": "output bytes: The memory that is output from the operation (not necessarilty allocated "
    "by the operation)",
    "micros": f"total execution time: Sum of accelerator execution time and cpu execution time.\n{_CPU}\n"
    f"{_ACCELERATOR}",
    "accelerator_micros": _ACCELERATOR,
    "cpu_micros": _CPU,
    "params": "param: Number of parameters (in the Variable).",
    "float_ops": "flops: Number of float operations. Note: Please read the implementation for the math "
    "behind it.",
    "device": "device: which device is placed on.",
    "op_types": "op_types: The attributes of the operation, includes the Kernel name device placed on and "
    "user-defined strings.",
    "occurrence": "occurrence: The number of times it occurs",
    "input_shapes": "input shape: The shape of input tensors",
}


def text(root: Entry, cmd: str, options: Options) -> str:
    """The profile as lines under a heading, with what its columns mean."""
    selected = set(options.select)
    if "micros" in selected:
        selected |= {"accelerator_micros", "cpu_micros"}
    columns = _LIST_COLUMNS if cmd == "op" else _TREE_COLUMNS
    shown = [column for name, column in columns.items() if name in selected]
    heads = [head for head, *_ in shown]
    heads += [head for name, head in _WORDS.items() if name in selected]
    if "occurrence" in selected and cmd != "code":
        heads.append("op occurrence (run|defined)" if cmd == "op" else "op count (run|defined)")
    heads += ["input shapes"] if "input_shapes" in selected else []
    if cmd == "op":
        lines = _list_lines(root, shown, selected)
    else:
        lines = _tree_lines(root, 0, shown, selected, cmd)
    docs = "\n".join(_DOCS.get(name, f"Unknown select: {name}") for name in sorted(options.select))
    return f"\nDoc:\n{_VIEW_DOCS[cmd]}\n{docs}\n\nProfile:\nnode name | {' | '.join(heads)}\n{''.join(lines)}"


def _tree_lines(entry: Entry, depth: int, shown: list, selected: set[str], cmd: str) -> list[str]:
    lines, waiting = [], [(entry, depth)]
    while waiting:
        entry, depth = waiting.pop()
        lines.append(f"{'  ' * depth}{entry.name} ({', '.join(_tree_fields(entry, shown, selected, cmd))})\n")
        waiting += [(child, depth + 1) for child in reversed(entry.children)]
    return lines


def _tree_fields(entry: Entry, shown: list, selected: set[str], cmd: str) -> list[str]:
    own_known = entry.accounted and entry.name != ROOT
    fields = []
    if "params" in selected and cmd != "code" and entry.nodes[0].shape and own_known:
        fields.append("x".join(map(str, entry.nodes[0].shape)))
    for _, count, write, unit in shown:
        own = write(entry.own[count]) if own_known else "--"
        fields.append(f"{own}/{write(entry.total[count])}{unit}")
    if cmd == "code":
        return fields
    (node,) = entry.nodes
    if "device" in selected and node.op != SCOPE and node.steps:
        fields.append(node.device)
    if "op_types" in selected:
        fields.append("|".join(sorted(node.all_types)))
    if "occurrence" in selected:
        runs, times = (entry.own["run_count"], 1) if own_known else ("--", "--")
        fields.append(f"{runs}/{entry.total['run_count']}|{times}/{entry.total['definition_count']}")
    if "input_shapes" in selected:
        fields.append("|".join(_input_shapes(node)))
    return fields


def _input_shapes(node: ModelNode) -> list[str]:
    told = {
        i: "unknown" if dims is None else "x".join(map(str, dims)) for i, dims in node.input_shapes.items()
    }
    return [f"{i}:{shape}" for i, shape in told.items()]


def _list_lines(root: Entry, shown: list, selected: set[str]) -> list[str]:
    lines, entry = [], root
    while entry.children:
        (entry,) = entry.children
        fields = []
        for _, count, write, unit in shown:
            whole = root.total[count]
            if write is size and not entry.own[count]:
                whole = 0
            shares = [100 * each / whole if whole else 0 for each in (entry.total[count], entry.own[count])]
            fields.append(f"{write(entry.own[count])}{unit} ({shares[0]:.2f}%, {shares[1]:.2f}%)".rjust(30))
        if "device" in selected:
            fields.append("|".join(sorted({node.device if node.steps else "" for node in entry.nodes})))
        if "op_types" in selected:
            fields.append("|".join(sorted(set().union(*(node.all_types for node in entry.nodes)))))
        if "occurrence" in selected:
            fields.append(f"{entry.own['run_count']}|{len(entry.nodes)}".rjust(10))
        lines.append(f"{entry.name:<25}{', '.join(fields)}\n")
        if "input_shapes" in selected:
            lines.append(f"\n{_by_input_shapes(entry)}\n")
    return lines


def _by_input_shapes(entry: Entry) -> str:
    """What ran with inputs of which shapes, how often and how long."""
    groups: dict[str, list[ModelNode]] = {}
    for node in entry.nodes:
        groups.setdefault(",\t".join(_input_shapes(node)), []).append(node)
    lines = []
    for shapes, nodes in sorted(groups.items()):
        counts = sum((node.counts() for node in nodes), Counter())
        took = time(counts["exec_micros"])
        often = f"(run*{counts['run_count']}|defined*{len(nodes)})"
        lines.append(f"input_type: {shapes}\t{often}\texec_time: {took}\n")
    return "".join(lines)


def heading(options: Options, given: dict[str, Any]) -> str:
    """The options, as a report on the terminal begins with them."""
    rows = {"max_depth": options.max_depth, **options.minima, "step": options.step}
    rows["order_by"] = options.order_by
    for name in ("account_type", "start_name", "trim_name", "show_name", "hide_name"):
        rows[f"{name}_regexes"] = ",".join(options.patterns[name])
    rows["account_displayed_op_only"] = str(bool(options.displayed_only)).lower()
    rows["select"] = ",".join(options.select)
    rows["output"] = f"{options.kind}:{given.get('output', '').partition(':')[2]}"
    lines = "".join(f"{'-' + name:<28}{value}\n" for name, value in rows.items())
    return f"\n=========================Options=============================\n{lines}"
