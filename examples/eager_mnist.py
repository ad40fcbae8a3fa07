"""Trains a small network to read handwritten digits in eager mode: a Python loop, a tape, an optimizer.

The 1797 pictures of 8x8 pixels come with scikit-learn. A fifth of them is kept aside, never trained on, and
measures the accuracy. The model and the optimizer are saved after every epoch; a second run goes on where
the first one ended.
"""

import argparse
import os

from digits import load_pictures

import tideflow as tf

BATCH = 64


class Network(tf.train.Checkpoint):
    """Two convolutions and a dense layer: `network(pictures)` gives the logits of the ten digits."""

    def __init__(self):
        super().__init__()
        self.first = tf.layers.Conv2D(16, 3, padding="same", activation=tf.nn.relu)
        self.second = tf.layers.Conv2D(32, 3, padding="same", activation=tf.nn.relu)
        self.logits = tf.layers.Dense(10)

    def __call__(self, pictures):
        hidden = tf.layers.max_pooling2d(self.second(self.first(pictures)), 2, 2)
        return self.logits(tf.layers.flatten(hidden))

    @property
    def variables(self):
        return [v for layer in (self.first, self.second, self.logits) for v in layer.trainable_variables]


def train_epoch(network, optimizer, batches):
    """One pass over the batches; returns the mean loss."""
    mean = tf.contrib.eager.metrics.Mean()
    for pictures, answers in batches:
        with tf.GradientTape() as tape:
            loss = tf.losses.sparse_softmax_cross_entropy(answers, network(pictures))
        slopes = tape.gradient(loss, network.variables)
        optimizer.apply_gradients(zip(slopes, network.variables), tf.train.get_or_create_global_step())
        mean(loss)
    return float(mean.result())


def accuracy(network, pictures, answers):
    """The share of pictures that the network reads rightly."""
    return float(tf.reduce_mean(tf.cast(tf.equal(tf.argmax(network(pictures), 1), answers), tf.float32)))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--folder", help="where the checkpoints are; nothing is saved without it")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()

    tf.enable_eager_execution()
    tf.set_random_seed(args.seed)
    train, (pictures, answers) = load_pictures(args.seed)
    batches = tf.data.Dataset.from_tensor_slices(train).shuffle(len(train[0]), seed=args.seed).batch(BATCH)
    network, optimizer = Network(), tf.train.AdamOptimizer(1e-3)
    step = tf.train.get_or_create_global_step()
    checkpoint = tf.train.Checkpoint(network=network, optimizer=optimizer, step=step)
    found = tf.train.latest_checkpoint(args.folder) if args.folder else None
    if found:
        status = checkpoint.restore(found)  # the layers' variables too, once the first call makes them
        print(f"goes on from step {step.numpy()}")
    for epoch in range(args.epochs):
        loss = train_epoch(network, optimizer, batches)
        print(f"epoch {epoch + 1}: loss {loss:.3f}, test accuracy {accuracy(network, pictures, answers):.1%}")
        if args.folder:
            checkpoint.save(os.path.join(args.folder, "digits"))
    if found:
        status.assert_consumed()


if __name__ == "__main__":
    main()
