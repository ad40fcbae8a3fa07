"""Samples of examples that a model got wrong: the values of one of their features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from tideflow.pipeline.evaluation.binary_metrics import narrowed
from tideflow.pipeline.evaluation.computations import Computation
from tideflow.pipeline.evaluation.inputs import Batch, View, each_row
from tideflow.pipeline.evaluation.metrics import Metric, key, metric


@dataclass(frozen=True)
class WrongExamples(Computation):
    """A feature's values in the first examples on the wrong side of a threshold.

    Args:
      view: The labels and predictions.
      feature: The feature.
      most: How many examples are kept.
      threshold: What positives exceed.
      positive: Whether false positives are kept; else false negatives.
    """

    view: View
    feature: str
    most: int
    threshold: float
    positive: bool

    def prepare(self, batch: Batch) -> list[list[np.ndarray]]:
        if self.feature not in batch.columns:
            raise ValueError(f"the data have no feature {self.feature!r} to sample")
        label, prediction, _ = self.view.flat(batch)
        over = prediction > self.threshold
        wrong = (over & (label < 1) if self.positive else ~over & (label > 0)).sum(axis=1)
        values = each_row(batch.columns[self.feature])
        return [[value] * times for value, times in zip(values, wrong.tolist(), strict=True)]

    def add(self, prepared: list[list[np.ndarray]], rows: np.ndarray) -> list[np.ndarray]:
        return [value for row in rows.tolist() for value in prepared[row]][: self.most]

    def merge(self, one: list[np.ndarray], other: list[np.ndarray]) -> list[np.ndarray]:
        return (one + other)[: self.most]

    def result(self, state: list[np.ndarray]) -> list[np.ndarray]:
        return state


def _joined(values: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate(values) if values else np.zeros(0, object)


def _sampler(
    view: View,
    name: str,
    feature_key: str,
    sample_size: int,
    threshold: float = 0.5,
    top_k: int | None = None,
    class_id: int | None = None,
    *,
    positive: bool,
) -> list[Metric]:
    view = narrowed(view, name, top_k, class_id)
    needs = (WrongExamples(view, feature_key, sample_size, threshold, positive),)
    return [Metric(key(view, name, aggregated=True), needs, _joined, has_interval=False)]


metric("FalsePositiveFeatureSampler")(partial(_sampler, positive=True))
metric("FalseNegativeFeatureSampler")(partial(_sampler, positive=False))
