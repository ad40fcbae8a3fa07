"""Gradients clipped together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.ops.math import clipping


@export("contrib.opt.clip_gradients_by_global_norm")
def clip_gradients_by_global_norm(
    gradients_variables: Sequence[tuple[Any, Any]], clip_norm: float = 20.0
) -> tuple[list[tuple[Any, Any]], Tensor]:
    """Scales all gradients by one factor, so that their common norm is not too large.

    Args:
      gradients_variables: Pairs of a gradient and its variable.
      clip_norm: The largest common norm.

    Returns:
      Pairs of a clipped gradient and its variable, and the common norm before.
    """
    gradients, variables = zip(*gradients_variables)
    clipped, norm = clipping.clip_by_global_norm(list(gradients), clip_norm)
    return list(zip(clipped, variables)), norm
