"""Update ops of the optimizers. A law says how state changes under a gradient; up to four op types follow
from each: on references or on handles, of whole variables or of rows.

A law works in place on buffers that are its own while it runs; hyperparameters are Python numbers. Beside
each stands the same law in NumPy, from new state to new state, which its op types are tested against.
"""

from __future__ import annotations

import functools
import math

import numpy as np
import torch

from tideflow.ops.helpers import cpu_functions
from tideflow.ops.helpers.update_laws import law


@law(
    "var | alpha delta",
    dense="ApplyGradientDescent",
    resource="ResourceApplyGradientDescent",
    against=lambda var, alpha, delta: [var - alpha * delta],
)
def gradient_descent(var, alpha, delta):
    var.sub_(delta, alpha=alpha)


def _shrink(var: torch.Tensor, rate: torch.Tensor | float, l1: float, l2: float) -> None:
    """The proximal step: toward zero by rate * l1, then scaled down by 1 + rate * l2."""
    if l1 > 0:
        var.sub_(var.clamp(-rate * l1, rate * l1))
    var.div_(1 + rate * l2)


def _numpy_shrunk(var, rate, l1, l2):
    return np.where(np.abs(var) <= rate * l1, 0, var - np.sign(var) * rate * l1) / (1 + rate * l2)


@law(
    "var | alpha l1 l2 delta",
    dense="ApplyProximalGradientDescent",
    sparse="SparseApplyProximalGradientDescent",
    resource="ResourceApplyProximalGradientDescent",
    resource_sparse="ResourceSparseApplyProximalGradientDescent",
    sparse_gradient="grad",
    against=lambda var, alpha, l1, l2, delta: [_numpy_shrunk(var - alpha * delta, alpha, l1, l2)],
)
def proximal_gradient_descent(var, alpha, l1, l2, delta):
    _shrink(var.sub_(delta, alpha=alpha), alpha, l1, l2)


def _numpy_momentum(var, accum, lr, grad, momentum, *, use_nesterov):
    accum = momentum * accum + grad
    return var - lr * (grad + momentum * accum if use_nesterov else accum), accum


@law(
    "var accum | lr grad momentum",
    dense="ApplyMomentum",
    sparse="SparseApplyMomentum",
    resource="ResourceApplyMomentum",
    resource_sparse="ResourceSparseApplyMomentum",
    against=_numpy_momentum,
    use_nesterov=False,
)
def momentum(var, accum, lr, grad, momentum, *, use_nesterov):
    accum.mul_(momentum).add_(grad)
    if use_nesterov:
        var.sub_(grad, alpha=lr).sub_(accum, alpha=momentum * lr)
    else:
        var.sub_(accum, alpha=lr)


def _numpy_keras_momentum(var, accum, lr, grad, momentum, *, use_nesterov):
    accum = momentum * accum - lr * grad
    return var + (momentum * accum - lr * grad if use_nesterov else accum), accum


@law(
    "var accum | lr grad momentum",
    resource="ResourceApplyKerasMomentum",
    resource_sparse="ResourceSparseApplyKerasMomentum",
    against=_numpy_keras_momentum,
    use_nesterov=False,
)
def keras_momentum(var, accum, lr, grad, momentum, *, use_nesterov):
    accum.mul_(momentum).sub_(grad, alpha=lr)
    if use_nesterov:
        var.add_(accum, alpha=momentum).sub_(grad, alpha=lr)
    else:
        var.add_(accum)


def _numpy_adagrad(var, accum, lr, grad, *, update_slots):
    accum = accum + update_slots * grad**2
    return var - lr * grad / np.sqrt(accum), accum


@law(
    "var accum | lr grad",
    dense="ApplyAdagrad",
    sparse="SparseApplyAdagrad",
    resource="ResourceApplyAdagrad",
    resource_sparse="ResourceSparseApplyAdagrad",
    against=_numpy_adagrad,
    update_slots=True,
)
def adagrad(var, accum, lr, grad, *, update_slots):
    if update_slots:
        accum.addcmul_(grad, grad)
    var.addcmul_(grad, accum.rsqrt(), value=-lr)


