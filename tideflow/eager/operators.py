"""The operators of eager tensors whose op is known: they go straight to its kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tideflow.eager.execute import execute
from tideflow.eager.tensor import EagerTensor
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.op import Op
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import get_eager_graph

_NO_ATTRS: dict[str, Any] = {}


def _straight(name: str, op: Op, otherwise: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """An operator that runs `op` at once if both operands are floating, and else calls `otherwise`."""

    def operator(x: EagerTensor, y: Any) -> Any:
        kind = type(y)
        if kind is not EagerTensor and getattr(y, "handle", None) is not None and y.dtype is x.dtype:
            y = convert_to_tensor(y)  # a variable
            kind = type(y)
        if (kind is EagerTensor or kind is float or kind is int) and x.dtype.is_floating:
            graph = get_eager_graph()
            if graph is not None:
                if kind is EagerTensor:
                    return execute(graph, op, (x, y), _NO_ATTRS, name, (op, x._key, y._key))
                key = (op, x._key, kind) if kind is float else None
                return execute(graph, op, (x, y), _NO_ATTRS, name, key)
        return otherwise(x, y)

    return operator


for _operator in Tensor.OVERLOADABLE_OPERATORS:
    _function = getattr(Tensor, _operator)
    _op = getattr(_function, "float_op", None)
    if _op is not None:
        setattr(EagerTensor, _operator, _straight(_operator.strip("_"), _op, _function))
