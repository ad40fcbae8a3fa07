"""A model's nodes in order: by scope, by dataflow, by op type, by line of the program."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from tideflow.profiler.model import Model, ModelNode
from tideflow.profiler.options import Options

ROOT = "_TFProfRoot"
SCOPE = "_kTFScopeParent"

# By option: what it bounds from below.
_BOUNDS = {
    "min_bytes": "requested_bytes",
    "min_peak_bytes": "peak_bytes",
    "min_residual_bytes": "residual_bytes",
    "min_output_bytes": "output_bytes",
    "min_micros": "exec_micros",
    "min_accelerator_micros": "accelerator_exec_micros",
    "min_cpu_micros": "cpu_exec_micros",
    "min_params": "parameters",
    "min_float_ops": "float_ops",
}
_ORDERS = {
    "bytes": "requested_bytes",
    "peak_bytes": "peak_bytes",
    "residual_bytes": "residual_bytes",
    "output_bytes": "output_bytes",
    "micros": "exec_micros",
    "accelerator_micros": "accelerator_exec_micros",
    "cpu_micros": "cpu_exec_micros",
    "params": "parameters",
    "float_ops": "float_ops",
}


@dataclass
class Entry:
    """A line of a profile: what it stands for, its own numbers and those of all below it."""

    name: str
    nodes: list[ModelNode] = field(default_factory=list)
    accounted: bool = True
    own: Counter = field(default_factory=Counter)
    total: Counter = field(default_factory=Counter)
    children: list[Entry] = field(default_factory=list)

    def take(self, nodes: Iterable[ModelNode], options: Options) -> None:
        """Stands for those of the nodes whose types are asked for."""
        taken = [node for node in nodes if options.matches("account_type", *node.all_types)]
        self.nodes = sorted(taken, key=lambda node: node.name)
        self.own = sum((node.counts(options.step) for node in self.nodes), Counter())

    def add_up(self) -> None:
        """Counts itself and everything below."""
        for entry in _inside_out(self):
            entry.total = Counter(entry.own) if entry.accounted else Counter()
            for child in entry.children:
                entry.total.update(child.total)


def _inside_out(root: Entry) -> list[Entry]:
    """An entry and all below it, each after its children: dataflow is deeper than Python's stack."""
    order, waiting = [], [root]
    while waiting:
        order.append(waiting.pop())
        waiting += order[-1].children
    return order[::-1]


def scope_view(model: Model, options: Options) -> Entry:
    """The nodes by their names, which are paths."""
    entries: dict[str, Entry] = {}
    root = _scope_entry(ROOT, None, options)
    root.accounted = False
    for name in sorted(model.nodes):
        above = root
        parts = name.split("/")
        for i in range(1, len(parts) + 1):
            path = "/".join(parts[:i])
            if path not in entries:
                entries[path] = _scope_entry(path, model.nodes.get(path), options)
                above.children.append(entries[path])
            above = entries[path]
    return _tree_shown(root, options, lone=True)


def _scope_entry(name: str, node: ModelNode | None, options: Options) -> Entry:
    node = node or ModelNode(name, SCOPE)
    entry = Entry(name, [node], options.matches("account_type", *node.all_types), node.counts(options.step))
    entry.own["definition_count"] = 1
    return entry


def graph_view(model: Model, options: Options) -> Entry:
    """The nodes by the dataflow: below each what it takes, unless it was shown before."""
    taken = {name for node in model.nodes.values() for name in node.inputs}
    seen: set[str] = set()
    root = _scope_entry(ROOT, None, options)
    root.accounted = False
    waiting = [(name, root) for name in sorted(model.nodes.keys() - taken, reverse=True)]
    while waiting:  # depth first, in the order of the inputs
        name, above = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        entry = _scope_entry(name, model.nodes[name], options)
        above.children.append(entry)
        waiting += [(source, entry) for source in reversed(model.nodes[name].inputs)]
    return _tree_shown(root, options, lone=True, scopes=False)


def code_view(model: Model, options: Options) -> Entry:
    """The nodes by the lines of the program that made them, outer lines first."""
    root = Entry(ROOT)
    below: dict[tuple[str, ...], Entry] = {(): root}
    members: dict[tuple[str, ...], list[ModelNode]] = {}
    for node in model.nodes.values():
        trace = tuple(model.trace_of(node))
        if not trace:
            continue
        for i in range(1, len(trace) + 1):
            if trace[:i] not in below:
                below[trace[:i]] = Entry(trace[i - 1])
                below[trace[: i - 1]].children.append(below[trace[:i]])
        members.setdefault(trace, []).append(node)
    for trace, nodes in members.items():
        below[trace].take(nodes, options)
    return _tree_shown(root, options, lone=False)


