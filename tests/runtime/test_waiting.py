"""The context of a step: deadlines, cancellation, and values that have not arrived."""

import threading

import pytest

import tideflow as tf
from tests.patience import eventually
from tideflow.runtime.waiting import ABSENT, PendingValue, StepContext


class Promise(PendingValue):
    """A value that arrives when the test says so."""

    what = "Waiting for the test"

    def __init__(self):
        self.value, self.wake, self.cancelled = ABSENT, None, False

    def get(self, wake):
        self.wake = wake
        return self.value

    def cancel(self):
        self.cancelled = True
        return self.value

    def keep(self, value):
        self.value = value
        self.wake()


def never():
    return False


def test_a_context_without_a_timeout_has_no_deadline():
    context = StepContext()
    assert context.deadline is None and context.time_left(never, "x") > 0


def test_an_inner_context_ends_no_later_than_the_outer_one():
    outer = StepContext(10.0)
    assert outer.inner().deadline == outer.inner(60.0).deadline == outer.deadline
    assert outer.inner(60.0).timeout == 10.0
    assert outer.inner(1.0).deadline < outer.deadline
    assert StepContext().inner(1.0).deadline is not None


def test_cancelling_an_outer_context_cancels_the_inner_one_and_not_the_other_way_round():
    outer = StepContext()
    inner = outer.inner()
    inner.cancel()
    assert inner.cancelled and not outer.cancelled
    outer.cancel()
    assert outer.inner().cancelled and outer.inner().inner().whole is outer


def test_an_inner_context_has_the_rendezvous_and_the_trace_of_the_outer_one():
    outer = StepContext(trace=tf.RunMetadata())
    outer.rendezvous = object()
    assert outer.inner().rendezvous is outer.rendezvous and outer.inner().trace is outer.trace


def test_what_is_not_pending_is_resolved_at_once():
    assert StepContext().resolve(list, [1]) == [1]


def test_a_pending_value_is_waited_for():
    pending, found = Promise(), []
    thread = threading.Thread(target=lambda: found.append(StepContext(20.0).resolve(lambda: pending)))
    thread.start()
    eventually(lambda: pending.wake is not None)
    pending.keep(3)
    thread.join(20)
    assert found == [3]


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: StepContext(0.01), tf.errors.DeadlineExceededError, "Waiting for the test: .* 0.01 s"),
        (lambda: cancelled(), tf.errors.CancelledError, "Waiting for the test: .*cancelled"),
    ],
    ids=["late", "cancelled"],
)
def test_a_step_that_may_wait_no_longer_gives_the_value_up(make, error, words):
    pending = Promise()
    with pytest.raises(error, match=words):
        make().resolve(lambda: pending)
    assert pending.cancelled


def cancelled():
    context = StepContext()
    context.cancel()
    return context


def test_a_closed_session_ends_the_wait():
    condition = threading.Condition()
    with condition, pytest.raises(tf.errors.CancelledError, match="the session was closed"):
        StepContext().wait(condition, never, lambda: True, "Something")
