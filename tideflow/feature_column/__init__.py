"""`tf.feature_column`: from the features of a batch to the tensors that a model takes."""

from tideflow.feature_column import base, categorical, dense, layers, numeric, sequence  # noqa: F401
