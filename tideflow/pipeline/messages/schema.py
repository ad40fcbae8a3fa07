"""The messages of a schema, on the wire and in the text form of TensorFlow Metadata."""

from google.protobuf import any_pb2  # noqa: F401  (`Annotation` holds messages of any type)
from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper

from tideflow.graph.own_protos import make_messages
from tideflow.pipeline.messages import paths

_SCHEMA = {
    "Schema": {
        "feature": "repeated Feature",
        "sparse_feature": "6 repeated SparseFeature",
        "weighted_feature": "12 repeated WeightedFeature",
        "string_domain": "repeated StringDomain",
        "float_domain": "9 repeated FloatDomain",
        "int_domain": "10 repeated IntDomain",
        "default_environment": "5 repeated string",
        "represent_variable_length_as_ragged": "14 bool",
        "annotation": "8 Annotation",
        "dataset_constraints": "11 DatasetConstraints",
        "tensor_representation_group": "13 map TensorRepresentationGroup",
    },
    "ValueCountList": {
        "value_count": "repeated ValueCount",
    },
    "Feature": {
        "name": "string",
        "deprecated": "bool",
        "presence": "14 oneof presence_constraints FeaturePresence",
        "group_presence": "17 oneof presence_constraints FeaturePresenceWithinGroup",
        "shape": "23 oneof shape_type FixedShape",
        "value_count": "5 oneof shape_type ValueCount",
        "value_counts": "32 oneof shape_type ValueCountList",
        "type": "6 FeatureType",
        "domain": "7 oneof domain_info string",
        "int_domain": "9 oneof domain_info IntDomain",
        "float_domain": "10 oneof domain_info FloatDomain",
        "string_domain": "11 oneof domain_info StringDomain",
        "bool_domain": "oneof domain_info BoolDomain",
        "struct_domain": "29 oneof domain_info StructDomain",
        "natural_language_domain": "24 oneof domain_info NaturalLanguageDomain",
        "image_domain": "25 oneof domain_info ImageDomain",
        "mid_domain": "26 oneof domain_info MIDDomain",
        "url_domain": "27 oneof domain_info URLDomain",
        "time_domain": "28 oneof domain_info TimeDomain",
        "time_of_day_domain": "30 oneof domain_info TimeOfDayDomain",
        "distribution_constraints": "15 DistributionConstraints",
        "annotation": "16 Annotation",
        "skew_comparator": "18 FeatureComparator",
        "drift_comparator": "21 FeatureComparator",
        "in_environment": "20 repeated string",
        "not_in_environment": "19 repeated string",
        "lifecycle_stage": "22 LifecycleStage",
        "unique_constraints": "31 UniqueConstraints",
        "validation_derived_source": "34 tideflow.metadata.v0.DerivedFeatureSource",
        "sequence_metadata": "35 SequenceMetadata",
    },
    "Annotation": {
        "tag": "repeated string",
        "comment": "repeated string",
        "extra_metadata": "repeated google.protobuf.Any",
    },
    "NumericValueComparator": {
        "min_fraction_threshold": "double",
        "max_fraction_threshold": "double",
    },
    "DatasetConstraints": {
        "num_examples_drift_comparator": "NumericValueComparator",
        "num_examples_version_comparator": "NumericValueComparator",
        "min_examples_count": "int64",
        "max_examples_count": "int64",
    },
    "FixedShape": {
        "dim": "2 repeated FixedShape.Dim",
    },
    "FixedShape.Dim": {
        "size": "int64",
        "name": "string",
    },
    "ValueCount": {
        "min": "int64",
        "max": "int64",
    },
    "WeightedFeature": {
        "name": "string",
        "feature": "tideflow.metadata.v0.Path",
        "weight_feature": "tideflow.metadata.v0.Path",
        "lifecycle_stage": "LifecycleStage",
    },
    "SparseFeature": {
        "name": "string",
        "deprecated": "bool",
        "lifecycle_stage": "7 LifecycleStage",
        "presence": "FeaturePresence",
        "dense_shape": "FixedShape",
        "index_feature": "repeated SparseFeature.IndexFeature",
        "is_sorted": "8 bool",
        "value_feature": "9 SparseFeature.ValueFeature",
        "type": "10 FeatureType",
    },
    "SparseFeature.IndexFeature": {
        "name": "string",
    },
    "SparseFeature.ValueFeature": {
        "name": "string",
    },
    "DistributionConstraints": {
        "min_domain_mass": "double default=1",
    },
    "FeatureCoverageConstraints": {
        "min_coverage": "float",
        "min_avg_token_length": "float",
        "excluded_string_tokens": "repeated string",
        "excluded_int_tokens": "packed int64",
        "oov_string_tokens": "repeated string",
    },
    "SequenceValueConstraints": {
        "int_value": "oneof value int64",
        "string_value": "oneof value string",
        "min_per_sequence": "int64",
        "max_per_sequence": "int64",
        "min_fraction_of_sequences": "float",
        "max_fraction_of_sequences": "float",
    },
    "SequenceLengthConstraints": {
        "excluded_int_value": "repeated int64",
        "excluded_string_value": "repeated string",
        "min_sequence_length": "int64",
        "max_sequence_length": "int64",
    },
    "IntDomain": {
        "name": "string",
        "min": "3 int64",
        "max": "4 int64",
        "is_categorical": "5 bool",
    },
    "FloatDomain": {
        "name": "string",
        "min": "3 float",
        "max": "4 float",
        "disallow_nan": "5 bool",
        "disallow_inf": "6 bool",
        "is_embedding": "7 bool",
        "is_categorical": "8 bool",
        "embedding_dim": "9 int64",
        "embedding_type": "10 string",
    },
    "StructDomain": {
        "feature": "repeated Feature",
        "sparse_feature": "repeated SparseFeature",
    },
    "StringDomain": {
        "name": "string",
        "value": "repeated string",
        "is_categorical": "StringDomain.Categorical",
    },
    "BoolDomain": {
        "name": "string",
        "true_value": "string",
        "false_value": "string",
    },
    "NaturalLanguageDomain": {
        "vocabulary": "string",
        "coverage": "FeatureCoverageConstraints",
        "token_constraints": "repeated SequenceValueConstraints",
        "sequence_length_constraints": "5 SequenceLengthConstraints",
    },
    "ImageDomain": {
        "minimum_supported_image_fraction": "float",
        "max_image_byte_size": "int64",
    },
    "MIDDomain": {},
    "URLDomain": {},
    "TimeDomain": {
        "string_format": "oneof format string",
        "integer_format": "oneof format TimeDomain.IntegerTimeFormat",
    },
    "TimeOfDayDomain": {
        "string_format": "oneof format string",
        "integer_format": "oneof format TimeOfDayDomain.IntegerTimeOfDayFormat",
    },
    "FeaturePresence": {
        "min_fraction": "double",
        "min_count": "int64",
    },
    "FeaturePresenceWithinGroup": {
        "required": "bool",
    },
    "InfinityNorm": {
        "threshold": "double",
    },
    "HistogramSelection": {
        "type": "HistogramSelection.Type",
    },
    "JensenShannonDivergence": {
        "threshold": "double",
        "source": "HistogramSelection",
    },
    "NormalizedAbsoluteDifference": {
        "threshold": "double",
    },
    "FeatureComparator": {
        "infinity_norm": "InfinityNorm",
        "jensen_shannon_divergence": "JensenShannonDivergence",
        "normalized_abs_difference": "NormalizedAbsoluteDifference",
    },
    "UniqueConstraints": {
        "min": "int64",
        "max": "int64",
    },
    "TensorRepresentation": {
        "dense_tensor": "oneof kind TensorRepresentation.DenseTensor",
        "varlen_sparse_tensor": "oneof kind TensorRepresentation.VarLenSparseTensor",
        "sparse_tensor": "oneof kind TensorRepresentation.SparseTensor",
        "ragged_tensor": "oneof kind TensorRepresentation.RaggedTensor",
    },
    "TensorRepresentation.DefaultValue": {
        "float_value": "oneof kind double",
        "int_value": "oneof kind int64",
        "bytes_value": "oneof kind bytes",
        "uint_value": "oneof kind uint64",
    },
    "TensorRepresentation.DenseTensor": {
        "column_name": "string",
        "shape": "FixedShape",
        "default_value": "TensorRepresentation.DefaultValue",
    },
    "TensorRepresentation.VarLenSparseTensor": {
        "column_name": "string",
    },
    "TensorRepresentation.SparseTensor": {
        "dense_shape": "FixedShape",
        "index_column_names": "repeated string",
        "value_column_name": "string",
        "already_sorted": "bool",
    },
    "TensorRepresentation.RaggedTensor": {
        "feature_path": "tideflow.metadata.v0.Path",
        "partition": "3 repeated TensorRepresentation.RaggedTensor.Partition",
        "row_partition_dtype": "2 TensorRepresentation.RowPartitionDType",
    },
    "TensorRepresentation.RaggedTensor.Partition": {
        "uniform_row_length": "oneof kind int64",
        "row_length": "oneof kind string",
    },
    "TensorRepresentationGroup": {
        "tensor_representation": "map TensorRepresentation",
    },
    "SequenceMetadata": {
        "sequential_status": "3 SequenceMetadata.SequentialStatus",
        "joint_group": "4 string",
        "sequence_truncation_limit": "5 int64",
    },
}

