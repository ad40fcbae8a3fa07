"""Distributions of tf.contrib against SciPy's, and samples against the statistics they should have."""

import numpy as np
import pytest
import scipy.stats as st

import tideflow as tf

d = tf.contrib.distributions


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


def value(tensor, feeds=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(tensor, feeds)


def double(*numbers):
    return [np.float64(number) for number in numbers]


REAL = {
    "cauchy": (lambda: d.Cauchy(*double(1.5, 2.0)), st.cauchy(1.5, 2.0)),
    "logistic": (lambda: d.Logistic(*double(1.5, 2.0)), st.logistic(1.5, 2.0)),
    "half normal": (lambda: d.HalfNormal(*double(2.0)), st.halfnorm(0.0, 2.0)),
    "chi2": (lambda: d.Chi2(*double(3.0)), st.chi2(3.0)),
    "inverse gamma": (lambda: d.InverseGamma(*double(3.0, 2.0)), st.invgamma(3.0, scale=2.0)),
    "log-normal": (
        lambda: d.TransformedDistribution(d.Normal(*double(0.5, 1.2)), d.bijectors.Exp()),
        st.lognorm(1.2, scale=np.exp(0.5)),
    ),
}


@pytest.mark.parametrize(("make", "scipy"), REAL.values(), ids=REAL)
def test_functions(make, scipy):
    found, x = make(), scipy.ppf([0.1, 0.2, 0.5, 0.93])
    for name, function in {"prob": scipy.pdf, "log_prob": scipy.logpdf, "cdf": scipy.cdf}.items():
        np.testing.assert_allclose(value(getattr(found, name)(x)), function(x), rtol=1e-5, err_msg=name)


COUNTS = {
    "binomial": (lambda: d.Binomial(*double(7.0), probs=np.float64(0.3)), st.binom(7, 0.3)),
    "geometric": (lambda: d.Geometric(probs=np.float64(0.3)), st.geom(0.3, loc=-1)),
    "negative binomial": (
        lambda: d.NegativeBinomial(*double(4.0), probs=np.float64(0.3)),
        st.nbinom(4, 0.7),
    ),
    "poisson": (lambda: d.Poisson(*double(3.0)), st.poisson(3.0)),
}


@pytest.mark.parametrize(("make", "scipy"), COUNTS.values(), ids=COUNTS)
def test_counts(make, scipy):
    found, x = make(), np.array([0.0, 1.0, 2.0, 5.0])
    np.testing.assert_allclose(value(found.prob(x)), scipy.pmf(x), rtol=1e-6)
    np.testing.assert_allclose(value(found.cdf(x)), scipy.cdf(x), rtol=1e-6)
    np.testing.assert_allclose(
        value([found.mean(), found.variance()]), [scipy.mean(), scipy.var()], rtol=1e-6
    )


def test_normal_vectors():
    triangle = np.array([[1.0, 0.0], [0.5, 2.0]])
    found = d.MultivariateNormalTriL(np.array([1.0, -1.0]), triangle)
    scipy = st.multivariate_normal([1.0, -1.0], triangle @ triangle.T)
    x = np.array([[0.0, 0.0], [3.0, 1.0]])
    np.testing.assert_allclose(value(found.log_prob(x)), scipy.logpdf(x), rtol=1e-9)
    np.testing.assert_allclose(value(found.entropy()), scipy.entropy(), rtol=1e-9)
    samples = value(found.sample(20000, seed=1))
    np.testing.assert_allclose(np.cov(samples.T), triangle @ triangle.T, rtol=0.1, atol=0.05)


def test_matrices():
    scale = np.array([[2.0, 0.5], [0.5, 1.0]])
    found = d.WishartFull(np.float64(4.0), scale)
    x = np.array([[3.0, 0.2], [0.2, 2.0]])
    np.testing.assert_allclose(value(found.log_prob(x)), st.wishart(4, scale).logpdf(x), rtol=1e-9)
    np.testing.assert_allclose(value(found.sample(20000, seed=1)).mean(0), 4 * scale, rtol=0.05, atol=0.1)


def test_the_samples_of_a_mixture():
    mixture = d.Mixture(d.Categorical(probs=[0.25, 0.75]), [d.Normal(0.0, 1.0), d.Normal(10.0, 1.0)])
    samples = value(mixture.sample(4000, seed=3))
    assert abs((samples > 5).mean() - 0.75) < 0.03
    np.testing.assert_allclose(samples.std(), value(mixture.stddev()), rtol=0.05)


def test_a_seed_makes_the_samples_of_a_family_the_same():
    family = d.MixtureSameFamily(d.Categorical(probs=[0.5, 0.5]), d.Normal([0.0, 10.0], 1.0))
    draws = family.sample(5, seed=3)
    assert (value(draws) == value(draws)).all()


def test_the_hermite_quadrature_of_two_images():
    grid, probs = d.quadrature_scheme_softmaxnormal_gauss_hermite([0.3], [1.2], 5)
    points, weights = value([grid, probs])
    np.testing.assert_allclose(points.sum(0), np.ones(5), rtol=1e-6)
    np.testing.assert_allclose(weights.sum(), 1.0, rtol=1e-6)


def test_a_hook_that_is_missing_says_which():
    log_normal = d.TransformedDistribution(d.Normal(0.0, 1.0), d.bijectors.Exp(), event_shape=[2])
    with pytest.raises(NotImplementedError, match="cdf is not implemented when overriding event_shape"):
        log_normal.cdf([1.0, 1.0])


def test_a_copy_has_the_parameters():
    relaxed = d.RelaxedOneHotCategorical(0.5, probs=[0.2, 0.8])
    assert value(relaxed.copy(temperature=0.7).distribution.temperature) == np.float32(0.7)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda x: d.Cauchy(0.0, x, validate_args=True).sample(), "Condition x > 0 did not hold"),
        (lambda x: d.Binomial(x, probs=0.5, validate_args=True).mean(), "must be non-negative"),
        (lambda x: d.Poisson(1.0, validate_args=True).prob(x), "must be non-negative"),
        (lambda x: d.bijectors.Exp(validate_args=True).inverse(x), "must be greater than 0"),
    ],
)
def test_checks(make, message):
    held = tf.placeholder_with_default(-1.5, [])
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        value(make(held))
