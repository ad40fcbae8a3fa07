"""Fairness indicators: the rates of a classifier at several thresholds, to be compared between slices."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tideflow.pipeline.evaluation.binary_metrics import Matrices, matrices, ratio
from tideflow.pipeline.evaluation.computations import SparseRows
from tideflow.pipeline.evaluation.inputs import View
from tideflow.pipeline.evaluation.metrics import Metric, key, metric

Rate = Callable[[Matrices], np.ndarray]
_RATES: dict[str, Rate] = {
    "false_positive_rate": lambda at: ratio(at.fp, at.fp + at.tn),
    "false_negative_rate": lambda at: ratio(at.fn, at.fn + at.tp),
    "true_positive_rate": lambda at: ratio(at.tp, at.tp + at.fn),
    "true_negative_rate": lambda at: ratio(at.tn, at.tn + at.fp),
    "positive_rate": lambda at: ratio(at.tp + at.fp, at.tp + at.tn + at.fp + at.fn),
    "negative_rate": lambda at: ratio(at.tn + at.fn, at.tp + at.tn + at.fp + at.fn),
    "false_discovery_rate": lambda at: ratio(at.fp, at.fp + at.tp),
    "false_omission_rate": lambda at: ratio(at.fn, at.fn + at.tn),
    "precision": lambda at: ratio(at.tp, at.tp + at.fp),
    "recall": lambda at: ratio(at.tp, at.tp + at.fn),
}
_THRESHOLDS = tuple(number / 10 for number in range(1, 10))


@metric("FairnessIndicators", "fairness_indicators_metrics")
def _fairness_indicators(view: View, name: str, thresholds: Sequence[float] = _THRESHOLDS) -> list[Metric]:
    computation, read = matrices(view, list(thresholds))
    digits = max(1, *(len(str(threshold)) - 2 for threshold in thresholds))

    def at(place: int, rate: Rate) -> Callable[[SparseRows], float]:
        return lambda found: float(rate(read(found))[place])

    return [
        Metric(key(view, f"{name}/{rate_name}@{threshold:.{digits}f}"), (computation,), at(place, rate))
        for place, threshold in enumerate(thresholds)
        for rate_name, rate in _RATES.items()
    ]
