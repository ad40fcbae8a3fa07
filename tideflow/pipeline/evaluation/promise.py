"""Whether a model is promising enough for an experiment on live traffic."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tideflow.pipeline.evaluation.keys import metric_key_of, slice_key_of, slice_name
from tideflow.pipeline.evaluation.specs import thresholds_of
from tideflow.pipeline.evaluation.validation import reasons
from tideflow.pipeline.messages import evaluation as messages

WORSE, UNDECIDED, BETTER = "worse", "undecided", "better"


@dataclass(frozen=True)
class Promise:
    """Whether a candidate is worth an experiment.

    Args:
      is_promising: Whether an experiment may pay: it passed its thresholds, and is nowhere surely worse.
      verdicts: By slice and metric, "better", "worse" or "undecided": what the confidence interval of the
        change against the baseline says.
      reasons: Why it is not promising, a sentence for each reason.
    """

    is_promising: bool
    verdicts: Mapping[tuple[str, str], str]
    reasons: list[str]


def promise(metrics: Iterable[Any], validation: Any, eval_config: Any) -> Promise:
    """Says whether a candidate is promising enough for an experiment.

    The metrics that count are those with a threshold of change: it says which direction is better. Where the
    evaluation computed confidence intervals, a change counts if the whole interval is on one side of 0;
    otherwise the change itself does.

    Args:
      metrics: The MetricsForSlice messages of the candidate and the baseline.
      validation: The ValidationResult.
      eval_config: The completed EvalConfig that both are of.

    Returns:
      The verdict.
    """
    directions = {
        (key.name, key.output_name, key.sub_key): threshold.direction
        for key, kept in thresholds_of(eval_config).items()
        for _, threshold in kept
        if isinstance(threshold, messages.GenericChangeThreshold)
    }
    verdicts: dict[tuple[str, str], str] = {}
    for of_slice in metrics:
        name = slice_name(slice_key_of(of_slice))
        for each in of_slice.metric_keys_and_values:
            key = metric_key_of(each.key)
            direction = directions.get((key.name, key.output_name, key.sub_key))
            if key.is_diff and direction is not None and each.value.HasField("double_value"):
                verdicts[name, key.name] = _verdict(each, direction)
    why = [] if validation.validation_ok else reasons(validation)
    why += [
        f"{name}: {metric} is surely worse" for (name, metric), found in verdicts.items() if found == WORSE
    ]
    if not verdicts:
        why.append("no metric is compared with a baseline: give one a change_threshold, and a baseline")
    elif BETTER not in verdicts.values() and UNDECIDED not in verdicts.values():
        why.append("no metric of any slice may be better")
    return Promise(not why, verdicts, why)


def _verdict(each: Any, direction: int) -> str:
    lower = upper = each.value.double_value.value
    if each.HasField("confidence_interval"):
        lower = each.confidence_interval.lower_bound.double_value.value
        upper = each.confidence_interval.upper_bound.double_value.value
    if direction == messages.LOWER_IS_BETTER:
        lower, upper = -upper, -lower
    if math.isnan(lower) or math.isnan(upper) or upper < 0:
        return WORSE
    return BETTER if lower > 0 else UNDECIDED
