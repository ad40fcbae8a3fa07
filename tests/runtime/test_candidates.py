"""Candidate samplers: what they draw is as likely as they say."""

import numpy as np
import pytest

from tideflow.runtime import candidates
from tideflow.runtime.philox import Philox

WEIGHTS = [5.0, 0.0, 1.0, 3.0, 7.0, 0.5, 2.0]
SAMPLERS = {
    "uniform": candidates.Uniform(7),
    "power of two": candidates.Uniform(8),
    "log uniform": candidates.LogUniform(7),
    "unigram": candidates.Unigram(7),
    "fixed": candidates.FixedUnigram(WEIGHTS),
}


def sample(sampler, generator, count, unique, others):
    """What is drawn, how often that was to be expected, and how often the others were."""
    classes, tries = sampler.draw(generator, count, unique)
    return classes, *(sampler.expected(each, count, tries) for each in (classes, others))


@pytest.mark.parametrize("sampler", SAMPLERS.values(), ids=SAMPLERS)
def test_frequencies_are_the_probabilities(sampler):
    classes, expected, others = sample(sampler, Philox(1, 2), 40000, False, np.arange(sampler.size))
    found = np.bincount(classes, minlength=sampler.size)
    wanted = sampler.probability(np.arange(sampler.size)) * 40000
    np.testing.assert_allclose(found, wanted, atol=600)
    np.testing.assert_allclose(others, wanted, rtol=1e-5)
    np.testing.assert_allclose(expected, wanted[classes], rtol=1e-5)


@pytest.mark.parametrize("name", ["uniform", "log uniform", "unigram"])
def test_all_different_ones_are_all(name):
    classes, expected, _ = sample(SAMPLERS[name], Philox(1, 2), 7, True, np.array([0]))
    assert sorted(classes.tolist()) == list(range(7))
    assert (expected <= 1).all() and (expected > 0).all()


def test_how_often_a_class_is_expected_among_different_ones():
    times = np.zeros(7)
    expected = np.zeros(7)
    for key in range(3000):
        classes, _, others = sample(SAMPLERS["log uniform"], Philox(key, 0), 3, True, np.arange(7))
        times[classes] += 1
        expected += others
    np.testing.assert_allclose(times, expected, rtol=0.2)  # the formula is an approximation


def test_what_was_seen_becomes_likely():
    sampler = candidates.Unigram(4)
    sampler.learn(np.array([[2, 2], [2, 1], [99, -1]]))
    np.testing.assert_allclose(sampler.probability(np.arange(4)), np.array([1, 2, 4, 1]) / 8)
    assert sampler.probability(np.array([99, -1])).tolist() == [0, 0]


def test_a_skewed_number_is_drawn_again(monkeypatch):
    size = (1 << 31) + 1  # nearly half of all numbers are skewed
    monkeypatch.setattr(candidates, "_skew", lambda _, bits: (1 << bits) % size)
    sampler = candidates.FixedUnigram(WEIGHTS)
    classes, _ = sampler.draw(Philox(1, 2), 50, False)

    words = iter(Philox(1, 2).words(0, 400).reshape(-1).tolist())
    height, other = candidates._buckets(np.array(WEIGHTS, np.float32))
    wanted = []
    while len(wanted) < 50:
        level, number = (next(words) & 0x7FFFFF) / 2**23, next(words)
        while number < 2**32 % size:
            number = next(words)
        bucket = number % len(WEIGHTS)
        wanted.append(bucket if level < height[bucket] else other[bucket])
    assert classes.tolist() == wanted


def test_buckets_hold_the_weights():
    height, other = candidates._buckets(np.array(WEIGHTS, np.float32))
    share = np.zeros(7)
    for bucket in range(7):
        share[bucket] += height[bucket]
        share[other[bucket]] += 1 - height[bucket]
    np.testing.assert_allclose(share / 7, np.array(WEIGHTS) / sum(WEIGHTS), rtol=1e-5, atol=1e-7)


def test_classes_without_weight_cannot_be_drawn():
    assert SAMPLERS["fixed"].possible == 6
    assert SAMPLERS["uniform"].possible == 7
    classes, _ = SAMPLERS["fixed"].draw(Philox(1, 2), 6, True)
    assert sorted(classes.tolist()) == [0, 2, 3, 4, 5, 6]


def test_different_ones_are_the_first_of_each(monkeypatch):
    """However many come at once, classes stand in the order in which they were drawn first."""
    drawn = [3, 3, 1, 3, 0, 1, 1, 0, 2, 3]
    for size in (1, 3, 10):
        pieces = iter([np.array(drawn[i : i + size]) for i in range(0, len(drawn), size)])
        monkeypatch.setattr(candidates.Uniform, "draws", lambda self, words, pieces=pieces: next(pieces))
        classes, tries = candidates.Uniform(4).draw(Philox(1, 2), 4, True)
        assert (classes.tolist(), tries) == ([3, 1, 0, 2], 9)
