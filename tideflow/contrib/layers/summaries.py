"""Summaries of whole collections: weights, biases, activations."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import GraphKeys, get_collection
from tideflow.ops.math import binary, casting, reductions
from tideflow.ops.nn import activations
from tideflow.summary import functions as summary

if TYPE_CHECKING:
    pass

_FLAT_BELOW_ZERO = (activations.relu_op, activations.softplus_op, activations.relu6_op)


def _fraction(truths: Tensor) -> Tensor:
    return reductions.reduce_mean(casting.cast(truths, dtypes.float32, name="ToFloat"))


@export("contrib.layers.summarize_activation", "contrib.layers.summaries.summarize_activation")
def summarize_activation(op: Tensor) -> Tensor:
    """Summarizes how an activation is distributed and, of a Relu, which part of it is cut off.

    Args:
      op: The activation, a tensor.

    Returns:
      The summary, a string tensor.
    """
    name, kind = op.op.name, op.op.definition
    if kind in _FLAT_BELOW_ZERO:
        x = op.op.inputs[0]
        summary.scalar(f"{name}/zeros", _fraction(binary.less(x, casting.cast(0.0, x.dtype))))
    if kind is activations.relu6_op:
        x = op.op.inputs[0]
        summary.scalar(f"{name}/sixes", _fraction(binary.greater(x, casting.cast(6.0, x.dtype))))
    return summary.histogram(f"{name}/activation", op)


@export("contrib.layers.summarize_tensor", "contrib.layers.summaries.summarize_tensor")
def summarize_tensor(tensor: Tensor, tag: str | None = None) -> Tensor | None:
    """Summarizes a number, or how numbers are distributed.

    Args:
      tensor: The tensor.
      tag: The name of the summary; that of the tensor if None.

    Returns:
      The summary, a string tensor; None for strings and truth values.
    """
    if tensor.dtype.base_dtype in (dtypes.string, dtypes.bool):
        return None
    show = summary.scalar if tensor.shape.ndims == 0 else summary.histogram
    return show(tag or f"{tensor.op.name}_summary", tensor)


@export("contrib.layers.summarize_tensors", "contrib.layers.summaries.summarize_tensors")
def summarize_tensors(tensors: Sequence[Any], summarizer: Callable = summarize_tensor) -> list[Tensor | None]:
    """Summarizes each of several tensors.

    Args:
      tensors: The tensors.
      summarizer: The function from a tensor to its summary.

    Returns:
      A list of summaries.
    """
    return [summarizer(tensor) for tensor in tensors]


@export("contrib.layers.summarize_collection", "contrib.layers.summaries.summarize_collection")
def summarize_collection(
    collection: str, name_filter: str | None = None, summarizer: Callable = summarize_tensor
) -> list[Tensor | None]:
    """Summarizes each item of a collection.

    Args:
      collection: The collection.
      name_filter: A regular expression that names must begin with; all if None.
      summarizer: The function from a tensor to its summary.

    Returns:
      A list of summaries.
    """
    items = get_collection(collection)
    if name_filter is not None:
        items = [item for item in items if re.match(name_filter, item.op.name)]
    return summarize_tensors(items, summarizer)


@export("contrib.slim.summarize_variables", "contrib.layers.summaries.summarize_variables")
def summarize_variables(
    name_filter: str | None = None, summarizer: Callable = summarize_tensor
) -> list[Tensor | None]:
    """A summary of each variable.

    Args:
      name_filter: A regular expression that names must begin with; all if None.
      summarizer: The function from a tensor to its summary.

    Returns:
      A list of summaries.
    """
    return summarize_collection(GraphKeys.GLOBAL_VARIABLES, name_filter, summarizer)


@export("contrib.slim.summarize_weights", "contrib.layers.summaries.summarize_weights")
def summarize_weights(
    name_filter: str | None = None, summarizer: Callable = summarize_tensor
) -> list[Tensor | None]:
    """A summary of the weights of each layer.

    Args:
      name_filter: A regular expression that names must begin with; all if None.
      summarizer: The function from a tensor to its summary.

    Returns:
      A list of summaries.
    """
    return summarize_collection(GraphKeys.WEIGHTS, name_filter, summarizer)


@export("contrib.slim.summarize_biases", "contrib.layers.summaries.summarize_biases")
def summarize_biases(
    name_filter: str | None = None, summarizer: Callable = summarize_tensor
) -> list[Tensor | None]:
    """A summary of the biases of each layer.

    Args:
      name_filter: A regular expression that names must begin with; all if None.
      summarizer: The function from a tensor to its summary.

    Returns:
      A list of summaries.
    """
    return summarize_collection(GraphKeys.BIASES, name_filter, summarizer)


@export("contrib.layers.summarize_activations", "contrib.layers.summaries.summarize_activations")
def summarize_activations(
    name_filter: str | None = None, summarizer: Callable = summarize_activation
) -> list[Tensor | None]:
    """Summarizes each activation that layers collected.

    Args:
      name_filter: A regular expression that names must begin with; all if None.
      summarizer: The function from an activation to its summary.

    Returns:
      A list of summaries.
    """
    return summarize_collection(GraphKeys.ACTIVATIONS, name_filter, summarizer)
