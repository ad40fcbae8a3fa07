"""Quantiles, moments and value counts do not depend on how the values were divided."""

import collections
import pickle
import random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tideflow.pipeline.engine import value_counts
from tideflow.pipeline.engine.moments import Moments
from tideflow.pipeline.engine.quantiles import Quantiles
from tideflow.pipeline.engine.value_counts import ValueCounts
from tideflow.pipeline.engine.workers import at_once, threads_at_hand

NUMBERS = st.lists(st.floats(allow_nan=False) | st.integers(-5, 5).map(float), min_size=1, max_size=60)


def parts_of(values, seed):
    """The values in some parts, which are in some order; a part may be empty."""
    order = random.Random(seed)
    cuts = sorted(order.choices(range(len(values) + 1), k=order.randrange(4)))
    parts = [values[a:b] for a, b in zip([0, *cuts], [*cuts, len(values)], strict=True)]
    order.shuffle(parts)
    return parts


def summarized(values, seed, most_kept, weights=None):
    whole = Quantiles(most_kept)
    pairs = list(zip(values, weights or [None] * len(values), strict=True))
    for part in parts_of(pairs, seed):
        one = Quantiles(most_kept)
        some = None if weights is None else np.array([weight for _, weight in part], np.int64)
        one.add(np.array([value for value, _ in part], np.float64), some)
        whole.merge([pickle.loads(pickle.dumps(one)) if len(part) % 2 else one])
    return whole


@given(NUMBERS, st.integers(0, 99), st.sampled_from([4, 16, 1 << 16]))
def test_quantiles_are_the_same_whatever_the_parts(values, seed, most_kept):
    alone, merged = summarized(values, 0, most_kept), summarized(values, seed, most_kept)
    for found, expected in zip(merged.boundaries(7), alone.boundaries(7), strict=True):
        np.testing.assert_array_equal(found, expected)
    assert merged.total == len(values)
    assert merged.boundaries(3)[0][[0, -1]].tolist() == [min(values), max(values)]


@given(NUMBERS, st.integers(0, 99), st.integers(1, 12))
def test_few_numbers_have_exact_quantiles(values, seed, count):
    boundaries, upto = summarized(values, seed, 1 << 16).boundaries(count)
    ordered = sorted(values)
    for number, (boundary, weight) in enumerate(zip(boundaries, upto, strict=True)):
        rank = min(len(values) * number / count, len(values) - 1)
        assert boundary == ordered[int(rank)]
        assert weight == sum(value <= boundary for value in values)


