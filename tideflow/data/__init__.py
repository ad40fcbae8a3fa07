"""tf.data: input pipelines."""

from tideflow.data import (  # noqa: F401
    dataset,
    features,
    grouping,
    iterator,
    optional,
    options,
    readers,
    transformations,
)
