"""Reductions: results do not depend on how rows were divided; Tukey's distribution; vocabularies."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tideflow.pipeline.transform import reductions, tukey
from tideflow.pipeline.transform.quantiles import Boundaries, BoundariesPerKey
from tideflow.pipeline.transform.vocabularies import (
    File,
    Format,
    InformativeVocabulary,
    KeyedFile,
    Pruning,
    Vocabulary,
    expected_information,
)

FLOATS = st.floats(-1e6, 1e6, width=32)
ROWS = st.lists(
    st.tuples(FLOATS, FLOATS, st.sampled_from([b"a", b"bb", b""]), st.integers(0, 2)), max_size=30
)


def reductions_of(x, y, key, label):
    """Each kind of reduction with the arrays of these rows."""
    matrix, ones = np.stack([x, y], axis=1), np.ones(len(x), np.float32)
    return [
        (reductions.Extremes(np.float32), (x,)),
        (reductions.Extremes(np.float32, True), (matrix,)),
        (reductions.Total(np.float32, (2,), True), (matrix,)),
        (reductions.MeanAndVariance(np.float32), (x,)),
        (reductions.MeanAndVariance(np.float32, (2,), True), (matrix,)),
        (reductions.Covariance(2, np.float32), (matrix,)),
        (reductions.PerKey(reductions.MeanAndVariance(np.float32), 2), (key, x)),
        (reductions.KeyCounts(), (key,)),
        (KeyedFile(reductions.KeyCounts()), (key,)),
        (Boundaries(4), (x,)),
        (Boundaries(3), (x, np.abs(label).astype(np.float32))),
        (BoundariesPerKey(3), (key, x)),
        (Vocabulary(Pruning(top_k=2), Format(store_frequency=True)), (key,)),
        (InformativeVocabulary(), (key, label, ones, label, ones)),
    ]


def extracted(reduction, arrays, ends):
    """The result of blocks that end at these rows, whose states were pickled and merged, the last first."""
    states = []
    for start, end in zip([0, *ends], [*ends, len(arrays[0])], strict=True):
        state = reduction.add(reduction.create(), tuple(array[start:end] for array in arrays))
        states.append(pickle.loads(pickle.dumps(state)))
    return reduction.extract(reduction.merge([reduction.create(), *states[::-1]]))


@given(ROWS, st.data())
@settings(max_examples=15, deadline=None)
def test_results_do_not_depend_on_the_partition(rows, data):
    x, y = (np.array([row[i] for row in rows], np.float32) for i in (0, 1))
    key = np.array([row[2] for row in rows] + [None], object)[:-1]
    label = np.array([row[3] for row in rows], np.int64)
    ends = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=4)))
    for reduction, arrays in reductions_of(x, y, key, label):
        whole, parts = extracted(reduction, arrays, []), extracted(reduction, arrays, ends)
        if isinstance(whole, File):
            assert whole == parts
            continue
        for expected, found in zip(whole, parts, strict=True):
            if expected.dtype == object:
                assert expected.tolist() == found.tolist()
            else:
                np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-2)


def test_a_sparse_column_may_be_wider_in_another_block():
    first, second = np.array([[1.0, np.nan]]), np.array([[3.0, 4.0, 5.0]])
    for reduction, expected in (
        (reductions.Extremes(np.float64, True, True), [[1, 4, 5], [3, 4, 5]]),
        (reductions.MeanAndVariance(np.float64, (0,), True), [[2, 4, 5], [1, 0, 0]]),
    ):
        states = [reduction.add(reduction.create(), (each,)) for each in (first, second)]
        np.testing.assert_array_equal(reduction.extract(reduction.merge(states)), expected)


def test_tails_that_were_made_are_found():
    random = np.random.RandomState(0)
    normal = random.randn(200_000)
    made = 3 + 2 * normal * np.exp(np.where(normal < 0, 0.1, 0.3) * normal**2 / 2)
    reduction = reductions.TukeyParameters(np.float64)
    location, scale, left, right = reduction.extract(reduction.add(reduction.create(), (made,)))
    np.testing.assert_allclose([location, scale, left, right], [3, 2, 0.1, 0.3], atol=0.05)
    mirrored = reduction.extract(reduction.add(reduction.create(), (-made,)))
    np.testing.assert_allclose(mirrored, [-location, scale, right, left], atol=1e-9)


def test_light_tails_and_constants_have_no_parameters():
    reduction = reductions.TukeyParameters(np.float64)
    for values in (np.linspace(0, 1, 50), np.ones(10), np.ones(1), np.zeros(0)):
        _, scale, left, right = reduction.extract(reduction.add(reduction.create(), (values,)))
        assert (left, right) == (0, 0)
        assert scale > 0
    assert tukey._ratios(0.0, 0.0)[1] == pytest.approx(0.1226017)


@pytest.mark.parametrize("odd", [np.nan, np.inf])
def test_numbers_that_are_not_finite_have_no_tails(odd):
    reduction = reductions.TukeyParameters(np.float32)
    values = np.array([odd, -odd, 1.0, 2.0, 3.0], np.float32)
    found = reduction.extract(reduction.add(reduction.create(), (values,)))
    assert [float(each) for each in found] == [0.0, 1.0, 0.0, 0.0]


def test_chance_gives_no_information_on_average():
    # Two values of 3 and 4 rows of 6: the mean over all ways to choose them, counted by hand.
    total, first, second = 6, 3, 4
    ways = {1: 4, 2: 12, 3: 4}
    gain = sum(n * w * np.log2(n * total / (first * second)) for n, w in ways.items()) / 20
    assert expected_information(total, first, second) == pytest.approx(gain)


def test_repeated_tokens_of_a_row_are_refused():
    vocabulary = InformativeVocabulary()
    tokens, labels, ones = np.array([b"a"] * 3, object), np.zeros(3, np.int64), np.ones(3)
    state = vocabulary.add(vocabulary.create(), (tokens, labels, ones, labels[:1], ones[:1]))
    with pytest.raises(ValueError, match="repeated tokens per row"):
        vocabulary.extract(state)
