"""Distributions against SciPy's, and samples against the statistics they should have."""

import numpy as np
import pytest
import scipy.stats as st

import tideflow as tf
from tideflow.distributions.normal_functions import log_ndtr

d = tf.distributions


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


def value(tensor, feeds=None):
    with tf.Session() as session:
        return session.run(tensor, feeds)


def double(*numbers):
    return [np.float64(number) for number in numbers]


REAL = {
    "normal": (lambda: d.Normal(*double(1.5, 2.0)), st.norm(1.5, 2.0)),
    "laplace": (lambda: d.Laplace(*double(1.5, 2.0)), st.laplace(1.5, 2.0)),
    "student": (lambda: d.StudentT(*double(5.0, 1.5, 2.0)), st.t(5.0, 1.5, 2.0)),
    "uniform": (lambda: d.Uniform(*double(1.5, 4.0)), st.uniform(1.5, 2.5)),
    "gamma": (lambda: d.Gamma(*double(3.0, 2.0)), st.gamma(3.0, scale=0.5)),
    "exponential": (lambda: d.Exponential(*double(2.0)), st.expon(scale=0.5)),
    "beta": (lambda: d.Beta(*double(3.0, 2.0)), st.beta(3.0, 2.0)),
}
of_real = pytest.mark.parametrize(("make", "scipy"), REAL.values(), ids=REAL)


@of_real
def test_functions(make, scipy):
    found, x = make(), scipy.ppf([0.001, 0.2, 0.5, 0.93])
    wanted = {
        "prob": scipy.pdf,
        "log_prob": scipy.logpdf,
        "cdf": scipy.cdf,
        "log_cdf": scipy.logcdf,
        "survival_function": scipy.sf,
        "log_survival_function": scipy.logsf,
    }
    for name, function in wanted.items():
        np.testing.assert_allclose(value(getattr(found, name)(x)), function(x), rtol=1e-6, err_msg=name)


@of_real
def test_statistics(make, scipy):
    found = make()
    wanted = {
        "mean": scipy.mean(),
        "variance": scipy.var(),
        "stddev": scipy.std(),
        "entropy": scipy.entropy(),
    }
    for name, number in wanted.items():
        np.testing.assert_allclose(value(getattr(found, name)()), number, rtol=1e-6, err_msg=name)


@of_real
def test_samples_follow_the_distribution(make, scipy):
    samples = value(make().sample(4000, seed=3))
    assert st.kstest(samples, scipy.cdf).pvalue > 1e-3


@pytest.mark.parametrize("p", [1e-300, 1e-20, 1e-3, 0.1, 0.5, 0.9, 0.999])
def test_quantiles_of_the_normal(p):
    np.testing.assert_allclose(value(d.Normal(*double(0.0, 1.0)).quantile(np.float64(p))), st.norm.ppf(p))


def test_ends_of_quantiles():
    assert value(d.Normal(0.0, 1.0).quantile([0.0, 1.0])).tolist() == [-np.inf, np.inf]


def test_trials():
    bernoulli, categorical = d.Bernoulli(probs=0.3), d.Categorical(probs=[0.2, 0.5, 0.3])
    np.testing.assert_allclose(value(bernoulli.prob([0, 1])), [0.7, 0.3], rtol=1e-5)
    np.testing.assert_allclose(value(categorical.prob([0, 1, 2])), [0.2, 0.5, 0.3], rtol=1e-5)
    np.testing.assert_allclose(value(categorical.entropy()), st.entropy([0.2, 0.5, 0.3]), rtol=1e-5)
    coins, dice = value([bernoulli.sample(5000, seed=1), categorical.sample(5000, seed=2)])
    assert abs(coins.mean() - 0.3) < 0.03
    np.testing.assert_allclose(np.bincount(dice) / 5000, [0.2, 0.5, 0.3], atol=0.03)


def test_counts():
    found = d.Multinomial(np.float64(6.0), probs=np.array([0.2, 0.5, 0.3]))
    scipy = st.multinomial(6, [0.2, 0.5, 0.3])
    np.testing.assert_allclose(value(found.prob([1.0, 3.0, 2.0])), scipy.pmf([1, 3, 2]))
    np.testing.assert_allclose(value(found.covariance()), scipy.cov())
    samples = value(found.sample(3000, seed=5))
    assert samples.dtype == np.float64 and (samples.sum(1) == 6).all()
    np.testing.assert_allclose(np.cov(samples.T), scipy.cov(), atol=0.15)


def test_each_of_a_batch_has_its_own_number_of_trials():
    samples = value(d.Multinomial([3.0, 7.0], logits=[[0.0, 1.0], [1.0, 0.0]]).sample([2, 4], seed=5))
    assert samples.shape == (2, 4, 2, 2)
    assert (samples.sum(-1) == [3, 7]).all()


