"""Rewrites of a step's program: small named rules, applied in one forward sweep per phase.

A rule's docstring is its law, `before -> after`. It gets a node whose inputs are already rewritten and
returns the value (or the list of values) that replaces the node's outputs, the new nodes included, or None to
leave it. The user's graph is never touched.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
import torch

from tideflow.compile.ir import Loop, Node, Program, Value, make_node, states
from tideflow.compile.kernels import call_kernel
from tideflow.compile.progress import Progress
from tideflow.graph.arrays import dtype_of_array
from tideflow.graph.partial import fully_known, partial_value
from tideflow.graph.tensor_proto import is_repeated
from tideflow.ops.arrays.constants import const_op, no_op
from tideflow.ops.quantization.fake_quant import FAKE_QUANTS
from tideflow.runtime.denormals import flushing
from tideflow.runtime.values import to_numpy, to_torch

PHASES = ("simplify", "recognize", "fuse")
REPLACED = (
    "_replaced"  # the attribute in which a fused node keeps the node that it replaces, and its own inputs
)
FOLDED = "_folded"  # the attribute in which a constant keeps the fake quantization that it was folded from
_LARGEST_FOLD = 10 << 20  # bytes: a larger constant is cheaper to compute than to keep

_rules: dict[str, dict[str, list[Rule]]] = {phase: {} for phase in PHASES}


# What a rule does: from a node to the values that replace its outputs, or None.
_Apply = Callable[[Node, "Sweep"], Any]


@dataclass(frozen=True)
class Rule:
    """A named rewrite of one op type."""

    name: str
    law: str
    apply: _Apply


def rule(*op_types: str, phase: str) -> Callable[[_Apply], _Apply]:
    """Registers a rewrite for these op types in a phase; the docstring states its law."""

    def register(function: _Apply) -> _Apply:
        entry = Rule(function.__name__, function.__doc__ or "", function)
        for op_type in op_types:
            _rules[phase].setdefault(op_type, []).append(entry)
        return function

    return register


def all_rules() -> dict[str, Rule]:
    """Every rule by name."""
    return {entry.name: entry for phase in PHASES for entries in _rules[phase].values() for entry in entries}


def constant_node(array: np.ndarray, like: Node | None = None) -> Node:
    """A constant, which depends on no conditions."""
    node = make_node(const_op, [], {"value": array, "dtype": dtype_of_array(array)}, like)
    node.guards = frozenset()
    return node


@dataclass
class Sweep:
    """One forward pass over the program: the nodes made so far, and which value replaced which."""

    program: Program
    uses: dict[Value, int]
    nodes: list[Node] = field(default_factory=list)
    replaced: dict[Value, Value] = field(default_factory=dict)

    def make(self, op_type: Any, inputs: list[Value], attrs: dict[str, Any], like: Node) -> list[Value]:
        """Adds a node in the place of the one that a rule replaces; returns its outputs."""
        node = make_node(op_type, inputs, attrs, like)
        self.nodes.append(node)
        return node.outputs

    def constant(self, array: np.ndarray, like: Node) -> Value:
        """Adds a constant."""
        self.nodes.append(constant_node(array, like))
        return self.nodes[-1].outputs[0]

    def only_use(self, value: Value) -> bool:
        """Whether the node being rewritten is the only one that takes this value."""
        return self.uses.get(value, 0) == 1


def optimize(
    program: Program,
    disabled: frozenset[str] = frozenset(),
    check: bool = False,
    progress: Progress | None = None,
    phases: Sequence[str] = PHASES,
) -> list[str]:
    """Applies the phases to the program in place; returns the names of the rules that changed something."""
    applied: list[str] = []
    for phase in phases:
        _sweep(program, phase, disabled, applied, program.uses(), progress or Progress())
        drop_unused(program)
        if check:
            program.check()
    return applied


def _sweep(
    program: Program,
    phase: str,
    disabled: frozenset[str],
    applied: list[str],
    uses: dict[Value, int],
    progress: Progress,
) -> None:
    sweep = Sweep(program, uses)
    seen: dict[Any, Node] = {}
    reads: dict[Any, Node] = {}  # the last read of each variable
    for node in program.nodes:
        progress.node()
        node.replace_values(sweep.replaced)
        if isinstance(node, Loop):
            _sweep(node.body, phase, disabled, applied, uses, progress)
            if node.effects:
                reads.clear()
            sweep.nodes.append(node)
            continue
        outputs = _rewritten(node, sweep, phase, disabled, applied)
        if outputs is None and phase == "simplify":
            outputs = _merged(node, seen) or _merged_read(node, reads)
        if outputs is None:
            sweep.nodes.append(node)
            continue
        if node in program.targets:  # the replacement of a target is a target
            program.targets.update(value.op for value in outputs)
        for old, new in zip(node.outputs, outputs, strict=True):
            sweep.replaced[old] = new
            sweep.uses[new] = sweep.uses.get(new, 0) + sweep.uses.get(old, 0)
    program.nodes = sweep.nodes
    program.fetches = [sweep.replaced.get(value, value) for value in program.fetches]


def _rewritten(
    node: Node, sweep: Sweep, phase: str, disabled: frozenset[str], applied: list[str]
) -> list[Value] | None:
    if phase == "simplify" and "fold" not in disabled:
        constants = folded(node, sweep.constant)
        if constants is not None:
            return constants
    for entry in _rules[phase].get(node.type, ()):
        if entry.name in disabled:
            continue
        made = len(sweep.nodes)
        try:
            result = entry.apply(node, sweep)
        except ValueError:  # sizes that do not fit: the kernel reports them with the op
            result = None
        if result is not None:
            for fused in sweep.nodes[made:] if phase != "simplify" else ():
                fused.attrs[REPLACED] = node, list(fused.inputs)
            applied.append(entry.name)
            return result if isinstance(result, list) else [result]
        del sweep.nodes[made:]
    return None


# ---------------------------------------------------------------------------------------- folding and merging


def folded(node: Node, constant: Callable[[np.ndarray, Node], Value]) -> list[Value] | None:
    """Constants in, constants out; sizes that follow from shapes become constants. `constant` makes one in
    the place of a node.
    """
    op = node.definition
    if op.role == "constant" or node.effects or op.handle or not node.outputs or node.choices:
        return None
    if op.value_rule is not None and all(value.dtype.is_integer for value in node.outputs):
        sizes = [size for value in node.outputs if (size := _known_sizes(value)) is not None]
        if len(sizes) == len(node.outputs):
            return [constant(size, node) for size in sizes]
    if (
        not node.inputs
        or any(value.op.definition.role != "constant" for value in node.inputs)
        or _output_bytes(node) > _LARGEST_FOLD
        or any(_unfolds(value.constant) for value in node.inputs)
    ):
        return None
    try:
        results = run_kernel(node)
    except Exception:  # the step raises it again, with the op
        return None
    if any(not hasattr(result, "shape") for result in results):
        return None
    made = [constant(_owned_array(result), node) for result in results]
    if op in FAKE_QUANTS:  # a rule may want to know the integers behind the numbers
        made[0].op.attrs[FOLDED] = node
    return made


def _unfolds(array: np.ndarray) -> bool:
    """Whether a constant takes far more memory in a kernel than it does now."""
    return is_repeated(array) and array.nbytes > _LARGEST_FOLD


def _known_sizes(value: Value) -> np.ndarray | None:
    """The array of a value that follows from shapes alone."""
    known, shape = partial_value(value), value.shape
    if not fully_known(known):
        return None
    try:
        array = np.array(known, value.dtype.numpy)
    except OverflowError:  # a product of sizes does not fit: the step's kernel refuses it
        return None
    if shape.is_fully_defined():
        return array.reshape(shape.tuple)
    return array if shape.ndims == 1 else None  # an empty list does not say its other sizes


@flushing
def run_kernel(node: Node, known: Mapping[Value, torch.Tensor] = MappingProxyType({})) -> list[Any]:
    """Runs a node on the CPU, as a step would, with inputs that are constants or known."""

    def tensor(value: Value) -> Any:
        return known[value] if value in known else to_torch(value.constant)

    return call_kernel(node, tensor, lambda value: tensor(value).tolist())


def _output_bytes(node: Node) -> int:
    return sum((value.shape.num_elements() or 0) * (value.dtype.size or 8) for value in node.outputs)


def _owned_array(result: Any) -> np.ndarray:
    return np.array(to_numpy(result), copy=True)


def _merged(node: Node, seen: dict[Any, Node]) -> list[Value] | None:
    """The same pure op on the same inputs with the same attributes is computed once."""
    if node.effects or not node.outputs or node.choices:
        return None
    key = (node.type, tuple(map(id, node.inputs)), node.guards, _attr_key(node))
    first = seen.setdefault(key, node)
    return None if first is node else first.outputs


def _merged_read(node: Node, reads: dict[Any, Node]) -> list[Value] | None:
    """A variable read again, with nothing in between that could have written it, is read once."""
    if not node.effects:
        return None
    if node.definition.blocking:  # while a step waits, others write
        reads.clear()
    touched = states(node.inputs)
    if node.definition.role != "read":
        for state in touched:
            reads.pop(state, None)
        return None
    if len(touched) != 1:
        return None
    first = reads.setdefault(touched.pop(), node)
    if first is node or first.guards != node.guards:
        return None
    return first.outputs


def _attr_key(node: Node) -> Any:
    if node.definition.role == "constant":
        array = node.attrs["value"]
        if array.nbytes > 1024 or array.dtype == object:
            return id(node)
        return array.dtype.str, array.shape, array.tobytes()
    if node.definition.handle:
        return node.name
    return tuple((key, _hashable(value)) for key, value in node.attrs.items() if not key.startswith("_"))


def _hashable(value: Any) -> Any:
    return value if isinstance(value, (int, float, str, bytes)) else repr(value)


def drop_unused(program: Program) -> None:
    """Drops pure nodes whose outputs are not used, and which are no targets."""
    needed = set(program.fetches)
    kept = []
    for node in reversed(program.nodes):
        has_effect = node.effects and node.definition.role != "read" and not node.definition.handle
        keep = has_effect or node in program.targets and node.definition is not no_op
        if keep or any(value in needed for value in node.outputs):
            if isinstance(node, Loop):
                drop_unused(node.body)
            needed.update(node.dependencies)
            kept.append(node)
    program.nodes = kept[::-1]
