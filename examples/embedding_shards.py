"""Embeddings too large for one machine: a table in shards on parameter servers, of which a step moves rows.

A model of which item follows which. The table of embeddings and the weights of the softmax over all items lie
in shards on the servers. A step looks up its batch where the rows are, draws the wrong answers it compares
with (sampled softmax), and sends the gradients of those rows back, which are applied in place. What moves has
the size of the batch, whatever the size of the table.

    python examples/embedding_shards.py --ps 2 --rows 500000
    tideflow launch --ps 2 --workers 2 examples/embedding_shards.py
"""

import time

import numpy as np

try:
    import tideflow as tf
except ImportError:
    import tensorflow as tf  # TensorFlow 1.15 runs it as well

from cluster_task import flags, run


def batch(rng, options):
    """Items, few of them frequent, and what follows each: a rule that can be learned."""
    items = np.minimum(rng.zipf(1.3, size=options.batch), options.rows) - 1
    return items, ((items * 7 + 3) % options.rows)[:, None]


def model(task, options):
    """The loss of sampled softmax over sharded tables."""
    mine = f"/job:worker/task:{task.index}"
    shards = len(task.cluster["ps"])
    with tf.device(tf.train.replica_device_setter(worker_device=mine, cluster=task.cluster)):
        step = tf.train.get_or_create_global_step()
        items = tf.placeholder(tf.int64, [options.batch])
        followers = tf.placeholder(tf.int64, [options.batch, 1])
        with tf.variable_scope("items", partitioner=tf.fixed_size_partitioner(shards)):
            table = tf.get_variable(
                "table", [options.rows, options.width], initializer=tf.random_uniform_initializer(-0.1, 0.1)
            )
            weights = tf.get_variable(
                "weights", [options.rows, options.width], initializer=tf.zeros_initializer()
            )
            biases = tf.get_variable("biases", [options.rows], initializer=tf.zeros_initializer())
        inputs = tf.nn.embedding_lookup(table, items, partition_strategy="div")
        loss = tf.reduce_mean(
            tf.nn.sampled_softmax_loss(
                weights,
                biases,
                followers,
                inputs,
                num_sampled=options.sampled,
                num_classes=options.rows,
                partition_strategy="div",
            )
        )
        train = tf.train.AdagradOptimizer(0.5).minimize(loss, global_step=step)
    return items, followers, loss, step, train


def work(task, target, options):
    """What a worker does."""
    items, followers, loss, step, train = model(task, options)
    is_chief = task.index == 0
    hooks = [tf.train.StopAtStepHook(last_step=options.steps)]
    rng = np.random.RandomState(task.index)
    seconds, losses = [], []
    with tf.train.MonitoredTrainingSession(target, is_chief=is_chief, hooks=hooks) as session:
        while not session.should_stop():
            given, wanted = batch(rng, options)
            began = time.time()
            done, found, _ = session.run([step, loss, train], {items: given, followers: wanted})
            seconds.append(time.time() - began)
            losses.append(found)
            if is_chief and len(losses) % 100 == 0:
                print(f"step {done:5d}   loss {np.mean(losses[-100:]):.3f}", flush=True)
    if is_chief:
        rows = 2 * options.batch + options.sampled
        print(
            f"{1000 * np.median(seconds):.2f} ms a step   loss {np.mean(losses[-100:]):.3f}   tables "
            f"{2 * options.rows * options.width * 4 / 1e6:.0f} MB   rows of a step "
            f"{rows * options.width * 4 / 1e3:.0f} kB each way",
            flush=True,
        )


def main():
    parser = flags(__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=200000, help="items")
    parser.add_argument("--width", type=int, default=32, help="numbers of an embedding")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--sampled", type=int, default=64, help="wrong answers to compare with")
    parser.add_argument("--steps", type=int, default=600)
    parser.set_defaults(ps=2)
    run(work, parser.parse_args())


if __name__ == "__main__":
    main()
