"""Names that libraries with feature columns of their own take from TensorFlow's first module of columns."""

from tideflow.feature_column import base

_DenseColumn = base.ForeignDenseColumn
_FeatureColumn = base.FeatureColumn
_CategoricalColumn = base.CategoricalColumn
