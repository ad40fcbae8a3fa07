"""Summaries of whole collections: weights, biases, activations."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import GraphKeys, get_collection
from tideflow.ops.math import binary, casting, reductions
from tideflow.ops.nn import activations
from tideflow.summary import functions as summary

_FLAT_BELOW_ZERO = (activations.relu_op, activations.softplus_op, activations.relu6_op)


def _fraction(truths: Tensor) -> Tensor:
    return reductions.reduce_mean(casting.cast(truths, dtypes.float32, name="ToFloat"))


@export("contrib.layers.summarize_activation")
def summarize_activation(op: Tensor) -> Tensor:
    """How an activation is distributed and, of a Relu, which part of it is cut off."""
    name, kind = op.op.name, op.op.definition
    if kind in _FLAT_BELOW_ZERO:
        x = op.op.inputs[0]
        summary.scalar(f"{name}/zeros", _fraction(binary.less(x, casting.cast(0.0, x.dtype))))
    if kind is activations.relu6_op:
        x = op.op.inputs[0]
        summary.scalar(f"{name}/sixes", _fraction(binary.greater(x, casting.cast(6.0, x.dtype))))
    return summary.histogram(f"{name}/activation", op)


@export("contrib.layers.summarize_tensor")
def summarize_tensor(tensor: Any, tag: str | None = None) -> Tensor | None:
    """The number, or how the numbers are distributed; None for strings and truth values."""
    if tensor.dtype.base_dtype in (dtypes.string, dtypes.bool):
        return None
    show = summary.scalar if tensor.shape.ndims == 0 else summary.histogram
    return show(tag or f"{tensor.op.name}_summary", tensor)


@export("contrib.layers.summarize_tensors")
def summarize_tensors(tensors: Sequence[Any], summarizer: Callable = summarize_tensor) -> list[Tensor | None]:
    """A summary of each."""
    return [summarizer(tensor) for tensor in tensors]


@export("contrib.layers.summarize_collection")
def summarize_collection(
    collection: str, name_filter: str | None = None, summarizer: Callable = summarize_tensor
) -> list[Tensor | None]:
    """A summary of each item of a collection, or of those whose names begin as the filter says."""
    items = get_collection(collection)
    if name_filter is not None:
        items = [item for item in items if re.match(name_filter, item.op.name)]
    return summarize_tensors(items, summarizer)


@export("contrib.layers.summarize_activations")
def summarize_activations(
    name_filter: str | None = None, summarizer: Callable = summarize_activation
) -> list[Tensor | None]:
    """A summary of each activation that layers collected."""
    return summarize_collection(GraphKeys.ACTIVATIONS, name_filter, summarizer)
