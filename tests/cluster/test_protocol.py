"""Greetings, windows and loads: pure state, no sockets."""

import pytest

from tideflow.cluster import protocol
from tideflow.cluster.messages import HostMemory, SegmentName
from tideflow.cluster.protocol import Identity, Load, Window
from tideflow.graph.errors import FailedPreconditionError, InvalidArgumentError, ResourceExhaustedError

PS = Identity("/job:ps/task:0", {"/job:ps/task:0": "a:1"})
MEMORY = HostMemory("boot", "namespace", 1, SegmentName(1, 2, "0" * 32))


def greeted(client, to="", server=PS):
    greeting = protocol.hello(client, to, MEMORY)
    return protocol.welcome(server, greeting, 42, lambda memory: memory == MEMORY)


def test_a_client_learns_which_task_answers():
    answer = greeted(Identity("/job:worker/task:0", {"/job:ps/task:0": "a:1"}), to="/job:ps/task:0")
    assert (answer.task, answer.incarnation) == ("/job:ps/task:0", PS.incarnation)
    assert answer.pid == 42 and answer.shares_memory


def test_a_client_that_is_no_task_need_not_know_the_cluster():
    assert greeted(Identity()).incarnation == PS.incarnation


def test_no_two_incarnations_are_alike():
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


def test_clusters_that_differ_in_size_and_in_the_name_of_a_host_may_be_the_same():
    greeted(Identity("/job:w", {"/job:ps/task:0": "localhost:1", "/job:w": "c:3"}))


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
def test_a_full_window_always_waits_for_an_acknowledgement(sizes):
    window, asked = Window(max_bytes=100, max_messages=8), []
    for request, size in enumerate(sizes):
        if window.should_ask(size):
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
