"""Initializers of the second version: types, seeds, configurations, and what uses them."""

import numpy as np
import pytest

import tideflow as tf

v2 = tf.compat.v2.initializers
FLOATS = {
    "normal": v2.RandomNormal(seed=7),
    "uniform": v2.RandomUniform(seed=7),
    "truncated": v2.TruncatedNormal(seed=7),
    "scaled": v2.VarianceScaling(2.0, "fan_out", "untruncated_normal", seed=7),
    "glorot normal": v2.GlorotNormal(seed=7),
    "glorot uniform": v2.glorot_uniform(7),
    "orthogonal": v2.Orthogonal(seed=7),
    "he": v2.he_uniform(7),
    "lecun": v2.lecun_normal(7),
}


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


@pytest.mark.parametrize("kind", FLOATS)
def test_a_seed_alone_decides_the_numbers(session, kind):
    make = FLOATS[kind]
    again = type(make).from_config(make.get_config())
    first, second, third = session.run([make([3, 2]), make([3, 2]), again([3, 2])])
    assert np.array_equal(first, second) and np.array_equal(first, third)
    assert make([3, 2], tf.float64).dtype is tf.float64
    with pytest.raises(ValueError, match="Expected float"):
        make([3, 2], tf.bool)


def test_without_a_seed_numbers_differ(session):
    make = v2.RandomNormal()
    first, second = session.run([make([50]), make([50])])
    assert not np.array_equal(first, second)


def test_constants(session):
    made = [v2.Constant([1, 2])([2, 1]), v2.constant(1.5)([2]), v2.zeros()([1], tf.string), v2.Ones()([1])]
    assert [each.dtype for each in made] == [tf.int32, tf.float32, tf.string, tf.float32]
    assert [each.tolist() for each in session.run(made)] == [[[1], [2]], [1.5, 1.5], [b""], [1.0]]
    with pytest.raises(TypeError, match=r"Expected Tensor's shape: \(2,\), got \(3,\)"):
        v2.Constant([1, 2, 3])([2])
    with pytest.raises(ValueError, match="numeric or boolean"):
        v2.Ones()([1], tf.string)


def test_matrices(session):
    assert session.run(v2.Identity(2.0)([2, 2])).tolist() == [[2.0, 0.0], [0.0, 2.0]]
    rows = session.run(v2.Orthogonal(seed=1)([2, 3]))
    assert np.allclose(rows @ rows.T, np.eye(2), atol=1e-5)
    with pytest.raises(ValueError, match="at least two-dimensional"):
        v2.Orthogonal()([3])


def test_names_at_the_top_and_of_keras():
    assert (
        tf.compat.v2.random_normal_initializer
        is tf.compat.v2.keras.initializers.RandomNormal
        is v2.RandomNormal
    )
    assert tf.compat.v2.constant_initializer is v2.Constant is not tf.constant_initializer


def test_variables_and_layers_take_them(session):
    make = v2.GlorotUniform(seed=3)
    variable = tf.get_variable("v", [2, 3], initializer=make)
    layer = tf.keras.layers.Dense(3, kernel_initializer=make)
    layer(tf.ones([1, 2]))
    dense = tf.layers.Dense(3, kernel_initializer=make)
    dense(tf.ones([1, 2]))
    session.run(tf.global_variables_initializer())
    values = session.run([variable, layer.kernel, dense.kernel, make([2, 3])])
    assert all(np.array_equal(value, values[0]) for value in values)
