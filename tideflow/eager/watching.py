"""Callbacks after each operation of eager mode.

While there are any, what dispatches operations is replaced by functions that call them, so that programs
without callbacks pay nothing; and tapes go back operation by operation, not by compiled plans.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tideflow.eager import operators
from tideflow.eager.context import EagerGraph, eager_graph
from tideflow.eager.execute import execute
from tideflow.eager.gradient_plans import GradientPlans
from tideflow.graph import dtypes
from tideflow.graph.op import Op
from tideflow.ops.arrays.constants import const_op

# Of the op type, the inputs, names and values of the attributes in turn, the outputs, and the call's name.
Callback = Callable[[str, list, tuple, list, "str | None"], Any]

callbacks: list[Callback] = []
_computed = GradientPlans.computed


def set_callbacks(wanted: list[Callback]) -> None:
    """Has these functions called after each operation, in the place of those until now."""
    callbacks[:] = wanted
    is_watched = bool(wanted)
    EagerGraph.execute = _watched if is_watched else execute  # type: ignore[method-assign]
    operators.execute = _watched if is_watched else execute
    GradientPlans.computed = _no_plan if is_watched else _computed  # type: ignore[method-assign]
    eager_graph().known = _NothingKnown() if is_watched else {}


class _NothingKnown(dict[Any, Any]):
    """No kernels for the most common functions, which call those that are known without `execute`."""

    def __setitem__(self, key: Any, value: Any) -> None:
        pass


def _watched(
    graph: EagerGraph,
    op: Op,
    args: tuple[Any, ...],
    attrs: dict[str, Any],
    name: str | None,
    key: Any = None,
) -> Any:
    result = execute(graph, op, args, attrs, name, key)
    if op is not const_op and getattr(result, "is_eager", True):  # a constant is no operation of eager mode
        grouped, resolved = op.resolve(args, attrs)
        inputs = _flat(grouped)
        written = tuple(part for item in resolved.items() for part in (item[0], _written(item[1])))
        outputs = [] if result is None else _flat([result] if hasattr(result, "dtype") else result)
        for callback in tuple(callbacks):
            callback(op.name, inputs, written, outputs, name)
    return result


def _flat(values: Any) -> list[Any]:
    return [x for value in values for x in (value if isinstance(value, (list, tuple)) else [value])]


def _written(value: Any) -> Any:
    return value.as_datatype_enum if isinstance(value, dtypes.DType) else value


def _no_plan(*_: Any) -> None:
    return None
