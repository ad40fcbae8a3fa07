"""Attention in one kernel: weighted sums of values, and their gradients, without the matrix of the weights.

Programs write attention out; `compile/attention.py` puts these operations in the place of what they write.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from tideflow.graph.dtypes import DType
from tideflow.graph.op import Op
from tideflow.graph.schema import attr
from tideflow.graph.shapes import TensorShape
from tideflow.ops.helpers.samples import f32
from tideflow.ops.helpers.types import types

_aten: Any = torch.ops.aten
_SETTINGS: dict[str, Any] = {
    "scale": 1.0,
    "causal": False,
    "T": types("half bfloat16 float double"),
    "Tmask": attr("list(type)", minimum=0),
    "Tsum": attr("type"),
    "differentiable": False,
}
_LARGEST_FLASH_HEAD = 256
_SLOW_HEAD, _LONG = 128, 1024  # heads from this size lose a tenth on a CPU, but for many positions
_BLOCK_OF_SUMS = 32  # a GPU's kernel with a mask returns its sums for a multiple of so many positions


def has_kernel(
    device: torch.device, dtype: DType, query: Sequence[int], key: Sequence[int], masked: bool
) -> bool:
    """Whether one kernel computes attention of these shapes on the device, and no slower than several do."""
    (positions, size), keys = query[-2:], key[-2]
    if device.type != "cuda":
        return size < _SLOW_HEAD or keys >= _LONG
    if dtype.size != 2 or size % 8:
        return False
    return positions % _BLOCK_OF_SUMS == keys % 8 == 0 if masked else size <= _LARGEST_FLASH_HEAD


# ---------------------------------------------------------------------------- forward

attention_op = Op(
    "_Attention", "query: T, key: T, value: T, mask: Tmask -> attended: T, logsumexp: Tsum", **_SETTINGS
)


@attention_op.shape
def _attention_shape(
    query: TensorShape, key: TensorShape, value: TensorShape, mask: Sequence[TensorShape]
) -> list[Any]:
    return [query, query[:-1]]


@attention_op.kernel
def _attention_kernel(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    mask: Sequence[torch.Tensor],
    *,
    scale: float,
    causal: bool,
) -> list[torch.Tensor]:
    """softmax(scale * query @ keyᵀ + mask) @ value, and the logarithms of the softmax's sums. `causal` hides
    the positions after each query's own.
    """
    heads = [_with_heads(each) for each in (query, key, value)]
    attended, sums = _aten._scaled_dot_product_flash_attention_for_cpu(
        *heads, 0.0, causal, attn_mask=_mask_of_scores(mask, *heads), scale=scale
    )
    return [attended.view(query.shape), sums.view(query.shape[:-1])]


@attention_op.kernel("cuda")
def _attention_cuda_kernel(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    mask: Sequence[torch.Tensor],
    *,
    scale: float,
    causal: bool,
) -> list[torch.Tensor]:
    heads = [_with_heads(each) for each in (query, key, value)]
    if mask:
        added = _mask_of_scores(mask, *heads)
        attended, sums, *_ = _aten._scaled_dot_product_efficient_attention(
            *heads, added, True, 0.0, causal, scale=scale
        )
    else:
        attended, sums, *_ = _aten._scaled_dot_product_flash_attention(*heads, 0.0, causal, scale=scale)
    return [attended.view(query.shape), sums.view(query.shape[:-1])]


def _with_heads(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor as [batch, heads, positions, size]."""
    return tensor if tensor.ndim == 4 else tensor.unsqueeze(1)


def _mask_of_scores(
    mask: Sequence[torch.Tensor], query: torch.Tensor, key: torch.Tensor, value: torch.Tensor
) -> torch.Tensor | None:
    """What is added to the scores, in their shape and type. The lowest number of 16 bits hides what a lower
    one of 32 bits did.
    """
    if not mask:
        return None
    (added,) = mask
    if added.dtype != query.dtype:
        added = added.clamp(min=torch.finfo(query.dtype).min).to(query.dtype)
    if added.ndim == 3:  # of scores without heads
        added = added.unsqueeze(1)
    return added.expand(*query.shape[:-1], key.shape[-2])


def _reference(query: Any, key: Any, value: Any, mask: Any, scale: float, causal: bool) -> Any:
    scores = scale * query @ np.swapaxes(key, -1, -2) + (mask[0] if mask else 0)
    if causal:
        scores = np.where(np.tri(*scores.shape[-2:]) > 0, scores, -np.inf)
    greatest = scores.max(-1, keepdims=True)
    weights = np.exp(scores - greatest)
    sums = weights.sum(-1, keepdims=True)
    return weights / sums @ value, (np.log(sums) + greatest)[..., 0]


