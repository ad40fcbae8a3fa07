"""Evaluation of models by slices, with TensorFlow Model Analysis's metrics, names and files.

from tideflow.pipeline import evaluation as tfma

result = tfma.run_model_analysis("model", tfma.load_eval_config("eval.pbtxt"), "data/eval*.tfrecord", "out")
print(result.get_metrics_for_all_slices())
print(tfma.reasons(tfma.load_validation_result("out")))
"""

from tideflow.pipeline.evaluation.analysis import analyze_raw_data, run_model_analysis
from tideflow.pipeline.evaluation.promise import Promise, promise
from tideflow.pipeline.evaluation.results import (
    EvalResult,
    EvalResults,
    load_attributions,
    load_eval_config,
    load_eval_result,
    load_eval_results,
    load_metrics,
    load_plots,
    load_validation_result,
)
from tideflow.pipeline.evaluation.validation import reasons
from tideflow.pipeline.messages.evaluation import (
    AggregationOptions,
    AttributionsForSlice,
    BinarizationOptions,
    ConfidenceIntervalOptions,
    CrossSliceMetricThreshold,
    CrossSliceMetricThresholds,
    CrossSlicingSpec,
    EvalConfig,
    ExampleWeightOptions,
    GenericChangeThreshold,
    GenericValueThreshold,
    MetricConfig,
    MetricDirection,
    MetricsForSlice,
    MetricsSpec,
    MetricThreshold,
    ModelSpec,
    Options,
    PaddingOptions,
    PerSliceMetricThreshold,
    PerSliceMetricThresholds,
    PlotsForSlice,
    RepeatedInt32Value,
    RepeatedStringValue,
    SlicingSpec,
    ValidationResult,
)

__all__ = [
    "AggregationOptions",
    "AttributionsForSlice",
    "BinarizationOptions",
    "ConfidenceIntervalOptions",
    "CrossSliceMetricThreshold",
    "CrossSliceMetricThresholds",
    "CrossSlicingSpec",
    "EvalConfig",
    "EvalResult",
    "EvalResults",
    "ExampleWeightOptions",
    "GenericChangeThreshold",
    "GenericValueThreshold",
    "MetricConfig",
    "MetricDirection",
    "MetricThreshold",
    "MetricsForSlice",
    "MetricsSpec",
    "ModelSpec",
    "Options",
    "PaddingOptions",
    "PerSliceMetricThreshold",
    "PerSliceMetricThresholds",
    "PlotsForSlice",
    "Promise",
    "RepeatedInt32Value",
    "RepeatedStringValue",
    "SlicingSpec",
    "ValidationResult",
    "analyze_raw_data",
    "load_attributions",
    "load_eval_config",
    "load_eval_result",
    "load_eval_results",
    "load_metrics",
    "load_plots",
    "load_validation_result",
    "promise",
    "reasons",
    "run_model_analysis",
]
