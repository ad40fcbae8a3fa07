"""The kinds of contrib's columns, by the names that TensorFlow's module `feature_column` has for them."""

from tideflow.contrib.layers.columns import base, categories, numbers, parsing, vectors

_FeatureColumn = base.OldColumn
_LinearEmbeddingLookupArguments = base.LinearEmbeddingLookupArguments
_SparseColumn = categories.SparseColumn
_SparseColumnIntegerized = categories.SparseColumnIntegerized
_SparseColumnHashed = categories.SparseColumnHashed
_SparseColumnKeys = categories.SparseColumnKeys
_SparseColumnVocabulary = categories.SparseColumnVocabulary
_WeightedSparseColumn = categories.WeightedSparseColumn
_CrossedColumn = categories.CrossedColumn
_RealValuedColumn = numbers.RealValuedColumn
_BucketizedColumn = numbers.BucketizedColumn
_OneHotColumn = vectors.OneHotColumn
_EmbeddingColumn = vectors.EmbeddingColumn
_ScatteredEmbeddingColumn = vectors.ScatteredEmbeddingColumn
_LazyBuilderByColumnsToTensor = base.Tensors
_create_sequence_feature_spec_for_parsing = parsing.sequence_spec
