"""Batch normalization as TensorFlow had it first: by given means and variances, and its gradient as an op."""

from __future__ import annotations

import numpy as np
import torch

from tideflow.graph.op import Op, undefined_gradient
from tideflow.graph.schema import attr
from tideflow.ops.helpers.axes import merged, of_rank
from tideflow.ops.helpers.references import pulled_back
from tideflow.ops.helpers.samples import f32
from tideflow.ops.helpers.types import NUMERIC
from tideflow.ops.linalg.matrices import same_size

_ATTRS = {"T": NUMERIC, "variance_epsilon": attr("float"), "scale_after_normalization": attr("bool")}
_POSITIVE = f32(3, low=0.5, high=2.0)
_SAMPLE_ATTRS = [{"variance_epsilon": 1e-3, "scale_after_normalization": scaled} for scaled in (True, False)]

normalize_op = Op(
    "BatchNormWithGlobalNormalization", "t: T, m: T, v: T, beta: T, gamma: T -> result: T", **_ATTRS
)


@normalize_op.shape
def _normalize_shape(t, m, v, beta, gamma):
    depth = of_rank(t, 4).tuple[-1]
    for parameter in (m, v, beta, gamma):
        depth = same_size(depth, of_rank(parameter, 1).tuple[0])
    return t.with_rank(4)[:-1].concatenate([depth])


@normalize_op.kernel
def _normalize_kernel(t, m, v, beta, gamma, *, variance_epsilon, scale_after_normalization):
    scale = torch.rsqrt(v + variance_epsilon)
    return (t - m) * (scale * gamma if scale_after_normalization else scale) + beta


@normalize_op.gradient
def _normalize_gradient(op, grad):
    t, m, v, _, gamma = op.inputs
    attrs = {key: op.attrs[key] for key in ("variance_epsilon", "scale_after_normalization")}
    dx, dm, dv, db, dg = normalize_grad_op(t, m, v, gamma, grad, **attrs)
    return [dx, dm, dv, db, dg]


def _normalize_reference(t, m, v, beta, gamma, *, variance_epsilon, scale_after_normalization):
    scale = gamma if scale_after_normalization else np.float32(1)
    return (t - m) / np.sqrt(v + variance_epsilon) * scale + beta


normalize_op.samples(
    *((f32(2, 2, 1, 3), f32(3), _POSITIVE, f32(3), f32(3), attrs) for attrs in _SAMPLE_ATTRS),
    against=_normalize_reference,
)
normalize_op.refuses(
    (f32(2, 2, 1, 3), f32(2), f32(3), f32(3), f32(3), _SAMPLE_ATTRS[0]),
    "Dimensions must be equal, but are 3 and 2",
)

normalize_grad_op = Op(
    "BatchNormWithGlobalNormalizationGrad",
    "t: T, m: T, v: T, gamma: T, backprop: T -> dx: T, dm: T, dv: T, db: T, dg: T",
    **_ATTRS,
)


@normalize_grad_op.shape
def _normalize_grad_shape(t, m, v, gamma, backprop):
    whole = merged(of_rank(t, 4), of_rank(backprop, 4))
    depth = whole.tuple[-1]
    for parameter in (m, v, gamma):
        depth = same_size(depth, of_rank(parameter, 1).tuple[0])
    return [whole[:-1].concatenate([depth]), *[[depth]] * 4]


@normalize_grad_op.kernel
def _normalize_grad_kernel(t, m, v, gamma, backprop, *, variance_epsilon, scale_after_normalization):
    over = (0, 1, 2)
    inverse = torch.rsqrt(v + variance_epsilon)
    scale = inverse * gamma if scale_after_normalization else inverse
    by_distance = (backprop * (t - m)).sum(over)
    total = backprop.sum(over)
    scaled = gamma if scale_after_normalization else 1.0
    dv = -0.5 * by_distance * scaled * inverse / (v + variance_epsilon)
    dg = by_distance * inverse if scale_after_normalization else torch.zeros_like(gamma)
    return backprop * scale, -total * scale, dv, total, dg


normalize_grad_op.gradient(undefined_gradient)


def _normalize_grad_reference(t, m, v, gamma, backprop, *, variance_epsilon, scale_after_normalization):
    attrs = {
        "variance_epsilon": variance_epsilon,
        "scale_after_normalization": scale_after_normalization,
    }
    inputs = [t, m, v, np.zeros_like(gamma), gamma]

    def by(place: int) -> np.ndarray:
        def moved(value: np.ndarray) -> np.ndarray:
            return _normalize_reference(*inputs[:place], value, *inputs[place + 1 :], **attrs)

        return pulled_back(moved, inputs[place], backprop)

    return [by(place) for place in range(5)]


normalize_grad_op.samples(
    *((f32(2, 2, 1, 3), f32(3), _POSITIVE, f32(3), f32(2, 2, 1, 3), attrs) for attrs in _SAMPLE_ATTRS),
    against=_normalize_grad_reference,
)
