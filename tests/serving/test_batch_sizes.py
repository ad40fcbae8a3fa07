"""Batch sizes that are learned find the size whose time meets the objective, and keep to it."""

import random

import numpy as np
import pytest

from tideflow.serving.batch_sizes import AIMD, FixedSize, QuantileRegression, quantile_line


def serve(sizes, seconds_of, batches):
    """Full batches, one after the other: the sizes and times."""
    seen = []
    for _ in range(batches):
        rows = sizes.limit
        seconds = seconds_of(rows)
        seen.append((rows, seconds))
        sizes.measured(rows, seconds, True)
    return seen


@pytest.mark.parametrize("make", [AIMD, QuantileRegression])
@pytest.mark.parametrize(
    ("per_batch", "per_row", "best"), [(1e-3, 1e-5, 900), (1e-3, 5e-3, 1), (0.0, 1e-3, 10)]
)
def test_a_learned_size_meets_the_objective(make, per_batch, per_row, best):
    noise = random.Random(0)
    seen = serve(make(0.010), lambda rows: (per_batch + per_row * rows) * noise.uniform(0.97, 1.0), 400)
    latest = [rows for rows, _ in seen[-100:]]
    assert 0.8 * best <= np.mean(latest) <= 1.1 * best + 1
    assert np.quantile([seconds for _, seconds in seen[-100:]], 0.5) <= 0.010


def test_aimd_adds_doubles_and_cuts():
    sizes = AIMD(objective=1.0, step=3)
    sizes.measured(1, 0.5, True)  # two would just do
    assert sizes.limit == 2
    sizes.measured(2, 0.6, True)
    assert sizes.limit == 5
    sizes.measured(4, 0.6, False)  # there were no more calls: the limit was not what kept it small
    assert sizes.limit == 5
    sizes.measured(40, 0.4, True)  # one large call proves its size
    assert sizes.limit == 80
    sizes.measured(80, 1.01, True)
    assert sizes.limit == 72
    sizes.measured(500, 9.0, True)  # another large call says nothing about 72
    assert sizes.limit == 72
    sizes.measured(1, 0.1, False)
    for _ in range(9):
        sizes.measured(1, 2.0, False)  # hiccups of the machine, one now and then
        sizes.measured(1, 0.1, False)
    assert sizes.limit == 72
    for _ in range(200):
        sizes.measured(1, 2.0, False)
    assert sizes.limit == 1


def test_aimd_is_not_misled_by_a_lucky_batch():
    sizes = AIMD(objective=0.010)
    serve(sizes, lambda rows: rows * 1e-4, 100)
    found = sizes.limit
    for _ in range(20):
        sizes.measured(sizes.limit, 0.001, True)  # its answer came with that of the batch before
        sizes.measured(sizes.limit, sizes.limit * 1e-4, True)
    assert found <= 105 and sizes.limit <= 105


def test_aimd_comes_back_after_the_machine_was_slow():
    sizes = AIMD(objective=0.010)
    serve(sizes, lambda rows: rows * 1e-4, 200)
    serve(sizes, lambda rows: rows * 1e-3, 100)
    assert 8 <= sizes.limit <= 11
    serve(sizes, lambda rows: rows * 1e-4, 50)
    assert 85 <= sizes.limit <= 105


def test_hiccups_do_not_keep_the_regression_small():
    numbers = random.Random(0)
    sizes = QuantileRegression(objective=0.010)
    serve(sizes, lambda rows: rows * 1e-4 + (0.05 if numbers.random() < 0.05 else 0.0), 300)
    assert 70 <= sizes.limit <= 110


def test_no_size_passes_the_largest():
    for sizes in (AIMD(1.0, largest=7), QuantileRegression(1.0, largest=7), FixedSize(7)):
        serve(sizes, lambda rows: 1e-6, 50)
        assert sizes.limit == 7


def test_the_line_lies_above_its_share_of_the_points():
    numbers = np.random.default_rng(0)
    x = numbers.integers(1, 200, 2000).astype(float)
    y = 0.002 + 1e-4 * x * numbers.exponential(1.0, 2000)
    for quantile in (0.5, 0.9, 0.99):
        intercept, slope = quantile_line(x, y, quantile)
        assert np.mean(y <= intercept + slope * x) == pytest.approx(quantile, abs=0.01)