def test_counts_of_unknown_probabilities():
    found = d.DirichletMultinomial(np.float64(6.0), np.array([2.0, 1.0, 3.0]))
    samples = value(found.sample(4000, seed=5))
    assert (samples.sum(1) == 6).all()
    np.testing.assert_allclose(samples.mean(0), value(found.mean()), atol=0.15)
    np.testing.assert_allclose(np.cov(samples.T), value(found.covariance()), atol=0.3)
    scipy = st.dirichlet_multinomial([2.0, 1.0, 3.0], 6)
    np.testing.assert_allclose(value(found.log_prob([1.0, 3.0, 2.0])), scipy.logpmf([1, 3, 2]))


def test_shares():
    found, scipy = d.Dirichlet(np.array([2.0, 1.0, 3.0])), st.dirichlet([2.0, 1.0, 3.0])
    np.testing.assert_allclose(value(found.log_prob([0.2, 0.5, 0.3])), scipy.logpdf([0.2, 0.5, 0.3]))
    np.testing.assert_allclose(value(found.entropy()), scipy.entropy())
    np.testing.assert_allclose(value(found.variance()), scipy.var())
    samples = value(found.sample(3000, seed=5))
    np.testing.assert_allclose(samples.sum(1), 1)
    np.testing.assert_allclose(np.cov(samples.T), value(found.covariance()), atol=0.01)


def test_modes_of_a_batch_of_shares():
    modes = value(d.Dirichlet([[2.0, 2.0, 3.0], [0.5, 2.0, 2.0]]).mode())
    np.testing.assert_allclose(modes, [[0.25, 0.25, 0.5], [np.nan] * 3], rtol=1e-6)


def test_a_variance_in_double_precision():
    df = np.array([0.5, 1.5, 4.0])
    variance = value(d.StudentT(df, np.float64(0.0), np.float64(2.0)).variance())
    np.testing.assert_allclose(variance, [np.nan, np.inf, 8.0])


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (lambda: d.Normal(0.0, 1.0), lambda: d.Normal(0.5, 2.0)),
        (lambda: d.Gamma(2.0, 1.0), lambda: d.Gamma(3.0, 2.0)),
        (lambda: d.Beta(2.0, 3.0), lambda: d.Beta(3.0, 2.0)),
        (lambda: d.Dirichlet([2.0, 3.0]), lambda: d.Dirichlet([3.0, 2.0])),
        (lambda: d.Bernoulli(0.5), lambda: d.Bernoulli(-0.5)),
        (lambda: d.Categorical([0.5, 1.0]), lambda: d.Categorical([-0.5, 0.0])),
        (lambda: d.Exponential(2.0), lambda: d.Exponential(1.0)),
    ],
    ids="normal gamma beta dirichlet bernoulli categorical exponential".split(),
)
def test_divergences_are_the_mean_difference_of_logarithms(a, b):
    a, b = a(), b()
    samples = a.sample(20000, seed=3)
    estimate = tf.reduce_mean(a.log_prob(samples) - b.log_prob(samples))
    exact, estimated = value([a.kl_divergence(b), estimate])
    assert abs(exact - estimated) < 0.03


def test_the_gradient_reaches_the_parameters_of_a_sample():
    loc = tf.Variable(0.0)
    loss = tf.reduce_mean(tf.square(d.Normal(loc, 1.0).sample(100, seed=3) - 4.0))
    train = tf.train.GradientDescentOptimizer(0.2).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(50):
            session.run(train)
        assert abs(session.run(loc) - 4.0) < 0.3


def test_a_policy_learns_from_rewards():
    """REINFORCE on a bandit: the log probability of what was drawn, weighed by its reward."""
    logits = tf.Variable([0.0, 0.0, 0.0])
    policy = d.Categorical(logits)
    action = tf.stop_gradient(policy.sample(64, seed=3))
    reward = tf.cast(tf.equal(action, 2), tf.float32)
    train = tf.train.AdamOptimizer(0.1).minimize(-tf.reduce_mean(policy.log_prob(action) * reward))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(60):
            session.run(train)
        assert session.run(policy.probs)[2] > 0.9


def test_the_series_of_the_normal_distribution_has_as_many_terms_as_asked_for():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([-11.0, 1.0])
        rough, fine = session.run([log_ndtr(x, series_order=0), log_ndtr(x, 10, name="fine")])
        assert np.allclose(fine, st.norm.logcdf([-11.0, 1.0]), rtol=1e-5) and rough[0] > fine[0]
        for order, error in ((-1, ValueError), (31, ValueError), (1.0, TypeError)):
            with pytest.raises(error, match="series_order must be"):
                log_ndtr(x, series_order=order)
