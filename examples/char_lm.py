"""Trains a character language model on Python's own language reference, then lets it write.

The text is what `help("assert")`, `help("for")` … show; it comes with Python. An LSTM of a few layers reads
it character by character and guesses the next one. Each row of a batch goes on where it stopped in the batch
before: the state is carried over, the gradients are cut there (truncated backpropagation through time).
Perplexity is how many characters the model is torn between: about 100 before it has learned anything.
"""

import argparse
import itertools
import time
from pydoc_data.topics import topics
from types import SimpleNamespace

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

import tideflow as tf

HELD_OUT = 20_000  # characters at the end, never trained on


def language_model(x, characters, units, layers):
    """The state it begins with, the state it ends with, and a guess after each of the characters `x`."""
    with tf.variable_scope("model", reuse=tf.AUTO_REUSE):
        cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.LSTMCell(units) for _ in range(layers)])
        start = cell.zero_state(x.shape[0], tf.float32)
        embedding = tf.get_variable("embedding", [characters, units])
        outputs, end = tf.nn.dynamic_rnn(cell, tf.nn.embedding_lookup(embedding, x), initial_state=start)
        logits = tf.layers.dense(outputs, characters, name="guess")
    return start, end, logits


def build_reader(characters, options):
    """The graph that learns: many places of the text at once, a fixed number of characters of each."""
    x = tf.placeholder(tf.int32, [options.batch, options.length], name="characters")
    y = tf.placeholder(tf.int32, [options.batch, options.length], name="next_characters")
    start, end, logits = language_model(x, characters, options.units, options.layers)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    weights = tf.trainable_variables()
    gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, weights), 1.0)
    train_step = tf.train.AdamOptimizer(options.learning_rate).apply_gradients(zip(gradients, weights))
    return SimpleNamespace(x=x, y=y, start=start, end=end, loss=loss, train_step=train_step)


def build_writer(characters, options):
    """The graph that writes, with the reader's variables: one text, of any length."""
    x = tf.placeholder(tf.int32, [1, None], name="characters_so_far")
    start, end, logits = language_model(x, characters, options.units, options.layers)
    sample = tf.multinomial(logits[:, -1] / options.temperature, 1, output_dtype=tf.int32)
    return SimpleNamespace(x=x, start=start, end=end, sample=sample)


def load_text():
    """The text as numbers, and the character of each number."""
    text = "\n\n".join(topics[name] for name in sorted(topics))
    alphabet = sorted(set(text))
    number = {character: i for i, character in enumerate(alphabet)}
    return np.array([number[character] for character in text], np.int32), alphabet


def batches(text, rows, length):
    """(characters, the ones that follow), of `rows` places in the text at once."""
    width = (len(text) - 1) // rows
    x = text[: rows * width].reshape(rows, width)
    y = text[1 : rows * width + 1].reshape(rows, width)
    for at in range(0, width - length + 1, length):
        yield x[:, at : at + length], y[:, at : at + length]


def read(net, sess, text, options, also=()):
    """The loss of each batch of a text. States are carried over: only the first one is all zeros."""
    state = sess.run(net.start)
    for x, y in batches(text, options.batch, options.length):
        feeds = {net.x: x, net.y: y, net.start: state}
        loss, state, *_ = sess.run([net.loss, net.end, *also], feed_dict=feeds)
        yield loss


def perplexity(losses):
    return float(np.exp(np.mean(losses)))


def train(net, sess, text, options, console):
    """Takes the steps, and prints the perplexity every so often."""
    training, held_out = text[:-HELD_OUT], text[-HELD_OUT:]
    every = -(-options.steps // 6)
    columns = [TextColumn("training"), BarColumn(), MofNCompleteColumn(), TextColumn("steps")]
    columns += [TimeElapsedColumn(), TextColumn("perplexity {task.fields[perplexity]:.2f}")]
    passes = itertools.repeat(training)
    losses = (loss for each in passes for loss in read(net, sess, each, options, [net.train_step]))
    recent = []
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("", total=options.steps, perplexity=float("nan"))
        for step, loss in zip(range(1, options.steps + 1), losses):
            recent.append(loss)
            progress.update(bar, advance=1, perplexity=perplexity(loss))
            if step % every == 0 or step == options.steps:
                unseen = perplexity(list(read(net, sess, held_out, options)))
                console.print(
                    f"step {step}: perplexity {perplexity(recent):.2f} on what it learns from, "
                    f"{unseen:.2f} on unseen text"
                )
                recent = []


def write(net, sess, alphabet, beginning, count):
    """The beginning, and `count` characters that the model goes on with."""
    text = [alphabet.index(character) for character in beginning]
    feeds = {net.x: [text]}
    for _ in range(count):
        chosen, state = sess.run([net.sample, net.end], feed_dict=feeds)
        text.append(chosen.item())
        feeds = {net.x: chosen, net.start: state}
    return "".join(alphabet[i] for i in text)


def positive(kind):
    def parse(text):
        value = kind(text)
        if not value > 0:
            raise argparse.ArgumentTypeError(f"must be more than 0, not {text}")
        return value

    return parse


def parse_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    count = positive(int)
    add("--steps", type=count, default=400, help="training steps (%(default)s)")
    add("--units", type=count, default=128, help="units of each layer (%(default)s)")
    add("--layers", type=count, default=2, help="layers of LSTM cells (%(default)s)")
    add("--batch", type=count, default=32, help="places of the text that are read at once (%(default)s)")
    add("--length", type=count, default=40, help="characters that gradients go back (%(default)s)")
    add("--learning-rate", type=positive(float), default=4e-3, help="of Adam (%(default)s)")
    add(
        "--write",
        type=count,
        default=400,
        metavar="COUNT",
        help="characters to write at the end (%(default)s)",
    )
    add("--begin", default="The ", help="what the model's text begins with (%(default)r)")
    add("--temperature", type=positive(float), default=0.7, help="lower is more careful (%(default)s)")
    add("--seed", type=int, default=1, help="of weights and of what is written (%(default)s)")
    return parser, parser.parse_args()


def main():
    parser, options = parse_options()
    text, alphabet = load_text()
    if not options.begin or set(options.begin) - set(alphabet):
        parser.error(f"--begin must be made of characters of the text: {''.join(alphabet)!r}")
    if options.length * options.batch >= HELD_OUT:
        parser.error(
            f"--batch times --length must be less than the {HELD_OUT} characters that are kept aside"
        )
    console = Console(highlight=False)
    console.print(
        f"{len(text)} characters, {len(alphabet)} of them different; the last {HELD_OUT} are kept aside"
    )
    tf.set_random_seed(options.seed)
    reader, writer = build_reader(len(alphabet), options), build_writer(len(alphabet), options)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        started = time.perf_counter()
        train(reader, sess, text, options, console)
        seconds = time.perf_counter() - started
        console.print(f"{options.steps} steps in {seconds:.0f} s. It writes:\n")
        written = write(writer, sess, alphabet, options.begin, options.write)
        console.print(written, markup=False, soft_wrap=True)


if __name__ == "__main__":
    main()
