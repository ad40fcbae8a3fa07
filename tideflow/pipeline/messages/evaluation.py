"""EvalConfig, MetricsForSlice, PlotsForSlice, ValidationResult: the messages of TensorFlow Model Analysis."""

from __future__ import annotations

from types import SimpleNamespace

from google.protobuf import wrappers_pb2  # noqa: F401 - describes the wrapped numbers

from tideflow.graph.own_protos import make_messages

_SCHEMA = {
    "ModelSpec": {
        "name": "2 string",
        "model_type": "12 string",
        "signature_name": "3 string",
        "preprocessing_function_names": "13 repeated string",
        "label_key": "5 string",
        "label_keys": "6 map string",
        "prediction_key": "7 string",
        "prediction_keys": "8 map string",
        "example_weight_key": "9 string",
        "example_weight_keys": "10 map string",
        "is_baseline": "11 bool",
        "padding_options": "14 PaddingOptions",
        "inference_batch_size": "15 int32",
    },
    "SlicingSpec": {
        "feature_keys": "1 repeated string",
        "feature_values": "2 map string",
        "slice_keys_sql": "3 string",
    },
    "CrossSlicingSpec": {
        "baseline_spec": "1 SlicingSpec",
        "slicing_specs": "2 repeated SlicingSpec",
    },
    "AggregationOptions": {
        "micro_average": "1 oneof type bool",
        "macro_average": "2 oneof type bool",
        "weighted_macro_average": "3 oneof type bool",
        "class_weights": "4 map int32 float",
        "top_k_list": "5 RepeatedInt32Value",
    },
    "BinarizationOptions": {
        "class_ids": "4 RepeatedInt32Value",
        "k_list": "5 RepeatedInt32Value",
        "top_k_list": "6 RepeatedInt32Value",
    },
    "ExampleWeightOptions": {
        "weighted": "1 bool",
        "unweighted": "2 bool",
    },
    "PaddingOptions": {
        "label_int_padding": "1 oneof label_padding int64",
        "label_float_padding": "2 oneof label_padding float",
        "prediction_int_padding": "3 oneof prediction_padding int64",
        "prediction_float_padding": "4 oneof prediction_padding float",
    },
    "GenericChangeThreshold": {
        "absolute": "1 google.protobuf.DoubleValue",
        "relative": "2 google.protobuf.DoubleValue",
        "direction": "3 MetricDirection",
    },
    "GenericValueThreshold": {
        "lower_bound": "1 google.protobuf.DoubleValue",
        "upper_bound": "2 google.protobuf.DoubleValue",
    },
    "MetricThreshold": {
        "value_threshold": "1 oneof validate_absolute GenericValueThreshold",
        "change_threshold": "2 oneof validate_relative GenericChangeThreshold",
    },
    "PerSliceMetricThreshold": {
        "slicing_specs": "1 repeated SlicingSpec",
        "threshold": "2 MetricThreshold",
    },
    "PerSliceMetricThresholds": {
        "thresholds": "1 repeated PerSliceMetricThreshold",
    },
    "CrossSliceMetricThreshold": {
        "cross_slicing_specs": "1 repeated CrossSlicingSpec",
        "threshold": "2 MetricThreshold",
    },
    "CrossSliceMetricThresholds": {
        "thresholds": "1 repeated CrossSliceMetricThreshold",
    },
    "MetricConfig": {
        "class_name": "1 string",
        "module": "2 string",
        "config": "3 string",
        "threshold": "4 MetricThreshold",
        "per_slice_thresholds": "5 repeated PerSliceMetricThreshold",
        "cross_slice_thresholds": "6 repeated CrossSliceMetricThreshold",
    },
    "MetricsSpec": {
        "metrics": "1 repeated MetricConfig",
        "model_names": "2 repeated string",
        "output_names": "3 repeated string",
        "output_weights": "10 map float",
        "binarize": "4 BinarizationOptions",
        "aggregate": "6 AggregationOptions",
        "example_weights": "11 ExampleWeightOptions",
        "query_key": "5 string",
        "thresholds": "7 map MetricThreshold",
        "per_slice_thresholds": "8 map PerSliceMetricThresholds",
        "cross_slice_thresholds": "9 map CrossSliceMetricThresholds",
    },
    "Options": {
        "include_default_metrics": "1 google.protobuf.BoolValue",
        "compute_confidence_intervals": "2 google.protobuf.BoolValue",
        "confidence_intervals": "9 ConfidenceIntervalOptions",
        "min_slice_size": "3 google.protobuf.Int32Value",
        "disabled_outputs": "7 RepeatedStringValue",
    },
    "ConfidenceIntervalOptions": {
        "method": "1 ConfidenceIntervalOptions.ConfidenceIntervalMethod",
    },
    "EvalConfig": {
        "model_specs": "2 repeated ModelSpec",
        "slicing_specs": "4 repeated SlicingSpec",
        "cross_slicing_specs": "8 repeated CrossSlicingSpec",
        "metrics_specs": "5 repeated MetricsSpec",
        "options": "6 Options",
    },
    "RepeatedStringValue": {
        "values": "1 repeated string",
    },
    "RepeatedInt32Value": {
        "values": "1 repeated int32",
    },
    "EvalConfigAndVersion": {
        "eval_config": "1 EvalConfig",
        "version": "2 string",
    },
    "EvalRun": {
        "eval_config": "1 EvalConfig",
        "version": "2 string",
        "data_location": "3 string",
        "file_format": "4 string",
        "model_locations": "5 map string",
    },
    "SubKey": {
        "class_id": "1 google.protobuf.Int32Value",
        "k": "2 google.protobuf.Int32Value",
        "top_k": "3 google.protobuf.Int32Value",
    },
    "AggregationType": {
        "micro_average": "1 oneof type bool",
        "macro_average": "2 oneof type bool",
        "weighted_macro_average": "3 oneof type bool",
    },
    "MetricKey": {
        "name": "1 string",
        "model_name": "4 string",
        "output_name": "2 string",
        "sub_key": "3 SubKey",
        "aggregation_type": "6 AggregationType",
        "example_weighted": "7 google.protobuf.BoolValue",
        "is_diff": "5 bool",
    },
    "UnknownType": {
        "error": "1 string",
        "value": "2 bytes",
    },
    "BoundedValue": {
        "lower_bound": "1 google.protobuf.DoubleValue",
        "upper_bound": "2 google.protobuf.DoubleValue",
        "value": "3 google.protobuf.DoubleValue",
        "methodology": "4 BoundedValue.Methodology",
    },
    "TDistributionValue": {
        "sample_mean": "1 google.protobuf.DoubleValue",
        "sample_standard_deviation": "2 google.protobuf.DoubleValue",
        "sample_degrees_of_freedom": "3 google.protobuf.Int64Value",
        "unsampled_value": "4 google.protobuf.DoubleValue",
    },
    "ValueAtCutoffs": {
        "values": "1 repeated ValueAtCutoffs.ValueCutoffPair",
    },
    "ValueAtCutoffs.ValueCutoffPair": {
        "cutoff": "1 int32",
        "value": "2 double",
        "bounded_value": "3 BoundedValue",
        "t_distribution_value": "4 TDistributionValue",
    },
    "ConfusionMatrixAtThresholds": {
        "matrices": "1 repeated ConfusionMatrixAtThresholds.ConfusionMatrixAtThreshold",
    },
    "ConfusionMatrixAtThresholds.ConfusionMatrixAtThreshold": {
        "threshold": "1 double",
        "false_negatives": "2 double",
        "true_negatives": "3 double",
        "false_positives": "4 double",
        "true_positives": "5 double",
        "precision": "6 double",
        "recall": "7 double",
        "false_positive_rate": "20 double",
        "f1": "21 double",
        "accuracy": "22 double",
        "false_omission_rate": "23 double",
        "bounded_false_negatives": "8 BoundedValue",
        "bounded_true_negatives": "9 BoundedValue",
        "bounded_false_positives": "10 BoundedValue",
        "bounded_true_positives": "11 BoundedValue",
        "bounded_precision": "12 BoundedValue",
        "bounded_recall": "13 BoundedValue",
        "t_distribution_false_negatives": "14 TDistributionValue",
        "t_distribution_true_negatives": "15 TDistributionValue",
        "t_distribution_false_positives": "16 TDistributionValue",
        "t_distribution_true_positives": "17 TDistributionValue",
        "t_distribution_precision": "18 TDistributionValue",
        "t_distribution_recall": "19 TDistributionValue",
    },
    "ArrayValue": {
        "data_type": "1 ArrayValue.DataType",
        "shape": "2 repeated int32",
        "bytes_values": "3 repeated bytes",
        "int32_values": "4 repeated int32",
        "int64_values": "5 repeated int64",
        "float32_values": "6 repeated float",
        "float64_values": "7 repeated double",
    },
    "MetricValue": {
        "double_value": "1 oneof type google.protobuf.DoubleValue",
        "bounded_value": "2 oneof type BoundedValue",
        "t_distribution_value": "9 oneof type TDistributionValue",
        "value_at_cutoffs": "4 oneof type ValueAtCutoffs",
        "confusion_matrix_at_thresholds": "5 oneof type ConfusionMatrixAtThresholds",
        "multi_class_confusion_matrix_at_thresholds": "11 oneof type MultiClassConfusionMatrixAtThresholds",
        "unknown_type": "3 oneof type UnknownType",
        "bytes_value": "6 oneof type bytes",
        "array_value": "7 oneof type ArrayValue",
        "debug_message": "10 oneof type string",
    },
    "SingleSliceKey": {
        "column": "1 string",
        "bytes_value": "2 oneof kind bytes",
        "float_value": "3 oneof kind float",
        "int64_value": "4 oneof kind int64",
    },
    "SliceKey": {
        "single_slice_keys": "1 repeated SingleSliceKey",
    },
    "CrossSliceKey": {
        "baseline_slice_key": "1 SliceKey",
        "comparison_slice_key": "2 SliceKey",
    },
    "ConfidenceInterval": {
        "upper_bound": "1 MetricValue",
        "lower_bound": "2 MetricValue",
        "standard_error": "3 MetricValue",
        "degrees_of_freedom": "4 google.protobuf.Int64Value",
    },
    "MetricsForSlice": {
        "slice_key": "1 oneof slicing_spec_oneof SliceKey",
        "cross_slice_key": "3 oneof slicing_spec_oneof CrossSliceKey",
        "metric_keys_and_values": "51 repeated MetricsForSlice.MetricKeyAndValue",
        "metrics": "2 map MetricValue",
    },
    "MetricsForSlice.MetricKeyAndValue": {
        "key": "1 MetricKey",
        "value": "2 MetricValue",
        "confidence_interval": "3 ConfidenceInterval",
    },
    "CalibrationHistogramBuckets": {
        "buckets": "1 repeated CalibrationHistogramBuckets.Bucket",
    },
    "CalibrationHistogramBuckets.Bucket": {
        "lower_threshold_inclusive": "1 double",
        "upper_threshold_exclusive": "2 double",
        "num_weighted_examples": "3 google.protobuf.DoubleValue",
        "total_weighted_label": "4 google.protobuf.DoubleValue",
        "total_weighted_refined_prediction": "5 google.protobuf.DoubleValue",
    },
    "MultiClassConfusionMatrixAtThresholds": {
        "matrices": "1 repeated MultiClassConfusionMatrixAtThresholds.MultiClassConfusionMatrix",
    },
    "MultiClassConfusionMatrixAtThresholds.MultiClassConfusionMatrixEntry": {
        "actual_class_id": "1 int32",
        "predicted_class_id": "2 int32",
        "num_weighted_examples": "3 double",
    },
    "MultiClassConfusionMatrixAtThresholds.MultiClassConfusionMatrix": {
        "threshold": "1 double",
        "entries": "2 repeated MultiClassConfusionMatrixAtThresholds.MultiClassConfusionMatrixEntry",
    },
    "MultiLabelConfusionMatrixAtThresholds": {
        "matrices": "1 repeated MultiLabelConfusionMatrixAtThresholds.MultiLabelConfusionMatrix",
    },
    "MultiLabelConfusionMatrixAtThresholds.MultiLabelConfusionMatrixEntry": {
        "actual_class_id": "1 int32",
        "predicted_class_id": "2 int32",
        "false_negatives": "3 double",
        "true_negatives": "4 double",
        "false_positives": "5 double",
        "true_positives": "6 double",
    },
    "MultiLabelConfusionMatrixAtThresholds.MultiLabelConfusionMatrix": {
        "threshold": "1 double",
        "entries": "2 repeated MultiLabelConfusionMatrixAtThresholds.MultiLabelConfusionMatrixEntry",
    },
    "PlotData": {
        "calibration_histogram_buckets": "1 CalibrationHistogramBuckets",
        "confusion_matrix_at_thresholds": "2 ConfusionMatrixAtThresholds",
        "multi_class_confusion_matrix_at_thresholds": "4 MultiClassConfusionMatrixAtThresholds",
        "multi_label_confusion_matrix_at_thresholds": "5 MultiLabelConfusionMatrixAtThresholds",
        "debug_message": "3 string",
    },
    "PlotKey": {
        "name": "6 string",
        "model_name": "4 string",
        "output_name": "2 string",
        "sub_key": "3 SubKey",
        "example_weighted": "5 google.protobuf.BoolValue",
    },
    "PlotsForSlice": {
        "slice_key": "1 oneof slicing_spec_oneof SliceKey",
        "cross_slice_key": "4 oneof slicing_spec_oneof CrossSliceKey",
        "plot_keys_and_values": "8 repeated PlotsForSlice.PlotKeyAndValue",
        "plot_data": "2 PlotData",
        "plots": "3 map PlotData",
    },
    "PlotsForSlice.PlotKeyAndValue": {
        "key": "1 PlotKey",
        "value": "2 PlotData",
    },
    "AttributionsKey": {
        "name": "1 string",
        "model_name": "2 string",
        "output_name": "3 string",
        "sub_key": "4 SubKey",
        "example_weighted": "6 google.protobuf.BoolValue",
        "is_diff": "5 bool",
    },
    "AttributionsForSlice": {
        "slice_key": "1 oneof slicing_spec_oneof SliceKey",
        "cross_slice_key": "3 oneof slicing_spec_oneof CrossSliceKey",
        "attributions_keys_and_values": "2 repeated AttributionsForSlice.AttributionsKeyAndValues",
    },
    "AttributionsForSlice.AttributionsKeyAndValues": {
        "key": "1 AttributionsKey",
        "values": "2 map MetricValue",
    },
    "ValidationFailure": {
        "metric_key": "1 MetricKey",
        "metric_threshold": "2 MetricThreshold",
        "metric_value": "3 MetricValue",
        "message": "4 string",
    },
    "SlicingDetails": {
        "slicing_spec": "1 oneof slicing_spec_oneof SlicingSpec",
        "cross_slicing_spec": "3 oneof slicing_spec_oneof CrossSlicingSpec",
        "num_matching_slices": "2 int32",
    },
    "ValidationDetails": {
        "slicing_details": "1 repeated SlicingDetails",
    },
    "MetricsValidationForSlice": {
        "slice_key": "2 oneof slice_key_oneof SliceKey",
        "cross_slice_key": "4 oneof slice_key_oneof CrossSliceKey",
        "failures": "3 repeated ValidationFailure",
    },
    "ValidationResult": {
        "validation_ok": "1 bool",
        "missing_thresholds": "6 bool",
        "metric_validations_per_slice": "2 repeated MetricsValidationForSlice",
        "missing_slices": "3 repeated SlicingSpec",
        "missing_cross_slices": "5 repeated CrossSlicingSpec",
        "validation_details": "4 ValidationDetails",
        "rubber_stamp": "7 bool",
    },
}
_ENUMS = {
    "ConfidenceIntervalOptions.ConfidenceIntervalMethod": {
        "UNKNOWN_CONFIDENCE_INTERVAL_METHOD": 0,
        "POISSON_BOOTSTRAP": 1,
        "JACKKNIFE": 2,
    },
    "MetricDirection": {"UNKNOWN": 0, "LOWER_IS_BETTER": 1, "HIGHER_IS_BETTER": 2},
    "BoundedValue.Methodology": {"UNKNOWN": 0, "RIEMANN_SUM": 1, "POISSON_BOOTSTRAP": 2},
    "ArrayValue.DataType": {"UNKNOWN": 0, "BYTES": 1, "INT32": 2, "INT64": 3, "FLOAT32": 4, "FLOAT64": 5},
}

