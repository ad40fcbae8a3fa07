"""TensorFlow Serving's messages: requests, responses, logs and configurations, on its wire format.

Field numbers are those that TensorFlow Serving publishes. Examples stand as their bytes: models parse them by
themselves, in batches. Fields that are not described here are kept when a message is written again.
"""

from __future__ import annotations

# Importing them makes their types known.
from google.protobuf import any_pb2, wrappers_pb2  # noqa: F401
from tensorboard.compat.proto import config_pb2, meta_graph_pb2, tensor_pb2  # noqa: F401

from tideflow.graph import errors
from tideflow.graph.own_protos import make_messages

_TENSOR, _SIGNATURE = "tensorboard.TensorProto", "tensorboard.SignatureDef"
_ANY, _INT64 = "google.protobuf.Any", "google.protobuf.Int64Value"

_SCHEMA = {
    "ModelSpec": {
        "name": "string",
        "version": f"2 oneof version_choice {_INT64}",
        "version_label": "4 oneof version_choice string",
        "signature_name": "3 string",
    },
    "StatusProto": {"error_code": "Code", "error_message": "string"},
    # Predictions
    "PredictRequest": {
        "model_spec": "ModelSpec",
        "inputs": f"map {_TENSOR}",
        "output_filter": "repeated string",
    },
    "PredictResponse": {"outputs": f"map {_TENSOR}", "model_spec": "ModelSpec"},
    "ExampleList": {"examples": "repeated bytes"},
    "ExampleListWithContext": {"examples": "repeated bytes", "context": "bytes"},
    "Input": {
        "example_list": "oneof kind ExampleList",
        "example_list_with_context": "oneof kind ExampleListWithContext",
    },
    "Class": {"label": "string", "score": "float"},
    "Classifications": {"classes": "repeated Class"},
    "ClassificationResult": {"classifications": "repeated Classifications"},
    "ClassificationRequest": {"model_spec": "ModelSpec", "input": "Input"},
    "ClassificationResponse": {"result": "ClassificationResult", "model_spec": "ModelSpec"},
    "Regression": {"value": "float"},
    "RegressionResult": {"regressions": "repeated Regression"},
    "RegressionRequest": {"model_spec": "ModelSpec", "input": "Input"},
    "RegressionResponse": {"result": "RegressionResult", "model_spec": "ModelSpec"},
    "InferenceTask": {"model_spec": "ModelSpec", "method_name": "string"},
    "InferenceResult": {
        "model_spec": "ModelSpec",
        "classification_result": "oneof result ClassificationResult",
        "regression_result": "oneof result RegressionResult",
    },
    "MultiInferenceRequest": {"tasks": "repeated InferenceTask", "input": "Input"},
    "MultiInferenceResponse": {"results": "repeated InferenceResult"},
    "NamedTensorProto": {"name": "string", "tensor": _TENSOR},
    "SessionRunRequest": {
        "model_spec": "ModelSpec",
        "feed": "repeated NamedTensorProto",
        "fetch": "repeated string",
        "target": "repeated string",
        "options": "5 tensorboard.RunOptions",
        "tensor_name_is_alias": "6 bool",
    },
    "SessionRunResponse": {
        "tensor": "repeated NamedTensorProto",
        "metadata": "tensorboard.RunMetadata",
        "model_spec": "ModelSpec",
    },
    # Models
    "SignatureDefMap": {"signature_def": f"map {_SIGNATURE}"},
    "GetModelMetadataRequest": {"model_spec": "ModelSpec", "metadata_field": "repeated string"},
    "GetModelMetadataResponse": {"model_spec": "ModelSpec", "metadata": f"map {_ANY}"},
    "GetModelStatusRequest": {"model_spec": "ModelSpec"},
    "ModelVersionStatus": {"version": "int64", "state": "ModelVersionStatus.State", "status": "StatusProto"},
    "GetModelStatusResponse": {"model_version_status": "repeated ModelVersionStatus"},
    "Metric": {"name": "string", "int64_value_increase": "oneof value_increase int64"},
    "ReloadConfigRequest": {"config": "ModelServerConfig", "metric_names": "repeated string"},
    "ReloadConfigResponse": {"status": "StatusProto", "metric": "repeated Metric"},
    # Health, by gRPC's own service
    "HealthCheckRequest": {"service": "string"},
    "HealthCheckResponse": {"status": "HealthCheckResponse.ServingStatus"},
    # Configuration
    "Latest": {"num_versions": "uint32"},
    "All": {},
    "Specific": {"versions": "repeated int64"},
    "ServableVersionPolicy": {
        "latest": "100 oneof policy_choice Latest",
        "all": "101 oneof policy_choice All",
        "specific": "102 oneof policy_choice Specific",
    },
    "SamplingConfig": {"sampling_rate": "double"},
    "LogCollectorConfig": {"type": "string", "filename_prefix": "string"},
    "LoggingConfig": {
        "log_collector_config": "LogCollectorConfig",
        "sampling_config": "SamplingConfig",
        "custom_logging_config": _ANY,
    },
    "ModelConfig": {
        "name": "string",
        "base_path": "string",
        "model_type": "ModelType",
        "model_platform": "string",
        "logging_config": "6 LoggingConfig",
        "model_version_policy": "7 ServableVersionPolicy",
        "version_labels": "8 map int64",
    },
    "ModelConfigList": {"config": "repeated ModelConfig"},
    "ModelServerConfig": {
        "model_config_list": "oneof config ModelConfigList",
        "custom_model_config": f"oneof config {_ANY}",
    },
    "PrometheusConfig": {"enable": "bool", "path": "string"},
    "MonitoringConfig": {"prometheus_config": "PrometheusConfig"},
    "BatchingParameters": {
        "max_batch_size": f"1 {_INT64}",
        "batch_timeout_micros": f"2 {_INT64}",
        "max_enqueued_batches": f"3 {_INT64}",
        "num_batch_threads": f"4 {_INT64}",
        "thread_pool_name": "5 google.protobuf.StringValue",
        "allowed_batch_sizes": "6 repeated int64",
        "pad_variable_length_inputs": "7 bool",
        "enable_large_batch_splitting": "8 google.protobuf.BoolValue",
        "max_execution_batch_size": f"9 {_INT64}",
    },
    # Logs of requests
    "LogMetadata": {
        "model_spec": "ModelSpec",
        "sampling_config": "SamplingConfig",
        "saved_model_tags": "repeated string",
        "timestamp_secs": "int64",
    },
    "ClassifyLog": {"request": "ClassificationRequest", "response": "ClassificationResponse"},
    "RegressLog": {"request": "RegressionRequest", "response": "RegressionResponse"},
    "PredictLog": {"request": "PredictRequest", "response": "PredictResponse"},
    "MultiInferenceLog": {"request": "MultiInferenceRequest", "response": "MultiInferenceResponse"},
    "SessionRunLog": {"request": "SessionRunRequest", "response": "SessionRunResponse"},
    "PredictionLog": {
        "log_metadata": "LogMetadata",
        "classify_log": "oneof log_type ClassifyLog",
        "regress_log": "oneof log_type RegressLog",
        "multi_inference_log": "4 oneof log_type MultiInferenceLog",
        "session_run_log": "5 oneof log_type SessionRunLog",
        "predict_log": "6 oneof log_type PredictLog",
    },
}

