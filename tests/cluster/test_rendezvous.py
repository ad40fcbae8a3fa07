"""Where parts of a step meet."""

import threading

import pytest
import torch

import tideflow as tf
from tideflow.runtime import waiting
from tideflow.runtime.rendezvous import Rendezvous, RendezvousTable


def test_a_value_that_came_first_is_taken_at_once():
    meeting = Rendezvous()
    meeting.put("edge", 1)
    assert meeting.take("edge") == 1


def test_who_comes_first_waits():
    meeting, taken = Rendezvous(), []
    thread = threading.Thread(target=lambda: taken.append(meeting.take("edge")))
    thread.start()
    meeting.put("edge", 2)
    thread.join(10)
    assert taken == [2]


def test_who_waits_is_told_that_nothing_will_come():
    meeting, told = Rendezvous(), []
    meeting.when("edge", lambda value, error: told.append((value, error)))
    reason = tf.errors.UnavailableError(None, None, "lost")
    meeting.end(reason)
    assert told == [(None, reason)]
    with pytest.raises(tf.errors.UnavailableError, match="lost"):
        meeting.take("another")


def test_waiting_has_a_limit():
    with waiting.within(0.05), pytest.raises(tf.errors.DeadlineExceededError, match="'edge'"):
        Rendezvous().take("edge")


def test_values_for_another_task_are_sent():
    sent = []
    meeting = RendezvousTable().begin("step", lambda *message: sent.append(message))
    small, large = torch.zeros(1), torch.zeros(1 << 20)
    meeting.put("small", small, "/job:ps/replica:0/task:0")
    assert not sent  # it waits for company
    meeting.put("large", large, "/job:ps/replica:0/task:0")
    assert sent == [("/job:ps/replica:0/task:0", [("small", small), ("large", large)])]


def test_what_is_to_leave_does_before_its_step_waits():
    sent = []
    meeting = RendezvousTable().begin("step", lambda *message: sent.append(message))
    meeting.put("edge", torch.zeros(1), "/job:ps/replica:0/task:0")
    with waiting.within(0.01), pytest.raises(tf.errors.DeadlineExceededError):
        meeting.take("other")
    assert len(sent) == 1


def test_what_comes_before_its_step_is_kept_and_what_comes_after_is_dropped():
    rendezvous_table = RendezvousTable()
    rendezvous_table.deliver("step", "edge", 4)
    assert rendezvous_table.begin("step", None).take("edge") == 4
    rendezvous_table.finish("step")
    rendezvous_table.deliver("step", "edge", 5)
    with pytest.raises(tf.errors.AbortedError, match="before"):
        rendezvous_table.begin("step", None)


def test_what_comes_for_a_step_that_never_does_is_forgotten():
    rendezvous_table = RendezvousTable(patience=-1.0)
    rendezvous_table.deliver("never", "edge", 6)
    rendezvous_table.deliver("other", "edge", 7)
    assert list(rendezvous_table._early) == ["other"]


def test_only_so_many_steps_are_remembered():
    rendezvous_table = RendezvousTable(remembered=2)
    for step in "abc":
        rendezvous_table.begin(step, None)
        rendezvous_table.finish(step)
    assert list(rendezvous_table._over) == ["b", "c"]


def test_a_step_that_has_failed_elsewhere_does_not_begin():
    rendezvous_table = RendezvousTable()
    rendezvous_table.end("step", tf.errors.DataLossError(None, None, "the reason"))
    with pytest.raises(tf.errors.DataLossError, match="the reason"):
        rendezvous_table.begin("step", None)
