"""Spectrograms against SciPy's idea of them, and there and back again."""

import numpy as np
import pytest
import scipy.fft
import scipy.signal

import tideflow as tf


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


def value(tensor, feeds=None):
    with tf.Session() as session:
        return session.run(tensor, feeds)


@pytest.mark.parametrize("length", [2, 5, 8])
@pytest.mark.parametrize("name", ["hann", "hamming"])
def test_windows(name, length):
    symmetric = value(getattr(tf.signal, f"{name}_window")(length, periodic=False))
    np.testing.assert_allclose(symmetric, scipy.signal.get_window(name, length, fftbins=False), atol=1e-6)
    if length % 2 == 0:
        periodic = value(getattr(tf.signal, f"{name}_window")(length))
        np.testing.assert_allclose(periodic, scipy.signal.get_window(name, length), atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_window_undoes_another(dtype):
    signal = np.random.default_rng(0).normal(size=200).astype(dtype)
    spectra = tf.signal.stft(tf.constant(signal), 32, 8)
    window = tf.signal.inverse_stft_window_fn(8)
    back = value(tf.signal.inverse_stft(spectra, 32, 8, window_fn=window))
    assert back.dtype == dtype
    np.testing.assert_allclose(back[32:-32], signal[32 : len(back) - 32], rtol=1e-4, atol=1e-5)


def test_power_of_two_that_encloses_a_frame_whose_length_comes_with_the_step():
    length = tf.placeholder(tf.int32, [])
    spectra = tf.signal.stft(np.ones(64, np.float32), length, 4)
    for frame_length, points in ((8, 8), (9, 16), (16, 16)):
        assert value(spectra, {length: frame_length}).shape[-1] == points // 2 + 1


@pytest.mark.parametrize("kind", [1, 2, 3])
@pytest.mark.parametrize("norm", [None, "ortho"])
@pytest.mark.parametrize("n", [None, 4, 9])
def test_cosine_transforms(kind, norm, n):
    signal = np.random.default_rng(0).normal(size=(2, 6))
    norm = None if kind == 1 else norm
    found = value(tf.signal.dct(tf.constant(signal), kind, n, norm=norm))
    np.testing.assert_allclose(found, scipy.fft.dct(signal, kind, n, norm=norm), atol=1e-12)


def test_a_cosine_transform_of_more_points_than_will_come():
    signal = tf.placeholder(tf.float64, [None])
    transformed = tf.signal.dct(signal, n=5)
    for size in (3, 8):
        found = value(transformed, {signal: np.arange(size)})
        np.testing.assert_allclose(found, scipy.fft.dct(np.arange(size), n=5), atol=1e-12)


@pytest.mark.parametrize("length", [2, 5, 6])
def test_gradient_of_a_transform_that_leaves_samples_out(length):
    x = tf.constant(np.random.default_rng(0).normal(size=(3, 6)))
    energy = tf.reduce_sum(tf.square(tf.abs(tf.signal.rfft(x, [length]))))
    kept = np.arange(6) < length
    found, given = value([tf.gradients(energy, x)[0], x])
    weights = np.fft.rfft(given, length)
    step = 1e-6
    for row, column in ((0, 0), (1, 1), (2, 5)):
        moved = given.copy()
        moved[row, column] += step
        rise = (np.abs(np.fft.rfft(moved, length)) ** 2).sum() - (np.abs(weights) ** 2).sum()
        np.testing.assert_allclose(found[row, column], rise / step, atol=1e-3)
    assert not found[:, ~kept].any()


def test_gradient_of_a_transform_in_space():
    x = tf.constant(np.random.default_rng(0).normal(size=(2, 3, 4)))
    back = tf.signal.irfft3d(tf.signal.rfft3d(x), [2, 3, 4])
    weights = np.arange(24.0).reshape(2, 3, 4)
    np.testing.assert_allclose(value(tf.gradients(back, x, weights)[0]), weights, atol=1e-9)
