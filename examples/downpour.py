"""Downpour SGD, as DistBelief trained: replicas that work on copies of the parameters of their own.

Every worker takes steps on its local parameters. It fetches the servers' parameters every `--n_fetch` steps,
and pushes the sum of its gradients every `--n_push` steps; the servers apply what arrives with Adagrad.
Nobody waits for anybody: a worker that is slow, or gone, holds up no other.

    python examples/downpour.py                                       # starts a small cluster here
    tideflow launch --ps 2 --workers 4 examples/downpour.py           # or as tasks of one
    python examples/downpour.py --job_name=worker --task_index=0 --ps_hosts=… --worker_hosts=…
"""

import numpy as np

try:
    import tideflow as tf
except ImportError:
    import tensorflow as tf  # TensorFlow 1.15 runs it as well

from cluster_task import flags, run

FEATURES, HIDDEN, CLASSES = 20, 32, 4
SHAPES = {"w1": [FEATURES, HIDDEN], "b1": [HIDDEN], "w2": [HIDDEN, CLASSES], "b2": [CLASSES]}


def batch(rng, size):
    """Points, and the classes that a fixed rule gives them."""
    points = rng.normal(size=[size, FEATURES]).astype(np.float32)
    rule = np.random.RandomState(7).normal(size=[FEATURES, CLASSES])
    return points, np.argmax(np.tanh(points).dot(rule), axis=1)


def scores(x, parameters):
    """A network of one hidden layer."""
    hidden = tf.nn.relu(tf.matmul(x, parameters["w1"]) + parameters["b1"])
    return tf.matmul(hidden, parameters["w2"]) + parameters["b2"]


def local_variable(name, shape):
    """A variable of this worker alone."""
    return tf.Variable(
        tf.zeros(shape), name=name, trainable=False, collections=[tf.GraphKeys.LOCAL_VARIABLES]
    )


class Replica:
    """The graph of one worker."""

    def __init__(self, task, options):
        mine = f"/job:worker/task:{task.index}"
        with tf.device(tf.train.replica_device_setter(worker_device=mine, cluster=task.cluster)):
            self.pushes = tf.train.get_or_create_global_step()
            shared = {
                name: tf.get_variable(name, shape, initializer=tf.glorot_uniform_initializer(seed=1))
                if len(shape) > 1
                else tf.get_variable(name, shape, initializer=tf.zeros_initializer())
                for name, shape in sorted(SHAPES.items())
            }
        with tf.device(mine):
            self.x = tf.placeholder(tf.float32, [None, FEATURES])
            self.y = tf.placeholder(tf.int64, [None])
            local = {name: local_variable("local_" + name, shape) for name, shape in SHAPES.items()}
            accrued = {name: local_variable("accrued_" + name, shape) for name, shape in SHAPES.items()}
            logits = scores(self.x, local)
            self.loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=self.y, logits=logits)
            )
            self.accuracy = tf.reduce_mean(
                tf.cast(tf.equal(tf.argmax(scores(self.x, shared), 1), self.y), tf.float32)
            )
            slopes = dict(zip(local, tf.gradients(self.loss, list(local.values()))))
            self.step = tf.group(
                *[accrued[name].assign_add(slope) for name, slope in slopes.items()]
                + [local[name].assign_sub(options.rate * slope) for name, slope in slopes.items()]
            )
            self.fetch = tf.group(*[local[name].assign(shared[name]) for name in SHAPES])
            pairs = [(accrued[name].read_value(), shared[name]) for name in SHAPES]
        push = tf.train.AdagradOptimizer(options.rate).apply_gradients(pairs, global_step=self.pushes)
        with tf.control_dependencies([push]), tf.device(mine):
            self.push = tf.group(*[accrued[name].assign(tf.zeros_like(accrued[name])) for name in SHAPES])


def work(task, target, options):
    """What a worker does, until the workers have pushed enough together."""
    replica = Replica(task, options)
    rng = np.random.RandomState(task.index)
    unseen = batch(np.random.RandomState(1000), 2000)
    hooks = [tf.train.StopAtStepHook(last_step=options.pushes)]
    with tf.train.MonitoredTrainingSession(target, is_chief=task.index == 0, hooks=hooks) as session:
        step = 0
        while not session.should_stop():
            points, classes = batch(rng, options.batch)
            ops = [replica.step] if step % options.n_fetch else [replica.fetch, replica.step]
            for op in ops + [replica.push] * (step % options.n_push == options.n_push - 1):
                if not session.should_stop():
                    session.run(op, {replica.x: points, replica.y: classes})
            step += 1
            if task.index == 0 and step % (20 * options.n_push) == 0 and not session.should_stop():
                feeds = {replica.x: unseen[0], replica.y: unseen[1]}
                pushed, right = session.run([replica.pushes, replica.accuracy], feeds)
                print(f"{pushed:5d} pushes   accuracy on unseen points {right:.1%}", flush=True)


def main():
    parser = flags(__doc__.splitlines()[0])
    parser.add_argument("--n_push", type=int, default=5, help="steps between pushes of gradients")
    parser.add_argument("--n_fetch", type=int, default=5, help="steps between fetches of parameters")
    parser.add_argument("--pushes", type=int, default=400, help="pushes of all workers together")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rate", type=float, default=0.1)
    run(work, parser.parse_args())


if __name__ == "__main__":
    main()
