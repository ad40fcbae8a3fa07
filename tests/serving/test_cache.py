"""Equal calls are computed once; what is kept is bounded in bytes, and what is used stays."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.serving.test_batching import call
from tideflow.graph import errors
from tideflow.serving.cache import ENTRY_BYTES, CachedServable, PredictionCache, digest


class Slow:
    """A servable that answers when the test says so."""

    name, version, signatures = "m", 1, {}

    def __init__(self):
        self.calls = []

    def submit(self, call):
        self.calls.append(call)

    def answer(self, outcome=None):
        for each in list(self.calls):
            self.calls.remove(each)
            if not each.is_cancelled:
                each.done({"y": each.inputs["x"] * 2} if outcome is None else outcome)


def cached(capacity=1 << 20):
    model = Slow()
    return model, CachedServable(model, PredictionCache(capacity))


def test_the_second_of_two_equal_calls_is_not_computed():
    model, servable = cached()
    first, answers = call(value=3)
    servable.submit(first)
    model.answer()
    again, later_answers = call(value=3)
    servable.submit(again)
    assert not model.calls and later_answers[0]["y"] is answers[0]["y"] is not None
    assert not later_answers[0]["y"].flags.writeable
    other, _ = call(value=4)
    servable.submit(other)
    assert len(model.calls) == 1
    assert (servable.cache.hits, servable.cache.misses) == (1, 2)


def test_equal_calls_under_way_are_joined_and_each_may_leave():
    model, servable = cached()
    made = [call(value=1) for _ in range(3)]
    for each, _ in made:
        servable.submit(each)
    assert len(model.calls) == 1 and servable.cache.joins == 2
    made[0][0].is_cancelled = True  # the one that began it
    model.answer()
    assert [len(answers) for _, answers in made] == [0, 1, 1]
    alone, _ = call(value=2)
    servable.submit(alone)
    alone.is_cancelled = True
    assert model.calls[0].is_cancelled  # nobody waits: not computed
    late, answers = call(value=2)
    servable.submit(late)  # does not join what was given up
    model.answer()
    assert answers


def test_errors_are_given_to_all_and_not_kept():
    model, servable = cached()
    made = [call() for _ in range(2)]
    for each, _ in made:
        servable.submit(each)
    model.answer(errors.internal("broken"))
    assert [str(answers[0]) for _, answers in made] == ["broken", "broken"]
    servable.submit(call()[0])
    assert model.calls


def test_the_deadline_of_the_first_is_not_that_of_the_others():
    model, servable = cached()
    hurried, errors_of_it = call(deadline=1.0)
    patient, answers = call(deadline=9.0)
    servable.submit(hurried)
    servable.submit(patient)
    model.answer(errors.deadline_exceeded("late"))
    assert len(errors_of_it) == 1 and not answers
    assert model.calls[0].deadline == 9.0
    model.answer()
    assert not isinstance(answers[0], errors.OpError) and len(errors_of_it) == 1


def test_what_is_used_stays_and_what_is_large_is_not_kept():
    cache = PredictionCache(4 * (ENTRY_BYTES + 80))
    value = {"y": np.zeros(10)}
    keys = [("m", 1, bytes([number])) for number in range(9)]
    for key in keys[:4]:
        cache.put(key, value)
    assert cache.get(keys[0]) is not None
    cache.put(keys[4], value)
    assert cache.get(keys[0]) is not None and cache.get(keys[1]) is None
    cache.put(keys[5], {"y": np.zeros(1000)})
    assert cache.get(keys[5]) is None and len(cache) == 4 and cache.evictions == 1
    cache.forget("m", 1)
    assert (len(cache), cache.size) == (0, 0)


def test_a_kept_row_does_not_keep_its_batch():
    cache = PredictionCache(1 << 20)
    cache.put(("m", 1, b""), {"y": np.zeros((1000, 2))[3:4], "s": np.array([b"abc"], object)})
    kept = cache.get(("m", 1, b""))
    assert kept["y"].base is None and cache.size == ENTRY_BYTES + 16 + 8 + 3


def test_digests_tell_calls_apart():
    def of(array, signature="s", outputs=("y",)):
        made, _ = call(signature=signature, outputs=outputs)
        made.inputs["x"] = array
        return digest(made)

    ones = np.ones((2, 2), np.float32)
    made = [
        of(ones),
        of(ones.reshape(4)),
        of(ones.astype(np.float64)),
        of(ones, signature="t"),
        of(ones, outputs=("z",)),
        of(np.array([b"ab", b"c"], object)),
        of(np.array([b"a", b"bc"], object)),
    ]
    assert len(set(made)) == len(made)
    assert of(ones.copy()) == of(np.asfortranarray(ones)) == made[0]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 300)), max_size=120), st.integers(500, 4000))
def test_the_cache_never_grows_past_its_bytes(uses, capacity):
    cache = PredictionCache(capacity)
    sizes = {}
    for number, length in uses:
        key = ("m", 1, bytes([number]))
        found = cache.get(key)
        if found is None:
            cache.put(key, {"y": np.zeros(length, np.int8)})
            sizes[number] = length
        else:
            assert len(found["y"]) == sizes[number]
        assert cache.size <= capacity
        assert cache.size == sum(entry.size for entry in cache._entries.values())