def _numpy_adagrad_v2(var, accum, lr, epsilon, grad, *, update_slots):
    accum = accum + update_slots * grad**2
    return var - lr * grad / (np.sqrt(accum) + epsilon), accum


@law(
    "var accum | lr epsilon grad",
    dense="ApplyAdagradV2",
    sparse="SparseApplyAdagradV2",
    resource="ResourceApplyAdagradV2",
    resource_sparse="ResourceSparseApplyAdagradV2",
    against=_numpy_adagrad_v2,
    update_slots=True,
)
def adagrad_v2(var, accum, lr, epsilon, grad, *, update_slots):
    if update_slots:
        accum.addcmul_(grad, grad)
    var.addcdiv_(grad, cpu_functions.sqrt(accum).add_(epsilon), value=-lr)


def _numpy_proximal_adagrad(var, accum, lr, l1, l2, grad):
    accum = accum + grad**2
    rate = lr / np.sqrt(accum)
    return _numpy_shrunk(var - rate * grad, rate, l1, l2), accum


@law(
    "var accum | lr l1 l2 grad",
    dense="ApplyProximalAdagrad",
    has_signs=True,
    sparse="SparseApplyProximalAdagrad",
    resource="ResourceApplyProximalAdagrad",
    resource_sparse="ResourceSparseApplyProximalAdagrad",
    against=_numpy_proximal_adagrad,
)
def proximal_adagrad(var, accum, lr, l1, l2, grad):
    rate = accum.addcmul_(grad, grad).rsqrt().mul_(lr)
    _shrink(var.addcmul_(grad, rate, value=-1), rate, l1, l2)


def _numpy_adagrad_da(var, total, squares, grad, lr, l1, l2, global_step):
    total, squares = total + grad, squares + grad**2
    pull = np.where(np.abs(total) <= l1 * global_step, 0, total - np.sign(total) * l1 * global_step)
    return -lr * pull / (l2 * global_step * lr + np.sqrt(squares)), total, squares


@law(
    "var gradient_accumulator gradient_squared_accumulator | grad lr l1 l2 global_step",
    dense="ApplyAdagradDA",
    sparse="SparseApplyAdagradDA",
    resource="ResourceApplyAdagradDA",
    resource_sparse="ResourceSparseApplyAdagradDA",
    against=_numpy_adagrad_da,
)
def adagrad_da(var, gradient_accumulator, gradient_squared_accumulator, grad, lr, l1, l2, global_step):
    total = gradient_accumulator.add_(grad)
    squares = gradient_squared_accumulator.addcmul_(grad, grad)
    if l1 > 0:
        total = total - total.clamp(-l1 * global_step, l1 * global_step)
    torch.div(total * -lr, cpu_functions.sqrt(squares).add_(l2 * global_step * lr), out=var)


def _numpy_adadelta(var, accum, accum_update, lr, rho, epsilon, grad):
    accum = rho * accum + (1 - rho) * grad**2
    update = grad * np.sqrt((accum_update + epsilon) / (accum + epsilon))
    return var - lr * update, accum, rho * accum_update + (1 - rho) * update**2


@law(
    "var accum accum_update | lr rho epsilon grad",
    dense="ApplyAdadelta",
    sparse="SparseApplyAdadelta",
    resource="ResourceApplyAdadelta",
    resource_sparse="ResourceSparseApplyAdadelta",
    against=_numpy_adadelta,
)
def adadelta(var, accum, accum_update, lr, rho, epsilon, grad):
    accum.mul_(rho).addcmul_(grad, grad, value=1 - rho)
    update = cpu_functions.sqrt_(accum_update + epsilon).mul_((accum + epsilon).rsqrt_()).mul_(grad)
    accum_update.mul_(rho).addcmul_(update, update, value=1 - rho)
    var.sub_(update, alpha=lr)


