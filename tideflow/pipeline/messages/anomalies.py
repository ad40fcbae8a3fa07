"""The messages of anomalies and of how they are judged, in the form of TensorFlow Metadata."""

from tideflow.graph.own_protos import make_messages
from tideflow.pipeline.messages import paths
from tideflow.pipeline.messages import schema as schema_messages  # noqa: F401  (`Anomalies` holds a schema)

_ANOMALIES = {
    "AnomalyInfo": {
        "path": "8 tideflow.metadata.v0.Path",
        "severity": "5 AnomalyInfo.Severity",
        "description": "2 string",
        "short_description": "6 string",
        "diff_regions": "4 repeated DiffRegion",
        "reason": "7 repeated AnomalyInfo.Reason",
    },
    "AnomalyInfo.Reason": {
        "type": "AnomalyInfo.Type default=UNKNOWN_TYPE",
        "short_description": "string",
        "description": "string",
    },
    "DriftSkewInfo": {
        "path": "tideflow.metadata.v0.Path",
        "drift_measurements": "repeated DriftSkewInfo.Measurement",
        "skew_measurements": "repeated DriftSkewInfo.Measurement",
    },
    "DriftSkewInfo.Measurement": {
        "type": "DriftSkewInfo.Measurement.Type",
        "value": "double",
        "threshold": "double",
    },
    "Anomalies": {
        "baseline": "oneof baseline_schema tideflow.metadata.v0.Schema",
        "baseline_v1": "6 oneof baseline_schema tideflow.metadata.v0.Schema",
        "anomaly_name_format": "7 Anomalies.AnomalyNameFormat",
        "anomaly_info": "2 map AnomalyInfo",
        "dataset_anomaly_info": "8 AnomalyInfo",
        "data_missing": "3 bool",
        "drift_skew_info": "9 repeated DriftSkewInfo",
    },
    "DiffRegion": {
        "unchanged": "oneof details UnchangedRegion",
        "removed": "oneof details OneSideRegion",
        "added": "oneof details OneSideRegion",
        "changed": "oneof details ChangedRegion",
        "hidden": "oneof details HiddenRegion",
    },
    "UnchangedRegion": {
        "left_start": "int32",
        "right_start": "int32",
        "contents": "repeated string",
    },
    "OneSideRegion": {
        "start": "int32",
        "contents": "repeated string",
    },
    "ChangedRegion": {
        "left_start": "int32",
        "left_contents": "repeated string",
        "right_start": "int32",
        "right_contents": "repeated string",
    },
    "HiddenRegion": {
        "left_start": "int32",
        "right_start": "int32",
        "size": "int32",
    },
    "ValidationConfig": {
        "new_features_are_warnings": "bool",
        "severity_overrides": "repeated SeverityOverride",
    },
    "SeverityOverride": {
        "type": "AnomalyInfo.Type",
        "severity": "AnomalyInfo.Severity",
    },
    "Validation": {
        "sql_expression": "string",
        "severity": "AnomalyInfo.Severity",
        "description": "string",
        "in_environment": "repeated string",
    },
    "FeatureValidation": {
        "dataset_name": "string",
        "feature_path": "tideflow.metadata.v0.Path",
        "validations": "repeated Validation",
    },
    "FeaturePairValidation": {
        "dataset_name": "string",
        "base_dataset_name": "string",
        "feature_test_path": "tideflow.metadata.v0.Path",
        "feature_base_path": "tideflow.metadata.v0.Path",
        "validations": "repeated Validation",
    },
    "CustomValidationConfig": {
        "feature_validations": "repeated FeatureValidation",
        "feature_pair_validations": "repeated FeaturePairValidation",
    },
}

