"""Input pipelines of TensorFlow 2, with sessions at a target: `python client_pipelines.py [TARGET]`."""

import json
import sys

import tensorflow as tf

tf.compat.v1.disable_eager_execution()


def pipelines():
    """Datasets, by name."""
    numbers = tf.data.Dataset.range(6)
    files = tf.data.Dataset.range(0, 20, 10)
    options = tf.data.Options()
    options.deterministic = True
    yield "mapped", numbers.map(lambda x: x * x, num_parallel_calls=2)
    yield "mapped at will", numbers.map(lambda x: x + 1, num_parallel_calls=tf.data.AUTOTUNE).prefetch(1)
    yield "in any order", numbers.map(lambda x: x, num_parallel_calls=2, deterministic=False)
    yield "with options", numbers.with_options(options).batch(4)

    def lines(x):
        return tf.data.Dataset.range(x, x + 3)

    yield "interleaved", files.interleave(lines, cycle_length=2, num_parallel_calls=2)
    yield (
        "interleaved as of old",
        files.apply(tf.data.experimental.parallel_interleave(lines, cycle_length=2)),
    )

    def negated(part):
        return part.map(lambda x: -x, num_parallel_calls=2).batch(3)

    yield "in a function", numbers.window(3).flat_map(negated)


def elements(dataset, target):
    """All elements of a dataset."""
    following = tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()
    found = []
    with tf.compat.v1.Session(target) as session:
        while True:
            try:
                found.append(session.run(following).tolist())
            except tf.errors.OutOfRangeError:
                return found


target = sys.argv[1] if len(sys.argv) > 1 else ""
found = {name: elements(dataset, target) for name, dataset in pipelines()}
found["in any order"].sort()
print(json.dumps(found))
