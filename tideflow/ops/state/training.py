"""Update ops of the optimizers. A law says how state changes under a gradient; four op types follow from
each.

`@law("var accum | lr grad momentum", ...)` names the state, then the other inputs. From it come ApplyX
(references, dense), SparseApplyX (rows at `indices`), ResourceApplyX and ResourceSparseApplyX. A law works in
place on buffers that are its own while it runs; hyperparameters are Python numbers.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import torch

from tideflow.graph import errors
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.shapes import TensorShape
from tideflow.ops.helpers.axes import of_rank, scalar
from tideflow.ops.helpers.samples import SampleArray, f32, ref, resource
from tideflow.ops.helpers.types import INDICES, NUMERIC
from tideflow.ops.state.reference_variables import same_shape, shape_text
from tideflow.ops.state.resource_variables import variable_shape_of
from tideflow.runtime.resources import exclusive

_INTEGERS = {"global_step": "int64"}
ALL_KINDS = "dense sparse resource resource_sparse"


def law(
    name: str, signature: str, kinds: str = ALL_KINDS, sparse_gradient: str | None = None, **attrs: Any
) -> Callable:
    """Registers the op types that follow from the decorated law."""
    states, values = (part.split() for part in signature.split("|"))

    def register(function: Callable) -> Callable:
        for kind in kinds.split():
            _define(name, kind, states, list(values), sparse_gradient, function, attrs)
        return function

    return register


def _define(
    name: str,
    kind: str,
    states: list[str],
    values: list[str],
    sparse_gradient: str | None,
    function: Callable,
    attrs: dict,
) -> None:
    is_sparse, is_resource = "sparse" in kind, "resource" in kind
    gradient = next(v for v in values if v in ("grad", "delta"))
    position = values.index(gradient)
    if is_sparse:
        values[position] = gradient = sparse_gradient or gradient
        values.insert(position + 1, "indices")
        attrs = {"Tindices": INDICES, **attrs}
    inputs = [f"{s}: {'resource' if is_resource else 'Ref(T)'}" for s in states]
    inputs += [f"{v}: {'Tindices' if v == 'indices' else _INTEGERS.get(v, 'T')}" for v in values]
    op = Op(
        f"{'Resource' if is_resource else ''}{'Sparse' if is_sparse else ''}Apply{name}",
        f"{', '.join(inputs)} -> {'' if is_resource else 'out: Ref(T)'}",
        host=[v for v in values if v not in (gradient, "indices")],
        stateful=is_resource,
        differentiable=False,
        T=NUMERIC,
        use_locking=False,
        **attrs,
    )
    rule = functools.partial(_state_shape, count=len(states), position=position, is_sparse=is_sparse)
    op.shape(functools.partial(_checked_behind_handles, rule, len(states)) if is_resource else rule)
    op.kernel(_kernel(function, states, values, position, is_sparse, is_resource))
    op.samples(_sample(states, values, gradient, resource if is_resource else ref))


def _state_shape(*inputs: Any, count: int, position: int, is_sparse: bool) -> TensorShape:
    """The shape that all state has; the gradient too, or its rows where it comes with indices."""
    states, values = inputs[:count], list(inputs[count:])
    shape = functools.reduce(same_shape, states)
    indices = of_rank(values.pop(position + 1), 1) if is_sparse else None
    gradient = values.pop(position)
    for number in values:
        scalar(number)
    if is_sparse and gradient.ndims:
        if None not in (gradient[0].value, indices[0].value) and gradient[0] != indices[0]:
            raise ShapeError(f"Dimensions must be equal, but are {indices[0]} and {gradient[0]}")
        gradient = TensorShape([None, *gradient.tuple[1:]])
    return same_shape(shape, gradient)


def _checked_behind_handles(rule: Callable, count: int, *inputs: Any) -> None:
    rule(*map(variable_shape_of, inputs[:count]), *inputs[count:])


def _kernel(
    function: Callable,
    states: list[str],
    values: list[str],
    position: int,
    is_sparse: bool,
    is_resource: bool,
) -> Callable:
    """The law as a kernel: takes the state's buffers for itself, updates all of them or only some rows,
    gives them back.
    """
    count = len(states)

    @functools.wraps(function)
    def kernel(*inputs: Any, **attrs: Any) -> Any:
        variables, given = inputs[:count], list(inputs[count:])
        _check_numbers(values, given)
        indices = given.pop(position + 1) if is_sparse else None
        with exclusive(variables) as buffers:
            _check_states(states, buffers)
            if is_sparse:
                _update_rows(function, buffers, given, position, indices, attrs)
            else:
                _check_gradient(buffers[0].shape, given[position].shape)
                function(*buffers, *given, **attrs)
        return None if is_resource else variables[0]

    return kernel


# Everything is checked before anything is changed: an update that fails leaves all state as it was.


def _check_numbers(names: list[str], values: list[Any]) -> None:
    for name, value in zip(names, values):
        if isinstance(value, list):
            raise errors.invalid_argument(f"{name} is not a scalar: [{len(value)}]")


def _check_states(names: list[str], buffers: list[torch.Tensor]) -> None:
    shape = buffers[0].shape
    for name, buffer in zip(names, buffers):
        if buffer.shape != shape:
            raise _unequal(name, shape, buffer.shape)


def _check_gradient(state: torch.Size, gradient: torch.Size) -> None:
    if state != gradient:
        raise _unequal("grad", state, gradient)


def _unequal(name: str, state: torch.Size, other: torch.Size) -> InvalidArgumentError:
    shapes = f"{shape_text(state)} {shape_text(other)}"
    return errors.invalid_argument(f"var and {name} do not have the same shape {shapes}")


def _update_rows(
    function: Callable, buffers: list, values: list, position: int, indices: torch.Tensor, attrs: dict
) -> None:
    if buffers[0].ndim == 0:
        raise errors.invalid_argument("var must be at least 1 dimensional")
    if indices.ndim != 1:
        raise errors.invalid_argument("indices must be one-dimensional")
    gradient, rows = values[position], buffers[0].shape[0]
    _check_gradient(torch.Size([*indices.shape, *buffers[0].shape[1:]]), gradient.shape)
    if not indices.numel():
        return
    outside = (indices < 0) | (indices >= rows)
    if outside.any():
        offset = int(outside.nonzero()[0])
        raise errors.invalid_argument(
            f"Index {indices[offset]} at offset {offset} in indices is out of range [0, {rows})"
        )
    for chosen in _rounds(indices):
        at = indices if chosen is None else indices[chosen]
        parts = [buffer.index_select(0, at) for buffer in buffers]
        values[position] = gradient if chosen is None else gradient[chosen]
        function(*parts, *values, **attrs)
        for buffer, part in zip(buffers, parts, strict=True):
            buffer.index_copy_(0, at.long(), part)


def _rounds(indices: torch.Tensor) -> list:
    """Positions of the indices such that none repeats within a round: repeated rows are updated one after
    another.
    """
    _, inverse, counts = torch.unique(indices, return_inverse=True, return_counts=True)
    most = int(counts.max())
    if most == 1:
        return [None]
    order = torch.argsort(inverse, stable=True)
    starts = torch.cumsum(counts, 0) - counts
    rank = torch.arange(len(indices), device=indices.device) - starts[inverse[order]]
    return [order[rank == r].sort().values for r in range(most)]


def _sample(states: list[str], values: list[str], gradient: str, state: Callable) -> tuple:
    made: list[Any] = [state(f32(4, 3, low=0.1, high=1.0)) for _ in states]
    for value in values:
        if value == "indices":
            made.append(SampleArray(INDICES[0], (2,), 1, 2 + 1))
        elif value == gradient:
            made.append(f32(2, 3) if "indices" in values else f32(4, 3))
        else:
            made.append(7 if value in _INTEGERS else -0.5 if value == "lr_power" else 0.3)
    return tuple(made)


# ------------------------------------------------------------------------------------------------ the laws


@law("GradientDescent", "var | alpha delta", kinds="dense resource")
def gradient_descent(var, alpha, delta):
    var.sub_(delta, alpha=alpha)


def _shrink(var: torch.Tensor, rate: Any, l1: float, l2: float) -> None:
    """The proximal step: toward zero by rate * l1, then scaled down by 1 + rate * l2."""
    if l1 > 0:
        var.copy_(var.sign() * (var.abs() - rate * l1).clamp_(min=0))
    var.div_(1 + rate * l2)


@law("ProximalGradientDescent", "var | alpha l1 l2 delta", sparse_gradient="grad")
def proximal_gradient_descent(var, alpha, l1, l2, delta):
    _shrink(var.sub_(delta, alpha=alpha), alpha, l1, l2)


@law("Momentum", "var accum | lr grad momentum", use_nesterov=False)
def momentum(var, accum, lr, grad, momentum, *, use_nesterov):
    accum.mul_(momentum).add_(grad)
    if use_nesterov:
        var.sub_(grad, alpha=lr).sub_(accum, alpha=momentum * lr)
    else:
        var.sub_(accum, alpha=lr)


@law("KerasMomentum", "var accum | lr grad momentum", kinds="resource resource_sparse", use_nesterov=False)
def keras_momentum(var, accum, lr, grad, momentum, *, use_nesterov):
    accum.mul_(momentum).sub_(grad, alpha=lr)
    if use_nesterov:
        var.add_(accum, alpha=momentum).sub_(grad, alpha=lr)
    else:
        var.add_(accum)


@law("Adagrad", "var accum | lr grad", update_slots=True)
def adagrad(var, accum, lr, grad, *, update_slots):
    if update_slots:
        accum.addcmul_(grad, grad)
    var.addcmul_(grad, accum.rsqrt(), value=-lr)


@law("AdagradV2", "var accum | lr epsilon grad", update_slots=True)
def adagrad_v2(var, accum, lr, epsilon, grad, *, update_slots):
    if update_slots:
        accum.addcmul_(grad, grad)
    var.addcdiv_(grad, accum.sqrt().add_(epsilon), value=-lr)


@law("ProximalAdagrad", "var accum | lr l1 l2 grad")
def proximal_adagrad(var, accum, lr, l1, l2, grad):
    rate = accum.addcmul_(grad, grad).rsqrt().mul_(lr)
    _shrink(var.addcmul_(grad, rate, value=-1), rate, l1, l2)


@law("AdagradDA", "var gradient_accumulator gradient_squared_accumulator | grad lr l1 l2 global_step")
def adagrad_da(var, gradient_accumulator, gradient_squared_accumulator, grad, lr, l1, l2, global_step):
    total = gradient_accumulator.add_(grad)
    squares = gradient_squared_accumulator.addcmul_(grad, grad)
    if l1 > 0:
        total = total.sign() * (total.abs() - l1 * global_step).clamp_(min=0)
    var.copy_(total * -lr / (squares.sqrt() + l2 * global_step * lr))


@law("Adadelta", "var accum accum_update | lr rho epsilon grad")
def adadelta(var, accum, accum_update, lr, rho, epsilon, grad):
    accum.mul_(rho).addcmul_(grad, grad, value=1 - rho)
    update = (accum_update + epsilon).sqrt_().mul_((accum + epsilon).rsqrt_()).mul_(grad)
    accum_update.mul_(rho).addcmul_(update, update, value=1 - rho)
    var.sub_(update, alpha=lr)


@law("RMSProp", "var ms mom | lr rho momentum epsilon grad")
def rms_prop(var, ms, mom, lr, rho, momentum, epsilon, grad):
    ms.mul_(rho).addcmul_(grad, grad, value=1 - rho)
    mom.mul_(momentum).addcmul_(grad, (ms + epsilon).rsqrt_(), value=lr)
    var.sub_(mom)


@law("CenteredRMSProp", "var mg ms mom | lr rho momentum epsilon grad")
def centered_rms_prop(var, mg, ms, mom, lr, rho, momentum, epsilon, grad):
    ms.mul_(rho).addcmul_(grad, grad, value=1 - rho)
    mg.mul_(rho).add_(grad, alpha=1 - rho)
    spread = torch.addcmul(ms, mg, mg, value=-1).add_(epsilon)
    mom.mul_(momentum).addcmul_(grad, spread.rsqrt_(), value=lr)
    var.sub_(mom)


_NEVER_BIASED = torch.tensor(1e9)  # a step count at which ATen's own bias correction is exactly 1


def adam_rate(beta1_power: float, beta2_power: float, lr: float) -> float:
    """The step size with both bias corrections in it."""
    return lr * math.sqrt(1 - beta2_power) / (1 - beta1_power)


def _lie_alike(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether the elements of two tensors of one shape are in the same order in memory."""
    return a.stride() == b.stride() or a.is_contiguous() and b.is_contiguous()


