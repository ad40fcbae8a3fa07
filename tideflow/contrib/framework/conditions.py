"""Conditions that may be known when the graph is built."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tideflow.export import export
from tideflow.ops.control_flow import conditionals


@export("contrib.framework.smart_case")
def smart_case(
    pred_fn_pairs: Sequence[tuple[Any, Any]] | Mapping[Any, Any],
    default: Callable | None = None,
    exclusive: bool = False,
    name: str = "smart_case",
) -> Any:
    """`tf.case` that calls the right function at once where every predicate is known.

    Args:
      pred_fn_pairs: Pairs of a predicate, a bool tensor or a Python bool, and a function without arguments.
      default: The function that is called where no predicate holds.
      exclusive: Whether it is checked that only one predicate holds.
      name: The name scope of the operations.

    Returns:
      The results of the function that was called.
    """
    pairs = list(pred_fn_pairs.items() if isinstance(pred_fn_pairs, Mapping) else pred_fn_pairs)
    known = [conditionals.smart_constant_value(predicate) for predicate, _ in pairs]
    if None in known:
        return conditionals.case(pred_fn_pairs, default, exclusive, name=name)
    if exclusive and sum(known) > 1:
        raise ValueError(f"More than one condition is True of {pairs}, which are to exclude each other.")
    chosen = next((function for holds, (_, function) in zip(known, pairs) if holds), default)
    if chosen is None:
        raise ValueError("No condition is True, and there is no default.")
    return chosen()
