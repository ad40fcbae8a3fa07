"""Convolutions of single pixels as products of matrices: the numbers of a convolution, in both directions."""

import numpy as np
import pytest
import torch

import tideflow as tf
from tideflow.ops.helpers import cpu_products

pytestmark = pytest.mark.skipif(
    not hasattr(torch.ops.mkldnn, "_linear_pointwise"), reason="PyTorch was built without oneDNN"
)


@pytest.fixture
def products(monkeypatch):
    """The products that oneDNN computes, once it is said to be the quicker one."""
    monkeypatch.setattr(cpu_products, "SMALLEST", 1)
    noted, multiplied = [], cpu_products.by_onednn
    monkeypatch.setattr(cpu_products, "by_onednn", lambda *given: noted.append(given) or multiplied(*given))
    return noted


def results(monkeypatch, is_quicker, image, filter, strides, padding):
    """A convolution, one with bias and activation, and both gradients."""
    monkeypatch.setattr(cpu_products, "is_quicker_by_onednn", lambda: is_quicker)
    with tf.Graph().as_default(), tf.Session() as session:
        x, w = tf.placeholder(tf.float32, image.shape), tf.placeholder(tf.float32, filter.shape)
        y = tf.nn.conv2d(x, w, [1, *strides, 1], padding)
        biased = tf.nn.relu(
            tf.nn.bias_add(tf.nn.conv2d(x, w * 2, [1, *strides, 1], padding), tf.range(48.0) - 24)
        )
        return session.run([y, biased, *tf.gradients(y, [x, w], tf.cos(y))], {x: image, w: filter})


@pytest.mark.parametrize("strides, padding", [((1, 1), "SAME"), ((2, 2), "SAME"), ((1, 2), "VALID")])
def test_products_are_the_convolution(monkeypatch, products, strides, padding):
    chance = np.random.RandomState(5)
    image = chance.normal(size=(4, 9, 10, 64)).astype(np.float32)
    filter = chance.normal(size=(1, 1, 64, 48)).astype(np.float32)
    wanted = results(monkeypatch, False, image, filter, strides, padding)
    assert not products
    found = results(monkeypatch, True, image, filter, strides, padding)
    assert len(products) == 4
    for value, expected in zip(found, wanted, strict=True):
        np.testing.assert_allclose(value, expected, rtol=1e-4, atol=2e-3)


def test_other_windows_are_convolutions(monkeypatch, products):
    image, filter = np.ones((2, 5, 5, 4), np.float32), np.ones((2, 1, 4, 48), np.float32)
    results(monkeypatch, True, image, filter, (1, 1), "SAME")
    assert not products


def test_gradients_of_known_shapes_are_worked_out_in_the_plan():
    with tf.Graph().as_default(), tf.Session() as session:
        x, w = tf.placeholder(tf.float32, [2, 8, 8, 3]), tf.placeholder(tf.float32, [3, 3, 3, 4])
        y = tf.nn.conv2d(x, w, [1, 2, 2, 1], "SAME")
        feeds = {x: np.ones(x.shape, np.float32), w: np.ones(w.shape, np.float32)}
        plan = session.explain(tf.gradients(y, [x, w]), feeds)
    assert "Conv2DBackpropInput(" in plan and "node=" not in plan
