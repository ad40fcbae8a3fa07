"""Greetings, windows and loads: pure state, no sockets."""

import pytest

from tideflow.cluster import protocol
from tideflow.cluster.protocol import Identity, Load, Window
from tideflow.cluster.wire import Message
from tideflow.graph.errors import FailedPreconditionError, InvalidArgumentError, ResourceExhaustedError

PS = Identity("/job:ps/task:0", {"/job:ps/task:0": "a:1"})


def greeted(client, to="", server=PS):
    answer = protocol.welcome(server, protocol.hello(client, to, {}), 42, lambda host: host == {})
    return protocol.remote(answer)


def test_both_learn_who_the_other_is():
    remote = greeted(Identity("/job:worker/task:0", {"/job:ps/task:0": "a:1"}), to="/job:ps/task:0")
    assert remote == protocol.Remote("/job:ps/task:0", PS.incarnation, 42, True)


def test_a_client_that_is_no_task_need_not_know_the_cluster():
    assert greeted(Identity()).incarnation == PS.incarnation


def test_no_two_lives_are_alike():
    assert len({Identity().incarnation for _ in range(100)} - {0}) == 100


def test_a_greeting_for_another_task():
    with pytest.raises(
        InvalidArgumentError, match="This is /job:ps/task:0; the greeting is for /job:ps/task:1"
    ):
        greeted(Identity(), to="/job:ps/task:1")


def test_clusters_that_differ_are_both_shown():
    with pytest.raises(
        FailedPreconditionError, match=r"for /job:ps/task:0, /job:ps/task:0 is at a:1, for /job:w at b:1"
    ):
        greeted(Identity("/job:w", {"/job:ps/task:0": "b:1"}))


def test_a_cluster_of_which_one_knows_less_and_calls_a_host_otherwise():
    greeted(Identity("/job:w", {"/job:ps/task:0": "localhost:1", "/job:w": "c:3"}))


@pytest.mark.parametrize("fields", [{"to": 5}, {"cluster": ["x"]}, {"cluster": {"x": 1}}])
def test_a_greeting_that_is_none(fields):
    with pytest.raises(InvalidArgumentError, match="found"):
        protocol.welcome(PS, Message("hello", fields), 1, lambda host: False)


@pytest.mark.parametrize("fields", [{}, {"task": "x", "incarnation": "y", "pid": 1, "shares_memory": True}])
def test_an_answer_that_is_none(fields):
    with pytest.raises(InvalidArgumentError, match="Not the answer to a hello"):
        protocol.remote(Message("welcome", fields))


def test_a_window_counts_bytes():
    window = Window(max_bytes=100, max_messages=50)
    window.sent(1, 60)
    assert window.is_open()
    window.sent(2, 60)  # the last may pass the limit
    assert not window.is_open()
    window.acknowledged(1)
    assert window.is_open() and window.is_used()
    window.acknowledged(2)
    assert not window.is_used()


def test_a_window_counts_messages():
    window = Window(max_bytes=100, max_messages=4)
    for request in range(4):
        assert window.is_open()
        window.sent(request, 0)
    assert not window.is_open()
    window.acknowledged(2)
    assert window.is_open()


@pytest.mark.parametrize("sizes", [[0] * 100, [1, 1000], [9, 9, 9, 9], [24] * 20, [25, 3, 70, 2]])
def test_a_full_window_has_always_asked(sizes):
    window, asked = Window(max_bytes=100, max_messages=8), []
    for request, size in enumerate(sizes):
        if window.asks(size):
            asked.append(request)
        window.sent(request, size)
        if not window.is_open():
            window.acknowledged(asked[-1])
            assert window.is_open()


def test_a_load_is_bounded_for_each_client_and_in_all():
    load = Load(per_client=2, in_all=3)
    load.admit(b"a")
    load.admit(b"a")
    with pytest.raises(ResourceExhaustedError, match="2 of this client"):
        load.admit(b"a")
    load.admit(b"b")
    with pytest.raises(ResourceExhaustedError, match="3 in all"):
        load.admit(b"c")
    load.answered(b"a")
    load.admit(b"c")