def _numpy_rms_prop(var, ms, mom, lr, rho, momentum, epsilon, grad):
    ms = rho * ms + (1 - rho) * grad**2
    mom = momentum * mom + lr * grad / np.sqrt(ms + epsilon)
    return var - mom, ms, mom


@law(
    "var ms mom | lr rho momentum epsilon grad",
    dense="ApplyRMSProp",
    sparse="SparseApplyRMSProp",
    resource="ResourceApplyRMSProp",
    resource_sparse="ResourceSparseApplyRMSProp",
    against=_numpy_rms_prop,
)
def rms_prop(var, ms, mom, lr, rho, momentum, epsilon, grad):
    ms.mul_(rho).addcmul_(grad, grad, value=1 - rho)
    mom.mul_(momentum).addcmul_(grad, (ms + epsilon).rsqrt_(), value=lr)
    var.sub_(mom)


def _numpy_centered_rms_prop(var, mg, ms, mom, lr, rho, momentum, epsilon, grad):
    mg, ms = rho * mg + (1 - rho) * grad, rho * ms + (1 - rho) * grad**2
    mom = momentum * mom + lr * grad / np.sqrt(ms - mg**2 + epsilon)
    return var - mom, mg, ms, mom


@law(
    "var mg ms mom | lr rho momentum epsilon grad",
    dense="ApplyCenteredRMSProp",
    sparse="SparseApplyCenteredRMSProp",
    resource="ResourceApplyCenteredRMSProp",
    resource_sparse="ResourceSparseApplyCenteredRMSProp",
    against=_numpy_centered_rms_prop,
)
def centered_rms_prop(var, mg, ms, mom, lr, rho, momentum, epsilon, grad):
    ms.mul_(rho).addcmul_(grad, grad, value=1 - rho)
    mg.mul_(rho).add_(grad, alpha=1 - rho)
    spread = torch.addcmul(ms, mg, mg, value=-1).add_(epsilon)
    mom.mul_(momentum).addcmul_(grad, spread.rsqrt_(), value=lr)
    var.sub_(mom)


@functools.cache
def never_biased(device: torch.device) -> torch.Tensor:
    """A step count at which ATen's own bias correction is exactly 1."""
    return torch.tensor(1e9, device=device)


def adam_rate(beta1_power: float, beta2_power: float, lr: float) -> float:
    """The step size with both bias corrections in it."""
    try:
        return lr * math.sqrt(1 - beta2_power) / (1 - beta1_power)
    except (ValueError, ZeroDivisionError):  # NaN or infinite, as C computes it
        with np.errstate(all="ignore"):
            return float(lr * np.sqrt(np.float64(1 - beta2_power)) / np.float64(1 - beta1_power))