_ENUMS = {
    "LifecycleStage": {
        "UNKNOWN_STAGE": 0,
        "PLANNED": 1,
        "ALPHA": 2,
        "BETA": 3,
        "PRODUCTION": 4,
        "DEPRECATED": 5,
        "DEBUG_ONLY": 6,
        "DISABLED": 7,
        "VALIDATION_DERIVED": 9,
    },
    "FeatureType": {
        "TYPE_UNKNOWN": 0,
        "BYTES": 1,
        "INT": 2,
        "FLOAT": 3,
        "STRUCT": 4,
    },
    "StringDomain.Categorical": {
        "CATEGORICAL_UNSPECIFIED": 0,
        "CATEGORICAL_YES": 1,
        "CATEGORICAL_NO": 2,
    },
    "TimeDomain.IntegerTimeFormat": {
        "FORMAT_UNKNOWN": 0,
        "UNIX_DAYS": 5,
        "UNIX_SECONDS": 1,
        "UNIX_MILLISECONDS": 2,
        "UNIX_MICROSECONDS": 3,
        "UNIX_NANOSECONDS": 4,
    },
    "TimeOfDayDomain.IntegerTimeOfDayFormat": {
        "FORMAT_UNKNOWN": 0,
        "PACKED_64_NANOS": 1,
    },
    "HistogramSelection.Type": {
        "DEFAULT": 0,
        "QUANTILES": 1,
        "STANDARD": 2,
    },
    "TensorRepresentation.RowPartitionDType": {
        "UNSPECIFIED": 0,
        "INT64": 1,
        "INT32": 2,
    },
    "SequenceMetadata.SequentialStatus": {
        "SEQUENTIAL_UNSPECIFIED": 0,
        "SEQUENTIAL_YES": 1,
        "SEQUENTIAL_NO": 2,
    },
}

