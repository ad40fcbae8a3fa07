"""What metrics of programs, and their tests, take from inside TensorFlow's modules of metrics."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

from tideflow.contrib.metrics import statistics
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import add_to_collections
from tideflow.graph.typing import TensorLike
from tideflow.metrics import at_k, streaming, thresholds
from tideflow.ops.arrays import constants
from tideflow.ops.math import binary, cumulative

_next_array_size = statistics.room_for
_at_k_name = at_k.at_k_name
_remove_squeezable_dimensions = streaming.squeezed
_streaming_sparse_average_precision_at_top_k = at_k.average_precision_at_top_k


def _safe_scalar_div(numerator: Tensor, denominator: Tensor, name: str | None) -> Tensor:
    """The quotient of two numbers; 0 where the denominator is 0."""
    numerator.shape.with_rank_at_most(1)
    denominator.shape.with_rank_at_most(1)
    return binary.div_no_nan(numerator, denominator, name=name)


def _aggregate_variable(v: Any, collections: Iterable[Hashable] | None) -> Tensor:
    """The value of a metric's variable, put into collections."""
    value = constants.identity(v)
    if collections:
        add_to_collections(collections, value)
    return value


def _confusion_matrix_at_thresholds(
    labels: TensorLike,
    predictions: TensorLike,
    thresholds: Sequence[float],
    weights: TensorLike | None = None,
    includes: Sequence[str] | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The counts of right and wrong answers at each threshold, by abbreviation, and their updates."""
    wanted = tuple(_ABBREVIATED) if includes is None else tuple(includes)
    if unknown := [each for each in wanted if each not in _ABBREVIATED]:
        raise ValueError(f"Invalid key: {unknown[0]}.")
    found = _counts(labels, predictions, thresholds, weights, [_ABBREVIATED[each] for each in wanted])
    values, updates = (dict(zip(wanted, each, strict=True)) for each in found)
    return values, updates


_ABBREVIATED = {
    "tp": "true_positives",
    "fn": "false_negatives",
    "tn": "true_negatives",
    "fp": "false_positives",
}
_counts = thresholds.counts_at_thresholds


def _strict_1d_cumsum(tensor: Tensor, len_tensor: int) -> Tensor:
    """The sums of the first elements of a vector, one element more each time."""
    return cumulative.cumsum(tensor) if len_tensor else constants.constant([])
