"""DatasetFeatureStatisticsList and its parts, with the fields of TensorFlow Metadata's statistics.proto."""

from __future__ import annotations

from google.protobuf import any_pb2  # noqa: F401 - describes the Any of custom statistics

from tideflow.graph.own_protos import make_messages
from tideflow.pipeline.messages import paths

_SCHEMA = {
    "DatasetFeatureStatisticsList": {"datasets": "repeated DatasetFeatureStatistics"},
    "DatasetFeatureStatistics": {
        "name": "string",
        "num_examples": "uint64",
        "features": "repeated FeatureNameStatistics",
        "weighted_num_examples": "double",
        "cross_features": "repeated CrossFeatureStatistics",
    },
    "CrossFeatureStatistics": {
        "path_x": "tideflow.metadata.v0.Path",
        "path_y": "tideflow.metadata.v0.Path",
        "count": "uint64",
        "num_cross_stats": "oneof cross_stats NumericCrossStatistics",
        "categorical_cross_stats": "oneof cross_stats CategoricalCrossStatistics",
    },
    "NumericCrossStatistics": {"correlation": "float", "covariance": "float"},
    "CategoricalCrossStatistics": {"lift": "LiftStatistics"},
    "LiftStatistics": {"lift_series": "repeated LiftSeries", "weighted_lift_series": "repeated LiftSeries"},
    "LiftSeries": {
        "y_int": "oneof y_value int32",
        "y_string": "oneof y_value string",
        "y_bucket": "oneof y_value LiftSeries.Bucket",
        "y_count": "oneof y_count_value uint64",
        "weighted_y_count": "oneof y_count_value double",
        "lift_values": "repeated LiftSeries.LiftValue",
    },
    "LiftSeries.Bucket": {"low_value": "double", "high_value": "double"},
    "LiftSeries.LiftValue": {
        "x_int": "oneof x_value int32",
        "x_string": "oneof x_value string",
        "lift": "double",
        "x_count": "oneof x_count_value uint64",
        "weighted_x_count": "oneof x_count_value double",
        "x_and_y_count": "oneof x_and_y_count_value uint64",
        "weighted_x_and_y_count": "oneof x_and_y_count_value double",
    },
    "FeatureNameStatistics": {
        "name": "oneof field_id string",
        "path": "8 oneof field_id tideflow.metadata.v0.Path",
        "type": "2 FeatureNameStatistics.Type",
        "num_stats": "3 oneof stats NumericStatistics",
        "string_stats": "4 oneof stats StringStatistics",
        "bytes_stats": "5 oneof stats BytesStatistics",
        "struct_stats": "7 oneof stats StructStatistics",
        "custom_stats": "6 repeated CustomStatistic",
        "validation_derived_source": "10 tideflow.metadata.v0.DerivedFeatureSource",
    },
    "WeightedCommonStatistics": {
        "num_non_missing": "double",
        "num_missing": "double",
        "avg_num_values": "double",
        "tot_num_values": "double",
    },
    "CustomStatistic": {
        "name": "string",
        "num": "oneof val double",
        "str": "oneof val string",
        "histogram": "oneof val Histogram",
        "rank_histogram": "oneof val RankHistogram",
        "any": "oneof val google.protobuf.Any",
    },
    "NumericStatistics": {
        "common_stats": "CommonStatistics",
        "mean": "double",
        "std_dev": "double",
        "num_zeros": "uint64",
        "min": "double",
        "median": "double",
        "max": "double",
        "histograms": "repeated Histogram",
        "weighted_numeric_stats": "WeightedNumericStatistics",
    },
    "StringStatistics": {
        "common_stats": "CommonStatistics",
        "unique": "uint64",
        "top_values": "repeated StringStatistics.FreqAndValue",
        "avg_length": "float",
        "rank_histogram": "RankHistogram",
        "weighted_string_stats": "WeightedStringStatistics",
        "vocabulary_file": "string",
        "invalid_utf8_count": "uint64",
    },
    "StringStatistics.FreqAndValue": {"value": "2 string", "frequency": "3 double"},
    "NaturalLanguageStatistics": {
        "feature_coverage": "double",
        "avg_token_length": "double",
        "token_length_histogram": "Histogram",
        "location_misses": "int64",
        "reported_sequences": "repeated string",
        "token_statistics": "repeated NaturalLanguageStatistics.TokenStatistics",
        "rank_histogram": "RankHistogram",
        "weighted_nl_statistics": "WeightedNaturalLanguageStatistics",
        "sequence_length_histogram": "Histogram",
        "min_sequence_length": "int64",
        "max_sequence_length": "int64",
    },
    "NaturalLanguageStatistics.TokenStatistics": {
        "string_token": "oneof token string",
        "int_token": "oneof token int64",
        "frequency": "double",
        "fraction_of_sequences": "double",
        "per_sequence_min_frequency": "double",
        "per_sequence_avg_frequency": "double",
        "per_sequence_max_frequency": "double",
        "positions": "Histogram",
    },
    "WeightedNumericStatistics": {
        "mean": "double",
        "std_dev": "double",
        "median": "double",
        "histograms": "repeated Histogram",
    },
    "WeightedStringStatistics": {
        "top_values": "repeated StringStatistics.FreqAndValue",
        "rank_histogram": "RankHistogram",
    },
    "WeightedNaturalLanguageStatistics": {
        "feature_coverage": "double",
        "avg_token_length": "double",
        "token_length_histogram": "Histogram",
        "location_misses": "double",
        "token_statistics": "NaturalLanguageStatistics.TokenStatistics",
        "rank_histogram": "RankHistogram",
        "sequence_length_histogram": "9 Histogram",
    },
    "BytesStatistics": {
        "common_stats": "CommonStatistics",
        "unique": "uint64",
        "avg_num_bytes": "float",
        "min_num_bytes": "float",
        "max_num_bytes": "float",
        "max_num_bytes_int": "int64",
    },
    "StructStatistics": {"common_stats": "CommonStatistics"},
    "PresenceAndValencyStatistics": {
        "num_non_missing": "uint64",
        "num_missing": "uint64",
        "min_num_values": "uint64",
        "max_num_values": "uint64",
        "tot_num_values": "uint64",
    },
    "CommonStatistics": {
        "num_non_missing": "uint64",
        "num_missing": "uint64",
        "min_num_values": "uint64",
        "max_num_values": "uint64",
        "avg_num_values": "float",
        "num_values_histogram": "Histogram",
        "weighted_common_stats": "WeightedCommonStatistics",
        "tot_num_values": "uint64",
        "feature_list_length_histogram": "Histogram",
        "presence_and_valency_stats": "repeated PresenceAndValencyStatistics",
        "weighted_presence_and_valency_stats": "repeated WeightedCommonStatistics",
    },
    "Histogram": {
        "num_nan": "uint64",
        "num_undefined": "uint64",
        "buckets": "repeated Histogram.Bucket",
        "type": "Histogram.HistogramType",
        "name": "string",
    },
    "Histogram.Bucket": {"low_value": "1 double", "high_value": "2 double", "sample_count": "4 double"},
    "RankHistogram": {"buckets": "repeated RankHistogram.Bucket", "name": "string"},
    "RankHistogram.Bucket": {
        "low_rank": "1 uint64",
        "high_rank": "2 uint64",
        "label": "4 string",
        "sample_count": "5 double",
    },
}
_ENUMS = {
    "FeatureNameStatistics.Type": {"INT": 0, "FLOAT": 1, "STRING": 2, "BYTES": 3, "STRUCT": 4},
    "Histogram.HistogramType": {"STANDARD": 0, "QUANTILES": 1},
}

