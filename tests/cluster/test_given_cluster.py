"""A session whose configuration gives its cluster, on servers that do not know each other."""

import threading

import pytest

import tideflow as tf
from tideflow.cluster import client, membership

_SECONDS = 60


@pytest.fixture
def made():
    """Two servers, their heartbeats not started."""
    servers = [tf.train.Server.create_local_server(start=False) for _ in range(2)]
    with tf.Graph().as_default():
        yield servers
    for server in servers:
        server.stop()


def _config(servers):
    addresses = [server.target.removeprefix("grpc://") for server in servers]
    return tf.ConfigProto(cluster_def=tf.train.ClusterSpec({"worker": addresses}).as_cluster_def())


def _doubled():
    with tf.device("/job:worker/task:1"):
        variable = tf.Variable(3.0)
    with tf.device("/job:worker/task:0"):
        return variable.initializer, variable * 2


def test_a_client_in_another_process_gives_the_cluster(made, monkeypatch):
    monkeypatch.setattr(client, "server_at", lambda address: None)  # as for a client in another process
    init, doubled = _doubled()
    with tf.Session(made[0].target, config=_config(made)) as session:
        session.run(init)
        assert session.run(doubled) == 6.0
    with tf.Session(made[0].target, config=_config(made[1:])) as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="not included in the provided cluster"):
            session.run(doubled)


def test_its_master_renews_its_leases_and_closing_ends_it_everywhere(made, monkeypatch):
    first, second = made
    renewed, real = threading.Semaphore(0), second._worker.renew_lease

    def renew(session):
        real(session)
        renewed.release()

    monkeypatch.setattr(second._worker, "renew_lease", renew)
    init, doubled = _doubled()
    with tf.Session(first.target, config=_config(made)) as session:
        session.run(init)
        for _ in range(2 * membership.LEASE_ROUNDS):
            first._heartbeats.next_round()
            assert renewed.acquire(timeout=_SECONDS)
            second._heartbeats.next_round()
        assert session.run(doubled) == 6.0
        (handle,) = second._worker._sessions
        for _ in range(membership.LEASE_ROUNDS + 1):
            second._heartbeats.next_round()
        with pytest.raises(tf.errors.AbortedError, match=handle):
            session.run(doubled)