def _plain_adam(var, m, v, grad, rate, beta1, beta2, epsilon, use_nesterov=False):
    m.mul_(beta1).add_(grad, alpha=1 - beta1)
    v.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
    step = grad * (1 - beta1) + m * beta1 if use_nesterov else m
    var.addcdiv_(step, v.sqrt().add_(epsilon), value=-rate)


def fused_adam(
    var: list, m: list, v: list, grad: list, rate: float, beta1: float, beta2: float, epsilon: float
) -> None:
    """Adam on many buffers in one kernel: ATen's fused form, whose bias correction is switched off.

    That kernel walks memory from end to end, so all that belongs to a variable must lie in memory as it does.
    """
    if not all(_lie_alike(p, state) for p, *states in zip(var, m, v) for state in states):
        for parts in zip(var, m, v, grad):
            _plain_adam(*parts, rate, beta1, beta2, epsilon)
        return
    grad = [g if _lie_alike(p, g) else torch.empty_like(p).copy_(g) for p, g in zip(var, grad)]
    steps = [_NEVER_BIASED if t.device.type == "cpu" else _NEVER_BIASED.to(t.device) for t in var]
    torch._fused_adam_(
        var,
        grad,
        m,
        v,
        [],
        steps,
        lr=rate,
        beta1=beta1,
        beta2=beta2,
        weight_decay=0.0,
        eps=epsilon,
        amsgrad=False,
        maximize=False,
    )


