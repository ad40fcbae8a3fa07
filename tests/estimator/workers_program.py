"""A program that each of several workers runs, which a strategy keeps in step, without a chief."""

import sys

import tideflow as tf


def input_fn():
    return tf.data.Dataset.from_tensors(([1.0], [2.0])).repeat().batch(2)


def model_fn(features, labels, mode):
    weight = tf.get_variable("weight", [1], initializer=tf.zeros_initializer())
    loss = tf.reduce_mean(tf.square(features * weight - labels))
    step = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step)


def main(folder):
    tf.logging.set_verbosity(tf.logging.INFO)
    strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()
    config = tf.estimator.RunConfig(folder, train_distribute=strategy, save_checkpoints_steps=5)
    tf.estimator.train_and_evaluate(
        tf.estimator.Estimator(model_fn, config=config),
        tf.estimator.TrainSpec(input_fn, max_steps=10),
        tf.estimator.EvalSpec(input_fn, steps=1),
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
