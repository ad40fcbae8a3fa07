"""Whether metrics keep their thresholds: values, and changes against the baseline, slice by slice."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tideflow.pipeline.evaluation.evaluator import SlicedValues, Values
from tideflow.pipeline.evaluation.keys import (
    CrossSliceKey,
    MetricKey,
    SliceKey,
    is_cross,
    set_slice_key,
    slice_key_of,
    slice_name,
)
from tideflow.pipeline.evaluation.slices import slice_spec_of
from tideflow.pipeline.evaluation.specs import Threshold, baseline_name, thresholds_of
from tideflow.pipeline.evaluation.values import point
from tideflow.pipeline.messages import evaluation as messages

AnySliceKey = SliceKey | CrossSliceKey


def validate(sliced: SlicedValues, eval_config: Any, *, rubber_stamp: bool = False) -> Any:
    """Checks the metrics of all slices.

    Args:
      sliced: The metrics by slice.
      eval_config: The completed EvalConfig with the thresholds.
      rubber_stamp: Whether a first model passes that no threshold of change can be held against.

    Returns:
      The ValidationResult.
    """
    thresholds = thresholds_of(eval_config)
    result = messages.ValidationResult(validation_ok=bool(sliced))
    matching: dict[bytes, Any] = {}
    for slice_key, values in sliced:
        applied: dict[bytes, Any] = {}
        failures = list(_failures(slice_key, values, thresholds, baseline_name(eval_config), applied))
        for identity, spec in applied.items():
            _count(matching, identity, spec)
        if failures:
            into = result.metric_validations_per_slice.add(failures=failures)
            set_slice_key(into, slice_key)
            result.validation_ok = False
    if matching:
        result.validation_details.slicing_details.extend(matching.values())
    if not thresholds:
        result.validation_ok = rubber_stamp
        result.missing_thresholds = not rubber_stamp
    for key, kept in thresholds.items():
        if key.model_name and key.model_name == baseline_name(eval_config):
            continue
        for slicing, _ in kept:
            spec = messages.SlicingSpec() if slicing is None else slicing
            if _identity(spec) not in matching:
                matching[_identity(spec)] = None
                missing = result.missing_slices if _is_single(spec) else result.missing_cross_slices
                missing.append(spec)
                result.validation_ok = False
    result.rubber_stamp = rubber_stamp
    return result


def _is_single(spec: Any) -> bool:
    return isinstance(spec, messages.SlicingSpec)


def _identity(spec: Any) -> bytes:
    return spec.SerializeToString(deterministic=True) + (b"" if _is_single(spec) else b"+")


def _failures(
    slice_key: AnySliceKey,
    values: Values,
    thresholds: dict[MetricKey, list[Threshold]],
    baseline: str,
    applied: dict[bytes, Any],
) -> Iterator[Any]:
    """What a slice does not keep. Puts into `applied` the specs of slices for which something was checked."""
    checked: set[MetricKey] = set()
    for key, value in values.items():
        for wanted in (key, replace(key, example_weighted=None)):
            if wanted not in thresholds:
                continue
            checked.add(wanted)
            if key.model_name and key.model_name == baseline:
                continue
            failed: set[bytes] = set()
            for slicing, threshold in thresholds[wanted]:
                if not _applies(slicing, slice_key):
                    continue
                kept, text = _kept(key, point(value), threshold, values, baseline)
                if not kept:
                    if threshold.SerializeToString() in failed:
                        continue
                    failed.add(threshold.SerializeToString())
                    yield _failure(key, threshold, text, point(value))
                spec = messages.SlicingSpec() if slicing is None else slicing
                applied[_identity(spec)] = spec
    for key, kept_thresholds in thresholds.items():
        if key in checked or (key.model_name and key.model_name == baseline):
            continue
        missing: set[bytes] = set()
        for slicing, threshold in kept_thresholds:
            single = slicing is None or _is_single(slicing)
            if single == is_cross(slice_key) or (not single and not _applies(slicing, slice_key)):
                continue
            if threshold.SerializeToString() not in missing:
                missing.add(threshold.SerializeToString())
                yield _failure(key, threshold, "Metric not found.")


def _count(matching: dict[bytes, Any], identity: bytes, spec: Any) -> None:
    details = matching.get(identity)
    if details is None:
        field = "slicing_spec" if _is_single(spec) else "cross_slicing_spec"
        details = matching[identity] = messages.SlicingDetails(**{field: spec})
    details.num_matching_slices += 1


def _applies(slicing: Any, slice_key: Any) -> bool:
    """Whether a threshold for these slices is one for the slice; one without slices is for each."""
    if slicing is None:
        return not is_cross(slice_key)
    if _is_single(slicing):
        return not is_cross(slice_key) and slice_spec_of(slicing).matches(slice_key)
    if not is_cross(slice_key):
        return False
    baseline, compared = slice_key
    specs = [slice_spec_of(spec) for spec in slicing.slicing_specs]
    return slice_spec_of(slicing.baseline_spec).matches(baseline) and any(
        each.matches(compared) for each in specs
    )


def _kept(key: MetricKey, value: Any, threshold: Any, values: Values, baseline: str) -> tuple[bool, str]:
    """Whether a value keeps a threshold; a NaN keeps none."""
    try:
        number = float(value)
        if isinstance(threshold, messages.GenericValueThreshold):
            return _within(number, threshold), ""
        before = None
        if threshold.HasField("relative"):
            before = float(point(values[key.of_baseline(baseline)]))
        return _changed_well(number, before, threshold), ""
    except (TypeError, ValueError):
        text = (
            "\n          Invalid metrics or threshold for comparison: The type of the metric\n          is: "
            f"{type(value)}, the metric value is: {value}, and the threshold is: {threshold}.\n          "
        )
        return False, text


def _within(value: float, threshold: Any) -> bool:
    lower = threshold.lower_bound.value if threshold.HasField("lower_bound") else -math.inf
    upper = threshold.upper_bound.value if threshold.HasField("upper_bound") else math.inf
    return lower <= value <= upper


def _changed_well(change: float, before: float | None, threshold: Any) -> bool:
    if threshold.direction not in (messages.LOWER_IS_BETTER, messages.HIGHER_IS_BETTER):
        raise ValueError(f"Unexpected change threshold direction: {threshold}.")
    lower = threshold.direction == messages.LOWER_IS_BETTER
    bounds: list[tuple[float, float]] = []
    if threshold.HasField("absolute"):
        bounds.append((change, threshold.absolute.value))
    if before is not None:
        share = math.nan if math.isclose(before, 0.0) else change / before
        bounds.append((share, threshold.relative.value))
    return all(found <= bound if lower else found >= bound for found, bound in bounds)


def _failure(key: MetricKey, threshold: Any, text: str, value: Any = None) -> Any:
    kind = "value_threshold" if isinstance(threshold, messages.GenericValueThreshold) else "change_threshold"
    failure = messages.ValidationFailure(metric_key=key.message(), message=text)
    getattr(failure.metric_threshold, kind).CopyFrom(threshold)
    if value is not None:
        try:
            failure.metric_value.double_value.value = float(value)
        except (TypeError, ValueError):
            failure.metric_value.bytes_value = str(value).encode()
    return failure


def reasons(result: Any) -> list[str]:
    """Why a model did not pass, a sentence for each reason, for people."""
    found = []
    for of_slice in result.metric_validations_per_slice:
        for failure in of_slice.failures:
            found.append(f"{slice_name(slice_key_of(of_slice))}: {sentence(failure)}")
    if result.missing_thresholds:
        found.append("No metric has a threshold: give one, or let the first model pass with rubber_stamp.")
    for spec in (*result.missing_slices, *result.missing_cross_slices):
        wanted = " ".join(str(spec).split()) or "all rows"
        found.append(f"A threshold is for a slice that the data do not have: {wanted}")
    return found


def sentence(failure: Any) -> str:
    """What a metric is and what it should be, for people.

    Args:
      failure: A ValidationFailure.
    """
    key = failure.metric_key
    name = f"{key.name}{' of ' + key.model_name if key.model_name else ''}"
    if failure.metric_value.WhichOneof("type") != "double_value":
        return f"{name}: {' '.join(failure.message.split())}"
    value = failure.metric_value.double_value.value
    threshold = failure.metric_threshold
    if threshold.HasField("value_threshold"):
        return f"{name} is {value:.6g}, not {_range(threshold.value_threshold)}"
    change = threshold.change_threshold
    better = "at most" if change.direction == messages.LOWER_IS_BETTER else "at least"
    bounds = [
        f"{better} {bound:g}{unit}"
        for field, unit in (("absolute", ""), ("relative", " of the baseline's value"))
        if change.HasField(field)
        for bound in [getattr(change, field).value]
    ]
    return f"{name} changed by {value:.6g} against the baseline; {' and '.join(bounds)} is asked"


def _range(threshold: Any) -> str:
    bounds = []
    if threshold.HasField("lower_bound"):
        bounds.append(f"at least {threshold.lower_bound.value:g}")
    if threshold.HasField("upper_bound"):
        bounds.append(f"at most {threshold.upper_bound.value:g}")
    return " and ".join(bounds)
