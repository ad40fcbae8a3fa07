"""Learning rates as functions of the step, against their formulas."""

import numpy as np
import pytest

import tideflow as tf

STEPS = [0, 1, 5, 10, 11, 20, 25, 47]
COSINE = lambda fraction: 0.5 * (1 + np.cos(np.pi * fraction))


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


def polynomial_cycle(s):
    period = 20 * max(1, np.ceil(s / 20))
    return (0.1 - 0.01) * (1 - s / period) + 0.01


def restarts(s, first=10, t_mul=2.0, m_mul=0.9):
    length, height = first, 1.0
    while s >= length:
        s, length, height = s - length, length * t_mul, height * m_mul
    return 0.1 * height * COSINE(s / length)


def pieces(s):
    return 0.1 if s <= 10 else 0.05 if s <= 20 else 0.01


T = tf.train
DECAYS = {
    "exponential": (lambda s: T.exponential_decay(0.1, s, 10, 0.5), lambda s: 0.1 * 0.5 ** (s / 10)),
    "exponential stairs": (
        lambda s: T.exponential_decay(0.1, s, 10, 0.5, staircase=True),
        lambda s: 0.1 * 0.5 ** (s // 10),
    ),
    "natural": (lambda s: T.natural_exp_decay(0.1, s, 10, 0.5), lambda s: 0.1 * np.exp(-0.5 * s / 10)),
    "inverse time": (lambda s: T.inverse_time_decay(0.1, s, 10, 0.5), lambda s: 0.1 / (1 + 0.5 * s / 10)),
    "inverse time stairs": (
        lambda s: T.inverse_time_decay(0.1, s, 10, 0.5, staircase=True),
        lambda s: 0.1 / (1 + 0.5 * (s // 10)),
    ),
    "polynomial": (
        lambda s: T.polynomial_decay(0.1, s, 20, 0.01, power=2.0),
        lambda s: (0.1 - 0.01) * (1 - min(s, 20) / 20) ** 2 + 0.01,
    ),
    "polynomial cycle": (lambda s: T.polynomial_decay(0.1, s, 20, 0.01, cycle=True), polynomial_cycle),
    "cosine": (
        lambda s: T.cosine_decay(0.1, s, 30, alpha=0.1),
        lambda s: 0.1 * (0.9 * COSINE(min(s, 30) / 30) + 0.1),
    ),
    "cosine restarts": (lambda s: T.cosine_decay_restarts(0.1, s, 10, m_mul=0.9), restarts),
    "cosine equal restarts": (
        lambda s: T.cosine_decay_restarts(0.1, s, 10, t_mul=1.0, m_mul=0.9),
        lambda s: restarts(s, t_mul=1.0),
    ),
    "linear cosine": (
        lambda s: T.linear_cosine_decay(0.1, s, 30),
        lambda s: 0.1 * ((1 - min(s, 30) / 30) * COSINE(min(s, 30) / 30) + 0.001),
    ),
    "piecewise": (lambda s: T.piecewise_constant(s, [10, 20], [0.1, 0.05, 0.01]), pieces),
    "piecewise, one boundary": (
        lambda s: T.piecewise_constant_decay(s, [10], [0.1, 0.05]),
        lambda s: 0.1 if s <= 10 else 0.05,
    ),
}


@pytest.mark.parametrize("key", DECAYS)
@pytest.mark.parametrize("dtype", [tf.int32, tf.int64])
def test_decays_follow_their_formulas(key, dtype):
    make, expected = DECAYS[key]
    step = tf.placeholder(dtype, [])
    rate = make(step)
    with tf.Session() as session:
        seen = [session.run(rate, {step: s}) for s in STEPS]
    np.testing.assert_allclose(seen, [expected(s) for s in STEPS], 2e-5, 1e-7)


def test_noise_shrinks_with_the_steps():
    step = tf.placeholder(tf.int32, [])
    rate = tf.train.noisy_linear_cosine_decay(1.0, step, 1000, initial_variance=1.0, variance_decay=2.0)
    with tf.Session() as session:
        early = [session.run(rate, {step: 0}) for _ in range(200)]
        late = [session.run(rate, {step: 100}) for _ in range(200)]
    assert np.std(early) > 0.5
    assert np.std(late) < 0.05


def test_a_rate_follows_the_global_step_of_training():
    step = tf.train.get_or_create_global_step()
    v = tf.Variable(1.0)
    rate = tf.train.exponential_decay(0.5, step, 1, 0.5)
    train = tf.train.GradientDescentOptimizer(rate).minimize(v, global_step=step)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(train)
        np.testing.assert_allclose(session.run([v, rate]), [1 - 0.5 - 0.25 - 0.125, 0.0625])


def test_names_and_types():
    step = tf.train.get_or_create_global_step()
    assert tf.train.exponential_decay(0.1, step, 10, 0.5).op.name == "ExponentialDecay"
    assert tf.train.polynomial_decay(0.1, step, 10, name="mine").op.name == "mine"
    assert tf.train.cosine_decay(tf.constant(0.1, tf.float64), step, 10).dtype == tf.float64


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: T.exponential_decay(0.1, None, 10, 0.5), "global_step is required for exponential_decay"),
        (lambda: T.polynomial_decay(0.1, None, 10), "global_step is required for polynomial_decay"),
        (lambda: T.cosine_decay(0.1, None, 10), "global_step is required"),
        (lambda: T.piecewise_constant(tf.constant(1), [1.5], [1.0, 2.0]), "must have the same dtype as x"),
        (
            lambda: T.piecewise_constant(tf.constant(1), [1, 2], [1.0, 2.0]),
            "1 less than the length of values",
        ),
        (lambda: T.piecewise_constant(tf.constant(1), [1], [1.0, 2]), "all with the same dtype"),
    ],
)
def test_mistakes(make, message):
    with pytest.raises(ValueError, match=message):
        make()