_classes = make_messages("statistics", _SCHEMA, _ENUMS, package=paths.PACKAGE)
for _class in _classes.values():
    _class.__module__ = __name__  # for pickle

Path = paths.Path
DatasetFeatureStatisticsList = _classes["DatasetFeatureStatisticsList"]
DatasetFeatureStatistics = _classes["DatasetFeatureStatistics"]
FeatureNameStatistics = _classes["FeatureNameStatistics"]
CommonStatistics = _classes["CommonStatistics"]
PresenceAndValencyStatistics = _classes["PresenceAndValencyStatistics"]
WeightedCommonStatistics = _classes["WeightedCommonStatistics"]
NumericStatistics = _classes["NumericStatistics"]
WeightedNumericStatistics = _classes["WeightedNumericStatistics"]
StringStatistics = _classes["StringStatistics"]
WeightedStringStatistics = _classes["WeightedStringStatistics"]
BytesStatistics = _classes["BytesStatistics"]
StructStatistics = _classes["StructStatistics"]
CrossFeatureStatistics = _classes["CrossFeatureStatistics"]
CustomStatistic = _classes["CustomStatistic"]
NaturalLanguageStatistics = _classes["NaturalLanguageStatistics"]
DerivedFeatureSource = paths.DerivedFeatureSource
Histogram = _classes["Histogram"]
RankHistogram = _classes["RankHistogram"]
