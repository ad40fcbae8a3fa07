"""Attributions: how much each feature contributed to predictions, summed up over examples.

They are columns or outputs of the model whose names are `attributions/FEATURE`, or
`attributions/MODEL/FEATURE` and `attributions/MODEL/OUTPUT/FEATURE` where there are several.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tideflow.pipeline.evaluation.computations import Computation, Sums
from tideflow.pipeline.evaluation.inputs import Batch, View, dense
from tideflow.pipeline.evaluation.keys import AttributionsKey
from tideflow.pipeline.evaluation.mean_metrics import weights
from tideflow.pipeline.evaluation.metrics import Metric, key, metric

Attributed = dict[str, np.ndarray]


@dataclass(frozen=True)
class Attributions(Computation):
    """The sums of the attributions of each feature, weighted.

    Args:
      view: The model and output, and the classes that are looked at.
      absolute: Whether signs are dropped.
    """

    view: View
    absolute: bool

    def prepare(self, batch: Batch) -> Attributed:
        weight = self.view.weight(batch)[:, None]
        found = {name: self._of_classes(values) * weight for name, values in _attributions(self.view, batch)}
        if not found:
            raise ValueError(
                "attributions missing from extracts. An attribution extractor is required to use attribution "
                "metrics: columns or outputs of the model that are called attributions/FEATURE"
            )
        return {name: np.abs(values) if self.absolute else values for name, values in found.items()}

    def _of_classes(self, values: np.ndarray) -> np.ndarray:
        sub_key = self.view.sub_key
        if sub_key is None:
            return values
        if sub_key.class_id is not None:
            if not sub_key.class_id < values.shape[1]:
                raise ValueError(
                    f'class_id "{sub_key.class_id}" out of range for attribution of {values.shape[1]} values'
                )
            return values[:, [sub_key.class_id]]
        count = sub_key.k or sub_key.top_k or 0
        if values.shape[1] < count:
            raise ValueError(
                "not enough attributions were provided to perform the requested calcuations for top k. The "
                f"requested value for k is {count}, but there are {values.shape[1]} values"
            )
        best = -np.sort(-values, axis=1)[:, :count]
        return best[:, [count - 1]] if sub_key.k is not None else best

    def add(self, prepared: Attributed, rows: np.ndarray) -> Attributed:
        return {name: values[rows].sum(axis=0) for name, values in prepared.items()}

    def merge(self, one: Attributed, other: Attributed) -> Attributed:
        return {**one, **{name: one[name] + value if name in one else value for name, value in other.items()}}

    def result(self, state: Attributed) -> Attributed:
        return state


def _attributions(view: View, batch: Batch) -> Iterator[tuple[str, np.ndarray]]:
    for begin in ("/".join(("attributions", *filter(None, names), "")) for names in _places(view)):
        outputs = {name: value for (model, name), value in batch.outputs.items() if model == view.model_name}
        found = False
        for name in (*outputs, *batch.columns):
            if name.startswith(begin):
                found = True
                values = outputs[name] if name in outputs else dense(batch.columns[name], name)
                yield name[len(begin) :], np.asarray(values, float).reshape(len(values), -1)
        if found:
            return


def _places(view: View) -> Iterator[tuple[str, ...]]:
    """Where attributions of a view may be, the most particular place first."""
    yield from dict.fromkeys(
        ((view.model_name, view.output_name), (view.output_name,), (view.model_name,), ())
    )


def _metric(view: View, name: str, *, absolute: bool, mean: bool) -> list[Metric]:
    def value(sums: Attributed, *count: np.ndarray) -> dict[str, Any]:
        by = float(count[0][0]) if mean else 1.0
        means = {each: found / by if by else found * np.nan for each, found in sums.items()}
        return {each: float(found[0]) if found.size == 1 else found for each, found in means.items()}

    totals, counts = Attributions(view, absolute), Sums(view, weights)
    needs = (totals, counts) if mean else (totals,)
    of = key(view, name, kind=AttributionsKey)
    made = [Metric(of, needs, value, has_interval=False)]
    if mean:  # TFMA shows what it divides by
        count = Metric(key(view, "example_count"), (counts,), lambda sums: float(sums[0]), has_interval=False)
        made.append(count)
    return made


for _class_name, _absolute, _mean in (
    ("MeanAttributions", False, True),
    ("MeanAbsoluteAttributions", True, True),
    ("TotalAttributions", False, False),
    ("TotalAbsoluteAttributions", True, False),
):
    metric(_class_name)(partial(_metric, absolute=_absolute, mean=_mean))
