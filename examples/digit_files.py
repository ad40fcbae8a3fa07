"""Pictures of digits in TFRecord files, and a network that learns from them: what two examples share.

The files hold `tf.train.Example`s: a picture of 8x8 pixels, compressed as PNG, and its answer.
"""

import argparse
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from sklearn.datasets import load_digits

import tideflow as tf

BATCH = 64
FILES = 4
TEST_SIZE = 360

console = Console()


def parse_options(description):
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=step_count, default=300, help="training steps (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of weights and shuffling (%(default)s)")
    return parser.parse_args()


def step_count(text):
    count = int(text)
    if count < 1:
        raise argparse.ArgumentTypeError("at least 1 step is needed")
    return count


@contextmanager
def digit_files(seed):
    """Paths of files to train on and of files to test with; they go when the block ends."""
    digits = load_digits()
    order = np.random.RandomState(seed).permutation(len(digits.target))
    pictures = digits.images[order, :, :, np.newaxis].astype(np.uint8)
    answers = digits.target[order]
    with tempfile.TemporaryDirectory() as folder:
        training = write_records(Path(folder), pictures[TEST_SIZE:], answers[TEST_SIZE:], "train")
        test = write_records(Path(folder), pictures[:TEST_SIZE], answers[:TEST_SIZE], "test")
        console.print(f"{len(answers)} pictures in {len(training) + len(test)} files")
        yield training, test


def write_records(folder, pictures, answers, name):
    """The pictures in a few files; returns their paths."""
    paths = [str(folder / f"{name}-{i}.tfrecord") for i in range(FILES)]
    with tf.Graph().as_default(), tf.Session() as sess:
        png = tf.placeholder(tf.uint8, [8, 8, 1])
        encoded = tf.image.encode_png(png)
        for i, path in enumerate(paths):
            with tf.python_io.TFRecordWriter(path) as writer:
                for picture, answer in zip(pictures[i::FILES], answers[i::FILES]):
                    writer.write(example(sess.run(encoded, {png: picture}), answer))
    return paths


def example(png, answer):
    feature = {
        "picture": tf.train.Feature(bytes_list=tf.train.BytesList(value=[png])),
        "answer": tf.train.Feature(int64_list=tf.train.Int64List(value=[answer])),
    }
    return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()


def parse(serialized):
    """One picture, with pixels in 0..1, and its answer."""
    features = {
        "picture": tf.FixedLenFeature([], tf.string),
        "answer": tf.FixedLenFeature([], tf.int64),
    }
    found = tf.parse_single_example(serialized, features)
    pixels = tf.reshape(tf.image.decode_png(found["picture"], channels=1), [8, 8, 1])
    return tf.cast(pixels, tf.float32) / 16.0, tf.cast(found["answer"], tf.int32)


def build_network(pictures, answers):
    """The loss, and which guesses are right."""
    h = tf.layers.conv2d(pictures, 32, 3, padding="same", activation=tf.nn.relu, name="conv")
    h = tf.layers.max_pooling2d(h, 2, 2)
    h = tf.layers.dense(tf.layers.flatten(h), 128, activation=tf.nn.relu, name="hidden")
    logits = tf.layers.dense(h, 10, name="logits")
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=answers, logits=logits))
    return loss, tf.equal(tf.argmax(logits, 1, output_type=tf.int32), answers)


def train(sess, train_step, loss, steps):
    """Takes so many steps, and shows how far it is."""
    bar = Progress(
        TextColumn("training"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("steps"),
        TimeElapsedColumn(),
        TextColumn("loss {task.fields[loss]:.4f}"),
        console=console,
    )
    started = time.perf_counter()
    with bar:
        task = bar.add_task("", total=steps, loss=float("nan"))
        for _ in range(steps):
            _, value = sess.run([train_step, loss])
            bar.update(task, advance=1, loss=float(value))
    console.print(f"{steps} steps in {time.perf_counter() - started:.1f} s")


def tell_accuracy(sess, right):
    """Goes through the test pictures until there are no more."""
    guesses = []
    try:
        while True:
            guesses += sess.run(right).tolist()
    except tf.errors.OutOfRangeError:
        console.print(f"test accuracy: {np.mean(guesses):.2%} of {len(guesses)}")
