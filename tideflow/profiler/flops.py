"""Statistics of ops: floating-point operations, which op types declare, and what users register."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorboard.compat.proto.node_def_pb2 import NodeDef

from tideflow.graph.graph import Graph
from tideflow.graph.op import definitions
from tideflow.graph.operation import Operation

_registered: dict[tuple[str, str], Callable] = {}


class OpStats:
    """A statistic of an op, say "flops", with a value, or None where nobody knows it."""

    def __init__(self, statistic_type: str, value: Any = None):
        self.statistic_type = statistic_type
        self.value = value

    @property
    def statistic_type(self) -> str:
        return self._statistic_type

    @statistic_type.setter
    def statistic_type(self, statistic_type: str) -> None:
        self._statistic_type = statistic_type

    def __iadd__(self, other: OpStats) -> OpStats:
        if other.statistic_type != self.statistic_type:
            raise ValueError(
                f"Can't add an OpStat of type {self.statistic_type} to one of {other.statistic_type}."
            )
        if self.value is None:
            self.value = other.value
        elif other.value is not None:
            self.value += other.value
        return self


class RegisterStatistics:
    """A decorator: the function `(graph, node_def) -> OpStats` knows a statistic of an op type."""

    def __init__(self, op_type: str, statistic_type: str):
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string.")
        if "," in op_type:
            raise TypeError("op_type must not contain a comma.")
        if not isinstance(statistic_type, str):
            raise TypeError("statistic_type must be a string.")
        if "," in statistic_type:
            raise TypeError("statistic_type must not contain a comma.")
        self._key = op_type, statistic_type

    def __call__(self, f: Callable[[Graph, NodeDef], OpStats]) -> Callable[[Graph, NodeDef], OpStats]:
        if self._key in _registered or self._key[1] == "flops" and _flops_rule(self._key[0]) is not None:
            raise KeyError(f"Registering two statistical functions with name '{','.join(self._key)}'!")
        _registered[self._key] = f
        return f


def get_stats_for_node_def(graph: Graph, node: NodeDef, statistic_type: str) -> OpStats:
    """The statistic of a node; without a value where nothing is known of it for the node's type."""
    function = _registered.get((node.op, statistic_type))
    if function is not None:
        return function(graph, node)
    rule = _flops_rule(node.op) if statistic_type == "flops" else None
    count = None if rule is None else int(rule(graph.get_operation_by_name(node.name)))
    return OpStats(statistic_type, count)


def _flops_rule(op_type: str) -> Callable[[Operation], float] | None:
    op = definitions().get(op_type)
    return None if op is None else op.flops_rule