def test_a_weight_counts_as_so_many_numbers():
    values, weights = [1.0, 5.0, 2.0, 5.0, 9.0], [3, 1, 0, 2, 4]
    repeated = [value for value, weight in zip(values, weights, strict=True) for _ in range(weight)]
    weighted, plain = summarized(values, 3, 1 << 16, weights), summarized(repeated, 5, 1 << 16)
    for found, expected in zip(weighted.boundaries(9), plain.boundaries(9), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("kind", ["normal", "lognormal", "uniform"])
def test_many_numbers_keep_their_ranks_within_a_thousandth(kind):
    draw = getattr(np.random.default_rng(5), kind)
    values = draw(1000.0 if kind == "normal" else 0.0, 1.0, 300_000)
    summary = Quantiles()
    summary.add(values)
    boundaries, _ = summary.boundaries(1000)
    ranks = np.searchsorted(np.sort(values), boundaries, side="right") / len(values)
    assert np.abs(ranks - np.arange(1001) / 1000).max() < 1e-3
    assert len(pickle.dumps(summary)) < 1 << 21


@given(NUMBERS.map(lambda values: [value for value in values if abs(value) < 1e100]), st.integers(0, 99))
def test_moments_are_those_of_all_numbers(values, seed):
    merged = Moments().merge(Moments.of(np.array(part, np.float64)) for part in parts_of(values, seed))
    assert merged.weight == len(values)
    if values:
        np.testing.assert_allclose(merged.mean, np.mean(values), rtol=1e-9, atol=1e-9 * max(map(abs, values)))
        np.testing.assert_allclose(
            merged.variance, np.var(values), rtol=1e-9, atol=1e-9 * max(abs(each) for each in values) ** 2
        )


@given(st.lists(st.binary(max_size=20) | st.sampled_from([b"a", b"b"]), max_size=60), st.integers(0, 99))
def test_values_are_counted_exactly(values, seed):
    counts = ValueCounts()
    for part in parts_of(values, seed):
        one = ValueCounts()
        one.add(pa.array(part, pa.binary()))
        counts.merge([pickle.loads(pickle.dumps(one)) if len(part) % 2 else one])
    expected = collections.Counter(values)
    assert counts.distinct == len(expected)
    ranked = sorted(expected.items(), key=lambda pair: (pair[1], pair[0]), reverse=True)
    assert counts.top(5) == ranked[:5]
    assert counts.top(100) == ranked


@pytest.mark.parametrize("width", [3, 8, 21])
def test_values_that_nearly_all_differ_are_counted_by_their_hashes(width, monkeypatch):
    numbers = np.random.default_rng(3).integers(0, 60_000, 40_000)
    numbers[:20_000] = np.arange(100_000, 120_000)
    values = [b"%0*x" % (width, number) for number in numbers]
    monkeypatch.setattr(value_counts, "_SAMPLE", 1 << 10)
    asked = []
    of = value_counts.hashes_of
    monkeypatch.setattr(value_counts, "hashes_of", lambda given: asked.append(len(given)) or of(given))
    counts = ValueCounts()
    counts.add(pa.array(values[:9000]))
    counts.add(pa.array(values)[9000:])
    found = dict(
        zip(*(part if isinstance(part, list) else part.tolist() for part in _lists(counts)), strict=True)
    )
    assert found == collections.Counter(values)
    assert asked


@pytest.mark.parametrize("threads", [1, 3])
def test_parts_whose_values_all_differ_are_joined_by_their_hashes(monkeypatch, threads):
    monkeypatch.setattr(value_counts, "_SAMPLE", 1 << 6)
    monkeypatch.setattr(value_counts, "_AT_ONCE", 300)
    random = np.random.default_rng(5)
    values = [bytes(random.integers(0, 3, random.integers(0, 12)).astype(np.uint8)) for _ in range(4000)]
    values = sorted(set(values) | {b"", b"\0", b"\xff" * 9})
    random.shuffle(values)
    parts = [pa.array(values[begin : begin + 500]) for begin in range(0, len(values), 500)]
    for extra in ([], [pa.array(values[::3])]):  # then the values of some parts are in others too
        counts = ValueCounts()
        for part in [*parts, *extra]:
            other = ValueCounts()
            other.add(part)
            other.settle()
            counts.merge([other])
        expected = collections.Counter(values + values[::3] * len(extra))
        ranked = sorted(expected.items(), key=lambda pair: (pair[1], pair[0]), reverse=True)
        with threads_at_hand(threads):
            for most in (1, 7, len(ranked) - 1, len(ranked) + 1):
                assert counts.top(most) == ranked[:most]
        assert (counts._parts[0].hashes is not None) == (not extra)


def _lists(counts):
    values, times, _ = counts.table()
    return values.to_pylist(), times


def test_equal_hashes_are_no_equal_values(monkeypatch):
    monkeypatch.setattr(
        value_counts, "hashes_of", lambda values: np.arange(len(values)).astype(np.uint64) // 40 * 40
    )
    values = [b"%d" % (number % 19_990) for number in range(20_000)]
    counts = ValueCounts()
    counts.add(pa.array(values))
    assert counts.top(1) == [(b"9", 2)]
    assert counts.distinct == 19_990


def test_weights_are_summed_by_value():
    counts = ValueCounts()
    counts.add(pa.array([b"a", b"b", b"a"]), np.array([0.5, 4.0, 1.0]))
    other = ValueCounts()
    other.add(pa.array([b"c", b"a"]), np.array([1.5, 0.25]))
    counts.merge([other])
    assert counts.top(9, weighted=True) == [(b"b", 4.0), (b"a", 1.75), (b"c", 1.5)]
    assert counts.top(9) == [(b"a", 3), (b"c", 1), (b"b", 1)]


def test_the_hash_of_a_string_is_its_own():
    texts = [b"", b"a", b"a" * 8, b"a" * 256, b"a" * 257, b"a" * 264, b"b" + b"a" * 263, b"a" * 263 + b"b"]
    together = value_counts.hashes_of(pa.array(texts)).tolist()
    assert together == [value_counts.hashes_of(pa.array([text])).item() for text in texts]
    assert len(set(together)) == len(texts)


@pytest.mark.parametrize("threads", [1, 3])
def test_what_is_done_at_once_keeps_its_order_and_its_errors(threads):
    with threads_at_hand(threads):
        assert at_once(lambda number: number * number, range(50)) == [number**2 for number in range(50)]
        with pytest.raises(ZeroDivisionError):
            at_once(lambda number: 1 / number, [1, 0])
