"""A network that learns from pictures in a TFRecord file: its loop, fed by a pipeline or from memory."""

import functools
from itertools import cycle

import numpy as np

from benchmarks.works import Step
from benchmarks.works.example_files import write

BATCH = 64
COUNT = 64 * BATCH
LOOP = 40  # training steps of a measured one: many more than a pipeline has ready

rng = np.random.RandomState(0)
PIXELS = rng.randint(0, 256, (COUNT, 784)).astype(np.uint8)
ANSWERS = rng.randint(0, 10, COUNT).astype(np.int64)
FIRST = rng.normal(0, 0.1, (5, 5, 1, 32)).astype(np.float32)
SECOND = rng.normal(0, 0.05, (5, 5, 32, 64)).astype(np.float32)
DENSE = rng.normal(0, 0.02, (7 * 7 * 64, 10)).astype(np.float32)


@functools.cache
def pictures_file(tf):
    return write(tf, records(tf))


def records(tf):
    for pixels, answer in zip(PIXELS, ANSWERS):
        feature = {
            "pixels": tf.train.Feature(bytes_list=tf.train.BytesList(value=[pixels.tobytes()])),
            "answer": tf.train.Feature(int64_list=tf.train.Int64List(value=[answer])),
        }
        yield tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()


def parse(tf, batch):
    """Pixels in 0..1 and answers of a batch of records."""
    features = {"pixels": tf.FixedLenFeature([], tf.string), "answer": tf.FixedLenFeature([], tf.int64)}
    found = tf.parse_example(batch, features)
    return tf.cast(tf.decode_raw(found["pixels"], tf.uint8), tf.float32) / 255.0, found["answer"]


def trained(tf, pixels, answers):
    """A training step, and its loss."""
    h = tf.reshape(pixels, [BATCH, 28, 28, 1])
    for filters in (FIRST, SECOND):
        h = tf.nn.relu(tf.nn.conv2d(h, tf.Variable(filters), strides=[1, 1, 1, 1], padding="SAME"))
        h = tf.nn.max_pool(h, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")
    logits = tf.matmul(tf.reshape(h, [BATCH, -1]), tf.Variable(DENSE))
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=answers, logits=logits))
    return tf.train.GradientDescentOptimizer(1e-3).minimize(loss), loss


def fed_and_in_memory(tf, pipeline):
    """The loop on what `pipeline` gives, `(pixels, answers, start)`, beside the same loop on arrays."""
    with tf.Graph().as_default() as graph:
        pixels, answers, start = pipeline(tf, pictures_file(tf))
        fed = trained(tf, pixels, answers)
        sess = tf.Session(graph=graph)
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        start(sess)
    return Step(lambda: loop(lambda: sess.run(fed)[1]), units=LOOP, baseline=in_memory(tf))


def in_memory(tf):
    with tf.Graph().as_default() as graph:
        pixels = tf.placeholder(tf.float32, [BATCH, 784])
        answers = tf.placeholder(tf.int64, [BATCH])
        step = trained(tf, pixels, answers)
        sess = tf.Session(graph=graph)
        sess.run(tf.global_variables_initializer())
    ready = (PIXELS / np.float32(255)).reshape(-1, BATCH, 784), ANSWERS.reshape(-1, BATCH)
    batches = cycle(zip(*ready))

    def run():
        x, y = next(batches)
        return sess.run(step, {pixels: x, answers: y})[1]

    return lambda: loop(run)


def loop(run):
    """The loss of the first of many steps."""
    losses = [run() for _ in range(LOOP)]
    return losses[0]
