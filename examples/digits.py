"""Trains a convolutional network to read handwritten digits, and draws what it learned.

The 1797 pictures of 8x8 pixels come with scikit-learn. A fifth of them is kept aside, never trained on,
and measures the accuracy. What happened on the way can be seen in TensorBoard.
"""

import argparse
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from digits_picture import draw
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from sklearn.datasets import load_digits

import tideflow as tf

BATCH = 64
TEST_SIZE = 360
MEASURE_EVERY = 25


def build_network():
    """The graph: pictures and answers in, a training step and guesses out."""
    x = tf.placeholder(tf.float32, [None, 8, 8, 1], name="pictures")
    y = tf.placeholder(tf.int32, [None], name="answers")
    keep_prob = tf.placeholder_with_default(1.0, [], name="keep_prob")

    h = tf.layers.conv2d(x, 32, 3, padding="same", activation=tf.nn.relu)
    h = tf.layers.conv2d(h, 64, 3, padding="same", activation=tf.nn.relu)
    h = tf.layers.max_pooling2d(h, 2, 2)
    h = tf.layers.dense(tf.layers.flatten(h), 128, activation=tf.nn.relu)
    h = tf.nn.dropout(h, keep_prob=keep_prob)
    logits = tf.layers.dense(h, 10)

    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    train_step = tf.train.AdamOptimizer(1e-3).minimize(loss)
    guess = tf.argmax(logits, 1, output_type=tf.int32)
    accuracy = tf.reduce_mean(tf.cast(tf.equal(guess, y), tf.float32))
    return SimpleNamespace(
        x=x,
        y=y,
        keep_prob=keep_prob,
        loss=loss,
        train_step=train_step,
        guess=guess,
        accuracy=accuracy,
        summary=summarize(x, y, guess, loss, accuracy),
    )


def summarize(x, y, guess, loss, accuracy):
    """What TensorBoard is to show of a step."""
    tf.summary.scalar("loss", loss)
    tf.summary.scalar("accuracy", accuracy)
    for variable in tf.trainable_variables():
        tf.summary.histogram("learned/" + variable.op.name, variable)
    tf.summary.image("digits", x, max_outputs=4)
    words = tf.strings.join([tf.as_string(guess[:8]), tf.as_string(y[:8])], " should be ")
    tf.summary.text("guesses", words)
    return tf.summary.merge_all()


def load_pictures(seed):
    """Shuffled digits, pixels in 0..1: (pictures, answers) to train on, and as much to test with."""
    digits = load_digits()
    order = np.random.RandomState(seed).permutation(len(digits.target))
    pictures = (digits.images[order, :, :, np.newaxis] / 16.0).astype(np.float32)
    answers = digits.target[order].astype(np.int32)
    return (pictures[TEST_SIZE:], answers[TEST_SIZE:]), (pictures[:TEST_SIZE], answers[:TEST_SIZE])


def batches(pictures, answers, seed):
    """Endless random batches, each epoch in an order of its own."""
    rng = np.random.RandomState(seed)
    while True:
        order = rng.permutation(len(answers))
        for start in range(0, len(order) - BATCH + 1, BATCH):
            chosen = order[start : start + BATCH]
            yield pictures[chosen], answers[chosen]


def progress_bar(console):
    return Progress(
        TextColumn("training"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("steps"),
        TimeElapsedColumn(),
        TextColumn("loss {task.fields[loss]:.4f}"),
        TextColumn("accuracy {task.fields[accuracy]:.1%}"),
        console=console,
    )


def train(net, sess, training, test, steps, seed, console, writer):
    """Takes the steps; returns the loss of each, and (step, test accuracy) every so often."""
    losses, accuracies = [], []
    with progress_bar(console) as progress:
        bar = progress.add_task("", total=steps, loss=float("nan"), accuracy=0.0)
        for step, (pictures, answers) in zip(range(1, steps + 1), batches(*training, seed)):
            feed_dict = {net.x: pictures, net.y: answers, net.keep_prob: 0.6}
            _, loss = sess.run([net.train_step, net.loss], feed_dict=feed_dict)
            losses.append(float(loss))
            if step % MEASURE_EVERY == 0 or step == steps:
                unseen = {net.x: test[0], net.y: test[1]}
                accuracy, summary = sess.run([net.accuracy, net.summary], feed_dict=unseen)
                writer.add_summary(summary, step)
                accuracies.append((step, float(accuracy)))
                progress.update(bar, accuracy=float(accuracy))
            progress.update(bar, advance=1, loss=losses[-1])
    return losses, accuracies


def step_count(text):
    count = int(text)
    if count < 1:
        raise argparse.ArgumentTypeError("at least 1 step is needed")
    return count


def parse_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=step_count, default=600, help="training steps (%(default)s)")
    parser.add_argument("--out", type=Path, default="out/digits.png", help="the picture (%(default)s)")
    parser.add_argument("--logs", type=Path, help="for TensorBoard (a folder beside the picture)")
    parser.add_argument("--seed", type=int, default=1, help="of weights, dropout, batches (%(default)s)")
    return parser.parse_args()


def main():
    options = parse_options()
    logs = options.logs or options.out.with_name("digits_logs") / time.strftime("%Y-%m-%d_%H-%M-%S")
    console = Console()
    tf.set_random_seed(options.seed)
    training, test = load_pictures(options.seed)
    console.print(f"{len(training[1])} pictures to learn from, {len(test[1])} kept aside to test with")

    net = build_network()
    with tf.Session() as sess, tf.summary.FileWriter(logs, sess.graph) as writer:
        sess.run(tf.global_variables_initializer())
        started = time.perf_counter()
        losses, accuracies = train(net, sess, training, test, options.steps, options.seed, console, writer)
        seconds = time.perf_counter() - started
        guesses = sess.run(net.guess, feed_dict={net.x: test[0]})

    accuracy = accuracies[-1][1]
    draw(
        options.out,
        summary=f"{accuracy:.1%} of {len(guesses)} unseen digits right, "
        f"after {len(losses)} steps of {BATCH} pictures in {seconds:.1f} s",
        losses=losses,
        accuracies=accuracies,
        test=test,
        guesses=guesses,
    )
    console.print(f"test accuracy: {accuracy:.2%}")
    console.print(f"picture: {options.out.resolve()}", soft_wrap=True)
    console.print(f"to look closer: {sys.executable} -m tensorboard.main --logdir {logs}", soft_wrap=True)


if __name__ == "__main__":
    main()
