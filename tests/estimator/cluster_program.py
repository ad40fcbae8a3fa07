"""A program that every task of a cluster runs: a linear model, trained and evaluated."""

import sys

import numpy as np

import tideflow as tf


def input_fn():
    x = np.random.RandomState(0).randn(64, 2).astype(np.float32)
    y = x @ np.float32([[1.0], [-2.0]])
    return tf.data.Dataset.from_tensor_slices(({"x": x}, y)).repeat().batch(8)


def main(folder):
    tf.logging.set_verbosity(tf.logging.INFO)
    config = tf.estimator.RunConfig(folder, save_checkpoints_steps=20, experimental_max_worker_delay_secs=0)
    column = tf.feature_column.numeric_column("x", [2])
    estimator = tf.estimator.LinearRegressor([column], config=config)
    receiver = tf.estimator.export.build_parsing_serving_input_receiver_fn(
        tf.feature_column.make_parse_example_spec([column])
    )
    tf.estimator.train_and_evaluate(
        estimator,
        tf.estimator.TrainSpec(input_fn, max_steps=60),
        tf.estimator.EvalSpec(
            input_fn,
            steps=4,
            exporters=tf.estimator.FinalExporter("final", receiver),
            start_delay_secs=0,
            throttle_secs=1,
        ),
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
