"""When the sessions of TensorFlow's clients are collected, without clocks or connections."""

import pytest
from tensorboard.compat.proto.graph_pb2 import GraphDef

import tideflow as tf
from tideflow.cluster.tensorflow_clients import sessions
from tideflow.cluster.tensorflow_clients.sessions import TensorFlowSessions


class FakeMaster:
    def __init__(self, handle):
        self.handle, self.closed = handle, False

    def close(self):
        self.closed = True


def test_a_session_outlives_its_connection_for_a_while(monkeypatch):
    monkeypatch.setattr(sessions, "ABANDONED_ROUNDS", 3)
    masters = [FakeMaster("stays"), FakeMaster("leaves"), FakeMaster("returns")]
    made = iter(masters)
    found = TensorFlowSessions(lambda graph, config: next(made))
    for port in ("1", "2", "3"):
        found.create(GraphDef(), None, port)
    for _ in range(3):
        found.next_round({"1"})
    found.get("returns", "4")  # its client has connected again
    for _ in range(4):
        found.next_round({"1", "4"})
    assert [master.closed for master in masters] == [False, True, False]
    with pytest.raises(tf.errors.AbortedError, match="Session leaves is not found"):
        found.get("leaves", "5")
    assert len(found) == 2
