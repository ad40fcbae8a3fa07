"""`tf.estimator`: models as functions, with everything around them: training, evaluation, export."""

from tideflow.estimator import (  # noqa: F401
    canned,
    early_stopping,
    estimator,
    export,
    exporter,
    extenders,
    heads,
    hooks,
    inputs,
    run_config,
    spec,
    tpu,
    training,
    warm_start,
)
