"""Distances of distributions: laws that hold for all of them."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tideflow.pipeline.messages.statistics import Histogram
from tideflow.pipeline.schema import distances

COUNTS = st.dictionaries(st.text(max_size=2), st.integers(1, 50), min_size=1, max_size=6)
EDGES = st.lists(st.integers(-20, 20), min_size=2, max_size=6, unique=True).map(sorted)


def _histogram(edges, counts, **more):
    buckets = [
        {"low_value": low, "high_value": high, "sample_count": count}
        for low, high, count in zip(edges[:-1], edges[1:], counts, strict=False)
    ]
    return Histogram(buckets=buckets, **more)


HISTOGRAMS = st.builds(_histogram, EDGES, st.lists(st.integers(1, 9), min_size=5, max_size=5))


@settings(max_examples=30)
@given(COUNTS, COUNTS)
def test_distances_of_counts_are_symmetric_and_bounded(a, b):
    for distance in (distances.l_infinity, distances.normalized_absolute_difference):
        assert distance(a, b)[1] == pytest.approx(distance(b, a)[1])
        assert 0.0 <= distance(a, b)[1] <= 1.0
        assert distance(a, a)[1] == 0.0
    assert distances.jensen_shannon_of_counts(a, b) == pytest.approx(distances.jensen_shannon_of_counts(b, a))
    assert -1e-12 <= distances.jensen_shannon_of_counts(a, b) <= 1.0


@settings(max_examples=30)
@given(HISTOGRAMS, HISTOGRAMS)
def test_divergence_of_histograms_is_symmetric_and_zero_of_the_same(a, b):
    there, back = distances.jensen_shannon_of_histograms(a, b), distances.jensen_shannon_of_histograms(b, a)
    assert there == pytest.approx(back, abs=1e-12)
    assert distances.jensen_shannon_of_histograms(a, a) == pytest.approx(0.0, abs=1e-12)


@settings(max_examples=30)
@given(HISTOGRAMS)
def test_a_divided_bucket_changes_nothing(histogram):
    finer = Histogram()
    for bucket in histogram.buckets:
        middle = (bucket.low_value + bucket.high_value) / 2
        for low, high in ((bucket.low_value, middle), (middle, bucket.high_value)):
            finer.buckets.add(low_value=low, high_value=high, sample_count=bucket.sample_count / 2)
    assert distances.jensen_shannon_of_histograms(histogram, finer) == pytest.approx(0.0, abs=1e-12)


def test_distributions_without_values_have_no_divergence():
    assert distances.jensen_shannon_of_counts({}, {"a": 1}) is None
    assert distances.jensen_shannon_of_histograms(Histogram(), _histogram([0, 1], [3])) is None
    assert distances.l_infinity({}, {}) == ("", 0.0)


def test_infinities_never_match():
    infinite = _histogram([0, math.inf], [3])
    assert distances.jensen_shannon_of_histograms(infinite, infinite) == 1.0