_HEADS = f32(2, 3, 5, 8), f32(2, 3, 7, 8), f32(2, 3, 7, 8, low=-2)
_ONE_HEAD = f32(2, 6, 8), f32(2, 6, 8), f32(2, 6, 8, low=-2)
attention_op.samples(
    (*_HEADS, [], {"Tsum": "float", "scale": 0.5}),
    (*_HEADS, [f32(2, 1, 1, 7)], {"Tsum": "float"}),
    (*_ONE_HEAD, [], {"Tsum": "float", "causal": True}),
    (*_ONE_HEAD, [f32(2, 6, 6)], {"Tsum": "float"}),
    against=_reference,
)

# ---------------------------------------------------------------------------- gradients

attention_grad_op = Op(
    "_AttentionGrad",
    "grad: T, query: T, key: T, value: T, attended: T, logsumexp: Tsum, mask: Tmask -> "
    "by_query: T, by_key: T, by_value: T",
    **_SETTINGS,
)
attention_grad_op.shape(lambda grad, query, key, value, attended, logsumexp, mask: [query, key, value])


@attention_grad_op.kernel
def _attention_grad_kernel(
    grad: torch.Tensor,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attended: torch.Tensor,
    logsumexp: torch.Tensor,
    mask: Sequence[torch.Tensor],
    *,
    scale: float,
    causal: bool,
) -> list[torch.Tensor]:
    """The gradients of what `_Attention` gives, by queries, keys and values."""
    given, *heads, result = [_with_heads(each) for each in (grad, query, key, value, attended)]
    grads = _aten._scaled_dot_product_flash_attention_for_cpu_backward(
        given, *heads, result, logsumexp.view(result.shape[:-1]), 0.0, causal,
        attn_mask=_mask_of_scores(mask, *heads), scale=scale,
    )  # fmt: skip
    return [each.view(like.shape) for each, like in zip(grads, (query, key, value), strict=True)]


@attention_grad_op.kernel("cuda")
def _attention_grad_cuda_kernel(
    grad: torch.Tensor,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attended: torch.Tensor,
    logsumexp: torch.Tensor,
    mask: Sequence[torch.Tensor],
    *,
    scale: float,
    causal: bool,
) -> list[torch.Tensor]:
    given, *heads, result = [_with_heads(each) for each in (grad, query, key, value, attended)]
    sums = logsumexp.view(result.shape[:-1])
    random_state = logsumexp, logsumexp  # anything: nothing is dropped
    if mask:
        wanted = [True, True, True, False]
        grads = _aten._scaled_dot_product_efficient_attention_backward(
            given, *heads, _mask_of_scores(mask, *heads), result, sums, *random_state, 0.0, wanted, causal,
            scale=scale,
        )[:3]  # fmt: skip
    else:
        lengths = query.shape[-2], key.shape[-2]
        grads = _aten._scaled_dot_product_flash_attention_backward(
            given, *heads, result, sums, None, None, *lengths, 0.0, causal, *random_state, scale=scale
        )
    return [each.view(like.shape) for each, like in zip(grads, (query, key, value), strict=True)]


def _grad_reference(
    grad: Any,
    query: Any,
    key: Any,
    value: Any,
    attended: Any,
    logsumexp: Any,
    mask: Any,
    scale: float,
    causal: bool,
) -> Any:
    """What follows from any sums of the softmax, and any results."""
    scores = scale * query @ np.swapaxes(key, -1, -2) + (mask[0] if mask else 0)
    weights = np.exp(scores - logsumexp[..., None])
    if causal:
        weights = np.tril(weights)
    by_weights = grad @ np.swapaxes(value, -1, -2) - (grad * attended).sum(-1, keepdims=True)
    by_scores = scale * weights * by_weights
    return by_scores @ key, np.swapaxes(by_scores, -1, -2) @ query, np.swapaxes(weights, -1, -2) @ grad


attention_grad_op.samples(
    (_HEADS[0], *_HEADS, _HEADS[0], f32(2, 3, 5), [], {"Tsum": "float", "scale": 0.5}),
    (_HEADS[0], *_HEADS, _HEADS[0], f32(2, 3, 5), [f32(2, 1, 1, 7)], {"Tsum": "float"}),
    (_ONE_HEAD[0], *_ONE_HEAD, _ONE_HEAD[0], f32(2, 6), [], {"Tsum": "float", "causal": True}),
    against=_grad_reference,
)
