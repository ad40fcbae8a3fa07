"""A silent master loses its sessions; one that sends heartbeats keeps them, however long its steps wait."""

import threading

import pytest

import tideflow as tf
from tideflow.cluster import heartbeats, membership
from tideflow.cluster.messages import Alive, Heartbeat
from tideflow.cluster.tasks import task_name

_SECONDS = 60


@pytest.fixture
def rounds(server, monkeypatch):
    """Counts the rounds of the server's heartbeats, which are quick here; a lease is of two."""
    monkeypatch.setattr(membership, "LEASE_ROUNDS", 2)
    monkeypatch.setattr(heartbeats, "HEARTBEAT_SECONDS", 0.01)
    counted, real = threading.Semaphore(0), server._worker.next_round

    def count():
        real()
        counted.release()

    monkeypatch.setattr(server._worker, "next_round", count)
    server.start()
    return counted


@pytest.fixture
def server():
    server = tf.train.Server.create_local_server(start=False)
    yield server
    server.stop()


def _wait_for(rounds, count):
    for _ in range(count):
        assert rounds.acquire(timeout=_SECONDS)


def test_a_step_of_a_session_in_this_process_may_wait_long(server, rounds):
    taken = []
    with tf.Graph().as_default():
        queue = tf.FIFOQueue(1, tf.int32, shared_name="slow")
        dequeue, enqueue = queue.dequeue(), queue.enqueue(3)
        with tf.Session(server.target) as session:
            thread = threading.Thread(target=lambda: taken.append(session.run(dequeue)), daemon=True)
            thread.start()
            _wait_for(rounds, 20)
            assert thread.is_alive()
            session.run(enqueue)
            thread.join(_SECONDS)
    assert taken == [3]


def test_a_session_of_a_lost_master_is_forgotten(server, rounds):
    """A master that has vanished without a word: no heartbeat renews its lease any more."""
    with tf.Graph().as_default():
        one = tf.constant(1) + 1
        with tf.Session(server.target) as session:
            assert session.run(one) == 2
            server._sessions._local.clear()
            _wait_for(rounds, 20)
            with pytest.raises(tf.errors.AbortedError, match="session was closed"):
                session.run(one)


@pytest.mark.parametrize(("late", "is_lost"), [(1, False), (2, True)])
def test_a_peer_is_lost_when_it_is_late_twice(monkeypatch, late, is_lost):
    """Once may be because this process itself was stopped while a heartbeat was under way."""
    cluster = {"ps": ["localhost:0"], "worker": ["localhost:1"]}
    server = tf.train.Server(cluster, job_name="ps", task_index=0, start=False)
    name = task_name("worker", 0)
    answers = [tf.errors.DeadlineExceededError(None, None, "late")] * late + [Alive(missing=[])]
    lost = []

    def call(message, kind, timeout):
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(server._remote[name].peer, "call", call)
    monkeypatch.setattr(server._worker, "lose_task", lambda task, error: lost.append(task))
    server._heartbeats._send_heartbeat(name, Heartbeat(task="me", sessions=[]))
    assert lost == ([name] if is_lost else [])
    server.stop()
