"""`tf.contrib.training`: hyperparameters, training operations, and loops that train and evaluate."""

from tideflow.contrib.training import (  # noqa: F401
    device_setter,
    evaluation,
    hyperparameters,
    train_ops,
    training_loop,
)
