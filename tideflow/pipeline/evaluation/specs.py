"""From an EvalConfig to the metrics that it asks for, and to the thresholds that they must keep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tideflow.pipeline.evaluation import (  # noqa: F401 - the modules register their metrics
    attribution_metrics,
    class_metrics,
    comparison_metrics,
    detection_metrics,
    fairness_metrics,
    mean_metrics,
    ranking_metrics,
    sampled_features,
    segmentation_metrics,
    text_metrics,
)
from tideflow.pipeline.evaluation.computations import Sums
from tideflow.pipeline.evaluation.inputs import Batch, View
from tideflow.pipeline.evaluation.keys import MetricKey, SubKey
from tideflow.pipeline.evaluation.metrics import Metric, make, metric_config
from tideflow.pipeline.messages import evaluation as messages

CANDIDATE, BASELINE = "candidate", "baseline"
_MICRO, _MACRO, _WEIGHTED_MACRO = "micro_average", "macro_average", "weighted_macro_average"
_THRESHOLD_FIELDS = ("threshold", "per_slice_thresholds", "cross_slice_thresholds")


def complete(eval_config: Any, *, has_baseline: bool = False, rubber_stamp: bool = False) -> Any:
    """An EvalConfig with what it leaves open: models' names, the baseline's ModelSpec, the kind of intervals.

    Args:
      eval_config: The EvalConfig; it is not changed.
      has_baseline: Whether there is a model to compare with. Without one, its ModelSpec and the thresholds of
        change are left out.
      rubber_stamp: Whether a first model may pass although it cannot be compared with one before.

    Returns:
      A new EvalConfig.
    """
    config = messages.EvalConfig()
    config.CopyFrom(eval_config)
    changes = [each for each in _thresholds(config) if each.HasField("change_threshold")]
    if changes and not has_baseline and not rubber_stamp:
        raise RuntimeError(
            "There are change thresholds, but the baseline is missing. This is allowed only when rubber "
            "stamping (first run)."
        )
    options = config.options
    if options.compute_confidence_intervals.value and not options.confidence_intervals.method:
        options.confidence_intervals.method = messages.JACKKNIFE
    if has_baseline and len(config.model_specs) == 1 and not config.model_specs[0].name:
        baseline = config.model_specs.add()
        baseline.CopyFrom(config.model_specs[0])
        baseline.name, baseline.is_baseline = BASELINE, True
        config.model_specs[0].name = CANDIDATE
    elif not has_baseline:
        kept = [spec for spec in config.model_specs if not spec.is_baseline]
        del config.model_specs[:]
        config.model_specs.extend(kept)
        for each in changes:
            each.ClearField("change_threshold")
    if not config.model_specs:
        config.model_specs.add()
    if len(config.model_specs) == 1:
        config.model_specs[0].name = ""
    names = [spec.name for spec in config.model_specs]
    for spec in config.metrics_specs:
        if not spec.model_names or len(names) == 1:
            del spec.model_names[:]
            spec.model_names.extend(names)
    _check(config)
    return config


def _check(config: Any) -> None:
    names = [spec.name for spec in config.model_specs]
    if len(names) > 1 and "" in names:
        raise ValueError(
            f"A name is required for all ModelSpecs when multiple models are used: eval_config=\n{config}"
        )
    if len(set(names)) < len(names):
        raise ValueError(f"more than one model_spec found for a model: {names}")
    if sum(spec.is_baseline for spec in config.model_specs) > 1:
        raise ValueError(f"only one model_spec may be a baseline, found: {names}")
    for spec in config.model_specs:
        for one in ("label_key", "prediction_key", "example_weight_key"):
            if getattr(spec, one) and getattr(spec, f"{one}s"):
                raise ValueError(f"only one of {one} or {one}s should be used at a time: model_spec=\n{spec}")
    for spec in config.metrics_specs:
        named = [(name, each) for name, per in spec.per_slice_thresholds.items() for each in per.thresholds]
        named += [(each.class_name, per) for each in spec.metrics for per in each.per_slice_thresholds]
        for name, per_slice in named:
            if not per_slice.slicing_specs:
                raise ValueError(
                    "slicing_specs must be set on per_slice_thresholds but found per_slice_threshold=\n"
                    f"{per_slice}\nfor metric name {name}"
                )


def _thresholds(config: Any) -> Iterator[Any]:
    """All MetricThresholds of an EvalConfig."""
    for spec in config.metrics_specs:
        yield from spec.thresholds.values()
        for by_slice in (*spec.per_slice_thresholds.values(), *spec.cross_slice_thresholds.values()):
            yield from (each.threshold for each in by_slice.thresholds)
        for each in spec.metrics:
            if each.HasField("threshold"):
                yield each.threshold
            yield from (per.threshold for per in each.per_slice_thresholds)
            yield from (per.threshold for per in each.cross_slice_thresholds)


def baseline_name(config: Any) -> str:
    """The name of the model that others are compared with; empty if there is none."""
    return next((spec.name for spec in config.model_specs if spec.is_baseline), "")


# ---------------------------------------------------------------------------------------------------- metrics


def metrics_of(config: Any) -> list[Metric]:
    """The metrics of a completed EvalConfig, each once."""
    found: dict[MetricKey, Metric] = {}
    for spec in config.metrics_specs:
        for each in _metrics_of_spec(config, spec):
            found.setdefault(each.key, each)
    return list(found.values())


def _metrics_of_spec(config: Any, spec: Any) -> Iterator[Metric]:
    outputs = list(spec.output_names) or [""]
    if unknown := set(spec.output_weights) - set(outputs):
        raise ValueError(
            f"one or more output_names used in output_weights does not exist: output_names={outputs}, "
            f"output_weights={dict(spec.output_weights)} ({', '.join(sorted(unknown))})"
        )
    for aggregation, sub_keys in sub_keys_of(spec).items():
        for weighted in _weighted(config, spec):
            for model in spec.model_names:
                for sub_key in sub_keys:
                    for each in spec.metrics:
                        by_output = {
                            output: list(
                                _of_classes(
                                    config,
                                    spec,
                                    each,
                                    View(model, output, sub_key, example_weighted=weighted),
                                    aggregation,
                                )
                            )
                            for output in outputs
                        }
                        for made in by_output.values():
                            yield from made
                        if spec.output_weights:
                            yield from _output_average(by_output, dict(spec.output_weights))


def _of_classes(config: Any, spec: Any, each: Any, view: View, aggregation: str | None) -> Iterator[Metric]:
    """A metric of whole predictions, of one class, or averaged over classes."""
    weights = _class_weights(spec) if aggregation else {}
    if aggregation in (_MACRO, _WEIGHTED_MACRO):
        children = {
            sub_key: _make(config, spec, each, replace(view, sub_key=sub_key))
            for sub_key in _averaged(view.sub_key, weights)
        }
        yield from _macro_average(view, children, weights, by_labels=aggregation == _WEIGHTED_MACRO)
    else:
        sorted_weights = tuple(sorted(weights.items()))
        yield from _make(
            config, spec, each, replace(view, aggregation_type=aggregation, class_weights=sorted_weights)
        )


def _make(config: Any, spec: Any, each: Any, view: View) -> Sequence[Metric]:
    return make(
        each.class_name,
        metric_config(each),
        view,
        query_key=spec.query_key,
        baseline=baseline_name(config),
        module=each.module,
    )


def _macro_average(
    view: View,
    children: Mapping[SubKey, Sequence[Metric]],
    class_weights: Mapping[int, float],
    *,
    by_labels: bool,
) -> Iterator[Metric]:
    shares = Sums(view.without_classes(), _of_each_class, (tuple(key.class_id for key in children),))
    for same in zip(*children.values(), strict=True):
        needs = tuple(computation for child in same for computation in child.needs)

        def value(*results: Any, same: tuple[Metric, ...] = same) -> float:
            by_class = dict(zip(children, results[-1], strict=True)) if by_labels else {}
            total = weights = 0.0
            place = 0
            for sub_key, child in zip(children, same, strict=True):
                own = results[place : place + len(child.needs)]
                place += len(child.needs)
                weight = 1.0 if not class_weights else class_weights.get(_class_of(sub_key), 0.0)
                if by_labels:
                    labels = sum(by_class.values())
                    weight *= by_class[sub_key] / labels if labels else 0.0
                total += float(child.value(*own)) * weight
                weights += weight
            return total / weights if weights else float("nan")

        # TFMA calls both averages macro_average.
        key = replace(same[0].key, sub_key=view.sub_key, aggregation_type=_MACRO)
        yield Metric(key, (*needs, shares) if by_labels else needs, value)


def _class_of(sub_key: SubKey) -> int:
    return sub_key.class_id if sub_key.class_id is not None else sub_key.k or 0


def _of_each_class(view: View, batch: Batch, class_ids: tuple[int, ...]) -> Any:
    """The weight of each row's label in each of the classes."""
    label, _, weight = view.rows(batch)
    of_class = label == list(class_ids) if label.shape[1] == 1 else label[:, list(class_ids)]
    return of_class * weight[:, None]


