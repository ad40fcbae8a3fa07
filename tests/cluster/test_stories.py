"""Stories of real steps and tasks: recorded by servers, printed by id, and replayed without a cluster."""

import pytest

import tideflow as tf
from tests.cluster.clusters import cluster_of, servers
from tests.patience import eventually
from tideflow.cluster import heartbeats
from tideflow.cluster.membership import Membership
from tideflow.cluster.steps import ENDING, OVER, RUNNING, StepTable

_SECONDS = 60.0


@pytest.fixture
def cluster():
    with servers(ps=1, worker=2) as made, tf.Graph().as_default():
        yield made


def _moves(server):
    """The recorded moves of each step of a server."""
    moves = {}
    for move in server._steps_record.moves():
        moves.setdefault(move.subject, []).append(move)
    return moves


def _replayed(moves):
    return StepTable().machine.replay(moves)


def test_the_steps_of_a_cluster_replay_to_the_same_states(cluster):
    with tf.device("/job:ps"):
        variable = tf.Variable(1.0)
    with tf.device("/job:worker/task:1"):
        doubled = variable * 2.0
    with tf.device("/job:worker/task:0"):
        result = doubled + variable
    with tf.Session(cluster["worker", 0].target) as session:
        session.run(variable.initializer)
        for _ in range(3):
            assert session.run(result) == 3.0
    for server in cluster.values():
        stories = _moves(server)
        assert stories
        for moves in stories.values():
            assert _replayed(moves) == [move.state for move in moves]
            assert moves[-1].state is OVER
    steps = _moves(cluster["worker", 0])
    last = list(steps)[-1]
    assert {move.event for move in steps[last]} == {"begin", "deliver", "finish"}
    text = cluster["worker", 0].story(last)
    assert f"{last}: begin -> running" in text and "finish -> over" in text
    assert len(text.splitlines()) == len(steps[last])


def test_the_story_of_a_failed_step_has_the_reason_on_every_task(cluster):
    with tf.device("/job:worker/task:1"):
        queue = tf.FIFOQueue(1, tf.float32)
        taken = queue.dequeue()
    with tf.device("/job:ps"):
        result = taken + 1.0
    with tf.Session(cluster["worker", 0].target) as session:
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(result, options=tf.RunOptions(timeout_in_ms=1000))
    for name in (("ps", 0), ("worker", 1)):
        (moves,) = _moves(cluster[name]).values()
        assert _replayed(moves) == [move.state for move in moves]
        reasons = [move.detail for move in moves if move.event == "abort"]
        assert any("DeadlineExceededError" in reason for reason in reasons)
        assert {move.state for move in moves} <= {RUNNING, ENDING, OVER}
        assert "DeadlineExceededError" in cluster[name].story(moves[0].subject)


def test_the_story_of_a_task_tells_when_it_came_and_was_lost(monkeypatch):
    monkeypatch.setattr(heartbeats, "HEARTBEAT_SECONDS", 0.05)
    addresses = cluster_of(ps=1, worker=1)
    ps = tf.train.Server(addresses, job_name="ps", task_index=0)
    worker = tf.train.Server(addresses, job_name="worker", task_index=0)
    name = "/job:ps/replica:0/task:0"
    try:
        with tf.Graph().as_default(), tf.device("/job:ps"), tf.Session(worker.target) as session:
            assert session.run(tf.constant(1.0) + 1.0) == 2.0
            _wait_for(worker, "answer -> here")
            ps.stop()
            _wait_for(worker, "silence -> lost")
        moves = worker._tasks_record.moves(name)
        again = Membership("/job:worker/replica:0/task:0", [name]).machine
        assert again.replay(moves) == [move.state for move in moves]
        assert worker.story(name).splitlines()[0].endswith("answer -> here")
    finally:
        worker.stop()
        ps.stop()


def _wait_for(server, words):
    eventually(lambda: words in server.story("/job:ps/replica:0/task:0"), _SECONDS, server.story)
