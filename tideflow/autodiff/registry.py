"""The gradient functions of operations: those of their op types, and those that programs register by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

from tideflow.export import export
from tideflow.graph.op import Op, definitions, not_differentiable, undefined_gradient
from tideflow.graph.operation import Operation

GradientFunction: TypeAlias = Callable[..., Any]  # takes the operation and the gradients of its outputs
F = TypeVar("F", bound=GradientFunction)

_registered: dict[str, GradientFunction | None] = {}


@export("RegisterGradient")
class RegisterGradient:
    """Decorator that registers a gradient function: `@tf.RegisterGradient("Sign")`.

    The function takes an operation and the gradient of each of its outputs, and returns the gradient of each
    of its inputs, None for inputs that have none.

    Args:
      op_type: The op type, or a name that `Graph.gradient_override_map` uses.

    Raises:
      TypeError: If `op_type` is not a string.
      KeyError: When applied, if there is a gradient function for the name.
    """

    def __init__(self, op_type: str) -> None:
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, function: F) -> F:
        register_gradient(self._op_type, function)
        return function


@export("NotDifferentiable", "NoGradient", "no_gradient")
def not_differentiable_type(op_type: str) -> None:
    """Declares that operations of a type have no gradient.

    Args:
      op_type: The op type.

    Raises:
      TypeError: If `op_type` is not a string.
      KeyError: If there is a gradient function for the type.
    """
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
    register_gradient(op_type, None)


def register_gradient(name: str, function: GradientFunction | None) -> None:
    """Registers a gradient function under a name; None: operations of that type have no gradient.

    Raises KeyError if there is a gradient function for the name.
    """
    if name in _registered or _of_op_type(name) not in (None, undefined_gradient):
        raise KeyError(f"Registering two gradient with name '{name}'!")
    _registered[name] = function


def replace_gradient(name: str, function: GradientFunction | None) -> None:
    """Registers a gradient function under a name, whatever is there; an op type may get its own one back."""
    own = _of_op_type(name)
    if function is (None if own is not_differentiable else own) and own is not None:
        _registered.pop(name, None)
    else:
        _registered[name] = function


def forget_gradient(name: str) -> None:
    """Takes away what a program registered under a name. An op type has its own gradient again.

    Raises KeyError if no program registered anything under the name.
    """
    del _registered[name]


def registered_gradients() -> dict[str, GradientFunction | None]:
    """The gradient functions by name, those of op types and of programs; None: there is no gradient."""
    own = {name: _of_op_type(name) for name in definitions()}
    found = {
        name: None if function is not_differentiable else function
        for name, function in own.items()
        if function not in (None, undefined_gradient)
    }
    return {**found, **_registered}


def _of_op_type(name: str) -> GradientFunction | None:
    """The gradient that stands with an op type; None where there is no such op type, or no such gradient."""
    op = definitions().get(name)
    return None if op is None else op.gradient_function


def has_own_gradient(op: Op) -> bool:
    """Whether operations of this type have the gradient that stands with the op, not a program's."""
    return op.name not in _registered and op.gradient_function is not None


def gradient_function(op: Operation) -> GradientFunction | None:
    """The gradient function of an operation, or None if its type is declared not differentiable.

    Raises LookupError if the type has neither a gradient function nor that declaration.
    """
    name = op._gradient_name or op.attrs.get("_gradient_op_type") or op.type
    if name in _registered:
        return _registered[name]
    own: GradientFunction | None = op.definition.gradient_function if name == op.type else None
    if own is None:
        raise LookupError(
            f"No gradient defined for operation '{op.name}' (op type: {op.type}), made at {op.user_line}"
            + (f"; no gradient is registered under '{name}'" if name != op.type else "")
        )
    return None if own is not_differentiable else own
