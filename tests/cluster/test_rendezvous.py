"""The rendezvous of a step, and the table of them that a task keeps."""

import threading

import pytest
import torch

import tideflow as tf
from tideflow.cluster.membership import LEASE_ROUNDS
from tideflow.cluster.protocol import Sender
from tideflow.cluster.rendezvous_table import RendezvousTable
from tideflow.runtime.rendezvous import Rendezvous
from tideflow.runtime.waiting import StepContext

PEER = Sender("/job:ps/replica:0/task:0")


def _take(rendezvous, key, timeout=10.0):
    return StepContext(timeout).resolve(rendezvous.take, key)


def _begin(table, step, send=None, session="session", tasks=()):
    return table.begin(step, session, tasks, send)


def test_a_value_that_came_first_is_taken_at_once():
    rendezvous = Rendezvous()
    rendezvous.put("edge", 1)
    assert rendezvous.take("edge") == 1


def test_a_thread_that_comes_first_waits_for_the_value():
    rendezvous, taken = Rendezvous(), []
    thread = threading.Thread(target=lambda: taken.append(_take(rendezvous, "edge")))
    thread.start()
    rendezvous.put("edge", 2)
    thread.join(10)
    assert taken == [2]


def test_a_waiting_callback_learns_that_no_value_will_come():
    rendezvous, calls = Rendezvous(), []
    rendezvous.when("edge", lambda value, error: calls.append((value, error)))
    reason = tf.errors.UnavailableError(None, None, "lost")
    rendezvous.end(reason)
    assert calls == [(None, reason)]
    with pytest.raises(tf.errors.UnavailableError, match="lost"):
        _take(rendezvous, "another")


def test_waiting_has_a_limit():
    with pytest.raises(tf.errors.DeadlineExceededError, match="'edge'"):
        _take(Rendezvous(), "edge", 0.05)


def test_values_for_another_task_are_sent():
    sent = []
    rendezvous = _begin(RendezvousTable(), "step", lambda *message: sent.append(message))
    small, large = torch.zeros(1), torch.zeros(1 << 20)
    rendezvous.put("small", small, "/job:ps/replica:0/task:0")
    assert not sent  # small values leave together
    rendezvous.put("large", large, "/job:ps/replica:0/task:0")
    assert sent == [("/job:ps/replica:0/task:0", [("small", small), ("large", large)])]


def test_values_for_other_tasks_are_sent_before_the_step_waits():
    sent = []
    rendezvous = _begin(RendezvousTable(), "step", lambda *message: sent.append(message))
    rendezvous.put("edge", torch.zeros(1), "/job:ps/replica:0/task:0")
    with pytest.raises(tf.errors.DeadlineExceededError):
        _take(rendezvous, "other", 0.01)
    assert len(sent) == 1


def test_values_that_come_before_their_step_are_kept_and_those_that_come_after_it_dropped():
    table = RendezvousTable()
    table.deliver("step", [("edge", torch.tensor(4))], PEER)
    assert _begin(table, "step").take("edge") == 4
    table.finish("step")
    table.deliver("step", [("edge", torch.tensor(5))], PEER)
    with pytest.raises(tf.errors.AbortedError, match="before"):
        _begin(table, "step")


def test_values_of_a_step_that_never_begins_are_discarded():
    table = RendezvousTable(early_seconds=-1.0)
    table.deliver("never", [("edge", torch.tensor(6))], PEER)
    table.deliver("other", [("edge", torch.tensor(7))], PEER)
    assert list(table._early) == ["other"]


def test_only_the_last_steps_are_remembered():
    table = RendezvousTable(remembered=2)
    for step in "abc":
        _begin(table, step)
        table.finish(step)
    _begin(table, "a")
    with pytest.raises(tf.errors.AbortedError, match="before"):
        _begin(table, "c")


def test_a_step_that_has_failed_elsewhere_does_not_begin():
    table = RendezvousTable()
    table.abort("step", tf.errors.DataLossError(None, None, "the reason"))
    with pytest.raises(tf.errors.DataLossError, match="the reason"):
        _begin(table, "step")


