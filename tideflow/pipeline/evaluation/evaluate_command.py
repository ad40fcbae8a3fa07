"""`tideflow evaluate`: metrics of a model by slices, printed and written, and whether it passed."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

from tideflow.io.saved_models import read_saved_model
from tideflow.pipeline.data.whole_files import printable
from tideflow.pipeline.evaluation.analysis import run_model_analysis
from tideflow.pipeline.evaluation.keys import metric_key_of, slice_key_of, slice_name
from tideflow.pipeline.evaluation.promise import promise
from tideflow.pipeline.evaluation.results import (
    load_eval_config,
    load_eval_result,
    load_metrics,
    load_validation_result,
)
from tideflow.pipeline.evaluation.specs import BASELINE, CANDIDATE, baseline_name
from tideflow.pipeline.evaluation.validation import reasons
from tideflow.pipeline.messages import evaluation as messages
from tideflow.pipeline.schema import load_schema_text

_DEFAULT_METRICS = ("ExampleCount", "AUC", "BinaryAccuracy", "Calibration")
_PROBABILITY = "logistic"  # what estimators call the probability of the label 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "tideflow evaluate",
        description="Evaluates a model on data, by slices, and checks its thresholds.",
    )
    parser.add_argument("model", metavar="MODEL", help="the folder of a SavedModel")
    parser.add_argument("data", metavar="DATA", nargs="+", help="files, folders or patterns")
    parser.add_argument("--config", metavar="FILE", help="the EvalConfig, as text or JSON")
    parser.add_argument("--label", help="the feature with the label, instead of a configuration")
    parser.add_argument(
        "--signature",
        default="",
        help="the signature, where there is no configuration "
        f"(one with the output {_PROBABILITY}, or else the default)",
    )
    parser.add_argument("--prediction", default="", help="the output that is the prediction, likewise")
    parser.add_argument(
        "--slices",
        action="append",
        default=[],
        metavar="FEATURE[,FEATURE]",
        help="slices by a feature, or by the crosses of several; may be repeated",
    )
    parser.add_argument(
        "--slice_sql",
        action="append",
        default=[],
        metavar="QUERY",
        help='slices by SQL: "SELECT STRUCT(a, b AS name) FROM example.a, example.b WHERE b > 1"; '
        "may be repeated",
    )
    parser.add_argument(
        "--metrics",
        default=",".join(_DEFAULT_METRICS),
        help=f"metrics, where there is no configuration ({','.join(_DEFAULT_METRICS)})",
    )
    parser.add_argument(
        "--intervals", action="store_true", help="with confidence intervals, by the jackknife"
    )
    parser.add_argument("--baseline", metavar="MODEL", help="the model that it is compared with")
    parser.add_argument("--schema", metavar="FILE", help="the data's schema")
    parser.add_argument("--output", metavar="DIR", help="a folder for metrics, plots and the validation")
    parser.add_argument(
        "--rubber_stamp", action="store_true", help="a first model passes without a baseline or thresholds"
    )
    parser.add_argument("--workers", type=int, help="the number of processes (as many as cores)")
    parser.add_argument("--ray", metavar="ADDRESS", help="a Ray cluster that computes instead")
    return parser


def main(arguments: Sequence[str]) -> int:
    """Runs the command; its exit status: 0 if the model passed, 1 if not."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if not options.config and not options.label:
        parser.error("one of --config and --label is needed")
    return _evaluate(options)


def _evaluate(options: argparse.Namespace) -> int:
    models = {CANDIDATE: options.model}
    if options.baseline:
        models[BASELINE] = options.baseline
    schema = None
    if options.schema:
        schema = load_schema_text(options.schema)
    with tempfile.TemporaryDirectory() as temporary:
        path = options.output or temporary
        run_model_analysis(
            models,
            _config(options),
            options.data,
            path,
            schema=schema,
            rubber_stamp=options.rubber_stamp,
            workers=options.workers,
            ray=options.ray,
        )
        for line in _table(list(load_metrics(path))):
            print(line)
        validation = load_validation_result(path)
        has_thresholds = not validation.missing_thresholds
        for reason in reasons(validation) if has_thresholds else []:
            print(printable(f"not passed: {reason}"))
        config = load_eval_result(path, CANDIDATE if options.baseline else None).config
        if options.baseline and baseline_name(config):
            found = promise(load_metrics(path), validation, config)
            print("promising enough for an experiment" if found.is_promising else "no experiment:")
            for reason in found.reasons:
                print(printable(f"  {reason}"))
    return 0 if validation.validation_ok or not has_thresholds else 1


def _config(options: argparse.Namespace) -> Any:
    if options.config:
        config = load_eval_config(options.config)
    else:
        config = messages.EvalConfig()
        signature, prediction = options.signature, options.prediction
        if not signature and not prediction:
            signature, prediction = _probability(options.model)
        config.model_specs.add(label_key=options.label, signature_name=signature, prediction_key=prediction)
        config.slicing_specs.add()
        spec = config.metrics_specs.add()
        for name in filter(None, options.metrics.split(",")):
            spec.metrics.add(class_name=name.strip())
    for features in options.slices:
        if not config.slicing_specs:
            config.slicing_specs.add()
        config.slicing_specs.add(feature_keys=[each.strip() for each in features.split(",")])
    for query in options.slice_sql:
        if not config.slicing_specs:
            config.slicing_specs.add()
        config.slicing_specs.add(slice_keys_sql=query)
    if options.intervals:
        config.options.compute_confidence_intervals.value = True
    return config


def _probability(model: str) -> tuple[str, str]:
    """The signature and output of an estimator's classifier that is the probability of the label 1.

    Its signature for serving answers with the scores of both classes, whose metrics nobody asks for.
    """
    for graph in read_saved_model(model).meta_graphs:
        for name, signature in sorted(graph.signature_def.items()):
            if _PROBABILITY in signature.outputs:
                return name, _PROBABILITY
    return "", ""


def _table(found: Sequence[Any]) -> Iterator[str]:
    """The metrics as lines: a slice for each, a column for each number."""
    rows: dict[str, dict[str, str]] = {}
    for of_slice in sorted(found, key=lambda each: slice_name(slice_key_of(each)) != "Overall"):
        row = rows.setdefault(slice_name(slice_key_of(of_slice)), {})
        for name, value in of_slice.metrics.items():
            row[name] = value.debug_message
        for each in of_slice.metric_keys_and_values:
            if each.value.HasField("double_value"):
                row[_heading(metric_key_of(each.key))] = _shown(each)
    headings = list(dict.fromkeys(heading for row in rows.values() for heading in row))
    lines = [
        ["slice", *headings],
        *([name, *(row.get(each, "") for each in headings)] for name, row in rows.items()),
    ]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        yield printable(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        )


def _heading(key: Any) -> str:
    parts = [
        key.model_name,
        key.output_name,
        key.aggregation_type,
        f"{key.name}{'_diff' if key.is_diff else ''}",
    ]
    return "/".join(filter(None, (*parts, str(key.sub_key or ""))))


def _shown(each: Any) -> str:
    value = f"{each.value.double_value.value:.6g}"
    if not each.HasField("confidence_interval"):
        return value
    interval = each.confidence_interval
    lower, upper = interval.lower_bound.double_value.value, interval.upper_bound.double_value.value
    return f"{value} [{lower:.4g}, {upper:.4g}]"
