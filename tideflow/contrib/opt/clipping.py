"""Gradients clipped together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tideflow.contrib.opt.wrappers import is_all_zeros
from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.ops.arrays import creation
from tideflow.ops.control_flow import conditionals
from tideflow.ops.math import clipping


@export("contrib.opt.clip_gradients_by_global_norm")
def clip_gradients_by_global_norm(
    gradients_variables: Sequence[tuple[Any, Any]], clip_norm: float = 20.0
) -> tuple[list[tuple[Any, Any]], Tensor]:
    """Scales all gradients by one factor, to a norm of at most `clip_norm` together.

    Args:
      gradients_variables: Pairs of gradient, or None, and variable.
      clip_norm: The largest norm.

    Returns:
      The pairs with scaled gradients, and the norm before.
    """
    gradients, variables = zip(*gradients_variables)
    norm = clipping.global_norm([_zero_if_all_are(grad) for grad in gradients])
    clipped, _ = clipping.clip_by_global_norm(list(gradients), clip_norm, use_norm=norm)
    return list(zip(clipped, variables)), norm


def _zero_if_all_are(grad: Any) -> Any:
    """A gradient; a scalar in place of one that is all zeros, as those of the tasks not trained are."""
    if grad is None:
        return None
    nothing = lambda: creation.zeros([], dtype=grad.dtype)
    return conditionals.cond(is_all_zeros(grad), nothing, lambda: grad)
