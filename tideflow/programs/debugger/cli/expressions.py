"""Expressions of the values of a step: names of tensors stand in them between backticks."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

from tideflow.programs.debugger.dumps import WatchKeyDoesNotExistInDebugDumpDirError

_TENSOR = re.compile("`(.*?)`")
_NAME = re.compile(
    r"(?:(?P<device>/job:\w+/replica:\d+/task:\d+/\w+(?::\w+)?:\d+):)?"
    r"(?P<node>[^:]+):(?P<slot>\d+)(?::(?P<op>[^:\[\]]+))?(?:\[(?P<number>\d+)\])?$"
)


class DebugTensorName(NamedTuple):
    """A name between backticks: which value of a step it means."""

    device_name: str | None
    node_name: str
    output_slot: int
    debug_op: str
    exec_index: int


def _parse_debug_tensor_name(debug_tensor_name: str) -> DebugTensorName:
    found = _NAME.match(debug_tensor_name)
    if found is None:
        raise ValueError(
            f"The debug tensor name in the to-be-evaluated expression is malformed: '{debug_tensor_name}'"
        )
    number = int(found["number"] or 0)
    debug_op = found["op"] or "DebugIdentity"
    return DebugTensorName(found["device"], found["node"], int(found["slot"]), debug_op, number)


class ExpressionEvaluator:
    """Evaluates expressions of the values of a step.

    Args:
      dump: The values.
    """

    def __init__(self, dump: Any):
        self._dump = dump
        self._values: dict[str, Any] = {}

    def evaluate(self, expression: str) -> Any:
        """The value of an expression in Python, in which NumPy is `np`.

        Args:
          expression: The expression: ``np.argmax(`softmax:0`)``.

        Returns:
          The value.
        """
        names = {"np": np}

        def variable(match: re.Match) -> str:
            name = f"_tensor_{len(names)}"
            names[name] = self._value(match.group(1).strip())
            return name

        return eval(_TENSOR.sub(variable, expression), names)

    def _value(self, name: str) -> Any:
        if name not in self._values:
            asked = _parse_debug_tensor_name(name)
            try:
                found = self._dump.get_tensors(*asked[1:4], device_name=asked.device_name)
            except WatchKeyDoesNotExistInDebugDumpDirError:
                raise ValueError(
                    f"Eval failed due to the value of {asked.node_name}:{asked.output_slot}:DebugIdentity "
                    "being unavailable"
                ) from None
            self._values[name] = found[asked.exec_index]
        return self._values[name]
