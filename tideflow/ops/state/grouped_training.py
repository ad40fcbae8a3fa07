"""Updates of many variables in one kernel call. The step compiler puts these ops in the place of single
updates that share their hyperparameters (`compile/group.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op
from tideflow.ops.helpers.samples import f32, resource
from tideflow.ops.helpers.update_laws import check_gradient, check_numbers, check_states
from tideflow.ops.state.training import adam_rate, fused_adam, numpy_adam
from tideflow.runtime.resources import exclusive

MEMBERS = "_members"  # the attribute in which a grouped node keeps the nodes that it replaces


class Group:
    """How updates of one kind, with the same hyperparameters, run as one: the op, and where its parts are."""

    def __init__(self, op: Op, states: int, gradient: int):
        self.op = op
        self.states = states
        self.gradient = gradient  # its position among the inputs of a single update


def _of_member(error: InvalidArgumentError, node: Any, place: int) -> InvalidArgumentError:
    """The error as that of one of the updates that the node replaces."""
    if MEMBERS not in node.attrs:
        return error
    source = node.attrs[MEMBERS][place].source
    return InvalidArgumentError(source.node_def, source, error.message)


def _group(name: str, signature: str, apply: Callable, against: Callable) -> Group:
    """An op that applies a law to the state of N variables.

    Args:
      name: The op type.
      signature: The names of the state, a bar, and the names of the other inputs as a single update has them.
      apply: The law on a list for each state, a list of gradients, then the numbers.
      against: The law in NumPy on one variable: takes state, gradient and numbers, returns the new state.
    """
    states, values = (part.split() for part in signature.split("|"))
    gradient = next(i for i, v in enumerate(values) if v in ("grad", "delta"))
    hyper = [v for i, v in enumerate(values) if i != gradient]
    inputs = (
        [f"{s}: N * resource" for s in states] + [f"{values[gradient]}: N * T"] + [f"{v}: T" for v in hyper]
    )
    op = Op(name, f"{', '.join(inputs)} -> ", host=hyper, stateful=True, differentiable=False)
    op.shape(lambda *inputs: [])

    @op.kernel
    def _kernel(*inputs: Any, node: Any) -> None:
        count, size = len(states), len(inputs[0])
        grads, numbers = inputs[count], inputs[count + 1 :]
        check_numbers(hyper, numbers)
        with exclusive([variable for group in inputs[:count] for variable in group]) as buffers:
            groups = [buffers[i * size : (i + 1) * size] for i in range(count)]
            for place, (grad, *parts) in enumerate(zip(grads, *groups, strict=True)):
                try:
                    check_states(states, parts)
                    check_gradient(parts[0].shape, grad.shape, values[gradient])
                except InvalidArgumentError as error:
                    raise _of_member(error, node, place) from None
            apply(*groups, grads, *numbers)

    def reference(*inputs: Any) -> list[np.ndarray]:
        """All variables one by one; their first states, then their second …"""
        lists, numbers = inputs[: len(states) + 1], inputs[len(states) + 1 :]
        updated = [against(*parts, *numbers) for parts in zip(*lists, strict=True)]
        return [after for state in zip(*updated, strict=True) for after in state]

    two_variables = [resource(f32(4, 3, low=0.1, high=1.0)), resource(f32(2, low=0.1, high=1.0))]
    op.samples((*[two_variables] * len(states), [f32(4, 3), f32(2)], *[0.3] * len(hyper)), against=reference)
    return Group(op, len(states), len(states) + gradient)


def _grouped_gradient_descent(var, delta, alpha):
    torch._foreach_add_(var, delta, alpha=-alpha)


_gradient_descents = _group(
    "_GroupedGradientDescent",
    "var | alpha delta",
    _grouped_gradient_descent,
    lambda var, delta, alpha: [var - alpha * delta],
)


def _grouped_momentum(var, accum, grad, lr, momentum):
    torch._foreach_mul_(accum, momentum)
    torch._foreach_add_(accum, grad)
    torch._foreach_add_(var, accum, alpha=-lr)


_momenta = _group(
    "_GroupedMomentum",
    "var accum | lr grad momentum",
    _grouped_momentum,
    lambda var, accum, grad, lr, momentum: (var - lr * (momentum * accum + grad), momentum * accum + grad),
)


def _grouped_adam(var, m, v, grad, beta1_power, beta2_power, lr, beta1, beta2, epsilon):
    fused_adam(var, m, v, grad, adam_rate(beta1_power, beta2_power, lr), beta1, beta2, epsilon)


_adams = _group(
    "_GroupedAdam",
    "var m v | beta1_power beta2_power lr beta1 beta2 epsilon grad",
    _grouped_adam,
    lambda var, m, v, grad, *numbers: numpy_adam(var, m, v, *numbers, grad),
)

GROUPS = {
    "ApplyGradientDescent": _gradient_descents,
    "ResourceApplyGradientDescent": _gradient_descents,
    "ApplyMomentum": _momenta,
    "ResourceApplyMomentum": _momenta,
    "ApplyAdam": _adams,
    "ResourceApplyAdam": _adams,
}
