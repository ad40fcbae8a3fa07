"""Training that can be killed at any moment: started again, it goes on from its last checkpoint.

Run:  python examples/resumable_training.py --logdir /tmp/resumable
Kill it, by Ctrl-C or kill -9, and run it again.
"""

import argparse

import numpy as np

import tideflow as tf


class Steps(tf.train.SessionRunHook):
    """Tells where training begins, and where it ends."""

    def after_create_session(self, session, coord):
        print("from step", session.run(tf.train.get_global_step()))

    def end(self, session):
        print("to step", session.run(tf.train.get_global_step()))


def batches():
    """Points, and on which side of a curve each of them is."""
    chance = np.random.default_rng()
    while True:
        points = chance.uniform(-1, 1, (64, 2)).astype(np.float32)
        yield points, (points[:, 1] > np.sin(3 * points[:, 0])).astype(np.float32)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--logdir", required=True)
    parser.add_argument("--steps", type=int, default=20000)
    options = parser.parse_args()

    dataset = tf.data.Dataset.from_generator(batches, (tf.float32, tf.float32), ([64, 2], [64]))
    points, sides = dataset.prefetch(4).make_one_shot_iterator().get_next()
    hidden = tf.layers.dense(points, 32, tf.nn.relu)
    logits = tf.squeeze(tf.layers.dense(hidden, 1), 1)
    loss = tf.losses.sigmoid_cross_entropy(sides, logits)
    right = tf.reduce_mean(tf.cast(tf.equal(logits > 0, sides > 0.5), tf.float32))
    tf.summary.scalar("loss", loss)
    train = tf.train.AdamOptimizer(0.01).minimize(loss, tf.train.get_or_create_global_step())

    tf.logging.set_verbosity(tf.logging.INFO)
    with tf.train.MonitoredTrainingSession(
        checkpoint_dir=options.logdir,
        save_checkpoint_steps=200,
        hooks=[
            Steps(),
            tf.train.StopAtStepHook(last_step=options.steps),
            tf.train.NanTensorHook(loss),
            tf.train.LoggingTensorHook({"loss": loss, "right": right}, every_n_iter=500),
        ],
    ) as session:
        while not session.should_stop():
            session.run(train)


if __name__ == "__main__":
    main()
