"""Trains a network on pictures of digits between graphs: every worker has a graph of its own, and all of them
share the variables that the parameter servers hold. Nobody waits for anybody.

    python examples/between_graph.py                                  # starts a small cluster here
    tideflow launch --ps 2 --workers 4 examples/between_graph.py      # or as tasks of one
    tideflow launch --restarts 3 --workers 2 examples/between_graph.py --logdir /tmp/digits --steps 5000

With `--logdir` the chief writes checkpoints there, and a job that is started again goes on from the last one:
try kill -9 on any of the tasks.
"""

import numpy as np
from cluster_task import flags, run
from sklearn.datasets import load_digits

import tideflow as tf

HIDDEN = 64


def load():
    """Pictures of 8 by 8 pixels and their digits: those to learn from, and those to be asked about."""
    data = load_digits()
    order = np.random.RandomState(0).permutation(len(data.target))
    pictures, digits = (data.data[order] / 16).astype(np.float32), data.target[order].astype(np.int64)
    return (pictures[360:], digits[360:]), (pictures[:360], digits[:360])


def build(task):
    """The graph of one worker: variables on the parameter servers, everything else here."""
    mine = f"/job:worker/task:{task.index}"
    with tf.device(tf.train.replica_device_setter(worker_device=mine, cluster=task.cluster)):
        step = tf.train.get_or_create_global_step()
        x = tf.placeholder(tf.float32, [None, 64])
        y = tf.placeholder(tf.int64, [None])
        hidden = tf.layers.dense(x, HIDDEN, tf.nn.relu)
        logits = tf.layers.dense(hidden, 10)
        loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
        right = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), y), tf.float32))
        train = tf.train.AdagradOptimizer(0.1).minimize(loss, global_step=step)
    return x, y, step, loss, right, train


def work(task, target, options):
    """What a worker does, until the workers together have taken enough steps."""
    x, y, step, loss, right, train = build(task)
    (pictures, digits), unseen = load()
    rng = np.random.RandomState(task.index)
    with tf.train.MonitoredTrainingSession(
        master=target,
        is_chief=task.index == 0,
        checkpoint_dir=options.logdir,
        hooks=[tf.train.StopAtStepHook(last_step=options.steps)],
        save_checkpoint_steps=200,
        save_checkpoint_secs=None,
        log_step_count_steps=None,
        stop_grace_period_secs=1,
        config=tf.ConfigProto(device_filters=["/job:ps", f"/job:worker/task:{task.index}"]),
    ) as session:
        taken = 0
        while not session.should_stop():
            some = rng.randint(0, len(digits), options.batch)
            reached, found, _ = session.run([step, loss, train], {x: pictures[some], y: digits[some]})
            taken += 1
            if taken % 100 == 0 and not session.should_stop():
                share = session.run(right, {x: unseen[0], y: unseen[1]})
                print(f"step {reached}: loss {found:.3f}, accuracy {share:.1%} on unseen digits", flush=True)
    print(f"done at step {reached}, {taken} of them taken here", flush=True)


def main():
    parser = flags(__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=1000, help="steps of all workers together")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--logdir", help="where checkpoints are, which all tasks can reach")
    run(work, parser.parse_args())


if __name__ == "__main__":
    main()