def _output_average(
    by_output: Mapping[str, Sequence[Metric]], weights: Mapping[str, float]
) -> Iterator[Metric]:
    outputs = [output for output in by_output if output in weights]
    for same in zip(*(by_output[output] for output in outputs), strict=True):
        needs = tuple(computation for child in same for computation in child.needs)

        def value(*results: Any, same: tuple[Metric, ...] = same) -> float:
            total, place = 0.0, 0
            for output, child in zip(outputs, same, strict=True):
                total += float(child.value(*results[place : place + len(child.needs)])) * weights[output]
                place += len(child.needs)
            return total / sum(weights.values())

        yield Metric(replace(same[0].key, output_name=""), needs, value)


def sub_keys_of(spec: Any) -> dict[str | None, list[SubKey | None]]:
    """The classes that a MetricsSpec asks for, by how they are averaged (None: not)."""
    found: dict[str | None, list[SubKey | None]] = {}
    binarize = spec.binarize
    single: list[SubKey | None] = [SubKey(class_id=value) for value in binarize.class_ids.values]
    single += [SubKey(k=value) for value in binarize.k_list.values]
    single += [SubKey(top_k=value) for value in binarize.top_k_list.values]
    if single:
        found[None] = single
    if spec.HasField("aggregate"):
        best: list[SubKey | None] = [SubKey(top_k=value) for value in spec.aggregate.top_k_list.values]
        found[spec.aggregate.WhichOneof("type")] = best or [None]
    return found or {None: [None]}


