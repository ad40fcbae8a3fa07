"""Which gradient an operation has: its op's own, one registered by name, or one that the program put in its
place.
"""

from __future__ import annotations

from collections.abc import Callable

from tideflow.export import export
from tideflow.graph.op import definitions, not_differentiable
from tideflow.graph.operation import Operation

_registered: dict[str, Callable | None] = {}


@export("RegisterGradient")
class RegisterGradient:
    """`@tf.RegisterGradient("Name")` gives an op type, or a name for `gradient_override_map`, its gradient
    function.
    """

    def __init__(self, op_type: str):
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, function: Callable) -> Callable:
        _register(self._op_type, function)
        return function


@export("NotDifferentiable", "NoGradient", "no_gradient")
def not_differentiable_type(op_type: str) -> None:
    """Says that operations of this type have no gradient."""
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
    _register(op_type, None)


def _register(name: str, function: Callable | None) -> None:
    op = definitions().get(name)
    if name in _registered or op is not None and op.gradient_function is not None:
        raise KeyError(f"Registering two gradient with name '{name}'!")
    _registered[name] = function


def gradient_function(op: Operation) -> Callable | None:
    """The gradient function of an operation, None where it has none by design; LookupError where nobody
    said.
    """
    name = op._gradient_name or op.attrs.get("_gradient_op_type") or op.type
    if name in _registered:
        return _registered[name]
    own = op.definition.gradient_function if name == op.type else None
    if own is None:
        raise LookupError(
            f"No gradient defined for operation '{op.name}' (op type: {op.type}), made at {op.user_line}"
            + (f"; no gradient is registered under '{name}'" if name != op.type else "")
        )
    return None if own is not_differentiable else own
