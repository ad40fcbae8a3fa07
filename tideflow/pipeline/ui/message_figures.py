"""What pages show of statistics and evaluations, as plain dictionaries made from the messages."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from tideflow.pipeline.evaluation.validation import sentence
from tideflow.pipeline.messages import statistics

_TOP_VALUES = 20
_MOST_CURVE_POINTS = 200
_CALIBRATION_POINTS = 20
_TYPES = {number: name.lower() for name, number in statistics.FeatureNameStatistics.Type.items()}


# ------------------------------------------------------------------------------------------------- statistics


def statistics_figures(found: Any) -> list[dict[str, Any]]:
    """The data sets of a `DatasetFeatureStatisticsList`: the whole, and its slices.

    Args:
        found: the message.
    """
    return [
        {
            "name": dataset.name,
            "rows": dataset.num_examples,
            "features": [_feature(each) for each in dataset.features],
        }
        for dataset in found.datasets
    ]


def _feature(feature: Any) -> dict[str, Any]:
    kind = feature.WhichOneof("stats")
    stats: Any = getattr(feature, kind) if kind else None
    common = stats.common_stats if stats is not None else statistics.CommonStatistics()
    figures: dict[str, Any] = {
        "name": ".".join(feature.path.step) or feature.name,
        "type": _TYPES[feature.type],
        "present": common.num_non_missing,
        "missing": common.num_missing,
        "values_each": [common.min_num_values, common.max_num_values],
    }
    if kind == "num_stats":
        names = ("mean", "std_dev", "min", "median", "max")
        figures |= {name: _finite(getattr(stats, name)) for name in names}
        figures |= {"zeros": stats.num_zeros, "values": common.tot_num_values}
        for histogram in stats.histograms:
            name = "histogram" if histogram.type == histogram.STANDARD else "quantiles"
            figures[name] = [
                [_finite(each.low_value), _finite(each.high_value), each.sample_count]
                for each in histogram.buckets
            ]
            figures["nan"] = histogram.num_nan
    elif kind == "string_stats":
        figures |= {
            "unique": stats.unique,
            "average_length": stats.avg_length,
            "top": [[each.value, each.frequency] for each in stats.top_values[:_TOP_VALUES]],
        }
    elif kind == "bytes_stats":
        figures |= {"unique": stats.unique, "average_length": stats.avg_num_bytes}
    return figures


def _finite(number: float) -> float | str:
    """JSON has no NaN and no infinity."""
    return number if math.isfinite(number) else str(number)


# ------------------------------------------------------------------------------------------------ evaluations


def metrics_figures(slices: Iterable[Any]) -> list[dict[str, Any]]:
    """Numbers of `MetricsForSlice` messages: by slice and metric, by model, value and bounds.

    Args:
        slices: the messages.
    """
    found = []
    for message in slices:
        metrics: dict[str, dict[str, Any]] = {}
        for each in message.metric_keys_and_values:
            value = _bounded(each)
            if value is not None:
                metrics.setdefault(_metric_name(each.key), {})[_model_name(each.key)] = value
        found.append({"slice": slice_name(message), "metrics": metrics})
    return sorted(found, key=lambda each: (each["slice"] != "Overall", each["slice"]))


def plots_figures(slices: Iterable[Any]) -> list[dict[str, Any]]:
    """Curves of `PlotsForSlice` messages: ROC, precision and recall, calibration.

    Args:
        slices: the messages.
    """
    found = []
    for message in slices:
        for each in message.plot_keys_and_values:
            figures = {"slice": slice_name(message), "model": each.key.model_name}
            matrices = each.value.confusion_matrix_at_thresholds.matrices
            step = max(1, len(matrices) // _MOST_CURVE_POINTS)
            if matrices:
                points = [matrices[at] for at in range(0, len(matrices), step)]
                figures["roc"] = [[_rate(m.false_positives, m.true_negatives), m.recall] for m in points]
                figures["precision_recall"] = [[m.recall, m.precision] for m in points]
            calibration = _calibration(each.value.calibration_histogram_buckets.buckets)
            if calibration:
                figures["calibration"] = calibration
            found.append({name: _all_finite(value) for name, value in figures.items()})
    return found


def _calibration(buckets: Sequence[Any]) -> list[list[float]]:
    """Mean prediction and mean label of about equally many examples each: single buckets hold too few."""
    all_examples = sum(bucket.num_weighted_examples.value for bucket in buckets)
    points, examples, predictions, labels = [], 0.0, 0.0, 0.0
    for bucket in buckets:
        examples += bucket.num_weighted_examples.value
        predictions += bucket.total_weighted_refined_prediction.value
        labels += bucket.total_weighted_label.value
        if examples and examples >= all_examples / _CALIBRATION_POINTS:
            points.append([predictions / examples, labels / examples])
            examples = predictions = labels = 0.0
    return points


def failures_figures(result: Any) -> list[dict[str, str]]:
    """The failures of a `ValidationResult`, in words.

    Args:
        result: the message.
    """
    found = []
    for validation in result.metric_validations_per_slice:
        for failure in validation.failures:
            found.append(
                {
                    "slice": slice_name(validation),
                    "metric": _metric_name(failure.metric_key),
                    "message": sentence(failure),
                }
            )
    return found


def slice_name(message: Any) -> str:
    """What a slice is called: `hour=3, company=Top`, or `Overall`.

    Args:
        message: has a `slice_key` or a `cross_slice_key`.
    """
    if message.HasField("cross_slice_key"):
        keys = message.cross_slice_key
        return f"{_key_name(keys.comparison_slice_key)} against {_key_name(keys.baseline_slice_key)}"
    return _key_name(message.slice_key)


def _key_name(key: Any) -> str:
    parts = []
    for each in key.single_slice_keys:
        value = getattr(each, each.WhichOneof("kind") or "bytes_value")
        parts.append(f"{each.column}={value.decode(errors='replace') if isinstance(value, bytes) else value}")
    return ", ".join(parts) or "Overall"


def _metric_name(key: Any) -> str:
    name = f"{key.output_name}: {key.name}" if key.output_name else key.name
    for part in ("class_id", "k", "top_k"):
        if key.sub_key.HasField(part):
            name += f" ({part} {getattr(key.sub_key, part).value})"
    return name


def _model_name(key: Any) -> str:
    return "difference" if key.is_diff else key.model_name or "candidate"


def _bounded(each: Any) -> dict[str, float | str] | None:
    """A value with its bounds; None for metrics that are no number."""
    kind = each.value.WhichOneof("type")
    if kind == "double_value":
        figures = {"value": each.value.double_value.value}
    elif kind == "bounded_value":
        bounded = each.value.bounded_value
        figures = {"value": bounded.value.value}
        figures |= {"lower": bounded.lower_bound.value, "upper": bounded.upper_bound.value}
    else:
        return None
    if each.HasField("confidence_interval"):
        interval = each.confidence_interval
        figures["lower"] = interval.lower_bound.double_value.value
        figures["upper"] = interval.upper_bound.double_value.value
    bounds = {name: value for name, value in figures.items() if name != "value" and math.isfinite(value)}
    return {"value": _finite(figures["value"]), **bounds}


def _rate(part: float, rest: float) -> float:
    return part / (part + rest) if part + rest else 0.0


def _all_finite(value: Any) -> Any:
    if isinstance(value, list):
        return [point for point in value if all(map(math.isfinite, point))]
    return value
