"""Bijectors: there and back, volumes against numeric ones, what is kept."""

import numpy as np
import pytest

import tideflow as tf

b = tf.contrib.distributions.bijectors


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


def value(tensor):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(tensor)


OF_VECTORS = {
    "affine": lambda: b.Affine(np.array([1.0, 2.0, 3.0]), scale_diag=np.array([1.0, -2.0, 3.0])),
    "low rank": lambda: b.Affine(
        scale_diag=np.array([1.0, 2.0, 3.0]), scale_perturb_factor=np.array([[1.0], [0.5], [0.1]])
    ),
    "chain": lambda: b.Chain([b.Exp(), b.Affine(scale_diag=np.array([1.0, 2.0, 3.0])), b.Sigmoid()]),
    "softplus": lambda: b.Softplus(),
    "sinh": lambda: b.SinhArcsinh(np.float64(0.3), np.float64(1.2)),
    "permute": lambda: b.Permute([2, 0, 1]),
    "softsign": lambda: b.Softsign(),
    "ordered": lambda: b.Invert(b.Ordered()),
    "flow": lambda: b.MaskedAutoregressiveFlow(
        lambda x: (tf.cumsum(x, -1, exclusive=True), 0.1 * tf.cumsum(x, -1, exclusive=True))
    ),
    "coupling": lambda: b.RealNVP(1, lambda x, n: (tf.tile(x, [1, n]), tf.tile(0.5 * x, [1, n]))),
}


@pytest.mark.parametrize("make", OF_VECTORS.values(), ids=OF_VECTORS)
def test_there_and_back_and_the_volume(make):
    bijector, point = make(), np.array([[0.4, -0.3, 0.7]])
    x = tf.constant(point)
    y = bijector.forward(x)
    back = bijector.inverse(tf.identity(y))
    growth = bijector.forward_log_det_jacobian(x, event_ndims=1)
    shrinkage = bijector.inverse_log_det_jacobian(y, event_ndims=1)
    found, grown, shrunk = value([back, growth, shrinkage])
    np.testing.assert_allclose(found, point, rtol=1e-6)
    np.testing.assert_allclose(np.broadcast_to(grown, [1]), -np.broadcast_to(shrunk, [1]), rtol=1e-6)
    rows = [tf.gradients(y[0, i], x)[0][0] for i in range(3)]
    volume = np.log(abs(np.linalg.det(value(tf.stack(rows)))))
    np.testing.assert_allclose(np.broadcast_to(grown, [1]), [volume], rtol=1e-6, atol=1e-9)


def test_what_was_computed_is_kept():
    bijector = b.Exp()
    x = tf.constant([1.0, 2.0])
    y = bijector.forward(x)
    assert bijector.forward(x) is y and bijector.inverse(y) is x
    log_det = bijector.inverse_log_det_jacobian(y, event_ndims=0)
    assert bijector.inverse_log_det_jacobian(y, event_ndims=0) is log_det
    assert bijector.inverse_log_det_jacobian(y, event_ndims=1) is not log_det


def test_a_condition_reaches_the_hooks():
    class Shift(b.ConditionalBijector):
        def __init__(self):
            super().__init__(forward_min_event_ndims=0, is_constant_jacobian=True)

        def _forward(self, x, by):
            return x + by

        def _inverse(self, y, by):
            return y - by

        def _forward_log_det_jacobian(self, x, by):
            return tf.zeros([])

    shift = Shift()
    y = shift.forward(tf.constant(1.0), by=2.0)
    assert value([y, shift.inverse(3.0, by=2.0)]) == [3.0, 1.0]
    assert value(shift.inverse_log_det_jacobian(3.0, event_ndims=0, by=2.0)) == 0.0


def test_a_mask_hides_what_comes_later():
    x = tf.ones([1, 3])
    hidden = b.masked_dense(x, 6, num_blocks=3, exclusive=True, use_bias=False)
    slopes = value([tf.gradients(hidden[0, i], x)[0][0] for i in range(6)])
    for output, slope in enumerate(slopes):
        assert (np.array(slope)[output // 2 :] == 0).all()


def test_normalizing_is_the_inverse():
    bijector = b.BatchNormalization()
    normal = bijector.inverse(tf.constant([[1.0], [3.0], [5.0]]))
    np.testing.assert_allclose(value(normal).mean(), 0.0, atol=1e-6)


def test_two_open_sizes_are_refused():
    with pytest.raises(ValueError, match="at most one `-1`"):
        b.Reshape([-1, -1])
