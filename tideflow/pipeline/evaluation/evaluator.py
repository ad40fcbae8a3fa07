"""The pass over the data: computations of each block, by slice, added up; then the metrics."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from tideflow.pipeline.engine.accumulators import Accumulator
from tideflow.pipeline.evaluation.computations import Computation
from tideflow.pipeline.evaluation.extraction import Extraction, extraction_of
from tideflow.pipeline.evaluation.inputs import Batch, RowValues, dense, joined, taken
from tideflow.pipeline.evaluation.keys import CrossSliceKey, MetricKey, SliceKey
from tideflow.pipeline.evaluation.metrics import Metric
from tideflow.pipeline.evaluation.models import ModelPredictions
from tideflow.pipeline.evaluation.slices import slice_spec_of
from tideflow.pipeline.evaluation.specs import baseline_name, metrics_of
from tideflow.pipeline.evaluation.values import (
    SAMPLES,
    bootstrap_interval,
    difference,
    is_numeric,
    jackknife_interval,
)
from tideflow.pipeline.messages import evaluation as messages

Values = dict[MetricKey, Any]
SlicedValues = list[tuple[SliceKey | CrossSliceKey, Values]]
ERROR = "__ERROR__"
_WHOLE = -1  # the sample of all rows


# -------------------------------------------------------------------------------------------------- the pass

Place = tuple[SliceKey, int]  # a slice, and a sample of its rows
States = dict[Place, list[Any]]


@dataclass(frozen=True)
class Sampling:
    """Which rows belong to which samples, for confidence intervals."""

    method: int = messages.ConfidenceIntervalOptions.UNKNOWN_CONFIDENCE_INTERVAL_METHOD

    def samples(
        self, batch: Batch, rows: np.ndarray, generator: np.random.Generator
    ) -> Iterator[tuple[int, np.ndarray]]:
        """The samples that rows of a slice are in. Parts of the jackknife make up the whole by themselves."""
        if self.method == messages.JACKKNIFE:
            part = generator.integers(SAMPLES, size=len(rows))
            for sample in range(SAMPLES):
                yield sample, rows[part == sample]
            return
        yield _WHOLE, rows
        if self.method == messages.POISSON_BOOTSTRAP:
            for sample in range(SAMPLES):
                yield sample, np.repeat(rows, generator.poisson(1, size=len(rows)))


def add_batch(
    states: States,
    computations: Sequence[Computation],
    batch: Batch,
    by_slice: Mapping[SliceKey, np.ndarray],
    sampling: Sampling,
) -> None:
    """Adds a batch to the states of its slices and samples."""
    prepared = [computation.prepare(batch) for computation in computations]
    generator = np.random.default_rng(_seed(batch))
    for slice_key, rows in by_slice.items():
        for sample, chosen in sampling.samples(batch, rows, generator):
            if not len(chosen):
                continue
            added = [each.add(ready, chosen) for each, ready in zip(computations, prepared, strict=True)]
            place = (slice_key, sample)
            states[place] = _merged(computations, states[place], added) if place in states else added


def _merged(computations: Sequence[Computation], one: Sequence[Any], other: Sequence[Any]) -> list[Any]:
    return [each.merge(a, b) for each, a, b in zip(computations, one, other, strict=True)]


def _seed(batch: Batch) -> int:
    """A seed that the same rows give again, so that intervals are the same in a second run."""
    seed = batch.rows
    for arrays in (batch.predictions, batch.labels):
        for array in arrays.values():
            if isinstance(array, np.ndarray) and array.dtype != object:
                seed = zlib.crc32(np.ascontiguousarray(array).view(np.uint8).data, seed)
    return seed


@dataclass(frozen=True)
class Evaluation(Accumulator):
    """The states of all computations, by slice and sample; and the documents of queries, by their key.

    Values do not depend on how rows are divided; the samples of confidence intervals are drawn by block.
    """

    extraction: Extraction
    computations: Sequence[Computation]
    sampling: Sampling = Sampling()
    query_keys: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def create(self) -> dict[str, Any]:
        return {"states": {}, "rows": {}, "documents": []}

    def add(self, state: dict[str, Any], block: pa.RecordBatch) -> dict[str, Any]:
        if not block.num_rows:
            return state
        batch, by_slice = self.extraction(block)
        add_batch(state["states"], self.computations, batch, by_slice, self.sampling)
        for slice_key, rows in by_slice.items():
            state["rows"][slice_key] = state["rows"].get(slice_key, 0) + len(rows)
        if self.query_keys:
            needed = {name for names in self.query_keys.values() for name in names}
            kept = {name: batch.columns[name] for name in needed if name in batch.columns}
            state["documents"].append(
                (Batch(kept, batch.rows, batch.labels, batch.predictions, batch.weights), by_slice)
            )
        return state

    def merge(self, states: Sequence[dict[str, Any]]) -> dict[str, Any]:
        merged = self.create()
        for state in states:
            for place, own in state["states"].items():
                before = merged["states"].get(place)
                merged["states"][place] = own if before is None else _merged(self.computations, before, own)
            for slice_key, count in state["rows"].items():
                merged["rows"][slice_key] = merged["rows"].get(slice_key, 0) + count
            merged["documents"] += state["documents"]
        return merged

    def extract(self, state: dict[str, Any]) -> dict[str, Any]:
        return state


def grouped(
    documents: Sequence[tuple[Batch, Mapping[SliceKey, np.ndarray]]], query_key: str
) -> tuple[Batch, dict[SliceKey, np.ndarray]]:
    """All documents, sorted by query; a query is in each slice that one of its documents is in."""

    def together(name: str) -> dict[Any, RowValues]:
        parts = [getattr(batch, name) for batch, _ in documents]
        return {key: joined([part[key] for part in parts]) for key in parts[0]}

    columns = {
        name: pa.concat_arrays([batch.columns[name] for batch, _ in documents])
        for name in documents[0][0].columns
    }
    if query_key not in columns:
        raise ValueError(f"the data have no feature {query_key!r} for the query")
    keys = np.asarray([str(each) for each in dense(columns[query_key], query_key)[:, 0].tolist()])
    distinct, query = np.unique(keys, return_inverse=True)
    order = np.argsort(query, kind="stable")
    starts = np.searchsorted(query[order], np.arange(len(distinct)))
    arrays: dict[str, Any] = {
        name: {key: taken(each, order) for key, each in together(name).items()}
        for name in ("labels", "predictions", "weights")
    }
    batch = Batch(
        {name: each.take(pa.array(order)) for name, each in columns.items()},
        len(distinct),
        **arrays,
        starts=starts,
    )
    by_slice: dict[SliceKey, set[int]] = {}
    offset = 0
    for part, rows_by_slice in documents:
        for slice_key, rows in rows_by_slice.items():
            by_slice.setdefault(slice_key, set()).update(query[offset + rows].tolist())
        offset += part.rows
    return batch, {key: np.asarray(sorted(queries)) for key, queries in by_slice.items()}


# ------------------------------------------------------------------------------------------------ the metrics


@dataclass(frozen=True)
class Plan:
    """What a completed EvalConfig asks for: the metrics, and what one pass computes for them."""

    config: Any
    metrics: Sequence[Metric]

    @property
    def sampling(self) -> Sampling:
        options = self.config.options
        wanted = options.compute_confidence_intervals.value
        return Sampling(options.confidence_intervals.method) if wanted else Sampling()

    def computations(self, query_key: str = "") -> list[Computation]:
        """The computations of the metrics of rows, or of queries, each once."""
        needs = (each for metric in self.metrics if metric.query_key == query_key for each in metric.needs)
        return list(dict.fromkeys(needs))

    def accumulator(self, predict: Mapping[str, ModelPredictions]) -> Evaluation:
        """What passes over the data."""
        query_keys = {
            metric.query_key: self._features(metric.query_key) for metric in self.metrics if metric.query_key
        }
        return Evaluation(extraction_of(self.config, predict), self.computations(), self.sampling, query_keys)

    def _features(self, query_key: str) -> list[str]:
        """The features that metrics of queries read: strings among the options of their computations."""
        options = (option for each in self.computations(query_key) for option in getattr(each, "options", ()))
        return [query_key, *(option for option in options if isinstance(option, str))]

    def values(self, result: dict[str, Any]) -> SlicedValues:
        """The metrics of all slices."""
        parts = {"": (self.computations(), result["states"])}
        if result["documents"]:
            for query_key in dict.fromkeys(metric.query_key for metric in self.metrics if metric.query_key):
                computations = self.computations(query_key)
                states: States = {}
                batch, by_slice = grouped(result["documents"], query_key)
                add_batch(states, computations, batch, by_slice, self.sampling)
                parts[query_key] = (computations, states)
        samples: dict[int, dict[SliceKey, Values]] = {}
        for query_key, (computations, states) in parts.items():
            metrics = [metric for metric in self.metrics if metric.query_key == query_key]
            with_interval = [each for each in metrics if each.has_interval and each.key.is_of_metric]
            for place, own in _whole_samples(computations, states, self.sampling).items():
                slice_key, sample = place
                results = dict(zip(computations, own, strict=True))
                values = samples.setdefault(sample, {}).setdefault(slice_key, {})
                for metric in metrics if sample == _WHOLE else with_interval:
                    needed = (each.result(results[each]) for each in metric.needs)
                    values[metric.key] = metric.value(*needed)
        complete = {sample: dict(self._compared(by_slice)) for sample, by_slice in samples.items()}
        found = complete.pop(_WHOLE, {})
        sliced = [(key, self._with_intervals(key, values, complete)) for key, values in found.items()]
        return [(key, self._large_enough(key, values, result["rows"])) for key, values in sliced]

    def _compared(
        self, by_slice: Mapping[SliceKey, Values]
    ) -> Iterator[tuple[SliceKey | CrossSliceKey, Values]]:
        """The slices, those that are compared with each other, and the differences to the baseline."""
        found: list[tuple[SliceKey | CrossSliceKey, Values]] = [*by_slice.items(), *self._crossed(by_slice)]
        for slice_key, values in found:
            yield slice_key, {**values, **self._differences(values)}

    def _crossed(self, by_slice: Mapping[SliceKey, Values]) -> Iterator[tuple[CrossSliceKey, Values]]:
        for cross in self.config.cross_slicing_specs:
            baseline_spec = slice_spec_of(cross.baseline_spec)
            specs = [slice_spec_of(spec) for spec in cross.slicing_specs]
            for baseline, before in by_slice.items():
                if not baseline_spec.matches(baseline):
                    continue
                for slice_key, values in by_slice.items():
                    compared = any(spec.matches(slice_key) for spec in specs)
                    if compared or (not specs and not baseline_spec.matches(slice_key)):
                        yield (
                            (baseline, slice_key),
                            {
                                key: difference(before[key], value)
                                for key, value in values.items()
                                if key in before and key.is_of_metric and is_numeric(value)
                            },
                        )

    def _differences(self, values: Values) -> Values:
        baseline = baseline_name(self.config)
        if not baseline:
            return {}
        return {
            key.difference(): difference(value, values[key.of_baseline(baseline)])
            for key, value in values.items()
            if key.model_name != baseline
            and not key.is_diff
            and key.is_of_metric
            and key.of_baseline(baseline) in values
            and is_numeric(value)
        }

    def _with_intervals(
        self, slice_key: SliceKey | CrossSliceKey, values: Values, samples: Mapping[int, Mapping[Any, Values]]
    ) -> Values:
        if not self.sampling.method:
            return values
        own = [by_slice[slice_key] for by_slice in samples.values() if slice_key in by_slice]
        if len(own) < SAMPLES:
            text = f"CI not computed because only {len(own)} samples were non-empty. Expected {SAMPLES}."
            return {**values, MetricKey(ERROR): text}
        left_out = {metric.key for metric in self.metrics if not metric.has_interval}
        left_out |= {key.difference() for key in left_out}
        interval = jackknife_interval if self.sampling.method == messages.JACKKNIFE else bootstrap_interval
        return {
            key: value
            if key in left_out or not key.is_of_metric or not is_numeric(value)
            else interval(value, [each[key] for each in own])
            for key, value in values.items()
        }

    def _large_enough(
        self, slice_key: SliceKey | CrossSliceKey, values: Values, rows: Mapping[Any, int]
    ) -> Values:
        fewest = self.config.options.min_slice_size.value
        if fewest <= 1 or not slice_key or rows.get(slice_key, 0) >= fewest:
            return values
        text = (
            "Example count for this slice key is lower than the minimum required value: "
            f"{fewest}. No data is aggregated for this slice."
        )
        return {MetricKey(ERROR): text}


def _whole_samples(computations: Sequence[Computation], states: States, sampling: Sampling) -> States:
    """The samples' states: of the jackknife, all rows, and all but one part."""
    if sampling.method != messages.JACKKNIFE:
        return states
    whole: States = {}
    for slice_key in dict.fromkeys(place[0] for place in states):
        parts = {
            sample: states[slice_key, sample] for sample in range(SAMPLES) if (slice_key, sample) in states
        }
        for left_out in (_WHOLE, *range(SAMPLES)):
            kept = [part for sample, part in parts.items() if sample != left_out]
            if kept:
                merged = kept[0]
                for part in kept[1:]:
                    merged = _merged(computations, merged, part)
                whole[slice_key, left_out] = merged
    return whole


def plan_of(config: Any) -> Plan:
    """The plan of a completed EvalConfig."""
    return Plan(config, metrics_of(config))
