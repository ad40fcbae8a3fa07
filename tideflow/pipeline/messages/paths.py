"""The messages that schemas, statistics and anomalies share: paths, and sources of derived features."""

from tideflow.graph.own_protos import make_messages

PACKAGE = "tideflow.metadata.v0"

_PATH = {
    "Path": {
        "step": "repeated string",
    },
}

_DERIVED = {
    "DerivedFeatureSource": {
        "deriver_name": "string",
        "description": "string",
        "source_path": "repeated tideflow.metadata.v0.Path",
        "declaratively_configured": "bool",
        "config": "DerivedFeatureConfig",
    },
    "DerivedFeatureConfig": {
        "allowlist": "oneof type AllowlistDeriver",
        "argmax_top_k": "oneof type ArgmaxTopK",
        "reduce_op": "oneof type ReduceOp",
        "slice_sql": "oneof type SliceSql",
        "image_quality": "oneof type ImageQualityDeriver",
    },
    "AllowlistDeriver": {
        "allowed_bytes_value": "repeated bytes",
        "placeholder_value": "bytes",
    },
    "ArgmaxTopK": {
        "k": "uint32",
    },
    "ReduceOp": {
        "op_name": "string",
    },
    "SliceSql": {
        "expression": "string",
        "feature_value_type": "SliceValueTypes",
        "drop_struct_name": "bool",
        "int64_default_feature_value": "oneof default_feature_value_for_failed_sql int64",
        "float_default_feature_value": "oneof default_feature_value_for_failed_sql float",
        "string_default_feature_value": "oneof default_feature_value_for_failed_sql string",
    },
    "ImageQualityDeriver": {
        "model_name": "string",
    },
}

_DERIVED_ENUMS = {
    "SliceValueTypes": {
        "VALUE_TYPE_DEFAULT": 0,
        "VALUE_TYPE_INTEGER": 1,
        "VALUE_TYPE_FLOAT": 2,
        "VALUE_TYPE_UNSUPPORTED": 3,
    },
}

Path = make_messages("path", _PATH, package=PACKAGE, syntax="proto2")["Path"]
_derived = make_messages("derived_feature", _DERIVED, _DERIVED_ENUMS, package=PACKAGE)
DerivedFeatureSource = _derived["DerivedFeatureSource"]
DerivedFeatureConfig = _derived["DerivedFeatureConfig"]
