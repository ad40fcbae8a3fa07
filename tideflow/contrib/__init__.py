"""`tf.contrib`: the parts of it that TensorFlow 1 programs use most, one folder or module each."""

from tideflow.contrib import (  # noqa: F401
    data,
    framework,
    layers,
    lookup,
    losses,
    metrics,
    opt,
    predictor,
    projector,
    rnn,
    seq2seq,
    slim,
    tfprof,
    training,
    util,
)
