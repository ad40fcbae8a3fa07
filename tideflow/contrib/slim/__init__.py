"""`tf.contrib.slim`: contrib.layers, contrib.framework and a way to train, under one short name."""

from tideflow.contrib.slim import gathered, model_analyzer, training_steps  # noqa: F401
