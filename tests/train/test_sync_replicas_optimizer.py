"""SyncReplicasOptimizer with replicas that run at once, each in a thread of its own."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import tideflow as tf

_SECONDS = 60


class Replicas:
    """Replicas of one model in one graph: they share its variables, accumulators and tokens by name."""

    def __init__(self, count: int, need: int, slopes: list[float], **options):
        self.step = tf.train.get_or_create_global_step()
        self.weight = tf.get_variable("weight", initializer=np.float32(0))
        self.optimizers = [
            tf.train.SyncReplicasOptimizer(
                tf.train.GradientDescentOptimizer(1.0), need, total_num_replicas=count, **options
            )
            for _ in range(count)
        ]
        self.train = [
            optimizer.minimize(self.weight * slope, global_step=self.step)
            for optimizer, slope in zip(self.optimizers, slopes)
        ]
        self.hooks = [
            optimizer.make_session_run_hook(is_chief=number == 0)
            for number, optimizer in enumerate(self.optimizers)
        ]
        self.ended: list[type] = []
        for hook in self.hooks:
            hook.begin()

    def start(self, session, coordinator):
        session.run(tf.global_variables_initializer())
        for hook in self.hooks:
            hook.after_create_session(session, coordinator)

    def work(self, session, replica: int, enough, limit: int | None = None):
        """What a worker does: one step after the other, until there have been enough."""
        try:
            while limit is None or limit > 0:
                session.run(self.train[replica], options=tf.RunOptions(timeout_in_ms=_SECONDS * 1000))
                limit = None if limit is None else limit - 1
                if session.run(self.step) >= enough:
                    return
        except (tf.errors.OpError, RuntimeError) as error:  # the latter: the session was closed between steps
            self.ended.append(type(error))


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


@pytest.fixture
def session():
    with tf.Session() as made:
        yield made


@pytest.fixture
def coordinator():
    made = tf.train.Coordinator()
    yield made
    made.request_stop()


def run_together(replicas, session, workers):
    threads = [threading.Thread(target=replicas.work, args=(session, *worker)) for worker in workers]
    for thread in threads:
        thread.start()
    return threads


def wait_for(replicas, session, step):
    """Runs the step counter until it is there."""
    deadline = threading.Event()
    timer = threading.Timer(_SECONDS, deadline.set)
    timer.start()
    try:
        while session.run(replicas.step) < step:
            assert not deadline.is_set(), "training did not go on"
    finally:
        timer.cancel()


def test_every_step_is_the_mean_of_its_gradients(session, coordinator):
    replicas = Replicas(2, 2, [1.0, 3.0])
    replicas.start(session, coordinator)
    run_together(replicas, session, [(0, 10), (1, 10)])
    wait_for(replicas, session, 10)
    step, weight = session.run([replicas.step, replicas.weight])
    assert step >= 10
    # Who is quick may take two tokens of a step: each step is a mean of ones and threes.
    assert -3.0 * step <= weight <= -1.0 * step


def test_gradients_that_come_too_late_are_dropped(session, coordinator):
    replicas = Replicas(3, 2, [1.0, 1.0, float("nan")])
    replicas.start(session, coordinator)
    run_together(replicas, session, [(0, 5), (1, 5)])
    wait_for(replicas, session, 5)
    replicas.work(session, 2, 0, limit=1)  # a straggler: its gradient is of step 0
    step, weight = session.run([replicas.step, replicas.weight])
    assert weight == -float(step)


def test_backup_workers_make_up_for_one_that_left(session, coordinator):
    replicas = Replicas(3, 2, [1.0, 1.0, 1.0])
    replicas.start(session, coordinator)
    run_together(replicas, session, [(0, 20), (1, 20), (2, 20, 2)])
    wait_for(replicas, session, 20)
    step, weight = session.run([replicas.step, replicas.weight])
    assert step >= 20 and weight == -float(step)


def test_one_replica_may_make_several_batches_a_step(session, coordinator):
    replicas = Replicas(1, 3, [1.0])
    replicas.start(session, coordinator)
    run_together(replicas, session, [(0, 4)])
    wait_for(replicas, session, 4)
    step, weight = session.run([replicas.step, replicas.weight])
    assert weight == -float(step)


def test_the_end_of_the_session_frees_who_waits():
    replicas = Replicas(2, 2, [1.0, 1.0])
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        threads = run_together(replicas, session, [(0, 10)])  # its partner never comes, nor does the chief
        count = replicas.optimizers[0]._accumulator_list[0][0].num_accumulated()
        while session.run(count) < 1:
            pass
    threads[0].join(_SECONDS)
    assert not threads[0].is_alive()
    assert replicas.ended and issubclass(replicas.ended[0], tf.errors.CancelledError)


def test_rows_of_a_table_are_averaged(session, coordinator):
    """A mean over the replicas that have a row, in which a row that one has twice counts once."""
    step = tf.train.get_or_create_global_step()
    table = tf.get_variable("table", [4, 1], initializer=tf.zeros_initializer())
    rows = tf.placeholder(tf.int32, [None])
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(1.0), 2)
    train = optimizer.minimize(tf.reduce_sum(tf.nn.embedding_lookup(table, rows)), global_step=step)
    session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    session.run(optimizer.chief_init_op)
    threads = [threading.Thread(target=session.run, args=(train, {rows: r})) for r in ([0, 0, 1], [1, 2])]
    for thread in threads:
        thread.start()
    session.run(optimizer.get_chief_queue_runner().enqueue_ops)
    for thread in threads:
        thread.join(_SECONDS)
    assert session.run(table).ravel().tolist() == [-2.0, -1.0, -1.0, 0.0]


def test_a_monitored_session_trains(tmp_path):
    step = tf.train.get_or_create_global_step()
    weight = tf.get_variable("weight", initializer=np.float32(0))
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.5), 1)
    train = optimizer.minimize((weight - 3.0) ** 2, global_step=step)
    hooks = [optimizer.make_session_run_hook(is_chief=True, num_tokens=0), tf.train.StopAtStepHook(10)]
    with tf.train.MonitoredTrainingSession(hooks=hooks, checkpoint_dir=str(tmp_path)) as session:
        while not session.should_stop():
            found = session.run([train, weight])
    assert found[0] >= 9
    assert tf.train.load_variable(str(tmp_path), "weight") == 3.0
