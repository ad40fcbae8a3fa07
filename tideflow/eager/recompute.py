"""`tf.recompute_grad` and `tf.grad_pass_through`: functions whose gradients keep no intermediate values."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from tideflow.autodiff.custom import custom_gradient
from tideflow.eager.tape import GradientTape
from tideflow.export import export
from tideflow.graph.scopes import control_dependencies, executing_eagerly
from tideflow.ops.arrays import buffers


@export("recompute_grad")
def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """Makes a function recompute its intermediate values for its gradient, instead of keeping them in memory.

    Args:
      f: A function of tensors.

    Returns:
      A function with the same result and the same gradient. Its gradient computes `f` again from the
      arguments.
    """

    @custom_gradient
    def recomputed(*args: Any, **kwargs: Any) -> tuple[Any, Callable[..., Any]]:
        def grad(*result_grads: Any, variables: Any = None) -> Any:
            with GradientTape() as tape, control_dependencies(result_grads):
                again = list(args) if executing_eagerly() else _not_merged(args)
                tape.watch(again)
                result = f(*again, **kwargs)
            sources = [*again, *(variables or [])]
            grads = tape.gradient(result, sources, list(result_grads))
            argument_grads, variable_grads = grads[: len(args)], grads[len(args) :]
            return argument_grads if variables is None else (argument_grads, variable_grads)

        return f(*args, **kwargs), grad

    return functools.wraps(f)(recomputed)


def _not_merged(args: Sequence[Any]) -> list[Any]:
    """Copies without which the compiler would merge what is computed of them with the forward pass."""
    return [buffers.deep_copy(arg) for arg in args]


@export("grad_pass_through")
def grad_pass_through(f: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a function the gradient of the identity, for functions that are not differentiable.

    Args:
      f: A function of tensors that returns as many tensors as it takes.

    Returns:
      A function with the same result. The gradients of its result are the gradients of its arguments.
    """

    @custom_gradient
    def passed(*args: Any) -> tuple[Any, Callable[..., Any]]:
        def grad(*result_grads: Any, variables: Any = None) -> Any:
            if variables is not None:
                return result_grads, [None] * len(variables)
            return result_grads

        return f(*args), grad

    return functools.wraps(f)(passed)
