"""Metrics of how far a model's predictions are from the baseline's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from tideflow.pipeline.evaluation.computations import Sums
from tideflow.pipeline.evaluation.inputs import Batch, View
from tideflow.pipeline.evaluation.mean_metrics import quotient
from tideflow.pipeline.evaluation.metrics import Metric, key, metric

_EPSILON = 1e-7


def _pairs(view: View, batch: Batch, baseline: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The baseline's predictions, the model's, and the baseline's weights."""
    of_baseline = replace(view, model_name=baseline)
    _, before, weight = of_baseline.rows(batch)
    return np.asarray(before, float), np.asarray(view.rows(batch)[1], float), weight


def _metric(
    view: View, name: str, baseline: str, computation: Sums, value: Callable[..., float]
) -> list[Metric]:
    if not baseline:
        raise ValueError(f"{name} compares a model with a baseline: one ModelSpec must have is_baseline")
    if view.model_name == baseline:
        return []
    return [Metric(replace(key(view, name), is_diff=True), (computation,), value)]


def _flips(view: View, batch: Batch, baseline: str, threshold: float) -> np.ndarray:
    before, after, weight = _pairs(view, batch, baseline)
    was, now = before[:, 0] > threshold, after[:, 0] > threshold
    sides = (~was & ~now, ~was & now, was & ~now, was & now)
    unknown = np.isnan(before[:, 0]) | np.isnan(after[:, 0])
    counts = [np.where(unknown, np.nan, side * weight) for side in sides]
    return np.stack([*counts, weight], axis=1)


_FLIP_RATES = {  # class: the counts that are added up
    "NegToNegFlipRate": (0,),
    "NegToPosFlipRate": (1,),
    "PosToNegFlipRate": (2,),
    "PosToPosFlipRate": (3,),
    "SymmetricFlipRate": (1, 2),
}


def _flip_rate(
    view: View, name: str, threshold: float = 0.5, *, baseline: str, counts: tuple[int, ...]
) -> list[Metric]:
    def value(sums: np.ndarray) -> float:
        return float(sums[list(counts)].sum() / sums[-1]) if sums[-1] else float("nan")

    return _metric(view, name, baseline, Sums(view, _flips, (baseline, threshold)), value)


for _class_name, _counts in _FLIP_RATES.items():
    metric(_class_name)(partial(_flip_rate, counts=_counts))


@metric("BooleanFlipRates")
def _flip_rates(
    view: View,
    name: str,
    baseline: str,
    threshold: float = 0.5,
    flip_rate_name: str = "flip_rate",
    neg_to_neg_flip_rate_name: str = "neg_to_neg_flip_rate",
    neg_to_pos_flip_rate_name: str = "neg_to_pos_flip_rate",
    pos_to_neg_flip_rate_name: str = "pos_to_neg_flip_rate",
    pos_to_pos_flip_rate_name: str = "pos_to_pos_flip_rate",
) -> list[Metric]:
    names = (
        neg_to_neg_flip_rate_name,
        neg_to_pos_flip_rate_name,
        pos_to_neg_flip_rate_name,
        pos_to_pos_flip_rate_name,
        flip_rate_name,
    )
    return [
        made
        for each, counts in zip(names, _FLIP_RATES.values(), strict=True)
        for made in _flip_rate(view, each, threshold, baseline=baseline, counts=counts)
    ]


def _difference(view: View, batch: Batch, baseline: str) -> np.ndarray:
    before, after, weight = _pairs(view, batch, baseline)
    apart, together = 2 * np.abs(before[:, 0] - after[:, 0]), np.abs(before[:, 0] + after[:, 0])
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where((apart < _EPSILON) & (together < _EPSILON), 0.0, apart / together)
    return np.stack([share * weight, weight], axis=1)


@metric("SymmetricPredictionDifference")
def _prediction_difference(view: View, name: str, baseline: str) -> list[Metric]:
    return _metric(view, name, baseline, Sums(view, _difference, (baseline,)), quotient)


def _cosines(view: View, batch: Batch, baseline: str) -> np.ndarray:
    before, after, _ = _pairs(view, batch, baseline)
    lengths = np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.stack([(before * after).sum(axis=1) / lengths, np.ones(len(before))], axis=1)


@metric("ModelCosineSimilarity")
def _cosine_similarity(view: View, name: str, baseline: str) -> list[Metric]:
    return _metric(view, name, baseline, Sums(view, _cosines, (baseline,)), quotient)
