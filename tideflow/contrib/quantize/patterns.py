"""Small graphs to look for in a large one, backward from an operation to what it takes its inputs from."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import TypeAlias

from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation, Tensor

Found: TypeAlias = dict[str, Tensor]  # by the names of a pattern's parts
Pattern: TypeAlias = Callable[[Tensor], "Found | None"]


def node(name: str, types: str, *inputs: Pattern, in_any_order: bool = False) -> Pattern:
    """A tensor that an operation of one of these types computes, from inputs that match in turn.

    Args:
      name: What the tensor is called in the result; "" for one that nobody asks for.
      types: Op types, separated by bars.
      *inputs: A pattern for each input; none to look no further.
      in_any_order: Whether any order of the inputs will do.
    """
    allowed = frozenset(types.split("|"))

    def match(tensor: Tensor) -> Found | None:
        op = tensor.op
        if op.type not in allowed or inputs and len(op.inputs) != len(inputs):
            return None
        orders = itertools.permutations(inputs) if in_any_order else [inputs]
        for patterns in orders:
            parts = _all(zip(patterns, op.inputs))
            if parts is not None:
                return {name: tensor, **parts}
        return None

    return match


def _all(pairs: Iterator[tuple[Pattern, Tensor]]) -> Found | None:
    found: Found = {}
    for pattern, tensor in pairs:
        part = pattern(tensor)
        if part is None:
            return None
        found.update(part)
    return found


def anything(name: str = "") -> Pattern:
    """Any tensor."""
    return lambda tensor: {name: tensor}


def one_of(*patterns: Pattern) -> Pattern:
    """A tensor that matches one of the patterns; the first that it matches counts."""
    return lambda tensor: next((found for p in patterns if (found := p(tensor)) is not None), None)


def matches(graph: Graph, pattern: Pattern) -> Iterator[Found]:
    """What the pattern finds at the operations that the graph has now."""
    for op in graph.get_operations():
        found = pattern(op.outputs[0]) if op.outputs else None
        if found is not None:
            yield found


# What these scopes hold are no layers.
SKIPPED_PREFIXES = ("gradients/", "RMSProp/", "Adagrad/", "Const_", "HistogramSummary", "ScalarSummary")


def is_in_a_layer(name: str) -> bool:
    """Whether a name is that of a part of a model, not of what trains or watches it."""
    return not name.startswith(SKIPPED_PREFIXES)


class Consumers:
    """The operations of the model that took a tensor when this was made."""

    def __init__(self, graph: Graph):
        self._taken: dict[Tensor, list[Operation]] = {}
        for op in graph.get_operations():
            if is_in_a_layer(op.name):
                for tensor in dict.fromkeys(op.inputs):
                    self._taken.setdefault(tensor, []).append(op)

    def of(self, op: Operation) -> list[Operation]:
        """Those that took an output of an operation."""
        return list(dict.fromkeys(other for t in op.outputs for other in self._taken.get(t, ())))


def outer_scope(name: str) -> str:
    """The scope of an operation without a slash at its end, "" if it stands in none."""
    return name.rpartition("/")[0]
