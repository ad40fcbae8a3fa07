"""Teaches a network to read a string and write it backwards.

An encoder reads the letters one by one; a decoder writes the answer, looking back at each step at the letters
that matter (attention). Nobody tells it what backwards is: it sees pairs of strings made up at random, of
varying length, and finds out. Strings it was never shown measure how well.
"""

import argparse
import string
import time
from types import SimpleNamespace

import numpy as np

import tideflow as tf

START, END = 0, 1  # what the decoder reads first, and what it writes last
LETTERS = string.ascii_lowercase
WORDS = len(LETTERS) + 2
UNITS = 64
BATCH = 64
HELD_OUT = 500


def build_network(longest):
    """The graph: strings in; a training step, and answers that the network makes by itself, out."""
    letters = tf.placeholder(tf.int32, [None, None], name="letters")
    lengths = tf.placeholder(tf.int32, [None], name="lengths")
    answers = tf.placeholder(tf.int32, [None, None], name="answers")  # reversed, and END
    batch = tf.size(lengths)

    embedding = tf.get_variable("embedding", [WORDS, UNITS // 2])
    read, state = tf.nn.dynamic_rnn(
        tf.nn.rnn_cell.GRUCell(UNITS),
        tf.nn.embedding_lookup(embedding, letters),
        lengths,
        dtype=tf.float32,
        scope="encoder",
    )
    attention = tf.contrib.seq2seq.LuongAttention(UNITS, read, lengths, scale=True)
    cell = tf.contrib.seq2seq.AttentionWrapper(
        tf.nn.rnn_cell.GRUCell(UNITS), attention, UNITS, initial_cell_state=state
    )
    to_words = tf.layers.Dense(WORDS, name="to_words")

    def decode(helper, **options):
        decoder = tf.contrib.seq2seq.BasicDecoder(cell, helper, cell.zero_state(batch, tf.float32), to_words)
        with tf.variable_scope("decoder", reuse=tf.AUTO_REUSE) as scope:
            return tf.contrib.seq2seq.dynamic_decode(decoder, scope=scope, **options)[0]

    # In training the decoder reads the right answer so far, whatever it wrote itself.
    so_far = tf.concat([tf.fill([batch, 1], START), answers[:, :-1]], 1)
    helper = tf.contrib.seq2seq.TrainingHelper(tf.nn.embedding_lookup(embedding, so_far), lengths + 1)
    logits = decode(helper, impute_finished=True).rnn_output
    weights = tf.sequence_mask(lengths + 1, dtype=tf.float32)
    loss = tf.contrib.seq2seq.sequence_loss(logits, answers, weights)

    # Smaller and smaller steps: large ones learn fast at first, and spoil what is learned later.
    global_step = tf.train.get_or_create_global_step()
    optimizer = tf.train.AdamOptimizer(tf.train.exponential_decay(4e-3, global_step, 100, 0.6))
    gradients, variables = zip(*optimizer.compute_gradients(loss))
    gradients, _ = tf.clip_by_global_norm(gradients, 5.0)

    # Afterwards it reads what it wrote.
    helper = tf.contrib.seq2seq.GreedyEmbeddingHelper(embedding, tf.fill([batch], START), END)
    written = decode(helper, maximum_iterations=longest + 2).sample_id
    return SimpleNamespace(
        letters=letters,
        lengths=lengths,
        answers=answers,
        loss=loss,
        train_step=optimizer.apply_gradients(zip(gradients, variables), global_step),
        written=written,
    )


def random_strings(rng, count, longest):
    lengths = rng.randint(1, longest + 1, count)
    return ["".join(rng.choice(list(LETTERS), length)) for length in lengths]


def held_out_strings(rng, longest):
    """Strings to test with. Of very short ones there are so few that training would lack them."""
    shortest = min(3, longest)
    strings = random_strings(rng, 3 * HELD_OUT, longest)
    return [text for text in strings if len(text) >= shortest][:HELD_OUT]


def as_numbers(strings, end=False):
    """Strings as rows of numbers, the short ones filled up with END."""
    width = max(map(len, strings)) + end
    rows = np.full([len(strings), width], END, np.int32)
    for row, text in zip(rows, strings):
        row[: len(text)] = [LETTERS.index(letter) + 2 for letter in text]
    return rows


def as_strings(rows):
    """What the network wrote, up to its END."""
    numbers = (list(row) for row in rows)
    ended = (row[: row.index(END)] if END in row else row for row in numbers)
    return ["".join(LETTERS[word - 2] if word > END else "?" for word in row) for row in ended]


def feeds(net, strings):
    return {
        net.letters: as_numbers(strings),
        net.lengths: [len(text) for text in strings],
        net.answers: as_numbers([text[::-1] for text in strings], end=True),
    }


def reversed_by(net, sess, strings):
    return as_strings(sess.run(net.written, feeds(net, strings)))


def share_right(net, sess, strings):
    answers = reversed_by(net, sess, strings)
    return np.mean([answer == text[::-1] for answer, text in zip(answers, strings)])


def train(net, sess, rng, held_out, options):
    """Takes the steps on strings that are not among those held out; tells how it goes."""
    secret = set(held_out)
    started = time.perf_counter()
    for step in range(1, options.steps + 1):
        strings = [text for text in random_strings(rng, BATCH, options.longest) if text not in secret]
        loss, _ = sess.run([net.loss, net.train_step], feeds(net, strings))
        if step % options.tell_every == 0 or step == options.steps:
            right = share_right(net, sess, held_out)
            seconds = time.perf_counter() - started
            print(f"step {step:5}   loss {loss:.4f}   right {right:6.1%}   {seconds:5.1f} s", flush=True)


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def parse_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--steps", type=positive, default=500, help=f"training steps of {BATCH} strings (%(default)s)"
    )
    parser.add_argument(
        "--longest", type=positive, default=8, help="letters of the longest string (%(default)s)"
    )
    parser.add_argument(
        "--tell-every", type=positive, default=100, help="steps between lines of progress (%(default)s)"
    )
    parser.add_argument("--seed", type=int, default=1, help="of weights and strings (%(default)s)")
    parser.add_argument("words", nargs="*", help="words to reverse at the end, letters a to z")
    options = parser.parse_args()
    for word in options.words:
        if not word or set(word) - set(LETTERS):
            parser.error(f"{word!r} has something other than the letters a to z")
    return options


def main():
    options = parse_options()
    tf.set_random_seed(options.seed)
    rng = np.random.RandomState(options.seed)
    held_out = held_out_strings(rng, options.longest)

    net = build_network(max([options.longest, *map(len, options.words)]))
    # The matrices are small: a second thread for each would mostly be waited for.
    with tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=1)) as sess:
        sess.run(tf.global_variables_initializer())
        print(f"{len(held_out)} strings of up to {options.longest} letters are held out to test with")
        train(net, sess, rng, held_out, options)
        print(f"held-out strings reversed without a mistake: {share_right(net, sess, held_out):.1%}\n")
        shown = held_out[:8] + options.words
        for text, answer in zip(shown, reversed_by(net, sess, shown)):
            verdict = "" if answer == text[::-1] else f"   wrong: it is {text[::-1]}"
            print(f"{text:>{max(map(len, shown))}}  ->  {answer}{verdict}")


if __name__ == "__main__":
    main()
