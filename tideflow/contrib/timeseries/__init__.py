"""`tf.contrib.timeseries`: series of numbers in time, filtered, predicted, and searched for anomalies."""

from tideflow.contrib.timeseries import (  # noqa: F401
    autoregression,
    continuation,
    estimators,
    heads,
    input_fns,
    keys,
    readers,
    saved_model_utils,
)
