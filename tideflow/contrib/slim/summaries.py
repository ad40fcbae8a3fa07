"""Summaries of tensors under their own names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import GraphKeys, add_to_collection
from tideflow.nn import functions
from tideflow.ops.control_flow import debugging
from tideflow.summary import functions as summary

if TYPE_CHECKING:
    from tideflow.graph.typing import VariableLike

_SPACE = "contrib.slim.summaries"


def _summary_name(
    tensor: Any, name: str | None = None, prefix: str | None = None, postfix: str | None = None
) -> str:
    return "/".join(part for part in (prefix, name or tensor.op.name, postfix) if part)


def _perhaps_printed(make: Callable, tensor: Any, name: str, print_summary: bool) -> Any:
    """A summary; a printed one is in the collection as what prints it."""
    made = make(name=name, tensor=tensor, collections=[] if print_summary else None)
    if print_summary:
        made = debugging.Print(made, [tensor], name)
        add_to_collection(GraphKeys.SUMMARIES, made)
    return made


@export(f"{_SPACE}.add_histogram_summary")
def add_histogram_summary(
    tensor: Tensor | VariableLike, name: str | None = None, prefix: str | None = None
) -> Tensor:
    """Adds a histogram of a tensor.

    Args:
      tensor: The tensor.
      name: The name of the summary; that of the tensor's operation if None.
      prefix: What stands before the name.

    Returns:
      The summary.
    """
    return summary.histogram(_summary_name(tensor, name, prefix), tensor)


@export(f"{_SPACE}.add_image_summary")
def add_image_summary(
    tensor: Tensor | VariableLike,
    name: str | None = None,
    prefix: str | None = None,
    print_summary: bool = False,
) -> Tensor:
    """Adds images.

    Args:
      tensor: The images, [batch, height, width, channels].
      name: The name of the summary; that of the tensor's operation if None.
      prefix: What stands before the name.
      print_summary: Whether the tensor is also printed.

    Returns:
      The summary.
    """
    return _perhaps_printed(summary.image, tensor, _summary_name(tensor, name, prefix), print_summary)


@export(f"{_SPACE}.add_scalar_summary")
def add_scalar_summary(
    tensor: Tensor | VariableLike,
    name: str | None = None,
    prefix: str | None = None,
    print_summary: bool = False,
) -> Tensor:
    """Adds a number.

    Args:
      tensor: A scalar.
      name: The name of the summary; that of the tensor's operation if None.
      prefix: What stands before the name.
      print_summary: Whether the number is also printed.

    Returns:
      The summary.
    """
    return _perhaps_printed(summary.scalar, tensor, _summary_name(tensor, name, prefix), print_summary)


@export(f"{_SPACE}.add_zero_fraction_summary")
def add_zero_fraction_summary(
    tensor: Tensor | VariableLike,
    name: str | None = None,
    prefix: str | None = None,
    print_summary: bool = False,
) -> Tensor:
    """Adds the part of a tensor's elements that are zero.

    Args:
      tensor: The tensor.
      name: The name of the summary; that of the tensor's operation if None.
      prefix: What stands before the name.
      print_summary: Whether the number is also printed.

    Returns:
      The summary.
    """
    name = _summary_name(tensor, name, prefix, "Fraction_of_Zero_Values")
    return add_scalar_summary(functions.zero_fraction(tensor), name, print_summary=print_summary)


@export(f"{_SPACE}.add_histogram_summaries")
def add_histogram_summaries(
    tensors: Sequence[Tensor | VariableLike], prefix: str | None = None
) -> list[Tensor]:
    """Adds a histogram of each tensor.

    Args:
      tensors: The tensors.
      prefix: What stands before the names.

    Returns:
      The summaries.
    """
    return [add_histogram_summary(tensor, prefix=prefix) for tensor in tensors]


@export(f"{_SPACE}.add_image_summaries")
def add_image_summaries(tensors: Sequence[Tensor | VariableLike], prefix: str | None = None) -> list[Tensor]:
    """Adds the images of each tensor.

    Args:
      tensors: The images, one tensor for each summary.
      prefix: What stands before the names.

    Returns:
      The summaries.
    """
    return [add_image_summary(tensor, prefix=prefix) for tensor in tensors]


@export(f"{_SPACE}.add_scalar_summaries")
def add_scalar_summaries(
    tensors: Sequence[Tensor | VariableLike], prefix: str | None = None, print_summary: bool = False
) -> list[Tensor]:
    """Adds each number.

    Args:
      tensors: Scalars.
      prefix: What stands before the names.
      print_summary: Whether the numbers are also printed.

    Returns:
      The summaries.
    """
    return [add_scalar_summary(tensor, prefix=prefix, print_summary=print_summary) for tensor in tensors]


@export(f"{_SPACE}.add_zero_fraction_summaries")
def add_zero_fraction_summaries(
    tensors: Sequence[Tensor | VariableLike], prefix: str | None = None
) -> list[Tensor]:
    """Adds for each tensor the part of its elements that are zero.

    Args:
      tensors: The tensors.
      prefix: What stands before the names.

    Returns:
      The summaries.
    """
    return [add_zero_fraction_summary(tensor, prefix=prefix) for tensor in tensors]
