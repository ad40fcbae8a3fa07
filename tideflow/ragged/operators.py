"""The operators of ragged tensors: `x + y`, `x < y`, `-x`."""

from __future__ import annotations

from collections.abc import Callable

from tideflow.ops.math import binary, powers, unary
from tideflow.ragged.elementwise import on_broadcast_values, on_values
from tideflow.ragged.tensor import RaggedTensor

_OPERATORS = {
    "add": binary.add,
    "sub": binary.subtract,
    "mul": binary.multiply,
    "truediv": binary.truediv,
    "div": binary.div,
    "floordiv": binary.floordiv,
    "mod": binary.floormod,
    "pow": powers.pow,
    "and": binary.logical_and,
    "or": binary.logical_or,
    "xor": binary.logical_xor,
}
_COMPARISONS = {
    "lt": binary.less,
    "le": binary.less_equal,
    "gt": binary.greater,
    "ge": binary.greater_equal,
}
_OF_ONE = {"neg": unary.negative, "abs": unary.abs, "invert": unary.logical_not}


def _reflected(function: Callable) -> Callable:
    return lambda y, x: function(x, y)


for _name, _function in {**_OPERATORS, **_COMPARISONS}.items():
    RaggedTensor._override_operator(f"__{_name}__", on_broadcast_values(_function))
for _name, _function in _OPERATORS.items():
    RaggedTensor._override_operator(f"__r{_name}__", _reflected(on_broadcast_values(_function)))
for _name, _function in _OF_ONE.items():
    RaggedTensor._override_operator(f"__{_name}__", on_values(_function))
