"""Special functions against SciPy, and where they are not defined."""

import numpy as np
import pytest
from scipy import special

import tideflow as tf
from tideflow.graph.op import definition

RNG = np.random.default_rng(0)
A, B, X, P = (RNG.uniform(*bounds, 500) for bounds in ((0.05, 20), (0.05, 20), (0.01, 30), (0, 1)))
EXPECTED = {
    "igamma": (lambda: tf.igamma(A, X), special.gammainc(A, X)),
    "igammac": (lambda: tf.igammac(A, X), special.gammaincc(A, X)),
    "betainc": (lambda: tf.betainc(A, B, P), special.betainc(A, B, P)),
    "zeta": (lambda: tf.zeta(A + 1.1, X), special.zeta(A + 1.1, X)),
    "polygamma": (lambda: tf.polygamma(np.floor(A), X), special.polygamma(np.floor(A), X)),
    "digamma": (lambda: tf.digamma(X), special.digamma(X)),
    "lgamma": (lambda: tf.lgamma(X), special.gammaln(X)),
    "lbeta": (lambda: tf.lbeta(A.reshape(250, 2)), special.betaln(A[::2], A[1::2])),
    "bessel_i0": (lambda: tf.math.bessel_i0(X), special.i0(X)),
    "bessel_i1": (lambda: tf.math.bessel_i1(X), special.i1(X)),
    "bessel_i0e": (lambda: tf.math.bessel_i0e(X - 15), special.i0e(X - 15)),
    "bessel_i1e": (lambda: tf.math.bessel_i1e(X - 15), special.i1e(X - 15)),
}


def run(build):
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(build())


@pytest.mark.parametrize("name", EXPECTED)
def test_values(name):
    build, wanted = EXPECTED[name]
    np.testing.assert_allclose(run(build), wanted, 1e-10, 1e-12)


def test_outside_their_domains_they_are_no_numbers():
    assert np.isnan(run(lambda: tf.igamma([0.0, -1.0, 2.0], [1.0, 1.0, -1.0]))).all()
    assert np.isnan(run(lambda: tf.betainc([0.0, 1.0, 1.0], [1.0, -1.0, 1.0], [0.5, 0.5, 1.5]))).all()
    assert np.isnan(run(lambda: tf.polygamma([0.5, -1.0], [1.0, 1.0]))).all()


def test_at_the_ends_of_their_domains():
    assert run(lambda: tf.igamma([1.0, 1.0], [0.0, np.inf])).tolist() == [0.0, 1.0]
    assert run(lambda: tf.betainc(2.0, 3.0, [0.0, 1.0])).tolist() == [0.0, 1.0]


def test_the_slope_of_igamma_by_its_first_argument():
    step = 1e-6
    slope = (special.gammainc(A + step, X) - special.gammainc(A - step, X)) / (2 * step)
    np.testing.assert_allclose(run(lambda: definition("IgammaGradA")(A, X)), slope, 1e-6, 1e-8)


def test_the_slope_of_i1e_at_zero():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([0.0, 1e-9], tf.float64)
        np.testing.assert_allclose(session.run(tf.gradients(tf.math.bessel_i1e(x), x)[0]), 0.5, 1e-6)
