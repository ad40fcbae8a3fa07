"""Missing tasks: workers learn of them from their servers, and synchronous training goes on without them."""

import pytest

import tideflow as tf
from tests.cluster.clusters import servers
from tideflow.cluster import heartbeats
from tideflow.train import sync_replicas_optimizer
from tideflow.train.sync_replicas_optimizer import Absences

WORKER = "/job:worker/replica:0/task:1"


def test_an_absence_is_noticed_once_each_time():
    absences = Absences(patience=2)
    assert absences.noticed([WORKER]) == []
    assert absences.noticed([WORKER]) == [WORKER]
    assert absences.noticed([WORKER]) == []
    assert absences.noticed([]) == []
    assert absences.noticed([WORKER]) == []
    assert absences.noticed([WORKER]) == [WORKER]


@pytest.fixture
def quick_rounds(monkeypatch):
    monkeypatch.setattr(heartbeats, "HEARTBEAT_SECONDS", 0.05)
    monkeypatch.setattr(sync_replicas_optimizer, "_ROUND_SECONDS", 0.05)


def _replica(index):
    """The graph of one of two replicas that take every step together."""
    setter = tf.train.replica_device_setter(ps_tasks=1, worker_device=f"/job:worker/task:{index}")
    with tf.device(setter):
        step = tf.train.get_or_create_global_step()
        weight = tf.get_variable("weight", initializer=8.0)
        optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), 2, 2)
        return optimizer, optimizer.minimize(tf.square(weight), global_step=step)


def _meet(server, optimizer):
    """A replica that runs one step, so that its servers know it, and then takes part in nothing."""
    with tf.Session(server.target) as session:
        session.run(optimizer.ready_for_local_init_op)


def test_training_goes_on_without_a_replica_that_was_lost(quick_rounds):
    with servers(ps=1, worker=2) as cluster:
        with tf.Graph().as_default():
            _meet(cluster["worker", 1], _replica(1)[0])
        with tf.Graph().as_default():
            optimizer, train = _replica(0)
            hooks = [optimizer.make_session_run_hook(True, num_tokens=0), tf.train.StopAtStepHook(5)]
            with tf.train.MonitoredTrainingSession(
                cluster["worker", 0].target, hooks=hooks, stop_grace_period_secs=1
            ) as session:
                cluster["worker", 1].stop()
                while not session.should_stop():
                    step = session.run(train)
    assert step >= 5