def op_view(model: Model, options: Options) -> Entry:
    """The nodes by op type, sorted; each line's sum is over it and all that follow, which stand below it."""
    by_type: dict[str, list[ModelNode]] = {}
    for node in model.nodes.values():
        by_type.setdefault(node.op, []).append(node)
    entries = []
    for name, nodes in by_type.items():
        entry = Entry(name)
        entry.take(nodes, options)
        entry.total = entry.own
        if entry.nodes:
            entries.append(entry)
    entries = _sorted(entries, options)
    _add_up_following(entries)
    everything = entries[0].total if entries else Counter()
    first = next((i for i, e in enumerate(entries) if options.matches("start_name", e.name)), len(entries))
    shown = []
    for depth, entry in enumerate(entries[first:]):
        if options.matches("trim_name", entry.name) or depth > options.max_depth:
            break
        often_enough = len(entry.nodes) >= options.minima["min_occurrence"]
        if (
            often_enough
            and _large_enough(entry.total, entry.total, options)
            and options.shows_name(entry.name)
        ):
            shown.append(entry)
    if options.displayed_only:
        _add_up_following(shown)
        everything = shown[0].total if shown else Counter()
    for entry, following in itertools.pairwise(shown):
        entry.children = [following]
    return Entry(ROOT, total=everything, children=shown[:1])


VIEWS: dict[str, Callable[[Model, Options], Entry]] = {
    "scope": scope_view,
    "graph": graph_view,
    "op": op_view,
    "code": code_view,
}

# ------------------------------------------------------------------------------------------------ showing


def _add_up_following(entries: list[Entry]) -> None:
    total: Counter = Counter()
    for entry in reversed(entries):
        total = entry.total = total + entry.own


def _tree_shown(root: Entry, options: Options, lone: bool, scopes: bool = True) -> Entry:
    """The tree without what the options hide; `lone` where an entry is a single node of the graph, `scopes`
    where one that does not count is shown for what is in it.
    """
    root.add_up()
    if options.patterns["start_name"] != [".*"]:
        root.children = list(_starting(root.children, options))
    if not scopes:
        _leave_out_what_does_not_count(root)
    depths = {id(root): 1}
    for entry in reversed(_inside_out(root)):
        depths.update({id(child): depths[id(entry)] + 1 for child in entry.children})
    shown: dict[int, list[Entry]] = {}  # what is to be seen of an entry: itself, or what is below it
    counting: dict[int, bool] = {}  # whether it counts, or holds, seen or not, what does
    for entry in _inside_out(root):
        counts = entry.accounted or any(counting[id(child)] for child in entry.children)
        counting[id(entry)] = counts
        trimmed = options.matches("trim_name", entry.name)
        below = [] if trimmed else [each for child in entry.children for each in shown[id(child)]]
        if entry is not root and not (counts and _is_shown(entry, options, depths[id(entry)], lone)):
            shown[id(entry)] = below
            continue
        entry.children = _sorted(below, options)
        if options.displayed_only and lone:
            entry.total = Counter(entry.own) if entry.accounted else Counter(definition_count=1)
            for child in entry.children:
                entry.total.update(child.total)
        shown[id(entry)] = [entry]
    return root


def _leave_out_what_does_not_count(root: Entry) -> None:
    """What is below an entry that does not count stands below the one above it."""
    for entry in _inside_out(root):
        entry.children = [
            each for child in entry.children for each in ([child] if child.accounted else child.children)
        ]


def _starting(entries: list[Entry], options: Options) -> Iterable[Entry]:
    """The first entry on each way down whose name says that the profile starts there."""
    waiting = entries[::-1]
    while waiting:
        entry = waiting.pop()
        if options.matches("start_name", entry.name):
            yield entry
        else:
            waiting += entry.children[::-1]


def _is_shown(entry: Entry, options: Options, depth: int, lone: bool) -> bool:
    if depth > options.max_depth or not options.shows_name(entry.name):
        return False
    if lone and entry.own["definition_count"] < options.minima["min_occurrence"]:
        return False
    return _large_enough(entry.total, entry.own if lone else entry.total, options)


def _large_enough(total: Counter, of_model: Counter, options: Options) -> bool:
    """Whether nothing is below its bound. What counts of parameters and operations may be a node's own."""
    for option, count in _BOUNDS.items():
        counts = of_model if count in ("parameters", "float_ops") else total
        if counts[count] < options.minima[option]:
            return False
    return True


def _sorted(entries: list[Entry], options: Options) -> list[Entry]:
    by = options.order_by
    if by == "occurrence":
        return sorted(entries, key=lambda entry: (-len(entry.nodes), entry.name))
    if by not in _ORDERS:
        return sorted(entries, key=lambda entry: entry.name)
    return sorted(entries, key=lambda entry: (-entry.total[_ORDERS[by]], entry.name))