_messages = make_messages("evaluation", _SCHEMA, _ENUMS, package="tideflow.model_analysis")

ModelSpec = _messages["ModelSpec"]
SlicingSpec = _messages["SlicingSpec"]
CrossSlicingSpec = _messages["CrossSlicingSpec"]
AggregationOptions = _messages["AggregationOptions"]
BinarizationOptions = _messages["BinarizationOptions"]
ExampleWeightOptions = _messages["ExampleWeightOptions"]
PaddingOptions = _messages["PaddingOptions"]
GenericChangeThreshold = _messages["GenericChangeThreshold"]
GenericValueThreshold = _messages["GenericValueThreshold"]
MetricThreshold = _messages["MetricThreshold"]
PerSliceMetricThreshold = _messages["PerSliceMetricThreshold"]
PerSliceMetricThresholds = _messages["PerSliceMetricThresholds"]
CrossSliceMetricThreshold = _messages["CrossSliceMetricThreshold"]
CrossSliceMetricThresholds = _messages["CrossSliceMetricThresholds"]
MetricConfig = _messages["MetricConfig"]
MetricsSpec = _messages["MetricsSpec"]
Options = _messages["Options"]
ConfidenceIntervalOptions = _messages["ConfidenceIntervalOptions"]
EvalConfig = _messages["EvalConfig"]
RepeatedStringValue = _messages["RepeatedStringValue"]
RepeatedInt32Value = _messages["RepeatedInt32Value"]
EvalConfigAndVersion = _messages["EvalConfigAndVersion"]
EvalRun = _messages["EvalRun"]
SubKey = _messages["SubKey"]
AggregationType = _messages["AggregationType"]
MetricKey = _messages["MetricKey"]
UnknownType = _messages["UnknownType"]
BoundedValue = _messages["BoundedValue"]
TDistributionValue = _messages["TDistributionValue"]
ValueAtCutoffs = _messages["ValueAtCutoffs"]
ConfusionMatrixAtThresholds = _messages["ConfusionMatrixAtThresholds"]
ArrayValue = _messages["ArrayValue"]
MetricValue = _messages["MetricValue"]
SingleSliceKey = _messages["SingleSliceKey"]
SliceKey = _messages["SliceKey"]
CrossSliceKey = _messages["CrossSliceKey"]
ConfidenceInterval = _messages["ConfidenceInterval"]
MetricsForSlice = _messages["MetricsForSlice"]
CalibrationHistogramBuckets = _messages["CalibrationHistogramBuckets"]
MultiClassConfusionMatrixAtThresholds = _messages["MultiClassConfusionMatrixAtThresholds"]
MultiLabelConfusionMatrixAtThresholds = _messages["MultiLabelConfusionMatrixAtThresholds"]
PlotData = _messages["PlotData"]
PlotKey = _messages["PlotKey"]
PlotsForSlice = _messages["PlotsForSlice"]
AttributionsKey = _messages["AttributionsKey"]
AttributionsForSlice = _messages["AttributionsForSlice"]
ValidationFailure = _messages["ValidationFailure"]
SlicingDetails = _messages["SlicingDetails"]
ValidationDetails = _messages["ValidationDetails"]
MetricsValidationForSlice = _messages["MetricsValidationForSlice"]
ValidationResult = _messages["ValidationResult"]

MetricDirection = SimpleNamespace(**_ENUMS["MetricDirection"])
UNKNOWN, LOWER_IS_BETTER, HIGHER_IS_BETTER = _ENUMS["MetricDirection"].values()
JACKKNIFE = ConfidenceIntervalOptions.JACKKNIFE
POISSON_BOOTSTRAP = ConfidenceIntervalOptions.POISSON_BOOTSTRAP