@law(
    "Adam",
    "var m v | beta1_power beta2_power lr beta1 beta2 epsilon grad",
    kinds="dense resource",
    use_nesterov=False,
)
def adam(var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad, *, use_nesterov):
    rate = adam_rate(beta1_power, beta2_power, lr)
    if use_nesterov:
        _plain_adam(var, m, v, grad, rate, beta1, beta2, epsilon, use_nesterov)
    else:
        fused_adam([var], [m], [v], [grad], rate, beta1, beta2, epsilon)


@law(
    "AdamWithAmsgrad", "var m v vhat | beta1_power beta2_power lr beta1 beta2 epsilon grad", kinds="resource"
)
def adam_with_amsgrad(var, m, v, vhat, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad):
    m.mul_(beta1).add_(grad, alpha=1 - beta1)
    v.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
    torch.maximum(vhat, v, out=vhat)
    var.addcdiv_(m, vhat.sqrt().add_(epsilon), value=-adam_rate(beta1_power, beta2_power, lr))


@law("AdaMax", "var m v | beta1_power lr beta1 beta2 epsilon grad", kinds="dense resource")
def ada_max(var, m, v, beta1_power, lr, beta1, beta2, epsilon, grad):
    m.mul_(beta1).add_(grad, alpha=1 - beta1)
    torch.maximum(v.mul_(beta2), grad.abs(), out=v)
    var.addcdiv_(m, v + epsilon, value=-lr / (1 - beta1_power))


