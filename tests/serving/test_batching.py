"""The queue before a replica: what goes together, when and in which order; each call is answered once."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tideflow.graph import errors
from tideflow.graph.dtypes import float32
from tideflow.serving.batch_sizes import AIMD, FixedSize
from tideflow.serving.batching import BatchingOptions, BatchQueue, Reason, from_parameters, lanes
from tideflow.serving.calls import PREDICT, Call, Signature, TensorSpec


def call(rows=1, deadline=math.inf, signature="s", value=0.0, width=2, outputs=("y",)):
    answers = []
    made = Call(
        signature, {"x": np.full((rows, width), value, np.float32)}, outputs, rows, deadline, answers.append
    )
    return made, answers


def queue_of(*calls, limit=4, now=0.0, **options):
    queue = BatchQueue(FixedSize(limit), BatchingOptions(**options))
    for each in calls:
        queue.add(each, now)
    return queue


def doubled(batch):
    batch.deliver({"y": batch.inputs()["x"] * 2})


def test_a_batch_is_what_waits_up_to_the_limit():
    calls = [call(value=value) for value in range(6)]
    queue = queue_of(*(each for each, _ in calls))
    batch = queue.take(1.0)
    assert (batch.rows, batch.reason, batch.waited) == (4, Reason.FULL, 1.0)
    assert batch.explained() == "4 of at most 4 rows: it had as many rows as a batch may have"
    assert queue.take(1.0) is None  # the replica has one already
    assert queue.load == 6
    doubled(batch)
    queue.finished(batch, 0.1)
    rest = queue.take(2.0)
    assert (rest.rows, rest.reason) == (2, Reason.IDLE)
    doubled(rest)
    queue.finished(rest, 0.1)
    assert queue.take(3.0) is None and queue.load == 0
    assert [answers[0]["y"][0, 0] for _, answers in calls] == [0, 2, 4, 6, 8, 10]


def test_the_earliest_deadline_goes_first_and_the_late_are_not_computed():
    late, late_answers = call(deadline=1.0)
    soon, _ = call(deadline=5.0, value=5)
    later, _ = call(deadline=9.0, value=9)
    gone, gone_answers = call(deadline=4.0)
    queue = queue_of(later, late, gone, soon, limit=1)
    gone.is_cancelled = True
    assert queue.wake_at() == -math.inf
    batch = queue.take(2.0)
    assert batch.pieces[0].call is soon
    for piece in queue.late():
        piece.fail(errors.deadline_exceeded("too late"))
    assert isinstance(late_answers[0], errors.DeadlineExceededError) and not gone_answers
    assert queue.wake_at() == 9.0  # while the replica is busy, only a deadline can end a wait
    assert queue.take(10.0) is None and [piece.call for piece in queue.late()] == [later]
    assert not queue.late()


def test_delayed_batches_close_when_full_at_their_time_or_before_a_deadline():
    queue = queue_of(call()[0], delay=0.5, limit=3)
    assert queue.take(0.4) is None and queue.wake_at() == 0.5
    queue.add(call()[0], 0.45)
    assert queue.take(0.5).reason is Reason.TIMEOUT
    queue = queue_of(call()[0], call()[0], call()[0], call()[0], delay=0.5, limit=3, max_running=2)
    assert queue.take(0.1).reason is Reason.FULL
    assert queue.take(0.1) is None and queue.wake_at() == 0.5
    queue = queue_of(call(deadline=0.2)[0], delay=0.5)
    assert queue.wake_at() == 0.2
    assert queue.take(0.3) is None and queue.late()
    first = queue_of(call()[0])
    batch = first.take(0.0)
    pressed = BatchQueue(FixedSize(4), BatchingOptions(delay=5.0))
    pressed.add(batch.pieces[0].call, 0.0)
    pressed.finished(pressed.take(5.0), 0.5)
    pressed.add(call(deadline=9.0)[0], 6.0)
    assert pressed.take(7.9) is None
    assert pressed.take(8.0).reason is Reason.DEADLINE


def test_a_large_call_goes_alone_or_in_pieces():
    large, answers = call(rows=10, value=1)
    assert queue_of(large).take(0.0).rows == 10
    queue = queue_of(call()[0], large, splits=True, max_running=9)
    batches = [queue.take(0.0) for _ in range(3)]
    assert [batch.rows for batch in batches] == [4, 4, 3]
    large.inputs["x"][:, 1] = range(10)
    for batch in reversed(batches):
        assert not answers
        doubled(batch)
    np.testing.assert_array_equal(answers[0]["y"][:, 1], np.arange(10) * 2)
    assert len(answers) == 1


def test_one_failed_piece_fails_the_call_once():
    large, answers = call(rows=10)
    queue = queue_of(large, splits=True, max_running=2)
    first, second = queue.take(0.0), queue.take(0.0)
    first.fail(errors.internal("broken"))
    second.fail(errors.internal("broken"))
    queue.finished(first, 0.1)
    assert queue.take(0.0) is None  # the last piece is not computed
    assert [str(answer) for answer in answers] == ["broken"]


def test_calls_of_several_signatures_shapes_and_outputs():
    specs = {"x": TensorSpec(float32, (None, None), "x:0")}
    of_any_width = Signature(PREDICT, specs, {"y": TensorSpec(float32, (None, 1), "y:0")})
    alone = Signature(PREDICT, specs, {"y": TensorSpec(float32, (), "y:0")})
    fixed = Signature(PREDICT, {"x": TensorSpec(float32, (None, 2), "x:0")}, of_any_width.outputs)
    signatures = {"any": of_any_width, "alone": alone, "fixed": fixed}

    def batches(*calls, pads=False):
        queue = BatchQueue(FixedSize(9), BatchingOptions(max_running=9), lanes(signatures, pads))
        for each in calls:
            queue.add(each, 0.0)
        return list(iter(lambda: queue.take(0.0), None))

    wide, narrow = call(signature="any", width=3, value=3)[0], call(signature="any", width=1, value=1)[0]
    assert [len(batch.pieces) for batch in batches(wide, narrow, wide)] == [2, 1]
    (padded,) = batches(wide, narrow, pads=True)
    np.testing.assert_array_equal(padded.inputs()["x"], [[3, 3, 3], [1, 1, 1]])
    single, answers = call(signature="alone")
    assert [batch.reason for batch in batches(call(signature="")[0])] == [Reason.ALONE]
    found = batches(single, call(signature="alone")[0])
    assert [batch.reason for batch in found] == [Reason.ALONE] * 2
    found[0].deliver({"y": np.float32(7)})
    assert answers[0]["y"] == 7
    one, of_one = call(signature="fixed", outputs=("y",))
    two, of_two = call(signature="fixed", outputs=("z", "y"))
    (both,) = batches(one, two)
    assert both.outputs == ("y", "z")
    both.deliver({"y": np.arange(2), "z": np.arange(2) + 5})
    assert (of_one[0], of_two[0]) == ({"y": [0]}, {"z": [6], "y": [1]})


def test_a_batch_is_padded_to_an_allowed_size():
    sizes, options = from_parameters(max_batch_size=8, allowed_batch_sizes=[2, 4, 8], batch_timeout_micros=0)
    queue = BatchQueue(sizes, options)
    one, answers = call(rows=3, value=1)
    queue.add(one, 0.0)
    batch = queue.take(0.0)
    assert (batch.rows, batch.padded_rows, batch.inputs()["x"].shape) == (3, 4, (4, 2))
    doubled(batch)
    assert answers[0]["y"].shape == (3, 2)
    empty, answers = call(rows=0)
    other = BatchQueue(sizes, options)
    other.add(empty, 0.0)
    doubled(other.take(0.0))
    assert answers[0]["y"].shape == (0, 2)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"allowed_batch_sizes": [4, 2, 8]}, "monotonically increasing"),
        ({"allowed_batch_sizes": [2, 4]}, "final entry in allowed_batch_sizes must equal max_batch_size"),
        ({"max_batch_size": 0}, "must be positive"),
        (
            {"enable_large_batch_splitting": True, "max_execution_batch_size": 9},
            "must not be above max_batch_size",
        ),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(errors.InvalidArgumentError, match=message):
        from_parameters(**{"max_batch_size": 8, **parameters})


def test_parameters_of_splitting():
    sizes, options = from_parameters(
        max_batch_size=100,
        max_execution_batch_size=8,
        enable_large_batch_splitting=True,
        max_enqueued_batches=20,
    )
    queue = BatchQueue(sizes, options)
    with pytest.raises(
        errors.InvalidArgumentError, match="Task size 101 is larger than maximum input batch size 100"
    ):
        queue.add(call(rows=101)[0], 0.0)
    queue.add(call(rows=100)[0], 0.0)
    assert queue.take(0.0).rows == 8
    with pytest.raises(errors.ResourceExhaustedError, match=r"batch scheduling queue .* is full"):
        queue.add(call(rows=100)[0], 0.0)


def test_a_full_queue_forgets_cancelled_calls_before_it_refuses():
    calls = [call()[0] for _ in range(4)]
    queue = queue_of(*calls, max_queued_rows=4)
    with pytest.raises(errors.ResourceExhaustedError):
        queue.add(call()[0], 0.0)
    queue.finished(queue.take(0.0), 0.1)
    for each in calls:
        queue.add(each, 1.0)
        each.is_cancelled = True
    queue.add(call()[0], 1.0)
    assert queue.load == 1


def test_a_dead_replicas_calls_are_tried_again_one_by_one():
    queue = queue_of(call()[0], call(rows=6)[0], splits=True, limit=5)
    queue.put_back(queue.take(0.0))
    queue.add(call()[0], 0.0)
    found = []
    while (batch := queue.take(0.0)) is not None:
        found.append([(piece.begin, piece.end, piece.tries) for piece in batch.pieces])
        queue.finished(batch, 0.1)
    assert sorted(found) == [[(0, 1, 1)], [(0, 4, 1)], [(4, 6, 0), (0, 1, 0)]]


def test_a_dead_replicas_calls_are_not_tried_for_ever():
    one, answers = call()
    queue = queue_of(one)
    assert queue.put_back(queue.take(0.0)) == []
    other = BatchQueue(FixedSize(4))
    other.adopt(queue.drain())
    assert queue.load == 0
    (piece,) = other.put_back(other.take(0.0))
    assert piece.call is one and other.load == 0 and not answers


@pytest.mark.parametrize(
    ("outputs", "message"),
    [({"y": np.zeros(3)}, "0th dimension"), ({"y": np.float32(0)}, "0 dimensions"), ({}, "no output 'y'")],
)
def test_a_model_that_answers_with_other_rows(outputs, message):
    one, answers = call()
    queue_of(one).take(0.0).deliver(outputs)
    assert message in str(answers[0])


def test_a_caller_that_raises_does_not_take_the_others_answers():
    broken, _ = call()
    broken.done = lambda outcome: 1 / 0
    fine, answers = call()
    with pytest.raises(ZeroDivisionError):
        doubled(queue_of(broken, fine).take(0.0))
    assert answers


events = st.lists(
    st.tuples(
        st.sampled_from(["add", "take", "finish", "die", "cancel", "move"]),
        st.integers(0, 9),
        st.floats(0.0, 3.0),
    ),
    max_size=80,
)


@settings(max_examples=150, deadline=None)
@given(events, st.booleans(), st.sampled_from([0.0, 0.5]), st.integers(1, 3), st.sampled_from([(), (2, 5)]))
def test_every_call_gets_one_answer(events, splits, delay, running, allowed):
    """Whatever comes when: right rows, once; none after it was cancelled; batches within their limit."""
    options = BatchingOptions(
        delay=delay, max_running=running, splits=splits, allowed_sizes=allowed, max_queued_rows=20
    )
    sizes = FixedSize(5) if allowed else AIMD(0.1, limit=2, largest=5)
    queue = BatchQueue(sizes, options)
    made, batches, refused = [], [], []
    now = 0.0

    def take():
        nonlocal now
        limit = queue.sizes.limit
        batch = queue.take(now)
        for piece in queue.late():
            assert piece.deadline <= now
            piece.fail(errors.deadline_exceeded("late"))
        if batch is not None:
            assert 0 < batch.rows <= limit or len(batch.pieces) == 1 and not splits
            assert all(piece.deadline > now and not piece.call.is_cancelled for piece in batch.pieces)
            deadlines = [piece.deadline for piece in batch.pieces]
            assert deadlines == sorted(deadlines)
            batches.append(batch)
        return batch

    for event, number, seconds in events:
        now += seconds / 4
        if event == "add":
            one, answers = call(rows=number % 7 + 1, deadline=now + seconds, value=len(made))
            made.append((one, answers))
            try:
                queue.add(one, now)
            except errors.ResourceExhaustedError:
                refused.append(one)
        elif event == "take":
            take()
        elif event == "cancel" and made:
            made[number % len(made)][0].is_cancelled = True
        elif event == "move":
            queue.adopt(queue.drain())
        elif batches and event in ("finish", "die"):
            batch = batches.pop(number % len(batches))
            if event == "finish":
                queue.finished(batch, seconds / 10)
                doubled(batch)
            else:
                for piece in queue.put_back(batch):
                    piece.fail(errors.unavailable("died"))
        assert queue.running == len(batches)
    while queue.load:
        now += 1.0
        take()
        while batches:
            batch = batches.pop()
            queue.finished(batch, 0.01)
            doubled(batch)
    assert queue.wake_at() == math.inf and queue.rows_running == 0
    for index, (one, answers) in enumerate(made):
        if one in refused:
            assert not answers
        elif one.is_cancelled:
            assert len(answers) <= 1  # a split call that failed counts as cancelled afterwards
        else:
            (answer,) = answers
            if not isinstance(answer, errors.OpError):
                np.testing.assert_array_equal(answer["y"], np.full((one.rows, 2), 2 * index, np.float32))
