"""Writes pictures of digits into TFRecord files, and trains a network on them through tf.data.

The files hold `tf.train.Example`s: the pixels of a picture, compressed as PNG, and its answer. The pipeline
reads the files in turn, shuffles, decodes and batches them, and works ahead in a thread while the network
trains.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

import tideflow as tf

BATCH = 64
FILES = 4
TEST_SIZE = 360


def write_records(folder, pictures, answers, name):
    """The pictures in a few files; returns their paths."""
    png = tf.placeholder(tf.uint8, [8, 8, 1])
    encoded = tf.image.encode_png(png)
    paths = [str(folder / f"{name}-{i}.tfrecord") for i in range(FILES)]
    with tf.Session() as sess:
        for i, path in enumerate(paths):
            with tf.python_io.TFRecordWriter(path) as writer:
                for picture, answer in zip(pictures[i::FILES], answers[i::FILES]):
                    feature = {
                        "picture": tf.train.Feature(
                            bytes_list=tf.train.BytesList(value=[sess.run(encoded, {png: picture})])
                        ),
                        "answer": tf.train.Feature(int64_list=tf.train.Int64List(value=[answer])),
                    }
                    example = tf.train.Example(features=tf.train.Features(feature=feature))
                    writer.write(example.SerializeToString())
    return paths


def parse(serialized):
    """One picture, with pixels in 0..1, and its answer."""
    features = {
        "picture": tf.FixedLenFeature([], tf.string),
        "answer": tf.FixedLenFeature([], tf.int64),
    }
    found = tf.parse_single_example(serialized, features)
    pixels = tf.reshape(tf.image.decode_png(found["picture"], channels=1), [8, 8, 1])
    return tf.cast(pixels, tf.float32) / 16.0, tf.cast(found["answer"], tf.int32)


def pipeline(paths, training):
    """Batches of pictures and answers."""
    files = tf.data.Dataset.from_tensor_slices(paths)
    records = files.interleave(tf.data.TFRecordDataset, cycle_length=FILES, block_length=4)
    if training:
        records = records.shuffle(2000, seed=1).repeat()
    return records.map(parse, num_parallel_calls=2).batch(BATCH).prefetch(2)


def build_network(pictures, answers):
    """A training step, the loss, and which guesses are right."""
    h = tf.layers.conv2d(pictures, 32, 3, padding="same", activation=tf.nn.relu)
    h = tf.layers.max_pooling2d(h, 2, 2)
    h = tf.layers.dense(tf.layers.flatten(h), 128, activation=tf.nn.relu)
    logits = tf.layers.dense(h, 10)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=answers, logits=logits))
    right = tf.equal(tf.argmax(logits, 1, output_type=tf.int32), answers)
    return tf.train.AdamOptimizer(1e-3).minimize(loss), loss, right


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=300, help="training steps (%(default)s)")
    steps = parser.parse_args().steps
    tf.set_random_seed(1)
    digits = load_digits()
    order = np.random.RandomState(1).permutation(len(digits.target))
    pictures = digits.images[order, :, :, np.newaxis].astype(np.uint8)
    answers = digits.target[order]

    with tempfile.TemporaryDirectory() as folder:
        training = write_records(Path(folder), pictures[TEST_SIZE:], answers[TEST_SIZE:], "train")
        test = write_records(Path(folder), pictures[:TEST_SIZE], answers[:TEST_SIZE], "test")
        print(f"{len(answers)} pictures in {len(training) + len(test)} files")

        iterator = tf.data.Iterator.from_structure(
            (tf.float32, tf.int32), (tf.TensorShape([None, 8, 8, 1]), tf.TensorShape([None]))
        )
        to_training = iterator.make_initializer(pipeline(training, training=True))
        to_test = iterator.make_initializer(pipeline(test, training=False))
        train_step, loss, right = build_network(*iterator.get_next())

        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            sess.run(to_training)
            started = time.perf_counter()
            for step in range(1, steps + 1):
                _, value = sess.run([train_step, loss])
                if step % 100 == 0:
                    print(f"step {step}: loss {value:.4f}")
            print(f"{steps} steps in {time.perf_counter() - started:.1f} s")
            sess.run(to_test)
            guesses = []
            while True:
                try:
                    guesses += sess.run(right).tolist()
                except tf.errors.OutOfRangeError:
                    break
            print(f"test accuracy: {np.mean(guesses):.2%} of {len(guesses)}")


if __name__ == "__main__":
    main()