def _averaged(sub_key: SubKey | None, class_weights: Mapping[int, float]) -> list[SubKey]:
    if sub_key is not None and sub_key.top_k is not None:
        return [SubKey(k=rank + 1) for rank in range(sub_key.top_k)]
    if not class_weights:
        raise ValueError(
            "class_weights are required in order to compute macro average over all classes: "
            f"sub_key={sub_key}, class_weights={dict(class_weights)}"
        )
    return [SubKey(class_id=class_id) for class_id in class_weights]


def _class_weights(spec: Any) -> dict[int, float]:
    if spec.aggregate.HasField("top_k_list") and spec.aggregate.class_weights:
        raise ValueError(f"class_weights are not supported when top_k_list used: spec={spec}")
    return dict(sorted(spec.aggregate.class_weights.items()))


def _weighted(config: Any, spec: Any) -> list[bool]:
    """Whether a spec's metrics are computed with the examples' weights, without, or both."""
    if spec.HasField("example_weights"):
        asked = ((True, spec.example_weights.weighted), (False, spec.example_weights.unweighted))
        return [which for which, wanted in asked if wanted]
    models = [model for model in config.model_specs if not spec.model_names or model.name in spec.model_names]
    return [
        any(
            model.example_weight_key or set(model.example_weight_keys) & set(spec.output_names)
            for model in models
        )
    ]


# ------------------------------------------------------------------------------------------------- thresholds

Threshold = tuple[Any, Any]  # a SlicingSpec, a CrossSlicingSpec or None for all rows; and what must be kept


def thresholds_of(config: Any) -> dict[MetricKey, list[Threshold]]:
    """What the metrics of a completed EvalConfig must keep. A key that leaves weights open has None there."""
    found: dict[MetricKey, dict[tuple[bytes, bytes], Threshold]] = {}

    def add(key: MetricKey, slicing: Any, threshold: Any) -> None:
        kinds = (("value_threshold", key), ("change_threshold", key.difference()))
        for kind, of in kinds:
            if threshold.HasField(kind):
                kept = getattr(threshold, kind)
                same = (_identity(slicing), kept.SerializeToString(deterministic=True))
                found.setdefault(of, {}).setdefault(same, (slicing, kept))

    for spec in config.metrics_specs:
        for name, threshold in spec.thresholds.items():
            for key in _keys(spec, name, [None]):
                add(key, None, threshold)
        for field, specs in (
            ("per_slice_thresholds", "slicing_specs"),
            ("cross_slice_thresholds", "cross_slicing_specs"),
        ):
            for name, several in getattr(spec, field).items():
                for key in _keys(spec, name, [None]):
                    for each in several.thresholds:
                        for slicing in getattr(each, specs):
                            add(key, slicing, each.threshold)
    for spec in config.metrics_specs:
        for each in spec.metrics:
            for key in _keys(spec, metric_config(each)["name"], _weighted(config, spec)):
                if each.HasField("threshold"):
                    add(key, None, each.threshold)
                for per in each.per_slice_thresholds:
                    for slicing in per.slicing_specs:
                        add(key, slicing, per.threshold)
                for per in each.cross_slice_thresholds:
                    for slicing in per.cross_slicing_specs:
                        add(key, slicing, per.threshold)
    return {key: list(each.values()) for key, each in found.items()}


def _identity(slicing: Any) -> bytes:
    return b"" if slicing is None else slicing.SerializeToString(deterministic=True) + b"+"


def _keys(spec: Any, name: str, weighted: Sequence[bool | None]) -> Iterator[MetricKey]:
    for aggregation, sub_keys in sub_keys_of(spec).items():
        for model in spec.model_names:
            for output in list(spec.output_names) or [""]:
                for sub_key in sub_keys:
                    for each in weighted:
                        yield MetricKey(name, model, output, sub_key, aggregation, each)
