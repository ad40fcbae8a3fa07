"""Strategies for parameter servers: by bytes, and by chance that every process shares."""

import pytest

import tideflow as tf

training = tf.contrib.training


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def test_the_least_loaded_is_next():
    strategy = training.GreedyLoadBalancingStrategy(2, training.byte_size_load_fn)
    with tf.device(tf.train.replica_device_setter(ps_tasks=2, ps_strategy=strategy)):
        sizes = [[10, 10], [5], [3, 3], [200], [1]]
        found = [tf.get_variable(f"v{i}", size).device for i, size in enumerate(sizes)]
    assert [device[-1] for device in found] == ["0", "1", "1", "1", "0"]


def test_chance_is_the_same_everywhere():
    op = tf.constant(1.0, name="abc").op
    assert training.RandomStrategy(1000)(op) == 992
    assert training.RandomStrategy(1000, seed=3)(op) == 221


def test_bytes():
    assert training.byte_size_load_fn(tf.zeros([3, 2], tf.int64).op) == 48
    with pytest.raises(ValueError, match="must have a single output"):
        training.byte_size_load_fn(tf.no_op())
    with pytest.raises(ValueError, match="not fully defined"):
        training.byte_size_load_fn(tf.placeholder(tf.float32, [None]).op)
