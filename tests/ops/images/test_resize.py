"""Resampling: taps and their transposes, large batches, values that must not spread."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import tideflow as tf
from tideflow.ops.images import resampling

RNG = np.random.default_rng(0)
RULES = {"plain": (False, False), "corners": (True, False), "centers": (False, True)}
METHODS = {"nearest": resampling.nearest, "bilinear": resampling.bilinear, "bicubic": resampling.bicubic}


def run(fetches, feeds=None):
    with tf.Session() as session:
        return session.run(fetches, feeds)


def matrix(taps, size):
    """The taps as the matrix that they are."""
    result = np.zeros((taps.places.shape[1], size))
    for places, weights in zip(taps.places, taps.weights, strict=True):
        np.add.at(result, (np.arange(len(places)), places), weights)
    return result


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("method", METHODS)
@given(size=st.integers(1, 40), new_size=st.integers(1, 40))
@settings(max_examples=25, deadline=None)
def test_taps_weigh_one_in_all_and_transpose(method, rule, size, new_size):
    taps = METHODS[method](size, new_size, *RULES[rule])
    forward = matrix(taps, size)
    np.testing.assert_allclose(forward.sum(1), 1, rtol=1e-5)
    np.testing.assert_allclose(matrix(taps.transposed(size), new_size), forward.T, atol=1e-6)


@given(size=st.integers(1, 40), new_size=st.integers(1, 40), align=st.booleans())
@settings(max_examples=40, deadline=None)
def test_area_keeps_the_mean_of_even_images(size, new_size, align):
    if align and size == 1 and new_size > 1:
        return  # a scale of 0 covers nothing
    np.testing.assert_allclose(matrix(resampling.area(size, new_size, align), size).sum(1), 1, rtol=1e-4)


@pytest.mark.parametrize("kernel", resampling.KERNELS)
def test_any_kernel_transposes(kernel):
    taps = resampling.by_kernel(13, 9, 0.6, 1.5, kernel, True)
    np.testing.assert_allclose(matrix(taps.transposed(13), 9), matrix(taps, 13).T, atol=1e-6)


def test_a_batch_that_is_cut_up_is_put_together_again(monkeypatch):
    images = torch.from_numpy(RNG.standard_normal((7, 9, 8, 3)).astype(np.float32))
    taps = resampling.bilinear(9, 5, False, False), resampling.bilinear(8, 11, False, False)
    whole = resampling.resample(images, *taps, resampling.lerp)
    monkeypatch.setattr(resampling, "_CACHED_ELEMENTS", 500)
    assert torch.equal(resampling.resample(images, *taps, resampling.lerp), whole)


def test_infinity_stays_where_it_is():
    image = np.ones((1, 6, 6, 1), np.float32)
    image[0, 0, 0] = np.inf
    resized = run(tf.image.resize_bilinear(image, [12, 12]))
    assert np.isfinite(resized[0, 2:]).all() and np.isfinite(resized[0, :, 2:]).all()


def test_an_image_that_is_not_contiguous():
    image = RNG.standard_normal((2, 3, 6, 5)).astype(np.float32)
    moved = tf.transpose(tf.constant(image), [0, 2, 3, 1])
    expected = run(tf.image.resize_bilinear(np.transpose(image, [0, 2, 3, 1]), [4, 9]))
    np.testing.assert_array_equal(run(tf.image.resize_bilinear(moved, [4, 9])), expected)


@pytest.mark.parametrize(
    "resize", [tf.image.resize_bilinear, tf.image.resize_bicubic, tf.image.resize_nearest_neighbor]
)
def test_gradients_of_gradients(resize):
    """The gradient is linear in what comes from above: its own gradient resizes again."""
    x = tf.constant(RNG.standard_normal((1, 4, 5, 2)).astype(np.float32))
    above = tf.constant(RNG.standard_normal((1, 7, 3, 2)).astype(np.float32))
    (first,) = tf.gradients(resize(x, [7, 3]), x, above)
    (second,) = tf.gradients(first, above, x)
    np.testing.assert_allclose(*run([second, resize(x, [7, 3])]), rtol=1e-5, atol=1e-5)


def test_a_size_that_the_step_tells():
    size = tf.placeholder(tf.int32, [2])
    images = tf.constant(RNG.standard_normal((1, 4, 5, 2)).astype(np.float32))
    resized = tf.image.resize_bilinear(images, size)
    assert resized.shape.as_list() == [1, None, None, 2]
    with tf.Session() as session:
        for wanted in ([3, 8], [9, 1]):
            assert session.run(resized, {size: wanted}).shape == (1, *wanted, 2)
        with pytest.raises(tf.errors.InvalidArgumentError, match="output dimensions must be positive"):
            session.run(resized, {size: [0, 3]})
