"""tf.data: input pipelines."""

from tideflow.data import (  # noqa: F401
    checkpoints,
    conversions,
    dataset,
    features,
    grouping,
    iterator,
    optional,
    options,
    readers,
    resampling,
    stats,
    transformations,
)