CODE_NAMES = {  # by the number of an OpError, which is gRPC's too
    number: name for name, number in vars(errors).items() if name.isupper() and type(number) is int
}
STATES = {"UNKNOWN": 0, "START": 10, "LOADING": 20, "AVAILABLE": 30, "UNLOADING": 40, "END": 50}

_ENUMS = {
    "Code": {name: number for number, name in CODE_NAMES.items()},
    "ModelVersionStatus.State": STATES,
    "ModelType": {"MODEL_TYPE_UNSPECIFIED": 0, "TENSORFLOW": 1, "OTHER": 2},
    "HealthCheckResponse.ServingStatus": {
        "UNKNOWN": 0,
        "SERVING": 1,
        "NOT_SERVING": 2,
        "SERVICE_UNKNOWN": 3,
    },
}

_classes = make_messages("messages", _SCHEMA, _ENUMS, package="tideflow.serving")

ModelSpec = _classes["ModelSpec"]
StatusProto = _classes["StatusProto"]
PredictRequest = _classes["PredictRequest"]
PredictResponse = _classes["PredictResponse"]
Input = _classes["Input"]
ClassificationResult = _classes["ClassificationResult"]
ClassificationRequest = _classes["ClassificationRequest"]
ClassificationResponse = _classes["ClassificationResponse"]
RegressionResult = _classes["RegressionResult"]
RegressionRequest = _classes["RegressionRequest"]
RegressionResponse = _classes["RegressionResponse"]
InferenceTask = _classes["InferenceTask"]
InferenceResult = _classes["InferenceResult"]
MultiInferenceRequest = _classes["MultiInferenceRequest"]
MultiInferenceResponse = _classes["MultiInferenceResponse"]
SessionRunRequest = _classes["SessionRunRequest"]
SessionRunResponse = _classes["SessionRunResponse"]
SignatureDefMap = _classes["SignatureDefMap"]
GetModelMetadataRequest = _classes["GetModelMetadataRequest"]
GetModelMetadataResponse = _classes["GetModelMetadataResponse"]
GetModelStatusRequest = _classes["GetModelStatusRequest"]
ModelVersionStatus = _classes["ModelVersionStatus"]
GetModelStatusResponse = _classes["GetModelStatusResponse"]
ReloadConfigRequest = _classes["ReloadConfigRequest"]
ReloadConfigResponse = _classes["ReloadConfigResponse"]
HealthCheckRequest = _classes["HealthCheckRequest"]
HealthCheckResponse = _classes["HealthCheckResponse"]
ModelConfig = _classes["ModelConfig"]
ModelServerConfig = _classes["ModelServerConfig"]
MonitoringConfig = _classes["MonitoringConfig"]
BatchingParameters = _classes["BatchingParameters"]
LogMetadata = _classes["LogMetadata"]
PredictionLog = _classes["PredictionLog"]
