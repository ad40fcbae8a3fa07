"""Gradients that forget: `tf.recompute_grad` computes a second time instead of keeping values,
`tf.grad_pass_through` takes a function for the identity.
"""

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
def recompute_grad(f: Callable) -> Callable:
    """`f`, of which no value is kept for the gradient: it is computed again from the arguments."""

    @custom_gradient
    def recomputed(*args: Any) -> tuple[Any, Callable]:
        def grad(*result_grads: Any, variables: Any = None) -> tuple[list, list]:
            known = list(variables or [])
            with control_dependencies(result_grads):
                # Copies, or the compiler would see that all of this has been computed before.
                again = [buffers.deep_copy(arg) for arg in args]
                result = f(*again)
            grads = gradients(result, [*again, *known], list(result_grads))
            return grads[: len(args)], grads[len(args) :]

        return f(*args), grad

    return functools.wraps(f)(recomputed)


@export("grad_pass_through")
def grad_pass_through(f: Callable) -> Callable:
    """`f`, whose gradient is that of the identity: what comes back to its result goes on to its arguments."""

    @custom_gradient
    def passed(*args: Any) -> tuple[Any, Callable]:
        def grad(*result_grads: Any, variables: Any = None) -> Any:
            if variables is not None:
                return result_grads, [None] * len(variables)
            return result_grads

        return f(*args), grad

    return functools.wraps(f)(passed)
