"""Synchronous training with backup workers, and stragglers put in on purpose.

Every step needs the gradients of `--need` workers; more of them are backups, and the slowest of each step are
not waited for. Started alone, the program trains with no backup, with one, and so on, and prints what each
backup brings: t(0)/t(b), how many times faster a step is, and that times n/(n+b), what is left of it when the
backups' machines are counted too.

    python examples/sync_replicas.py --need 3 --backups 2
    tideflow launch --ps 1 --workers 4 examples/sync_replicas.py --need 3
"""

import re
import time

import numpy as np

try:
    import tideflow as tf
except ImportError:
    import tensorflow as tf  # TensorFlow 1.15 runs it as well

from cluster_task import flags, run, run_locally

FEATURES = 10
TRUTH = np.linspace(-1.0, 1.0, FEATURES, dtype=np.float32)


def graph_of(task, options):
    """The loss of a linear model, the step that all take together, and the optimizer."""
    mine = f"/job:worker/task:{task.index}"
    with tf.device(tf.train.replica_device_setter(worker_device=mine, cluster=task.cluster)):
        step = tf.train.get_or_create_global_step()
        x = tf.placeholder(tf.float32, [None, FEATURES])
        weights = tf.get_variable("weights", [FEATURES], initializer=tf.zeros_initializer())
        loss = tf.reduce_mean((tf.tensordot(x, weights, 1) - tf.tensordot(x, TRUTH, 1)) ** 2)
        optimizer = tf.train.SyncReplicasOptimizer(
            tf.train.GradientDescentOptimizer(0.05),
            replicas_to_aggregate=options.need,
            total_num_replicas=len(task.cluster["worker"]),
        )
        train = optimizer.minimize(loss, global_step=step)
    return x, loss, step, train, optimizer


def turn(rng, options):
    """The seconds that a worker's computing takes this time, and its batch. Stragglers are rare, and some are
    very slow: their delays follow a power law.
    """
    straggles = rng.uniform() < options.straggles
    seconds = options.compute + (options.delay * (1 + rng.pareto(options.tail)) if straggles else 0.0)
    return seconds, rng.normal(size=[16, FEATURES])


def work(task, target, options):
    """What a worker does. Computing is sleeping here."""
    x, loss, step, train, optimizer = graph_of(task, options)
    is_chief = task.index == 0
    hooks = [optimizer.make_session_run_hook(is_chief), tf.train.StopAtStepHook(last_step=options.steps)]
    rng = np.random.RandomState(task.index)
    began, first, last, found = None, 0, 0, float("nan")
    with tf.train.MonitoredTrainingSession(
        target, is_chief=is_chief, hooks=hooks, stop_grace_period_secs=1
    ) as session:
        while not session.should_stop():
            seconds, points = turn(rng, options)
            time.sleep(seconds)
            last, found, _ = session.run([step, loss, train], {x: points})
            if began is None:  # the others may still be starting: not counted
                began, first = time.time(), last
    seconds = (time.time() - began) / max(1, last - first)
    if is_chief:
        print(f"seconds a step {seconds:.4f}   loss {found:.4f}   steps {last}", flush=True)


def compare(options, arguments):
    """Trains with 0, 1, … backups and prints what they bring; the seconds a step takes with each number."""
    n, found = options.need, []
    for backups in range(options.backups + 1):
        options.workers = n + backups
        printed = run_locally(options, arguments)
        found.append(float(re.search(r"seconds a step ([\d.]+)", printed).group(1)))
        gain = found[0] / found[-1]
        print(
            f"{n} workers and {backups} backups: {1000 * found[-1]:.1f} ms a step   "
            f"t(0)/t(b) {gain:.2f}   x n/(n+b) {gain * n / (n + backups):.2f}",
            flush=True,
        )
    return found


def experiment_flags(description):
    """A parser that knows the flags of the experiment."""
    parser = flags(description)
    parser.add_argument("--need", type=int, default=3, help="workers whose gradients a step needs")
    parser.add_argument("--backups", type=int, default=2, help="the most workers to have beyond these")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--compute", type=float, default=0.02, help="seconds that computing takes")
    parser.add_argument("--straggles", type=float, default=0.1, help="how often a worker is a straggler")
    parser.add_argument(
        "--delay", type=float, default=0.3, help="seconds that a straggler takes longer, at least"
    )
    parser.add_argument("--tail", type=float, default=3.0, help="exponent of the power law of longer delays")
    return parser


def main():
    run(work, experiment_flags(__doc__.splitlines()[0]).parse_args(), alone=compare)


if __name__ == "__main__":
    main()
