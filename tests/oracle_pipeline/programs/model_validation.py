"""Whether metrics keep their thresholds: a grid of values, bounds, changes and slices."""

import itertools

from google.protobuf import text_format
from messages import fields

ATOL = 1e-12
SLICES = [(), (("color", "red"),), (("color", "blue"),), (("color", "red"), ("size", 1))]
# (candidate, baseline), by slice
VALUES = [
    [(0.5, 0.5), (0.7, 0.6), (0.2, 0.4), (0.9, 0.0)],
    [(float("nan"), 0.5), (0.5, float("nan")), (float("inf"), 1.0), (-0.5, -0.4)],
]
VALUE_THRESHOLDS = [
    "lower_bound { value: 0.5 }",
    "upper_bound { value: 0.6 }",
    "lower_bound { value: 0.1 } upper_bound { value: 0.8 }",
    "",
]
CHANGE_THRESHOLDS = [
    f"{bounds} direction: {direction}"
    for bounds, direction in itertools.product(
        [
            "absolute { value: 0.0 }",
            "absolute { value: -0.05 }",
            "relative { value: 0.1 }",
            "absolute { value: 0.05 } relative { value: -0.5 }",
            "",
        ],
        ["HIGHER_IS_BETTER", "LOWER_IS_BETTER"],
    )
]
SLICINGS = [
    "",
    "slicing_specs { feature_keys: 'color' }",
    "slicing_specs {}",
    "slicing_specs { feature_keys: 'none' }",
]


def _thresholds():
    for kind, bounds in [("value", each) for each in VALUE_THRESHOLDS] + [
        ("change", each) for each in CHANGE_THRESHOLDS
    ]:
        yield f"{kind}_threshold {{ {bounds} }}"
    yield f"value_threshold {{ {VALUE_THRESHOLDS[0]} }} change_threshold {{ {CHANGE_THRESHOLDS[0]} }}"


def _configs():
    for threshold, slicing in itertools.product(_thresholds(), SLICINGS):
        if slicing:
            own = f"per_slice_thresholds {{ {slicing} threshold {{ {threshold} }} }}"
        else:
            own = f"threshold {{ {threshold} }}"
        yield f"{threshold} {slicing}", f"metrics {{ class_name: 'Recall' {own} }}"
    yield "none", "metrics { class_name: 'Recall' }"
    yield (
        "another metric",
        "metrics { class_name: 'AUC' threshold { value_threshold { lower_bound { value: 0.1 } } } }",
    )


MODELS = 'model_specs { name: "candidate" } model_specs { name: "baseline" is_baseline: true }'
CASES = {
    f"{name} {number} {stamp}": (f"{MODELS} metrics_specs {{ {spec} }}", values, stamp)
    for name, spec in _configs()
    for number, values in enumerate(VALUES)
    for stamp in ((False, True) if name in ("none", "another metric") else (False,))
}


def _answer(result):
    def failure(each):
        return str((each.get("metric_key"), each.get("metric_threshold")))

    return {
        **fields(result),
        "metric_validations_per_slice": {
            str(fields(each.slice_key)): sorted(map(fields, each.failures), key=failure)
            for each in result.metric_validations_per_slice
        },
    }


def original(folder):
    from tensorflow_model_analysis.evaluators import metrics_validator
    from tensorflow_model_analysis.metrics import metric_types
    from tensorflow_model_analysis.proto import config_pb2
    from tensorflow_model_analysis.utils import config_util
    from tensorflow_model_analysis.writers import metrics_plots_and_validations_writer as writer

    def answer(text, values, stamp):
        config = text_format.Parse(text, config_pb2.EvalConfig())
        config = config_util.update_eval_config_with_defaults(config, has_baseline=True)
        combine = writer.CombineValidations(config, rubber_stamp=stamp)
        state = combine.create_accumulator()
        candidate, baseline = (
            metric_types.MetricKey("recall", model_name=name) for name in ("candidate", "baseline")
        )
        for slice_key, (new, old) in zip(SLICES, values, strict=True):
            metrics = {candidate: new, baseline: old, candidate.make_diff_key(): new - old}
            state = combine.add_input(state, metrics_validator.validate_metrics((slice_key, metrics), config))
        return _answer(combine.extract_output(state))

    return {name: answer(*case) for name, case in CASES.items()}


def ours(folder, answers):
    from tideflow.pipeline.evaluation.keys import MetricKey
    from tideflow.pipeline.evaluation.specs import complete
    from tideflow.pipeline.evaluation.validation import validate
    from tideflow.pipeline.messages.evaluation import EvalConfig

    def answer(text, values, stamp):
        config = complete(text_format.Parse(text, EvalConfig()), has_baseline=True)
        candidate, baseline = (MetricKey("recall", name) for name in ("candidate", "baseline"))
        sliced = [
            (slice_key, {candidate: new, baseline: old, candidate.difference(): new - old})
            for slice_key, (new, old) in zip(SLICES, values, strict=True)
        ]
        return _answer(validate(sliced, config, rubber_stamp=stamp))

    return {name: answer(*case) for name, case in CASES.items()}
