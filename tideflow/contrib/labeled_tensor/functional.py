"""Functions called along the first axis of a labeled tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.contrib.labeled_tensor import checks
from tideflow.contrib.labeled_tensor.rearranged import pack, unpack
from tideflow.contrib.labeled_tensor.tensors import (
    LABELED,
    LabeledTensor,
    convert_to_labeled_tensor,
    identity,
)
from tideflow.export import export
from tideflow.graph.operation import Tensor

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("contrib.labeled_tensor.map_fn")
@checks.accepts(checks.FUNCTION, LABELED, checks.NAME)
def map_fn(
    fn: Callable[[LabeledTensor], LabeledTensor],
    labeled_tensor: LabeledTensor | TensorLike,
    name: str | None = None,
) -> LabeledTensor:
    """Calls a function with what stands at each position of the first axis.

    Args:
      fn: A function of a labeled tensor without the first axis.
      labeled_tensor: The labeled tensor.
      name: A name for the operations.

    Returns:
      The results along the first axis.
    """
    with tf.name_scope(name, "lt_map_fn", [labeled_tensor]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        first, *others = labeled_tensor.axes.values()
        parts = unpack(labeled_tensor)
        if labeled_tensor.dtype == tf.string:
            return pack([fn(part) for part in parts], first, name=scope)
        sample = fn(parts[0])  # says what type and what axes the results have

        def of_tensor(tensor: Tensor) -> Tensor:
            return fn(LabeledTensor(tensor, others)).tensor

        mapped = tf.map_fn(of_tensor, labeled_tensor.tensor, dtype=sample.dtype)
        return identity(LabeledTensor(mapped, [first, *sample.axes.values()]), name=scope)


@export("contrib.labeled_tensor.foldl")
@checks.accepts(checks.FUNCTION, LABELED, LABELED, checks.NAME)
def foldl(
    fn: Callable[[LabeledTensor, LabeledTensor], LabeledTensor],
    labeled_tensor: LabeledTensor | TensorLike,
    initial_value: Any,
    name: str | None = None,
) -> LabeledTensor:
    """Folds what stands along the first axis into one labeled tensor, from the first position on.

    Args:
      fn: A function of what was folded so far and of the next one, both labeled tensors.
      labeled_tensor: The labeled tensor.
      initial_value: What the first call is given; results have its axes.
      name: A name for the operations.

    Returns:
      The result of the last call.
    """
    with tf.name_scope(name, "lt_foldl", [labeled_tensor, initial_value]) as scope:
        labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
        initial_value = convert_to_labeled_tensor(initial_value)
        elements = list(labeled_tensor.axes.values())[1:]

        def of_tensors(folded: Tensor, element: Tensor) -> Tensor:
            result = fn(LabeledTensor(folded, initial_value.axes), LabeledTensor(element, elements))
            return result.tensor

        folded = tf.foldl(of_tensors, labeled_tensor.tensor, initializer=initial_value.tensor)
        return identity(LabeledTensor(folded, initial_value.axes), name=scope)
