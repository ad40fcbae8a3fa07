"""Dilation and erosion against SciPy's, and fractional pools against their own sequences."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage

import tideflow as tf


@pytest.fixture(autouse=True)
def own_graph():
    with tf.Graph().as_default():
        yield


def run(fetches):
    with tf.Session() as session:
        return session.run(fetches)


def image(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


def test_dilation_is_scipys():
    x, kernel = image(1, 7, 8, 1), image(3, 3, 1)
    found = run(tf.nn.dilation2d(x, kernel, [1, 1, 1, 1], [1, 1, 1, 1], "SAME"))[0, :, :, 0]
    turned = kernel[::-1, ::-1, 0]  # SciPy counts the structure's offsets the other way round
    wanted = ndimage.grey_dilation(x[0, :, :, 0], structure=turned, mode="constant", cval=-np.inf)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_erosion_is_scipys():
    x, kernel = image(1, 7, 8, 1), image(3, 3, 1)
    found = run(tf.nn.erosion2d(x, kernel, [1, 1, 1, 1], [1, 1, 1, 1], "SAME"))[0, :, :, 0]
    wanted = ndimage.grey_erosion(
        x[0, :, :, 0], structure=kernel[::-1, ::-1, 0], mode="constant", cval=np.inf
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize("overlapping", [False, True])
@pytest.mark.parametrize("pseudo_random", [False, True])
@pytest.mark.parametrize(
    ("pool", "reduce"), [("fractional_max_pool", np.max), ("fractional_avg_pool", np.mean)]
)
def test_fractional_pools_follow_their_sequences(pool, reduce, pseudo_random, overlapping):
    x = image(2, 20, 17, 3)
    function = getattr(tf.nn, pool)
    found, rows, columns = run(function(x, [1.0, 1.6, 1.3, 1.0], pseudo_random, overlapping))
    assert rows[0] == columns[0] == 0 and rows[-1] == 20 and columns[-1] == 17
    assert set(np.diff(rows)) <= {1, 2} and set(np.diff(columns)) <= {1, 2}
    for i in range(len(rows) - 1):
        for j in range(len(columns) - 1):
            cell = x[:, rows[i] : rows[i + 1] + overlapping, columns[j] : columns[j + 1] + overlapping]
            np.testing.assert_allclose(found[:, i, j], reduce(cell, axis=(1, 2)), 1e-5, 1e-6)


def test_undetermined_pools_differ_from_run_to_run():
    x = tf.placeholder(tf.float32, [1, 60, 60, 1])
    _, rows, columns = tf.nn.fractional_max_pool(x, [1.0, 1.5, 1.5, 1.0])
    with tf.Session() as session:
        found = {str(session.run([rows, columns], {x: image(1, 60, 60, 1)})) for _ in range(4)}
    assert len(found) > 1
