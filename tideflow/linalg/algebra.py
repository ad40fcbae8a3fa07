"""What operators are when they are combined: the rule for the nearest kinds, by the order of inheritance.

@rule("matmul", LinearOperatorDiag, LinearOperatorDiag)
def _(a, b): ...                    # an operator that is a·b
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from tideflow.graph.scopes import name_scope

_SCOPES = {
    "adjoint": "Adjoint",
    "inverse": "Inverse",
    "cholesky": "Cholesky",
    "matmul": "Matmul",
    "solve": "Solve",
}
_rules: dict[str, dict[tuple[type, ...], Callable]] = {operation: {} for operation in _SCOPES}


def rule(operation: str, *kinds: type) -> Callable[[Callable], Callable]:
    """Decorator: how operators of these kinds are combined."""

    def register(function: Callable) -> Callable:
        if kinds in _rules[operation]:
            names = ", ".join(kind.__name__ for kind in kinds)
            raise ValueError(f"{_SCOPES[operation]}({names}) has already been registered.")
        _rules[operation][kinds] = function
        return function

    return register


def combined(operation: str, *operators: Any) -> Any:
    """The operator that an operation makes of others."""
    function = nearest_rule(operation, [type(operator) for operator in operators])
    if function is None:
        names = ", ".join(str(type(operator)) for operator in operators)
        raise ValueError(f"No {operation} registered for {names}")
    with name_scope(None, _SCOPES[operation]):
        return function(*operators)


def rules(operation: str) -> dict[tuple[type, ...], Callable]:
    """The rules of an operation by the kinds that they are for."""
    return _rules[operation]


def nearest_rule(operation: str, kinds: list[type]) -> Callable | None:
    """The rule for ancestors that are the fewest generations away, all together."""
    known = _rules[operation]
    ancestors = itertools.product(*(enumerate(kind.__mro__) for kind in kinds))
    found = [
        (sum(distance for distance, _ in row), known[tuple(kind for _, kind in row)])
        for row in ancestors
        if tuple(kind for _, kind in row) in known
    ]
    return min(found, key=lambda pair: pair[0])[1] if found else None