@law("AddSign", "var m | lr alpha sign_decay beta grad", kinds="dense resource")
def add_sign(var, m, lr, alpha, sign_decay, beta, grad):
    m.mul_(beta).add_(grad, alpha=1 - beta)
    var.addcmul_(grad.sign() * m.sign() * sign_decay + alpha, grad, value=-lr)


@law("PowerSign", "var m | lr logbase sign_decay beta grad", kinds="dense resource")
def power_sign(var, m, lr, logbase, sign_decay, beta, grad):
    m.mul_(beta).add_(grad, alpha=1 - beta)
    var.addcmul_((grad.sign() * m.sign()).mul_(logbase * sign_decay).exp_(), grad, value=-lr)


def _follow_the_regularized_leader(var, accum, linear, grad, shrunk, lr, l1, l2, lr_power, multiplied):
    """FTRL-Proximal; `multiplied` keeps `linear` times the learning rate, which then drops out of the
    quadratic term.
    """
    scale = lr if multiplied else 1.0
    before = accum.pow(-lr_power)
    after = accum.addcmul_(grad, grad).pow(-lr_power)
    linear.add_(shrunk, alpha=scale).addcmul_(after - before, var, value=-scale / lr)
    quadratic = after * (scale / lr) + 2 * l2 * scale
    pull = linear.clamp(-l1 * scale, l1 * scale) - linear
    var.copy_(pull / quadratic)


