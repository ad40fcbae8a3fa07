"""`tf.recompute_grad` and `tf.grad_pass_through`: functions whose gradients keep no intermediate values."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tideflow.autodiff.custom import custom_gradient
from tideflow.autodiff.gradients import gradients
from tideflow.export import export
from tideflow.graph.scopes import control_dependencies
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
    def recomputed(*args: Any) -> tuple[Any, Callable[..., Any]]:
        def grad(*result_grads: Any, variables: Any = None) -> tuple[list[Any], list[Any]]:
            known = list(variables or [])
            with control_dependencies(result_grads):
                # Without the copies the compiler would merge these operations with those of the forward pass.
                again = [buffers.deep_copy(arg) for arg in args]
                result = f(*again)
            grads = gradients(result, [*again, *known], list(result_grads))
            return grads[: len(args)], grads[len(args) :]

        return f(*args), grad

    return functools.wraps(f)(recomputed)


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
