"""A worker of a cluster that trains a model. The second one can be made to end in the middle of an epoch."""

import json
import os
import sys

import tideflow as tf

if "eager" in sys.argv:
    tf.enable_eager_execution()

from tests.keras.test_strategies import data, filled, network


class Ends(tf.keras.callbacks.Callback):
    """Ends the process without a word after the second batch."""

    def on_batch_end(self, batch, logs=None):
        if batch == 1:
            os._exit(9)


def main():
    strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()
    with strategy.scope():
        model = network()
    ends = "killed" in sys.argv and not strategy.extended.should_checkpoint
    x, y = data()
    history = filled(model).fit(x, y, 4, 2, 0, [Ends()] if ends else [], shuffle=False).history
    found = [*history["loss"], *history["mean_absolute_error"]]
    print(json.dumps([float(value) for value in [*found, *(w.sum() for w in model.get_weights())]]))


main()
