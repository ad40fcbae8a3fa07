"""Updates of many variables in one kernel call. The step compiler puts these ops in the place of single
updates that share their hyperparameters (`compile/group.py`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op
from tideflow.graph.operation import Tensor
from tideflow.ops.helpers.samples import f32, resource
from tideflow.ops.helpers.update_laws import check_gradient, check_numbers, check_states
from tideflow.ops.state.training import adam_rate, fused_adam, laid_out_like, numpy_adam
from tideflow.runtime.resources import exclusive

MEMBERS = "_members"  # the attribute in which a grouped node keeps the nodes that it replaces


class Group:
    """How updates of one kind, with the same hyperparameters, run as one: the op, and where its parts are.

    `recorded` is the form of the op for recordings: it has a further input, whether the update is due, and
    takes numbers that change from step to step on the device.
    """

    def __init__(self, op: Op, states: int, gradient: int, recorded: Op | None = None):
        self.op = op
        self.states = states
        self.gradient = gradient  # its position among the inputs of a single update
        self.recorded = recorded


def _of_member(error: InvalidArgumentError, node: Any, place: int) -> InvalidArgumentError:
    """The error as that of one of the updates that the node replaces."""
    if MEMBERS not in node.attrs:
        return error
    source = node.attrs[MEMBERS][place].source
    return InvalidArgumentError(source.node_def, source, error.message)


def _group(
    name: str,
    signature: str,
    apply: Callable,
    against: Callable,
    recorded_name: str = "",
    recorded: Callable | None = None,
    recorded_host: tuple[str, ...] = (),
) -> Group:
    """An op that applies a law to the state of N variables.

    Args:
      name: The op type.
      signature: The names of the state, a bar, and the names of the other inputs as a single update has them.
      apply: The law on a list for each state, a list of gradients, then the numbers.
      against: The law in NumPy on one variable: takes state, gradient and numbers, returns the new state.
      recorded_name: The op type of the form for recordings.
      recorded: The law for recordings: takes numbers as tensors, but for those of `recorded_host`, and then a
        tensor that is 1 where nothing is to change.
      recorded_host: The numbers that must be known when the update is recorded.
    """
    states, values = (part.split() for part in signature.split("|"))
    gradient = next(i for i, v in enumerate(values) if v in ("grad", "delta"))
    hyper = [v for i, v in enumerate(values) if i != gradient]
    inputs = (
        [f"{s}: N * resource" for s in states] + [f"{values[gradient]}: N * T"] + [f"{v}: T" for v in hyper]
    )

    def updated(groups: list[list], grads: list[torch.Tensor], node: Any) -> list[torch.Tensor]:
        """The gradients, once they fit the states."""
        for place, (grad, *parts) in enumerate(zip(grads, *groups, strict=True)):
            try:
                check_states(states, parts)
                check_gradient(parts[0].shape, grad.shape, values[gradient])
            except InvalidArgumentError as error:
                raise _of_member(error, node, place) from None
        if not grads[0].is_cuda:
            return grads
        return [laid_out_like(part, grad) for part, grad in zip(groups[0], grads, strict=True)]

    op = Op(name, f"{', '.join(inputs)} -> ", host=hyper, stateful=True, differentiable=False)
    op.shape(lambda *inputs: [])

    @op.kernel
    def _kernel(*inputs: Any, node: Any) -> None:
        count, numbers = len(states), inputs[len(states) + 1 :]
        check_numbers(hyper, numbers)
        with _exclusive_groups(inputs[:count]) as groups:
            apply(*groups, updated(groups, inputs[count], node), *numbers)

    def reference(*inputs: Any) -> list[np.ndarray]:
        """All variables one by one; their first states, then their second …"""
        lists, numbers = inputs[: len(states) + 1], inputs[len(states) + 1 :]
        after = [against(*parts, *numbers) for parts in zip(*lists, strict=True)]
        return [each for state in zip(*after, strict=True) for each in state]

    two_variables = [resource(f32(4, 3, low=0.1, high=1.0)), resource(f32(2, low=0.1, high=1.0))]
    sample = (*[two_variables] * len(states), [f32(4, 3), f32(2)], *[0.3] * len(hyper))
    op.samples(sample, against=reference)
    if recorded is None:
        return Group(op, len(states), len(states) + gradient)

    recorded_op = Op(
        recorded_name,
        f"{', '.join(inputs)}, due: bool -> ",
        host=recorded_host,
        stateful=True,
        differentiable=False,
    )
    recorded_op.shape(lambda *inputs: [])

    @recorded_op.kernel
    def _recorded_kernel(*inputs: Any, node: Any) -> None:
        count, numbers, due = len(states), inputs[len(states) + 1 : -1], inputs[-1]
        with _exclusive_groups(inputs[:count]) as groups:
            grads = updated(groups, inputs[count], node)
            recorded(*groups, grads, *numbers, due.logical_not().to(torch.float32))

    def recorded_reference(*inputs: Any) -> list[np.ndarray]:
        lists = inputs[: len(states)]
        return reference(*inputs[:-1]) if inputs[-1] else [each for state in lists for each in state]

    recorded_op.samples((*sample, True), (*sample, False), against=recorded_reference)
    return Group(op, len(states), len(states) + gradient, recorded_op)


@contextlib.contextmanager
def _exclusive_groups(variables: Sequence[Sequence[Any]]) -> Iterator[list[list[torch.Tensor]]]:
    """The buffers of groups of variables, which nobody else uses meanwhile."""
    size = len(variables[0])
    with exclusive([variable for group in variables for variable in group]) as buffers:
        yield [list(buffers[i * size : (i + 1) * size]) for i in range(len(variables))]


def _grouped_gradient_descent(var, delta, alpha):
    torch._foreach_add_(var, delta, alpha=-alpha)


def _recorded_gradient_descent(var, delta, alpha, is_skipped):
    _fused_descent(var, delta, [], 0.0, alpha, is_skipped)


def _fused_descent(var, grad, accum, momentum, rate, is_skipped):
    """ATen's fused gradient descent: it reads the rate, and whether it is skipped, on the device."""
    torch._fused_sgd_(
        var,
        grad,
        accum,
        weight_decay=0.0,
        momentum=momentum,
        lr=rate,
        dampening=0.0,
        nesterov=False,
        maximize=False,
        is_first_step=False,
        found_inf=is_skipped,
    )


