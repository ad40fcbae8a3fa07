"""Frames, and the signals put together from them."""

import numpy as np
import pytest

import tideflow as tf


def value(tensor, feeds=None):
    with tf.Session() as session:
        return session.run(tensor, feeds)


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


@pytest.mark.parametrize(("length", "step"), [(4, 2), (5, 3), (6, 4), (3, 7), (1, 1)])
def test_frames_are_windows_of_the_signal(length, step):
    signal = np.arange(40.0)
    wanted = np.lib.stride_tricks.sliding_window_view(signal, length)[::step]
    frames = tf.signal.frame(signal, length, step)
    assert frames.shape.as_list() == list(wanted.shape)
    np.testing.assert_array_equal(value(frames), wanted)


def test_lengths_may_come_with_the_step():
    length, step = tf.placeholder(tf.int32, []), tf.placeholder(tf.int32, [])
    frames = tf.signal.frame(np.arange(10.0), length, step)
    wanted = np.lib.stride_tricks.sliding_window_view(np.arange(10.0), 4)[::3]
    np.testing.assert_array_equal(value(frames, {length: 4, step: 3}), wanted)


@pytest.mark.parametrize(("length", "step"), [(4, 2), (5, 3), (6, 4), (3, 7), (4, 4)])
def test_overlaps_are_added(length, step):
    frames = np.random.default_rng(0).normal(size=(2, 6, length))
    wanted = np.zeros((2, length + step * 5))
    for i in range(6):
        wanted[:, i * step : i * step + length] += frames[:, i]
    np.testing.assert_allclose(value(tf.signal.overlap_and_add(frames, step)), wanted)


def test_frames_of_each_step_put_together_are_the_signal():
    signal = np.arange(12.0)
    frames = tf.signal.frame(signal, 4, 4)
    np.testing.assert_array_equal(value(tf.signal.overlap_and_add(frames, 4)), signal)
