"""Trains a model to a step in one engine, going on from where the folder's newest checkpoint is.

resumed_training.py <engine> <folder> <last step>
"""

import importlib
import sys


def train(tf, folder, last_step):
    step = tf.train.get_or_create_global_step()
    weights = tf.get_variable("weights", [20], initializer=tf.ones_initializer())
    target = tf.sin(tf.range(20.0) + tf.cast(step, tf.float32))
    loss = tf.reduce_mean(tf.square(weights - target))
    tf.summary.scalar("loss", loss)
    update = tf.train.AdamOptimizer(0.05).minimize(loss)
    with tf.control_dependencies([update]):
        train_op = tf.assign_add(step, 1)
    with tf.train.MonitoredTrainingSession(
        checkpoint_dir=folder,
        save_checkpoint_steps=4,
        save_summaries_steps=5,
        hooks=[tf.train.StopAtStepHook(last_step=last_step)],
    ) as session:
        while not session.should_stop():
            session.run(train_op)


def main(engine, folder, last_step):
    tf = importlib.import_module("tensorflow.compat.v1" if engine == "compat.v1" else engine)
    if engine == "compat.v1":
        tf.disable_v2_behavior()
    train(tf, folder, int(last_step))


if __name__ == "__main__":
    main(*sys.argv[1:])