def test_a_step_that_fails_elsewhere_while_it_runs_is_to_be_cancelled_once(caplog):
    caplog.set_level("DEBUG", "tideflow.cluster")
    table, reason = RendezvousTable(), tf.errors.UnavailableError(None, None, "lost")
    rendezvous = _begin(table, "step")
    assert table.abort("step", reason) == ["step"]
    assert "step: abort -> ending  (UnavailableError: lost)" in caplog.text
    assert table.abort("step", reason) == []
    with pytest.raises(tf.errors.UnavailableError, match="lost"):
        rendezvous.check()


def test_the_steps_of_a_session_and_those_that_need_a_task_end():
    table, reason = RendezvousTable(), tf.errors.UnavailableError(None, None, "lost")
    for step, session, tasks in (("a", "one", ["ps"]), ("b", "two", ["ps"]), ("c", "two", [])):
        _begin(table, step, session=session, tasks=tasks)
    assert table.close_session("one", reason) == ["a"]
    assert table.lose_task("ps", reason) == ["b"]
    assert table.lose_task("ps", reason) == []


def test_a_thread_waits_until_a_step_has_returned():
    table = RendezvousTable()
    table.wait_until_returned("unknown", 60.0)
    _begin(table, "step")
    thread = threading.Thread(target=table.wait_until_returned, args=("step", 60.0))
    thread.start()
    table.finish("step")
    thread.join(10)
    assert not thread.is_alive()


def test_values_of_steps_that_have_not_begun_are_bounded():
    table = RendezvousTable(early_bytes=20_000)
    table.deliver("early", [("edge", torch.zeros(2000))], PEER)
    with pytest.raises(tf.errors.ResourceExhaustedError, match="step other are refused: it has not begun"):
        table.deliver("other", [("edge", torch.zeros(2000))], PEER)
    rendezvous = _begin(table, "early")
    table.deliver("early", [("large", torch.zeros(10_000))], PEER)  # of a step that runs
    assert rendezvous.take("edge").numel() == 2000 and rendezvous.take("large").numel() == 10_000
    table.deliver("other", [("edge", torch.zeros(2000))], PEER)  # there is room again
    table.abort("other", tf.errors.AbortedError(None, None, "failed elsewhere"))
    table.deliver("third", [("edge", torch.zeros(2000))], PEER)


def test_one_sender_leaves_room_for_the_others():
    table = RendezvousTable(early_bytes=40_000, early_bytes_of_sender=20_000)
    table.deliver("a", [("edge", torch.zeros(2000))], PEER)
    with pytest.raises(tf.errors.ResourceExhaustedError, match="such steps from /job:ps/replica:0/task:0"):
        table.deliver("b", [("edge", torch.zeros(2000))], PEER)
    table.deliver("b", [("edge", torch.zeros(2000))], Sender())
    _begin(table, "a")
    table.deliver("c", [("edge", torch.zeros(2000))], PEER)


def test_values_that_nobody_asked_for_go_with_their_sender():
    """Not at once: it may come back, and the step may begin."""
    table, other = RendezvousTable(), Sender()
    for step, sender in (("live", PEER), ("dead", PEER), ("other", other)):
        table.deliver(step, [("edge", torch.zeros(2000))], sender)
    table.sender_left(PEER)
    for _ in range(LEASE_ROUNDS):
        table.next_round()
    assert _begin(table, "live").take("edge").numel() == 2000
    table.next_round()
    assert list(table._early) == ["other"] and list(table._held) == [other] and not table._left
    with pytest.raises(tf.errors.UnavailableError, match="closed before it began"):
        _begin(table, "dead")


def test_values_of_a_task_that_is_lost_are_dropped_at_once():
    table, lost = RendezvousTable(), tf.errors.UnavailableError(None, None, "the task is lost")
    table.deliver("step", [("edge", torch.zeros(2000))], PEER)
    table.deliver("other", [("edge", torch.zeros(2000))], Sender("/job:worker/replica:0/task:0"))
    assert table.lose_task(PEER.task, lost) == [] and list(table._early) == ["other"]
    with pytest.raises(tf.errors.UnavailableError, match="the task is lost"):
        _begin(table, "step")