def laid_out_like(var: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """The other tensor, or a copy of it, with the strides of its variable: ATen's kernels for many tensors
    walk through memory from end to end.
    """
    return other if other.stride() == var.stride() else torch.empty_like(var).copy_(other)


def fused_adam(
    var: list,
    m: list,
    v: list,
    grad: list,
    rate: float | torch.Tensor,
    beta1: float,
    beta2: float,
    epsilon: float,
    is_skipped: torch.Tensor | None = None,
) -> None:
    """Adam on many buffers in one kernel: ATen's fused form, whose bias correction is switched off. Nothing
    changes where the number `is_skipped`, on the device, is 1.
    """
    grads, ms, vs = ([laid_out_like(p, each) for p, each in zip(var, group)] for group in (grad, m, v))
    steps = [never_biased(t.device) for t in var]
    torch._fused_adam_(
        var,
        grads,
        ms,
        vs,
        [],
        steps,
        lr=rate,
        beta1=beta1,
        beta2=beta2,
        weight_decay=0.0,
        eps=epsilon,
        amsgrad=False,
        maximize=False,
        found_inf=is_skipped,
    )
    for state, updated in zip([*m, *v], [*ms, *vs]):
        if updated is not state:
            state.copy_(updated)


def numpy_adam(var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad, *, use_nesterov=False):
    """Adam as its paper has it, the bias corrections in the step size."""
    m, v = beta1 * m + (1 - beta1) * grad, beta2 * v + (1 - beta2) * grad**2
    rate = lr * np.sqrt(1 - beta2_power) / (1 - beta1_power)
    step = beta1 * m + (1 - beta1) * grad if use_nesterov else m
    return var - rate * step / (np.sqrt(v) + epsilon), m, v


@law(
    "var m v | beta1_power beta2_power lr beta1 beta2 epsilon grad",
    dense="ApplyAdam",
    resource="ResourceApplyAdam",
    against=numpy_adam,
    use_nesterov=False,
)
def adam(var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad, *, use_nesterov):
    rate = adam_rate(beta1_power, beta2_power, lr)
    if not use_nesterov:
        fused_adam([var], [m], [v], [grad], rate, beta1, beta2, epsilon)
        return
    m.mul_(beta1).add_(grad, alpha=1 - beta1)
    v.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
    var.addcdiv_(grad * (1 - beta1) + m * beta1, cpu_functions.sqrt(v).add_(epsilon), value=-rate)


def _numpy_amsgrad(var, m, v, vhat, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad):
    m, v = beta1 * m + (1 - beta1) * grad, beta2 * v + (1 - beta2) * grad**2
    vhat = np.maximum(vhat, v)
    rate = lr * np.sqrt(1 - beta2_power) / (1 - beta1_power)
    return var - rate * m / (np.sqrt(vhat) + epsilon), m, v, vhat


@law(
    "var m v vhat | beta1_power beta2_power lr beta1 beta2 epsilon grad",
    resource="ResourceApplyAdamWithAmsgrad",
    against=_numpy_amsgrad,
)
def adam_with_amsgrad(var, m, v, vhat, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad):
    m.mul_(beta1).add_(grad, alpha=1 - beta1)
    v.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
    torch.maximum(vhat, v, out=vhat)
    var.addcdiv_(m, cpu_functions.sqrt(vhat).add_(epsilon), value=-adam_rate(beta1_power, beta2_power, lr))


def _numpy_ada_max(var, m, v, beta1_power, lr, beta1, beta2, epsilon, grad):
    m, v = beta1 * m + (1 - beta1) * grad, np.maximum(beta2 * v, np.abs(grad))
    return var - lr / (1 - beta1_power) * m / (v + epsilon), m, v


@law(
    "var m v | beta1_power lr beta1 beta2 epsilon grad",
    dense="ApplyAdaMax",
    resource="ResourceApplyAdaMax",
    against=_numpy_ada_max,
)
def ada_max(var, m, v, beta1_power, lr, beta1, beta2, epsilon, grad):
    m.mul_(beta1).add_(grad, alpha=1 - beta1)
    torch.maximum(v.mul_(beta2), grad.abs(), out=v)
    var.addcdiv_(m, v + epsilon, value=-lr / (1 - beta1_power))


def _numpy_add_sign(var, m, lr, alpha, sign_decay, beta, grad):
    m = beta * m + (1 - beta) * grad
    return var - lr * (alpha + sign_decay * np.sign(grad) * np.sign(m)) * grad, m


@law(
    "var m | lr alpha sign_decay beta grad",
    dense="ApplyAddSign",
    resource="ResourceApplyAddSign",
    against=_numpy_add_sign,
)
def add_sign(var, m, lr, alpha, sign_decay, beta, grad):
    m.mul_(beta).add_(grad, alpha=1 - beta)
    var.addcmul_(grad.sign() * m.sign() * sign_decay + alpha, grad, value=-lr)


def _numpy_power_sign(var, m, lr, logbase, sign_decay, beta, grad):
    m = beta * m + (1 - beta) * grad
    return var - lr * np.exp(logbase * sign_decay * np.sign(grad) * np.sign(m)) * grad, m


@law(
    "var m | lr logbase sign_decay beta grad",
    dense="ApplyPowerSign",
    resource="ResourceApplyPowerSign",
    against=_numpy_power_sign,
)
def power_sign(var, m, lr, logbase, sign_decay, beta, grad):
    m.mul_(beta).add_(grad, alpha=1 - beta)
    var.addcmul_((grad.sign() * m.sign()).mul_(logbase * sign_decay).exp_(), grad, value=-lr)


def _follow_the_regularized_leader(var, accum, linear, grad, shrunk, lr, l1, l2, lr_power, multiplied):
    """FTRL-Proximal; `multiplied` keeps `linear` times the learning rate, which then drops out of the
    quadratic term.
    """
    scale = lr if multiplied else 1.0
    power = cpu_functions.sqrt if lr_power == -0.5 else lambda x: x.pow(-lr_power)
    before = power(accum)
    after = power(accum.addcmul_(grad, grad))
    linear.add_(shrunk, alpha=scale).addcmul_(before.neg_().add_(after), var, value=-scale / lr)
    quadratic = after.mul_(scale / lr)
    if l2:
        quadratic.add_(2 * l2 * scale)
    if l1:
        torch.div(linear.clamp(-l1 * scale, l1 * scale).sub_(linear), quadratic, out=var)
    else:
        torch.div(linear, quadratic.neg_(), out=var)


def _numpy_ftrl(var, accum, linear, grad, lr, l1, l2, lr_power, *, multiply_linear_by_lr):
    return _numpy_ftrl_v2(
        var, accum, linear, grad, lr, l1, l2, 0, lr_power, multiply_linear_by_lr=multiply_linear_by_lr
    )


def _numpy_ftrl_v2(var, accum, linear, grad, lr, l1, l2, l2_shrinkage, lr_power, *, multiply_linear_by_lr):
    unit = lr if multiply_linear_by_lr else 1  # in which `linear` is kept
    linear, grown = linear / unit, accum + grad**2
    linear = linear + grad + 2 * l2_shrinkage * var - (grown**-lr_power - accum**-lr_power) / lr * var
    quadratic = grown**-lr_power / lr + 2 * l2
    solved = np.where(np.abs(linear) > l1, (np.sign(linear) * l1 - linear) / quadratic, 0)
    return solved, grown, linear * unit


@law(
    "var accum linear | grad lr l1 l2 lr_power",
    dense="ApplyFtrl",
    has_signs=True,
    sparse="SparseApplyFtrl",
    resource="ResourceApplyFtrl",
    resource_sparse="ResourceSparseApplyFtrl",
    against=_numpy_ftrl,
    multiply_linear_by_lr=False,
)
def ftrl(var, accum, linear, grad, lr, l1, l2, lr_power, *, multiply_linear_by_lr):
    _follow_the_regularized_leader(
        var, accum, linear, grad, grad, lr, l1, l2, lr_power, multiply_linear_by_lr
    )


@law(
    "var accum linear | grad lr l1 l2 l2_shrinkage lr_power",
    dense="ApplyFtrlV2",
    has_signs=True,
    sparse="SparseApplyFtrlV2",
    resource="ResourceApplyFtrlV2",
    resource_sparse="ResourceSparseApplyFtrlV2",
    against=_numpy_ftrl_v2,
    multiply_linear_by_lr=False,
)
def ftrl_v2(var, accum, linear, grad, lr, l1, l2, l2_shrinkage, lr_power, *, multiply_linear_by_lr):
    shrunk = torch.add(grad, var, alpha=2 * l2_shrinkage)
    _follow_the_regularized_leader(
        var, accum, linear, grad, shrunk, lr, l1, l2, lr_power, multiply_linear_by_lr
    )
