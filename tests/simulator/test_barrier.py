"""Accumulators and tokens: who is counted, who is dropped, who goes on."""

from hypothesis import given
from hypothesis import strategies as st

from tideflow.simulator.barrier import (
    Accumulator,
    Dropped,
    Gradient,
    PutOut,
    Take,
    Taken,
    Token,
    Tokens,
    Waits,
)


def test_the_third_of_three_is_dropped():
    accumulator = Accumulator(need=2)
    assert accumulator.handle(Take()) == []
    assert accumulator.handle(Gradient(worker=0, step=0)) == []
    assert accumulator.handle(Gradient(worker=2, step=0)) == [Taken(0)]
    assert accumulator.handle(Gradient(worker=1, step=0)) == [Dropped(1, 0)]


def test_gradients_wait_for_a_chief_who_comes_late():
    accumulator = Accumulator(need=1)
    assert accumulator.handle(Gradient(0, 0)) == []
    assert accumulator.handle(Gradient(1, 0)) == []
    assert accumulator.handle(Take()) == [Taken(0)]
    assert accumulator.handle(Take()) == []
    assert accumulator.handle(Gradient(0, 1)) == [Taken(1)]


def test_whoever_waits_first_goes_on_first():
    tokens = Tokens()
    assert tokens.handle(Waits(3)) == []
    assert tokens.handle(Waits(1)) == []
    assert tokens.handle(PutOut(step=1, count=3)) == [Token(3, 1), Token(1, 1)]


def test_a_slow_replica_gets_the_token_that_was_kept_for_it():
    tokens = Tokens()
    tokens.handle(PutOut(step=1, count=1))
    tokens.handle(PutOut(step=2, count=1))
    assert tokens.handle(Waits(0)) == [Token(0, 1)]
    assert tokens.handle(Waits(0)) == [Token(0, 2)]


@given(st.lists(st.one_of(st.just(Take()), st.builds(Gradient, st.integers(0, 3), st.integers(0, 4)))))
def test_a_step_is_taken_when_enough_are_there_and_never_with_stale_ones(events):
    accumulator, fresh = Accumulator(need=2), 0
    for event in events:
        before = accumulator.step
        effects = accumulator.handle(event)
        stale = isinstance(event, Gradient) and event.step < before
        assert (effects == [Dropped(event.worker, event.step)]) if stale else True
        fresh += isinstance(event, Gradient) and not stale
        if Taken(before) in effects:
            assert fresh >= 2
            fresh = 0
        assert accumulator.count == fresh
