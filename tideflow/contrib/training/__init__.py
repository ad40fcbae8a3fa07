"""`tf.contrib.training`: hyperparameters, training operations, and loops that train and evaluate."""

from tideflow.contrib.training import (  # noqa: F401
    bucketing,
    device_setter,
    evaluation,
    hyperparameters,
    sampling,
    sequence_batches,
    train_ops,
    training_loop,
)
