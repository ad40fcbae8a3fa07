"""Names that libraries and tests take from TensorFlow's inner modules of feature columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tideflow.feature_column import base, categorical, dense, layers, numeric, sequence, shared, state
from tideflow.feature_column.base import Inputs, LazyBuilder
from tideflow.graph.scopes import name_scope
from tideflow.keras import column_models

# The first module of columns: functions and classes as TensorFlow 1.3 had them.
_FeatureColumn = base.FeatureColumn
_DenseColumn = base.DenseColumn
_CategoricalColumn = base.CategoricalColumn
_SequenceDenseColumn = base.SequenceDenseColumn
_LazyBuilder = LazyBuilder
_LinearModel = layers.LinearModel
InputLayer = layers.InputLayer

_numeric_column = numeric.numeric_column
_bucketized_column = numeric.bucketized_column
_categorical_column_with_hash_bucket = categorical.categorical_column_with_hash_bucket
_categorical_column_with_vocabulary_file = categorical.categorical_column_with_vocabulary_file
_categorical_column_with_vocabulary_list = categorical.categorical_column_with_vocabulary_list
_categorical_column_with_identity = categorical.categorical_column_with_identity
_weighted_categorical_column = categorical.weighted_categorical_column
_crossed_column = categorical.crossed_column
_indicator_column = dense.indicator_column
_embedding_column = dense.embedding_column

_NumericColumn = numeric.NumericColumn
_BucketizedColumn = numeric.BucketizedColumn
_HashedCategoricalColumn = categorical.HashedCategoricalColumn
_VocabularyFileCategoricalColumn = categorical.VocabularyFileCategoricalColumn
_VocabularyListCategoricalColumn = categorical.VocabularyListCategoricalColumn
_IdentityCategoricalColumn = categorical.IdentityCategoricalColumn
_WeightedCategoricalColumn = categorical.WeightedCategoricalColumn
_CrossedColumn = categorical.CrossedColumn
_IndicatorColumn = dense.IndicatorColumn
_EmbeddingColumn = dense.EmbeddingColumn
_SharedEmbeddingColumn = dense.SharedEmbeddingColumn
_SequenceCategoricalColumn = sequence.SequenceCategoricalColumn

# The second one, whose columns have their variables from a StateManager.
FeatureColumn = base.FeatureColumn
DenseColumn = base.DenseColumn
CategoricalColumn = base.CategoricalColumn
SequenceDenseColumn = base.SequenceDenseColumn
FeatureTransformationCache = Inputs
StateManager = state.StateManager
_StateManagerImpl = state.LayerState
LinearModel = column_models.LinearModel
_LinearModelLayer = column_models._LinearModelLayer

NumericColumn = numeric.NumericColumn
BucketizedColumn = numeric.BucketizedColumn
HashedCategoricalColumn = categorical.HashedCategoricalColumn
VocabularyFileCategoricalColumn = categorical.VocabularyFileCategoricalColumn
VocabularyListCategoricalColumn = categorical.VocabularyListCategoricalColumn
IdentityCategoricalColumn = categorical.IdentityCategoricalColumn
WeightedCategoricalColumn = categorical.WeightedCategoricalColumn
CrossedColumn = categorical.CrossedColumn
IndicatorColumn = dense.IndicatorColumn
EmbeddingColumn = dense.EmbeddingColumn
SharedEmbeddingColumn = shared.SharedTableColumn
SharedEmbeddingColumnCreator = shared.SharedEmbeddingColumnCreator
shared_embedding_columns_v2 = shared.shared_embeddings
SequenceCategoricalColumn = sequence.SequenceCategoricalColumn
SequenceNumericColumn = sequence.SequenceNumericColumn

sequence_length_from_sparse_tensor = base.sequence_lengths
assert_string_or_int = base.check_string_or_integer
assert_key_is_string = base.check_key
check_default_value = numeric.checked_default

_to_sparse_input_and_drop_ignore_values = base.to_sparse
_normalize_feature_columns = base.checked_columns
_verify_static_batch_size_equality = base.check_batch_sizes
_assert_all_equal_and_return = layers.all_equal


def _transform_features(features: Mapping[str, Any], feature_columns: Iterable[Any]) -> dict[Any, Any]:
    """The tensor of each column, by its first protocol."""
    return _transformed(LazyBuilder(features), features, layers.by_name(feature_columns), None)


def _transform_features_v2(
    features: Mapping[str, Any], feature_columns: Iterable[Any], state_manager: Any
) -> dict[Any, Any]:
    """The tensor of each column, by its second protocol."""
    columns = base.checked_columns(feature_columns, "FeatureColumn")
    return _transformed(Inputs(features), features, columns, state_manager)


def _transformed(
    inputs: Inputs, features: Mapping[str, Any], columns: list[Any], state: Any
) -> dict[Any, Any]:
    tensors = {}
    with name_scope(None, "transform_features", list(features.values())):
        for column in columns:
            with name_scope(None, column.name):
                tensors[column] = inputs.get(column, state)
    return tensors


def make_parse_example_spec_v2(feature_columns: Iterable[Any]) -> dict[str, Any]:
    """The features that columns need, for `tf.io.parse_example`."""
    return layers.parse_spec(feature_columns, "FeatureColumn")


def is_feature_column_v2(feature_columns: Iterable[Any]) -> bool:
    """Whether all columns have the second protocol."""
    return all(isinstance(column, FeatureColumn) and column._is_v2_column for column in feature_columns)


def _collect_leaf_level_keys(cross: categorical.CrossedColumn) -> list[Any]:
    """What a crossed column is made of, crosses of crosses taken apart."""
    return cross._leaves
