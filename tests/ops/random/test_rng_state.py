"""Generators: what their operations do to the state, and what the state decides."""

import numpy as np
import pytest

import tideflow as tf

Generator = tf.random.experimental.Generator


@pytest.fixture
def session():
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as session:
        yield session


def test_a_state_put_back_gives_the_same_numbers_again(session):
    generator = Generator.from_seed(7)
    numbers = generator.normal([5])
    session.run(tf.global_variables_initializer())
    state = session.run(generator.state)
    first, second = session.run(numbers), session.run(numbers)
    session.run(generator.reset(state))
    np.testing.assert_array_equal(session.run(numbers), first)
    np.testing.assert_array_equal(session.run(numbers), second)
    session.run(generator.reset_from_seed(7))
    np.testing.assert_array_equal(session.run(numbers), first)
    session.run(generator.reset_from_key_counter(int(state[2]), state[:2]))
    np.testing.assert_array_equal(session.run(numbers), first)


def test_skipping_is_taking_so_many(session):
    one, other = Generator.from_seed(7), Generator.from_seed(7)
    skip = other.skip(5)
    taken = one.uniform([5])
    session.run(tf.global_variables_initializer())
    session.run([taken, skip])
    np.testing.assert_array_equal(*session.run([one.state, other.state]))
    np.testing.assert_array_equal(*session.run([one.normal([4]), other.normal([4])]))


def test_binomials_move_the_state_on(session):
    numbers = Generator.from_seed(7).binomial([50], 1000.0, 0.5)
    session.run(tf.global_variables_initializer())
    first, second = session.run(numbers), session.run(numbers)
    assert (first != second).any()
    assert abs(np.concatenate([first, second]).mean() - 500) < 15


@pytest.mark.parametrize("prob", [0.02, 0.4, 0.97])
def test_binomials_have_the_right_moments(session, prob):
    numbers = Generator.from_seed(7).binomial([20000], 200.0, prob, dtype=tf.float64)
    session.run(tf.global_variables_initializer())
    found = session.run(numbers)
    assert abs(found.mean() - 200 * prob) < 0.2
    assert abs(found.var() - 200 * prob * (1 - prob)) < 0.05 * 200 * prob * (1 - prob) + 0.1


def test_parts_of_a_generator_differ(session):
    parts = Generator.from_seed(7).split(3)
    numbers = [part.uniform_full_int([2]) for part in parts]
    session.run(tf.global_variables_initializer())
    assert len({tuple(found) for found in session.run(numbers)}) == 3


def test_states_left_to_chance_differ(session):
    one, other = Generator.from_non_deterministic_state(), Generator.from_non_deterministic_state()
    session.run(tf.global_variables_initializer())
    assert (session.run(one.state) != session.run(other.state)).any()


def test_integers_left_to_chance(session):
    numbers = [
        tf.raw_ops.NonDeterministicInts(shape=[50], dtype=dtype)
        for dtype in (tf.int32, tf.int64, tf.uint32, tf.uint64)
    ]
    for first, second in zip(session.run(numbers), session.run(numbers), strict=True):
        assert len(set(first.tolist()) | set(second.tolist())) > 90


def test_the_global_generator_is_one_of_the_graph(session):
    generator = tf.random.experimental.get_global_generator()
    assert tf.random.experimental.get_global_generator() is generator
    with tf.Graph().as_default():
        assert tf.random.experimental.get_global_generator() is not generator
        mine = Generator.from_seed(3)
        tf.random.experimental.set_global_generator(mine)
        assert tf.random.experimental.get_global_generator() is mine


def test_truncated_normals_of_rows_have_the_right_moments(session):
    numbers = tf.raw_ops.ParameterizedTruncatedNormal(
        shape=[3, 20000], means=0.0, stdevs=1.0, minvals=[-1.0, 0.1, 2.0], maxvals=[2.0, 0.4, np.inf], seed=5
    )
    found = session.run(numbers)
    assert (found.min(1) >= [-1.0, 0.1, 2.0]).all() and (found.max(1)[:2] <= [2.0, 0.4]).all()
    np.testing.assert_allclose(found.mean(1), [0.2296, 0.2462, 2.3732], atol=0.02)


def test_parameters_beyond_the_range_of_a_type_end(session):
    numbers = tf.raw_ops.ParameterizedTruncatedNormal(
        shape=[3],
        means=np.float16(0),
        stdevs=np.float16(1),
        minvals=np.float16(6e4),
        maxvals=np.float16(6.4e4),
    )
    assert session.run(numbers).shape == (3,)
