"""`tideflow server`, as a process that clients reach."""

import os
import signal
import subprocess
import sys

import pytest

import tideflow as tf
from tests.cluster.tensorflow_clients.raw_client import RawClient
from tideflow.cli import main
from tideflow.cluster.server_command import parse_cluster


def test_both_kinds_of_clients_share_a_served_task():
    command = [sys.executable, "-m", "tideflow", "server", "--tensorflow-clients", "localhost:0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ}) as process:
        try:
            own, tensorflow = (process.stdout.readline().split()[-1] for _ in range(2))
            with tf.Graph().as_default() as graph:
                count = tf.get_variable("count", [], initializer=tf.zeros_initializer(), use_resource=True)
                more = tf.identity(tf.assign_add(count, 1.0), name="more")
            with tf.Session(own, graph=graph) as session:
                session.run(count.initializer)
                assert session.run(more) == 1
            with RawClient(tensorflow) as client:
                assert client.run(client.create(graph), ["more:0"]) == [2]
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--cluster", "worker=localhost:1"], "A cluster is 'job|host:port"),
        (["--tls-key", "key.pem"], "TLS needs both"),
        (["--tensorflow-clients", "nowhere"], "An address is host:port"),
        (["--tensorflow-clients", "0.0.0.0:0"], "cannot authenticate"),
        (
            ["--tls-key", "missing.pem", "--tls-certificate", "missing.pem", "--tensorflow-clients"],
            "missing.pem",
        ),
    ],
)
def test_what_cannot_be_served_is_refused(arguments, words, capsys, monkeypatch):
    monkeypatch.delenv("TIDEFLOW_INSECURE", raising=False)
    assert main(["server", *arguments]) == 2
    assert words in capsys.readouterr().err


def test_clusters_in_tensorflows_notation():
    assert parse_cluster("ps|a:1,worker|b:2;c:3") == {"ps": ["a:1"], "worker": ["b:2", "c:3"]}
    for wrong in ("ps", "|a:1", "ps|", "ps|a:1;", "ps|a:1,ps|b:2"):
        with pytest.raises(tf.errors.InvalidArgumentError, match="each job once"):
            parse_cluster(wrong)
