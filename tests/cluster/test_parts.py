"""Parts that suspend where a value is pending, and resume when it arrives."""

import threading

import pytest

import tideflow as tf
from tests.cluster.clusters import servers
from tideflow.cluster.part import SuspendableRun
from tideflow.runtime import waiting
from tideflow.runtime.waiting import ABSENT, PendingValue, StepContext

_SECONDS = 60
_WAITERS = 12


@pytest.fixture
def cluster():
    with servers(ps=1, worker=1) as made, tf.Graph().as_default():
        yield made


class _Waiters:
    """Threads that each run one step and note what it gave, in order."""

    def __init__(self, session, fetch, count, server):
        self.results, self._lock = [], threading.Lock()
        self._threads = []
        for index in range(count):
            thread = threading.Thread(target=self._run, args=(session, fetch), daemon=True)
            thread.start()
            self._threads.append(thread)
            while len(server._worker._running) <= index:  # the queue serves them in this order
                pass

    def _run(self, session, fetch):
        try:
            result = session.run(fetch)
        except tf.errors.OpError as error:
            result = error
        with self._lock:
            self.results.append(result)

    def join(self):
        for thread in self._threads:
            thread.join(_SECONDS)
            assert not thread.is_alive()
        return self.results


def _warm(session, put, take):
    """The first runs are not known to be quick."""
    for _ in range(3):
        session.run(put)
        session.run(take)


def _queue():
    with tf.device("/job:ps"):
        queue = tf.FIFOQueue(100, tf.int32, shapes=[[]])
        return queue, queue.dequeue(), queue.enqueue(7)


def test_a_step_that_waits_at_a_queue_of_another_task_keeps_no_thread_there(cluster):
    server = cluster["ps", 0]
    _, take, put = _queue()
    with tf.Session(cluster["worker", 0].target) as session:
        _warm(session, put, take)
        started = server._threads._started
        waiters = _Waiters(session, take, _WAITERS, server)
        assert server._threads._started == started
        for _ in range(_WAITERS):
            session.run(put)
        assert waiters.join() == [7] * _WAITERS


def test_closing_the_queue_ends_the_waiting_steps(cluster):
    queue, take, put = _queue()
    close = queue.close()
    with tf.Session(cluster["worker", 0].target) as session:
        _warm(session, put, take)
        waiters = _Waiters(session, take, 3, cluster["ps", 0])
        session.run(close)
        assert [type(result) for result in waiters.join()] == [tf.errors.OutOfRangeError] * 3


def test_closing_the_session_ends_the_waiting_steps(cluster):
    _, take, put = _queue()
    session = tf.Session(cluster["worker", 0].target)
    _warm(session, put, take)
    waiters = _Waiters(session, take, 3, cluster["ps", 0])
    session.close()
    assert [type(result) for result in waiters.join()] == [tf.errors.CancelledError] * 3


def test_a_step_that_times_out_takes_no_element(cluster):
    queue, take, put = _queue()
    size = queue.size()
    with tf.Session(cluster["worker", 0].target) as session:
        _warm(session, put, take)
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(take, options=tf.RunOptions(timeout_in_ms=50))
        session.run(put)
        assert session.run(size) == 1
        assert session.run(take) == 7


def test_a_step_waits_for_the_gradients_of_other_tasks(cluster):
    with tf.device("/job:ps"):
        gathered = tf.ConditionalAccumulator(tf.float32, shape=[])
        add, take = gathered.apply_grad(2.0, local_step=1 << 40), gathered.take_grad(2)
    with tf.Session(cluster["worker", 0].target) as session:
        for _ in range(3):
            session.run(add), session.run(add)
            assert session.run(take) == 2.0
        waiters = _Waiters(session, take, 2, cluster["ps", 0])
        for _ in range(4):
            session.run(add)
        assert waiters.join() == [2.0, 2.0]


class _Promise(PendingValue):
    """A pending value whose value the test sets."""

    what = "Waiting for the test"

    def __init__(self):
        self.value, self.call, self.is_cancelled = ABSENT, None, False

    def get(self, call):
        self.call = call
        return self.value

    def cancel(self):
        self.is_cancelled = True
        return self.value


class _Run:
    """A run with one pending value, whose result is that value."""

    def __init__(self, pending):
        self._pending, self.values = iter([pending, None]), ()

    def advance(self, value=None):
        self.values = (value,)
        return next(self._pending)


@pytest.fixture
def suspended():
    """The pending value of a suspended run, the calls of `call_soon`, its results, and its context."""
    pending, calls, results, context = _Promise(), [], [], StepContext()
    SuspendableRun(_Run(pending), context, calls.append, lambda *result: results.append(result)).resume()
    return pending, calls, results, context


def test_a_run_is_over_when_its_pending_value_arrives(suspended):
    pending, calls, results, _ = suspended
    assert not results
    pending.value = 3
    pending.call(), pending.call()  # once too often
    for call in calls:
        call()
    assert results == [((3,), None)]


def test_a_run_that_is_woken_without_a_value_stays_suspended(suspended):
    pending, calls, results, _ = suspended
    pending.call()
    calls.pop()()
    assert not results and not pending.is_cancelled


def test_a_run_of_a_cancelled_step_ends(suspended):
    pending, calls, results, context = suspended
    context.cancel()
    pending.call()
    calls.pop()()
    ((_, error),) = results
    assert isinstance(error, tf.errors.CancelledError) and pending.is_cancelled


def test_a_value_that_arrives_at_the_last_moment_counts():
    pending = _Promise()

    def late(call):
        pending.value = ABSENT
        return ABSENT

    pending.get, pending.cancel = late, lambda: 4
    assert StepContext(timeout=0.0).wait_for(pending) == 4


def test_an_interrupt_cancels_the_pending_value(monkeypatch):
    pending = _Promise()

    def interrupted(wake_event, seconds):
        raise KeyboardInterrupt

    monkeypatch.setattr(waiting.WakeEvent, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        StepContext().wait_for(pending)
    assert pending.is_cancelled
