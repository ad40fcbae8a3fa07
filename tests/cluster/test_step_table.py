"""What may happen to a step on a task: legal and illegal moves, without threads."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tideflow.cluster.steps import EARLY, ENDING, MOVES, OVER, RUNNING, UNKNOWN, Cancel, Discard, StepTable
from tideflow.graph.errors import AbortedError, InternalError, UnavailableError

LOST = UnavailableError(None, None, "lost")


@pytest.fixture
def steps():
    return StepTable()


def begin(steps, step="s:1", session="s", tasks=("ps",)):
    steps.begin(step, session, tasks)
    return steps.machine.state(step)


def test_a_step_begins_gets_values_and_returns(steps):
    assert begin(steps) is RUNNING and steps.has_part("s:1")
    assert steps.deliver("s:1", ["edge"])
    steps.finish("s:1")
    assert steps.machine.state("s:1") is OVER and not steps.has_part("s:1")


def test_values_are_kept_before_a_step_and_while_it_runs_and_dropped_afterwards(steps):
    assert steps.deliver("s:1", ["a"]) and steps.machine.state("s:1") is EARLY
    assert begin(steps) is RUNNING
    assert steps.deliver("s:1", ["b"])
    steps.finish("s:1")
    assert not steps.deliver("s:1", ["c"])


def test_a_running_step_that_fails_elsewhere_is_cancelled_once(steps):
    begin(steps)
    assert steps.abort("s:1", LOST) == [Cancel("s:1")]
    assert steps.machine.state("s:1") is ENDING
    assert steps.abort("s:1", LOST) == [] and not steps.deliver("s:1", ["late"])
    steps.finish("s:1")
    assert steps.abort("s:1", LOST) == []


@pytest.mark.parametrize("is_early", [True, False])
def test_a_step_that_has_failed_elsewhere_does_not_begin(steps, is_early):
    if is_early:
        steps.deliver("s:1", ["edge"])
    assert steps.abort("s:1", LOST) == [Discard("s:1")]
    with pytest.raises(UnavailableError, match="lost"):
        begin(steps)
    assert not steps.deliver("s:1", ["edge"])


def test_a_step_begins_once(steps):
    begin(steps)
    with pytest.raises(AbortedError, match="started on this task before"):
        begin(steps)
    steps.finish("s:1")
    with pytest.raises(AbortedError, match="started on this task before"):
        begin(steps)


def test_a_session_ends_with_its_steps_and_a_task_with_those_that_need_it(steps):
    begin(steps, "a:1", "a", ["ps"])
    begin(steps, "b:1", "b", ["ps", "worker"])
    begin(steps, "b:2", "b", ["worker"])
    assert steps.close_session("a", LOST) == [Cancel("a:1")]
    assert steps.lose_task("ps", LOST) == [Cancel("b:1")]
    assert steps.machine.state("b:2") is RUNNING


@pytest.mark.parametrize("state", [UNKNOWN, EARLY, OVER])
def test_a_part_that_does_not_run_cannot_return(steps, state):
    if state is EARLY:
        steps.deliver("s:1", ["edge"])
    if state is OVER:
        steps.abort("s:1", LOST)
    with pytest.raises(InternalError, match=f"Step s:1 is {state}, where 'finish' is not a legal move"):
        steps.finish("s:1")


def test_only_early_values_expire(steps):
    steps.deliver("s:1", ["edge"])
    steps.expire("s:1")
    assert steps.machine.state("s:1") is UNKNOWN
    begin(steps)
    with pytest.raises(InternalError, match="'expire' is not a legal move"):
        steps.expire("s:1")


def test_the_last_steps_that_are_over_are_remembered():
    steps = StepTable(remembered=2)
    for step in ("a", "b", "c"):
        begin(steps, step)
        steps.finish(step)
    assert [steps.machine.state(step) for step in "abc"] == [UNKNOWN, OVER, OVER]


def test_the_story_of_a_step_says_why_it_failed(steps):
    begin(steps)
    steps.deliver("s:1", ["edge", "other edge"])
    steps.abort("s:1", LOST)
    steps.finish("s:1")
    moves = steps.machine.record.moves("s:1")
    assert [(move.event, move.state) for move in moves] == [
        ("begin", RUNNING),
        ("deliver", RUNNING),
        ("abort", ENDING),
        ("finish", OVER),
    ]
    assert moves[1].detail == ["edge", "other edge"] and moves[2].detail == "UnavailableError: lost"


EVENTS = {
    "begin": begin,
    "deliver": lambda steps: steps.deliver("s:1", ["edge"]),
    "abort": lambda steps: steps.abort("s:1", LOST),
    "finish": lambda steps: steps.finish("s:1"),
    "close": lambda steps: steps.close_session("s", LOST),
    "lose": lambda steps: steps.lose_task("ps", LOST),
}


@given(st.lists(st.sampled_from(sorted(EVENTS)), max_size=12))
def test_whatever_happens_only_legal_moves_are_made_and_their_record_replays(events):
    steps = StepTable()
    for event in events:
        try:
            EVENTS[event](steps)
        except (AbortedError, UnavailableError, InternalError):
            continue  # refused, and nothing has changed
    moves = steps.machine.record.moves("s:1")
    states = [UNKNOWN, *(move.state for move in moves)]
    assert all(MOVES[before][move.event] is move.state for before, move in zip(states, moves))
    assert steps.has_part("s:1") == (states[-1] in (RUNNING, ENDING))
    again = StepTable()
    assert again.machine.replay(moves) == states[1:]
