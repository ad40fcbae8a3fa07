"""How many replicas there are to be, from loads and times alone."""

from hypothesis import given
from hypothesis import strategies as st

from tideflow.serving.autoscaling import Autoscaling


def test_it_grows_when_queues_stay_long_and_shrinks_when_they_stay_short():
    scaling = Autoscaling(least=1, most=3, grows_after=3, shrinks_after=60)
    assert [scaling.wanted(1, 100, 10, now) for now in (0, 1, 2, 3)] == [1, 1, 1, 2]
    assert [scaling.wanted(2, 100, 10, now) for now in (4, 7)] == [2, 3]
    assert scaling.wanted(3, 1000, 10, 100) == 3  # there are no more
    assert [scaling.wanted(3, 0, 10, now) for now in (200, 259, 260)] == [3, 3, 2]
    assert [scaling.wanted(2, 0, 10, now) for now in (261, 330)] == [2, 1]
    assert scaling.wanted(1, 0, 10, 1000) == 1


def test_a_short_burst_changes_nothing():
    scaling = Autoscaling(most=3, grows_after=3)
    loads = enumerate([100, 100, 0, 100, 100, 100])
    assert [scaling.wanted(1, rows, 10, now) for now, rows in loads] == [1] * 6


@given(
    least=st.integers(1, 4),
    extra=st.integers(0, 4),
    loads=st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 1000), st.floats(0, 100)), max_size=50),
)
def test_it_stays_within_its_bounds_and_goes_step_by_step(least, extra, loads):
    scaling, replicas, now = Autoscaling(least, least + extra), least, 0.0
    for rows, batch, seconds in loads:
        now += seconds
        wanted = scaling.wanted(replicas, rows, batch, now)
        assert least <= wanted <= least + extra and abs(wanted - replicas) <= 1
        replicas = wanted