_messages = make_messages("schema", _SCHEMA, _ENUMS, package=paths.PACKAGE, syntax="proto2")
for _class in _messages.values():
    _class.__module__ = __name__  # for pickle
_enums = _messages["Schema"].DESCRIPTOR.file.enum_types_by_name
FeatureType = EnumTypeWrapper(_enums["FeatureType"])
LifecycleStage = EnumTypeWrapper(_enums["LifecycleStage"])

Path = paths.Path
Schema = _messages["Schema"]
ValueCountList = _messages["ValueCountList"]
Feature = _messages["Feature"]
Annotation = _messages["Annotation"]
NumericValueComparator = _messages["NumericValueComparator"]
DatasetConstraints = _messages["DatasetConstraints"]
FixedShape = _messages["FixedShape"]
ValueCount = _messages["ValueCount"]
WeightedFeature = _messages["WeightedFeature"]
SparseFeature = _messages["SparseFeature"]
DistributionConstraints = _messages["DistributionConstraints"]
FeatureCoverageConstraints = _messages["FeatureCoverageConstraints"]
SequenceValueConstraints = _messages["SequenceValueConstraints"]
SequenceLengthConstraints = _messages["SequenceLengthConstraints"]
IntDomain = _messages["IntDomain"]
FloatDomain = _messages["FloatDomain"]
StructDomain = _messages["StructDomain"]
StringDomain = _messages["StringDomain"]
BoolDomain = _messages["BoolDomain"]
NaturalLanguageDomain = _messages["NaturalLanguageDomain"]
ImageDomain = _messages["ImageDomain"]
MIDDomain = _messages["MIDDomain"]
URLDomain = _messages["URLDomain"]
TimeDomain = _messages["TimeDomain"]
TimeOfDayDomain = _messages["TimeOfDayDomain"]
FeaturePresence = _messages["FeaturePresence"]
FeaturePresenceWithinGroup = _messages["FeaturePresenceWithinGroup"]
InfinityNorm = _messages["InfinityNorm"]
HistogramSelection = _messages["HistogramSelection"]
JensenShannonDivergence = _messages["JensenShannonDivergence"]
NormalizedAbsoluteDifference = _messages["NormalizedAbsoluteDifference"]
FeatureComparator = _messages["FeatureComparator"]
UniqueConstraints = _messages["UniqueConstraints"]
TensorRepresentation = _messages["TensorRepresentation"]
TensorRepresentationGroup = _messages["TensorRepresentationGroup"]
SequenceMetadata = _messages["SequenceMetadata"]
