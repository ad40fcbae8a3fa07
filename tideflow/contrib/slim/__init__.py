"""`tf.contrib.slim`: contrib.layers, contrib.framework and a way to train, under one short name."""

from tideflow.contrib.slim import (  # noqa: F401
    evaluation,
    gathered,
    inner_names,
    model_analyzer,
    providers,
    reading,
    summaries,
    tfexample_decoder,
    training_loop,
    training_steps,
)
from tideflow.export import load_when_asked_for

load_when_asked_for("tideflow.contrib.learn.modes", "contrib.slim.ProblemType")