_gradient_descents = _group(
    "_GroupedGradientDescent",
    "var | alpha delta",
    _grouped_gradient_descent,
    lambda var, delta, alpha: [var - alpha * delta],
    "_GroupedGradientDescentRecorded",
    _recorded_gradient_descent,
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
    "_GroupedMomentumRecorded",
    lambda var, accum, grad, lr, momentum, is_skipped: _fused_descent(
        var, grad, accum, momentum, lr, is_skipped
    ),
    recorded_host=("momentum",),
)


def _grouped_adam(var, m, v, grad, beta1_power, beta2_power, lr, beta1, beta2, epsilon):
    fused_adam(var, m, v, grad, adam_rate(beta1_power, beta2_power, lr), beta1, beta2, epsilon)


def _recorded_adam(var, m, v, grad, beta1_power, beta2_power, lr, beta1, beta2, epsilon, is_skipped):
    rate = lr * (1 - beta2_power.double()).sqrt() / (1 - beta1_power.double())
    fused_adam(var, m, v, grad, rate.to(lr.dtype), beta1, beta2, epsilon, is_skipped)


_adams = _group(
    "_GroupedAdam",
    "var m v | beta1_power beta2_power lr beta1 beta2 epsilon grad",
    _grouped_adam,
    lambda var, m, v, grad, *numbers: numpy_adam(var, m, v, *numbers, grad),
    "_GroupedAdamRecorded",
    _recorded_adam,
    recorded_host=("beta1", "beta2", "epsilon"),
)


def _grouped_moving_average(var, delta, rate):
    torch._foreach_lerp_(var, delta, rate)


# Moving averages, as batch normalization has them: AssignSub(var, (var - delta) * rate).
MOVING_AVERAGES = _group(
    "_GroupedMovingAverage",
    "var | delta rate",
    _grouped_moving_average,
    lambda var, delta, rate: [var - (var - delta) * rate],
)

GROUPS = {
    "ApplyGradientDescent": _gradient_descents,
    "ResourceApplyGradientDescent": _gradient_descents,
    "ApplyMomentum": _momenta,
    "ResourceApplyMomentum": _momenta,
    "ApplyAdam": _adams,
    "ResourceApplyAdam": _adams,
}
# The form for recordings, by the op.
RECORDED = {group.op: group.recorded for group in GROUPS.values() if group.recorded is not None}


def can_run_together(op: Op | None, attrs: Mapping[str, Any]) -> bool:
    """Whether updates by an op with these attributes have a form for many variables."""
    return op is not None and op.name in GROUPS and not attrs.get("use_nesterov")


def apply_together(op: Op, pairs: Sequence[tuple[Tensor, Any]], input_of: Callable[[str, Any], Any]) -> None:
    """Applies gradients to variables, as many calls of `op` would.

    Args:
      op: The op type that updates one variable.
      pairs: Gradients and variables, of one type and on one device.
      input_of: The input of `op` that has this name, for a variable; of numbers, the same for all of them.
    """
    group = GROUPS[op.name]
    states: list[list[Any]] = [[] for _ in range(group.states)]
    for _, variable in pairs:
        for place, held in enumerate(states):
            held.append(input_of(op.inputs[place].name, variable))
    numbers = [
        convert_to_tensor(input_of(arg.name, pairs[0][1]))
        for place, arg in enumerate(op.inputs)
        if place >= group.states and place != group.gradient
    ]
    group.op(*states, [grad for grad, _ in pairs], *numbers)