@law("Ftrl", "var accum linear | grad lr l1 l2 lr_power", multiply_linear_by_lr=False)
def ftrl(var, accum, linear, grad, lr, l1, l2, lr_power, *, multiply_linear_by_lr):
    _follow_the_regularized_leader(
        var, accum, linear, grad, grad, lr, l1, l2, lr_power, multiply_linear_by_lr
    )


@law("FtrlV2", "var accum linear | grad lr l1 l2 l2_shrinkage lr_power", multiply_linear_by_lr=False)
def ftrl_v2(var, accum, linear, grad, lr, l1, l2, l2_shrinkage, lr_power, *, multiply_linear_by_lr):
    shrunk = torch.add(grad, var, alpha=2 * l2_shrinkage)
    _follow_the_regularized_leader(
        var, accum, linear, grad, shrunk, lr, l1, l2, lr_power, multiply_linear_by_lr
    )


# ------------------------------------------------------------------------------------------------ many
# variables at once


class Group:
    """How updates of one kind, with the same hyperparameters, run as one: the op, and where its parts are."""

    def __init__(self, op: Op, states: int, gradient: int):
        self.op = op
        self.states = states
        self.gradient = gradient  # its position among the inputs of a single update


def _group(name: str, signature: str, apply: Callable) -> Group:
    """An internal op that applies a law to the state of N variables in one kernel call."""
    states, values = (part.split() for part in signature.split("|"))
    gradient = next(i for i, v in enumerate(values) if v in ("grad", "delta"))
    hyper = [v for i, v in enumerate(values) if i != gradient]
    inputs = (
        [f"{s}: N * resource" for s in states] + [f"{values[gradient]}: N * T"] + [f"{v}: T" for v in hyper]
    )
    op = Op(f"_Grouped{name}", f"{', '.join(inputs)} -> ", host=hyper, stateful=True, differentiable=False)
    op.shape(lambda *inputs: [])

    def kernel(*inputs: Any) -> None:
        count, size = len(states), len(inputs[0])
        grads, numbers = inputs[count], inputs[count + 1 :]
        _check_numbers(hyper, numbers)
        with exclusive([variable for group in inputs[:count] for variable in group]) as buffers:
            groups = [buffers[i * size : (i + 1) * size] for i in range(count)]
            for grad, *parts in zip(grads, *groups, strict=True):
                _check_states(states, parts)
                _check_gradient(parts[0].shape, grad.shape)
            apply(*groups, grads, *numbers)

    op.kernel(kernel)
    op.samples(
        tuple([resource(f32(4, 3, low=0.1, high=1.0)), resource(f32(2, low=0.1, high=1.0))] for _ in states)
        + ([f32(4, 3), f32(2)], *[0.3] * len(hyper))
    )
    return Group(op, len(states), len(states) + gradient)


def _grouped_gradient_descent(var, delta, alpha):
    torch._foreach_add_(var, delta, alpha=-alpha)


def _grouped_momentum(var, accum, grad, lr, momentum):
    torch._foreach_mul_(accum, momentum)
    torch._foreach_add_(accum, grad)
    torch._foreach_add_(var, accum, alpha=-lr)


def _grouped_adam(var, m, v, grad, beta1_power, beta2_power, lr, beta1, beta2, epsilon):
    fused_adam(var, m, v, grad, adam_rate(beta1_power, beta2_power, lr), beta1, beta2, epsilon)


_gradient_descents = _group("GradientDescent", "var | alpha delta", _grouped_gradient_descent)
_momenta = _group("Momentum", "var accum | lr grad momentum", _grouped_momentum)
_adams = _group("Adam", "var m v | beta1_power beta2_power lr beta1 beta2 epsilon grad", _grouped_adam)

GROUPS = {
    "ApplyGradientDescent": _gradient_descents,
    "ResourceApplyGradientDescent": _gradient_descents,
    "ApplyMomentum": _momenta,
    "ResourceApplyMomentum": _momenta,
    "ApplyAdam": _adams,
    "ResourceApplyAdam": _adams,
}
