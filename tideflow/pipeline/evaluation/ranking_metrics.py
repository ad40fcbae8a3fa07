"""Metrics of rankings: rows are the documents of queries, and a query is what counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tideflow.pipeline.evaluation.computations import Computation, Sums
from tideflow.pipeline.evaluation.inputs import Batch, View, dense
from tideflow.pipeline.evaluation.keys import SubKey
from tideflow.pipeline.evaluation.mean_metrics import quotient
from tideflow.pipeline.evaluation.metrics import Metric, key, metric


def _queries(batch: Batch) -> Iterator[slice]:
    """The documents of each query."""
    starts = batch.starts if batch.starts is not None else np.arange(batch.rows)
    for begin, end in zip(starts, [*starts[1:], batch.documents], strict=True):
        yield slice(begin, end)


def _query_weight(weight: np.ndarray) -> float:
    if not (weight == weight[0]).all():
        raise ValueError(
            f"if example_weight size > 0, the values must all be the same: example_weight={weight}\n\n"
            "This is most likely a configuration error."
        )
    return float(weight[0])


def _required(query_key: str, name: str) -> None:
    if not query_key:
        raise ValueError(f"a query_key is required to use {name} metric")


def _gain_at(k: int, gains: np.ndarray) -> float:
    best = gains[:k]
    return float((best / np.log2(np.arange(2, len(best) + 2))).sum())


def _gains(view: View, batch: Batch, gain_key: str, k: int) -> np.ndarray:
    prediction, weight = view.rows(batch)[1], view.weight(batch)
    gains = dense(batch.columns[gain_key], gain_key)
    if gains.size != prediction.size:
        raise ValueError(
            f"expected {gain_key} to be same size as predictions {gains.size} != {prediction.size}"
        )
    rows = []
    for query in _queries(batch):
        gain, score = gains[query, 0].astype(float), prediction[query, 0]
        counts = _query_weight(weight[query]) if gain.max() > 0 else 0.0
        ideal = _gain_at(k, np.sort(gain)[::-1])
        found = _gain_at(k, gain[np.argsort(score)[::-1]])
        value = np.nan if np.isnan(score).any() else found / ideal if ideal > 0 else 0.0
        rows.append((value * counts, counts))
    return np.asarray(rows).reshape(-1, 2)


@metric("NDCG", "ndcg")
def _ndcg(
    view: View, name: str, gain_key: str, top_k_list: Sequence[int] | None = None, query_key: str = ""
) -> list[Metric]:
    _required(query_key, "NDCG")
    asked = [view.sub_key.top_k] if view.sub_key is not None else []
    ranks = list(dict.fromkeys([*asked, *(top_k_list or ())]))
    if not ranks or None in ranks:
        raise ValueError(f"top_k values are required to use NDCG metric: {view.sub_key}")
    whole = view.without_classes()
    return [
        Metric(
            key(replace(view, sub_key=SubKey(top_k=k)), name),
            (Sums(whole, _gains, (gain_key, k)),),
            quotient,
            query_key=query_key,
        )
        for k in ranks
    ]


def _first_positive(view: View, batch: Batch, label_key: str | None) -> np.ndarray:
    label, prediction, weight = view.rows(batch)
    if label_key is not None:
        label = dense(batch.columns[label_key], label_key)
    rows = []
    for query in _queries(batch):
        ranked = label[query][np.argsort(prediction[query, 0])[::-1]]
        hits = np.flatnonzero(ranked.sum(axis=1) > 0)
        counts = _query_weight(weight[query]) if len(hits) else 0.0
        rows.append(((hits[0] + 1) * counts if len(hits) else 0.0, counts))
    return np.asarray(rows).reshape(-1, 2)


@metric("MinLabelPosition")
def _min_label_position(
    view: View, name: str, label_key: str | None = None, query_key: str = ""
) -> list[Metric]:
    _required(query_key, "MinLabelPosition")
    view = view.without_classes()
    return [
        Metric(key(view, name), (Sums(view, _first_positive, (label_key,)),), quotient, query_key=query_key)
    ]


@dataclass(frozen=True)
class DocumentCounts(Computation):
    """The number of queries, and the sum, minimum and maximum of their documents."""

    view: View

    def prepare(self, batch: Batch) -> np.ndarray:
        weight = self.view.weight(batch)
        rows = [
            (counts, (query.stop - query.start) * counts)
            for query in _queries(batch)
            for counts in [_query_weight(weight[query])]
        ]
        return np.asarray(rows).reshape(-1, 2)

    def add(self, prepared: np.ndarray, rows: np.ndarray) -> np.ndarray:
        chosen = prepared[rows]
        documents = chosen[:, 1]
        few, many = (documents.min(), documents.max()) if len(rows) else (np.inf, 0.0)
        return np.array([*chosen.sum(axis=0), few, many])

    def merge(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        return np.array([one[0] + other[0], one[1] + other[1], min(one[2], other[2]), max(one[3], other[3])])

    def result(self, state: np.ndarray) -> np.ndarray:
        return state


@metric("QueryStatistics")
def _query_statistics(
    view: View,
    name: str,
    total_queries_name: str = "total_queries",
    total_documents_name: str = "total_documents",
    min_documents_name: str = "min_documents",
    max_documents_name: str = "max_documents",
    query_key: str = "",
) -> list[Metric]:
    _required(query_key, "QueryStatistics")
    view = view.without_classes()
    names = (total_queries_name, total_documents_name, min_documents_name, max_documents_name)

    def value(place: int) -> Any:
        return lambda counts: float(counts[place])

    return [
        Metric(key(view, each), (DocumentCounts(view),), value(place), query_key=query_key)
        for place, each in enumerate(names)
    ]