_ENUMS = {
    "AnomalyInfo.Severity": {
        "UNKNOWN": 0,
        "WARNING": 1,
        "ERROR": 2,
    },
    "AnomalyInfo.Type": {
        "UNKNOWN_TYPE": 0,
        "MULTIPLE_REASONS": 82,
        "BOOL_TYPE_BIG_INT": 1,
        "BOOL_TYPE_BYTES_NOT_INT": 2,
        "BOOL_TYPE_BYTES_NOT_STRING": 3,
        "BOOL_TYPE_FLOAT_NOT_INT": 4,
        "BOOL_TYPE_FLOAT_NOT_STRING": 5,
        "BOOL_TYPE_INT_NOT_STRING": 6,
        "BOOL_TYPE_SMALL_INT": 7,
        "BOOL_TYPE_STRING_NOT_INT": 8,
        "BOOL_TYPE_UNEXPECTED_STRING": 9,
        "BOOL_TYPE_UNEXPECTED_FLOAT": 52,
        "BOOL_TYPE_INVALID_CONFIG": 88,
        "ENUM_TYPE_BYTES_NOT_STRING": 10,
        "ENUM_TYPE_FLOAT_NOT_STRING": 11,
        "ENUM_TYPE_INT_NOT_STRING": 12,
        "ENUM_TYPE_INVALID_UTF8": 13,
        "ENUM_TYPE_UNEXPECTED_STRING_VALUES": 14,
        "FEATURE_TYPE_HIGH_NUMBER_VALUES": 15,
        "FEATURE_TYPE_LOW_FRACTION_PRESENT": 16,
        "FEATURE_TYPE_LOW_NUMBER_PRESENT": 17,
        "FEATURE_TYPE_LOW_NUMBER_VALUES": 18,
        "FEATURE_TYPE_NOT_PRESENT": 19,
        "FEATURE_TYPE_NO_VALUES": 20,
        "FEATURE_TYPE_UNEXPECTED_REPEATED": 21,
        "FEATURE_TYPE_HIGH_UNIQUE": 59,
        "FEATURE_TYPE_LOW_UNIQUE": 60,
        "FEATURE_TYPE_NO_UNIQUE": 61,
        "FLOAT_TYPE_BIG_FLOAT": 22,
        "FLOAT_TYPE_NOT_FLOAT": 23,
        "FLOAT_TYPE_SMALL_FLOAT": 24,
        "FLOAT_TYPE_STRING_NOT_FLOAT": 25,
        "FLOAT_TYPE_NON_STRING": 26,
        "FLOAT_TYPE_UNKNOWN_TYPE_NUMBER": 27,
        "FLOAT_TYPE_HAS_NAN": 53,
        "FLOAT_TYPE_HAS_INF": 62,
        "INT_TYPE_BIG_INT": 28,
        "INT_TYPE_INT_EXPECTED": 29,
        "INT_TYPE_NOT_INT_STRING": 30,
        "INT_TYPE_NOT_STRING": 31,
        "INT_TYPE_SMALL_INT": 32,
        "INT_TYPE_STRING_EXPECTED": 33,
        "INT_TYPE_UNKNOWN_TYPE_NUMBER": 34,
        "LOW_SUPPORTED_IMAGE_FRACTION": 64,
        "SCHEMA_MISSING_COLUMN": 35,
        "SCHEMA_NEW_COLUMN": 36,
        "SCHEMA_TRAINING_SERVING_SKEW": 37,
        "STRING_TYPE_NOW_FLOAT": 38,
        "STRING_TYPE_NOW_INT": 39,
        "COMPARATOR_CONTROL_DATA_MISSING": 40,
        "COMPARATOR_TREATMENT_DATA_MISSING": 41,
        "COMPARATOR_L_INFTY_HIGH": 42,
        "COMPARATOR_JENSEN_SHANNON_DIVERGENCE_HIGH": 63,
        "COMPARATOR_NORMALIZED_ABSOLUTE_DIFFERENCE_HIGH": 87,
        "NO_DATA_IN_SPAN": 43,
        "SPARSE_FEATURE_MISSING_VALUE": 44,
        "SPARSE_FEATURE_MISSING_INDEX": 45,
        "SPARSE_FEATURE_LENGTH_MISMATCH": 46,
        "SPARSE_FEATURE_NAME_COLLISION": 47,
        "SEMANTIC_DOMAIN_UPDATE": 48,
        "COMPARATOR_LOW_NUM_EXAMPLES": 49,
        "COMPARATOR_HIGH_NUM_EXAMPLES": 50,
        "DATASET_LOW_NUM_EXAMPLES": 51,
        "DATASET_HIGH_NUM_EXAMPLES": 58,
        "WEIGHTED_FEATURE_NAME_COLLISION": 54,
        "WEIGHTED_FEATURE_MISSING_VALUE": 55,
        "WEIGHTED_FEATURE_MISSING_WEIGHT": 56,
        "WEIGHTED_FEATURE_LENGTH_MISMATCH": 57,
        "VALUE_NESTEDNESS_MISMATCH": 65,
        "DOMAIN_INVALID_FOR_TYPE": 66,
        "FEATURE_MISSING_NAME": 67,
        "FEATURE_MISSING_TYPE": 68,
        "INVALID_SCHEMA_SPECIFICATION": 69,
        "INVALID_DOMAIN_SPECIFICATION": 81,
        "UNEXPECTED_DATA_TYPE": 70,
        "SEQUENCE_VALUE_TOO_FEW_OCCURRENCES": 71,
        "SEQUENCE_VALUE_TOO_MANY_OCCURRENCES": 72,
        "SEQUENCE_VALUE_TOO_SMALL_FRACTION": 73,
        "SEQUENCE_VALUE_TOO_LARGE_FRACTION": 74,
        "FEATURE_COVERAGE_TOO_LOW": 75,
        "FEATURE_COVERAGE_TOO_SHORT_AVG_TOKEN_LENGTH": 76,
        "NLP_WRONG_LOCATION": 77,
        "EMBEDDING_SHAPE_INVALID": 78,
        "MAX_IMAGE_BYTE_SIZE_EXCEEDED": 79,
        "INVALID_FEATURE_SHAPE": 80,
        "STATS_NOT_AVAILABLE": 83,
        "DERIVED_FEATURE_BAD_LIFECYCLE": 84,
        "DERIVED_FEATURE_INVALID_SOURCE": 85,
        "CUSTOM_VALIDATION": 86,
    },
    "DriftSkewInfo.Measurement.Type": {
        "UNKNOWN": 0,
        "L_INFTY": 1,
        "JENSEN_SHANNON_DIVERGENCE": 2,
        "NORMALIZED_ABSOLUTE_DIFFERENCE": 3,
    },
    "Anomalies.AnomalyNameFormat": {
        "UNKNOWN": 0,
        "SERIALIZED_PATH": 1,
    },
}

_messages = make_messages("anomalies", _ANOMALIES, _ENUMS, package=paths.PACKAGE, syntax="proto2")
for _class in _messages.values():
    _class.__module__ = __name__  # for pickle

AnomalyInfo = _messages["AnomalyInfo"]
DriftSkewInfo = _messages["DriftSkewInfo"]
Anomalies = _messages["Anomalies"]
DiffRegion = _messages["DiffRegion"]
UnchangedRegion = _messages["UnchangedRegion"]
OneSideRegion = _messages["OneSideRegion"]
ChangedRegion = _messages["ChangedRegion"]
HiddenRegion = _messages["HiddenRegion"]
ValidationConfig = _messages["ValidationConfig"]
SeverityOverride = _messages["SeverityOverride"]
Validation = _messages["Validation"]
FeatureValidation = _messages["FeatureValidation"]
FeaturePairValidation = _messages["FeaturePairValidation"]
CustomValidationConfig = _messages["CustomValidationConfig"]
