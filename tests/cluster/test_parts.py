"""Parts that are left where they would have to wait, and taken up by whoever brings what they want."""

import threading

import pytest

import tideflow as tf
from tests.cluster.clusters import servers
from tideflow.cluster.part import Visit
from tideflow.runtime import waiting
from tideflow.runtime.waiting import ABSENT, Limits, PendingValue

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
            while _under_way(server) <= index:  # they stand in line in the order in which they came
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


def _under_way(server):
    return sum(len(session.steps) for session in list(server._worker._sessions.values()))


def _warm(session, put, take):
    """The first runs are not known to be quick."""
    for _ in range(3):
        session.run(put)
        session.run(take)


def _queue():
    with tf.device("/job:ps"):
        queue = tf.FIFOQueue(100, tf.int32, shapes=[[]])
        return queue, queue.dequeue(), queue.enqueue(7)


def test_who_waits_at_a_queue_of_another_task_keeps_no_thread_there(cluster):
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


def test_closing_the_queue_lets_them_go(cluster):
    queue, take, put = _queue()
    close = queue.close()
    with tf.Session(cluster["worker", 0].target) as session:
        _warm(session, put, take)
        waiters = _Waiters(session, take, 3, cluster["ps", 0])
        session.run(close)
        assert [type(result) for result in waiters.join()] == [tf.errors.OutOfRangeError] * 3


def test_closing_the_session_lets_them_go(cluster):
    _, take, put = _queue()
    session = tf.Session(cluster["worker", 0].target)
    _warm(session, put, take)
    waiters = _Waiters(session, take, 3, cluster["ps", 0])
    session.close()
    assert [type(result) for result in waiters.join()] == [tf.errors.CancelledError] * 3


def test_who_gives_up_takes_nothing(cluster):
    queue, take, put = _queue()
    size = queue.size()
    with tf.Session(cluster["worker", 0].target) as session:
        _warm(session, put, take)
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(take, options=tf.RunOptions(timeout_in_ms=50))
        session.run(put)
        assert session.run(size) == 1
        assert session.run(take) == 7


def test_gradients_of_other_tasks_are_waited_for(cluster):
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
    """A pending value that the test grants."""

    what = "Waiting for the test"

    def __init__(self):
        self.value, self.call, self.given_up = ABSENT, None, False

    def get(self, call):
        self.call = call
        return self.value

    def cancel(self):
        self.given_up = True
        return self.value


class _Steps:
    """A run with one pending value, which gives what it was granted."""

    def __init__(self, pending):
        self._pending, self.values = iter([pending, None]), ()

    def go_on(self, value=None):
        self.values = (value,)
        return next(self._pending)


@pytest.fixture
def visit():
    """A visit with a pending value, what it puts off, and how it ended."""
    pending, later, ends, limits = _Promise(), [], [], Limits()
    Visit(_Steps(pending), limits, later.append, lambda *end: ends.append(end)).go_on()
    return pending, later, ends, limits


def test_a_run_is_over_when_its_pending_value_arrives(visit):
    pending, later, ends, _ = visit
    assert not ends
    pending.value = 3
    pending.call(), pending.call()  # once too often
    for call in later:
        call()
    assert ends == [((3,), None)]


def test_a_run_that_is_woken_for_nothing_goes_on_waiting(visit):
    pending, later, ends, _ = visit
    pending.call()
    later.pop()()
    assert not ends and not pending.given_up


def test_a_run_of_a_cancelled_step_ends(visit):
    pending, later, ends, limits = visit
    limits.cancelled = True
    pending.call()
    later.pop()()
    ((_, error),) = ends
    assert isinstance(error, tf.errors.CancelledError) and pending.given_up


def test_what_was_granted_at_the_last_moment_counts():
    pending = _Promise()

    def late(call):
        pending.value = ABSENT
        return ABSENT

    pending.get, pending.cancel = late, lambda: 4
    with waiting.under(Limits(deadline=0.0, seconds=1.0)):
        assert waiting.wait_for(pending) == 4


def test_an_interrupt_cancels_the_pending_value(monkeypatch):
    pending = _Promise()

    def interrupted(wake_event, seconds):
        raise KeyboardInterrupt

    monkeypatch.setattr(waiting.WakeEvent, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        waiting.wait_for(pending)
    assert pending.given_up
