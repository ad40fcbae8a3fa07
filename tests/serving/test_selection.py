"""Policies: who is asked, what the answers come to, and what feedback changes."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tideflow.graph import errors
from tideflow.serving.selection import (
    Exp3,
    Exp4,
    Majority,
    Mean,
    Shares,
    Single,
    absolute,
    chances,
    make_policy,
    zero_one,
)

MODELS = ["a", "b", "c", "d", "e"]
ERROR_RATES = {"a": 0.1, "b": 0.25, "c": 0.3, "d": 0.35, "e": 0.4}


def label(value):
    return np.array(value)


def simulated(policy, error_rates_at, queries, seed=0):
    """Queries with feedback after each: the answers that were wrong, and the weights after each query."""
    numbers = random.Random(seed)
    state, wrong, weights = policy.init(), [], []
    for query in range(queries):
        rates = error_rates_at(query)
        asked = policy.select(state, MODELS, numbers.random())
        outputs = {model: label(int(numbers.random() < rates[model])) for model in asked}
        wrong.append(int(policy.combine(state, asked, outputs, {}).output))
        state = policy.observe(state, MODELS, 0, outputs)
        weights.append(chances(state, MODELS))
    return wrong, weights


@pytest.mark.parametrize("policy", [Exp3(), Exp4()])
def test_bandits_find_the_best_model_leave_it_when_it_breaks_and_come_back(policy):
    def rates(query):
        return ERROR_RATES | ({"a": 0.9} if 5000 <= query < 10_000 else {})

    wrong, weights = simulated(policy, rates, 15_000)
    assert np.mean([each["a"] for each in weights[4000:5000]]) > 0.5
    assert np.mean([each["a"] for each in weights[9000:10_000]]) < 0.1
    assert np.mean([each["a"] for each in weights[14_000:]]) > 0.5
    assert np.mean(wrong[4000:5000]) < 0.2
    assert np.mean(wrong[9000:10_000]) < 0.36  # 0.9 for who would have stayed


def test_single_and_shares():
    assert Single().select({}, MODELS, 0.9) == ["a"] and Single("c").select({}, MODELS, 0.9) == ["c"]
    assert Single("x").select({}, MODELS, 0.0) == [] and Single().select({}, [], 0.0) == []
    canary = Shares(shares={"a": 0.95, "b": 0.05})
    picks = [canary.select({}, MODELS, draw)[0] for draw in np.linspace(0, 1, 1000, endpoint=False)]
    assert (picks.count("a"), picks.count("b")) == (950, 50)
    assert canary.select({}, ["b", "z"], 0.99) == ["b"] and canary.select({}, ["z"], 0.5) == []
    assert Single().combine({}, ["a"], {"a": label(2)}, {}) == (2, 1.0)
    assert Single().combine({}, ["a"], {}, {"a": label(2.0)}) is None
    for shares in ({}, {"a": -1}, {"a": 0}):
        with pytest.raises(errors.InvalidArgumentError):
            Shares(shares=shares)


def test_the_majority_and_how_sure_it_is():
    outputs = {"a": label(3), "b": label(7), "c": label(7)}
    assert Majority().combine({}, MODELS, outputs, {}) == (7, pytest.approx(0.4))  # d and e are late
    assert Majority().combine({}, MODELS[:3], outputs, {}).confidence == pytest.approx(2 / 3)
    assert Majority().combine({}, MODELS, {}, {}) is None
    scores = {"a": np.array([0.1, 0.9]), "b": np.array([0.8, 0.2]), "c": np.array([0.4, 0.6])}
    assert Majority().combine({}, MODELS[:3], scores, {}).output.argmax() == 1
    words = {
        "a": np.array([b"cat"], object),
        "b": np.array([b"cat"], object),
        "c": np.array([b"dog"], object),
    }
    assert Majority().combine({}, MODELS[:3], words, {}).output == b"cat"


def test_the_mean_takes_the_usual_answer_of_who_is_late():
    outputs = {"a": np.float32([0.9, 0.1]), "b": np.float32([0.8, 0.2])}
    late = {"c": np.array([0.1, 0.9])}
    output, confidence = Mean().combine({}, ["a", "b", "c"], outputs, late)
    np.testing.assert_allclose(output, [0.6, 0.4], rtol=1e-6)
    assert output.dtype == np.float32 and confidence == pytest.approx(2 / 3)
    assert Mean().combine({}, ["c"], {}, late) is None
    numbers = {"a": np.array([1.0]), "b": np.array([1.05]), "c": np.array([4.0])}
    output, confidence = Mean(tolerance=1.5).combine({}, list(numbers), numbers, {})
    assert output == pytest.approx(2.0167, abs=1e-3) and confidence == pytest.approx(2 / 3)


def test_exp4_weighs_votes_and_scores():
    state = {"weights": {"a": 0.7, "b": 0.2, "c": 0.1}}
    votes = {"a": label(1), "b": label(2), "c": label(2)}
    assert Exp4().combine(state, list(votes), votes, {}) == (1, pytest.approx(0.7))
    scores = {"a": np.array([1.0, 0.0]), "b": np.array([0.0, 1.0]), "c": np.array([0.0, 1.0])}
    output, confidence = Exp4().combine(state, list(scores), scores, {})
    np.testing.assert_allclose(output, [0.7, 0.3])
    assert confidence == pytest.approx(0.7)


def test_losses():
    assert zero_one(np.array([0.2, 0.8]), 1) == 0 and zero_one(label(3), 4) == 1
    assert zero_one(np.array([b"cat"], object), "cat") == 0
    assert absolute(np.array([1.5]), 1.25) == 0.25 and absolute(label(9), 1) == 1


def test_a_new_model_gets_its_chance_and_one_that_left_is_forgotten():
    state = {"weights": {"a": 0.6, "gone": 0.4}}
    assert chances(state, ["a", "new"]) == {"a": 0.5, "new": 0.5}
    assert set(Exp3().observe(state, ["a", "new"], 0, {"a": label(1), "gone": label(1)})["weights"]) == {
        "a",
        "new",
    }


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 0.999), st.lists(st.booleans(), min_size=5, max_size=5)), max_size=60))
def test_weights_stay_chances_whatever_is_observed(rounds):
    for policy in (Exp3(rate=50.0), Exp4(rate=50.0)):
        state = policy.init()
        for draw, wrong in rounds:
            asked = policy.select(state, MODELS, draw)
            outputs = {model: label(int(wrong[MODELS.index(model)])) for model in asked}
            state = policy.observe(state, MODELS, 0, outputs)
            found = chances(state, MODELS)
            assert sum(found.values()) == pytest.approx(1.0)
            assert min(found.values()) > 1e-5


def test_policies_by_name():
    assert make_policy("exp3") == Exp3()
    assert make_policy({"name": "shares", "shares": {"a": 1.0}}).select({}, ["a"], 0.0) == ["a"]
    for described in ("exp5", {"name": "exp3", "speed": 1}, {"name": "exp4", "loss": "odd"}, {}):
        with pytest.raises(errors.InvalidArgumentError):
            make_policy(described)
