"""A plan as text for a person."""

from __future__ import annotations

from collections import Counter

from tideflow.compile.ir import Loop, Node, Program, Value, walk
from tideflow.compile.plan import LocalPlan, Plan


def explain(plan: Plan) -> str:
    """Source, devices, rewrites, compile time and peak memory of a plan; of a plan of other tasks, which."""
    if not isinstance(plan, LocalPlan):
        return plan.source
    program = plan.program
    nodes = list(walk(program))
    devices = Counter(str(node.device or "cpu") for node in nodes)
    rules = Counter(plan.applied)
    peak, unknown = _peak_bytes(program)
    lines = [
        f"# {len(nodes)} operations, compiled in {plan.compile_seconds * 1e3:.2f} ms",
        "# devices: " + (", ".join(f"{name} runs {count}" for name, count in devices.items()) or "none"),
        "# rewrites: "
        + (", ".join(f"{name} x{count}" if count > 1 else name for name, count in rules.items()) or "none"),
        f"# peak memory of values: {_size(peak)}"
        + (f", and {unknown} values of unknown shape" if unknown else ""),
        *(f"# {advice}" for advice in plan.advice),
    ]
    return "\n".join([*lines, "", _annotated(plan)])


def _annotated(plan: LocalPlan) -> str:
    """The source with each line's op name and output shape beside it."""
    texts = plan.source.splitlines()
    width = min(80, max((len(text) for text in texts), default=0))
    shown = []
    for number, text in enumerate(texts, 1):
        node = plan.lines.get(number)
        comment = "" if node is None else _comment(node, text)
        shown.append(f"{text:<{width}}  # {comment}" if comment else text)
    return "\n".join(shown)


def _comment(node: Node, text: str) -> str:
    shapes = ", ".join(f"{v.dtype.base_dtype.name}{_dims(v)}" for v in node.outputs)
    if not isinstance(node, Loop):
        return f"{node.name} {shapes}"
    if text.endswith("while True:"):
        return f"loop {node.name}, {len(node.body.nodes)} operations an iteration"
    before_it = (
        " = " in text and not text.endswith("= None") and text.split(" = ")[0].count("v") == len(node.outputs)
    )
    return f"variables of {node.name}: {shapes}" if before_it else ""


def _dims(value: Value) -> str:
    dims = value.shape.tuple
    return "<unknown>" if dims is None else "[" + ",".join("?" if d is None else str(d) for d in dims) + "]"


def _peak_bytes(program: Program) -> tuple[int, int]:
    """The largest sum of live values' bytes at any node, and how many values had no known size. Values that
    loops push on stacks are not counted: how many there are is known only when they run.
    """
    last: dict[Value, int] = {}
    for i, node in enumerate(program.nodes):
        for value in (*node.dependencies, *node.outputs):
            last[value] = i
    for value in program.fetches:
        last[value] = len(program.nodes)
    live, peak, unknown = 0, 0, 0
    ending: dict[int, int] = {}
    for i, node in enumerate(program.nodes):
        if isinstance(node, Loop):
            inside, unknown_inside = _peak_bytes(node.body)
            peak, unknown = max(peak, live + inside), unknown + unknown_inside
        for value in node.outputs:
            count = value.shape.num_elements()
            if count is None:
                unknown += 1
                continue
            size = count * (value.dtype.base_dtype.size or 1)
            live += size
            ending[last[value]] = ending.get(last[value], 0) + size
        peak = max(peak, live)
        live -= ending.get(i, 0)
    return peak, unknown


def _size(count: float) -> str:
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.4g} {unit}"
        count /= 1024
    return f"{count:.4g} GiB"
