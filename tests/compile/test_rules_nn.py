"""Rewrites of layers: what they make of a plan, and that it computes the same."""

from __future__ import annotations

import numpy as np
import pytest

import tideflow as tf
from tideflow.compile.rewrite import all_rules

RNG = np.random.default_rng(0)
LAYERS = {
    "pool_keeps_places",
    "pool_gradient_by_places",
    "relu_gradient_before_pools",
    "bias_gradient_before_pools",
    "convolution_with_bias",
    "convolution_with_relu",
    "filter_laid_out",
    "filter_laid_out_once",
    "dilated_convolution",
    "dilated_gradient_by_input",
    "dilated_gradient_by_filter",
}
DILATED = {"dilated_convolution", "dilated_gradient_by_input", "dilated_gradient_by_filter"}


def values_and_plan(fetches, feeds, disabled=frozenset()):
    with tf.Session() as session:
        session._disabled_rules = frozenset(disabled)
        found = session.run(fetches, feeds)
        return found, session.explain(fetches, feeds)


def assert_same_without_rules(fetches, feeds, applied):
    """The rules in `applied` all take part; without any rule of this kind the values are the same."""
    found, plan = values_and_plan(fetches, feeds)
    expected, _ = values_and_plan(fetches, feeds, LAYERS)
    for name in applied:
        assert name in plan, plan
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
    return plan


def normal(*sizes):
    return RNG.standard_normal(sizes).astype(np.float32)


def network(padding="SAME", pool_padding="SAME", data_format="NHWC"):
    """Two convolutions with bias, relu and pool, and the gradients of what they are trained on."""
    image = normal(2, 9, 8, 3) if data_format == "NHWC" else normal(2, 3, 9, 8)
    x = tf.placeholder(tf.float32, image.shape)
    window = [1, 3, 3, 1] if data_format == "NHWC" else [1, 1, 3, 3]
    strides = [1, 2, 2, 1] if data_format == "NHWC" else [1, 1, 2, 2]
    sources, h = [], x
    for depth, count in ((3, 4), (4, 5)):
        w, b = tf.constant(normal(3, 3, depth, count)), tf.constant(normal(count))
        w, b = tf.placeholder_with_default(w, w.shape), tf.placeholder_with_default(b, b.shape)
        h = tf.nn.bias_add(tf.nn.conv2d(h, w, 1, padding, data_format=data_format), b, data_format)
        h = tf.nn.max_pool(tf.nn.relu(h), window, strides, pool_padding, data_format)
        sources += [w, b]
    loss = tf.reduce_sum(h * h)
    return [loss, *tf.gradients(loss, [x, *sources])], {x: image}


def test_every_rule_is_registered_with_its_law():
    rules = all_rules()
    for name in LAYERS:
        assert "->" in rules[name].law


@pytest.mark.parametrize("pool_padding", ["SAME", "VALID"])
def test_a_convolutional_network(pool_padding):
    plan = assert_same_without_rules(*network(pool_padding=pool_padding), LAYERS - DILATED)
    for gone in ("= relu", "BiasAdd(", "MaxPoolGrad("):
        assert gone not in plan


def test_channels_first():
    plan = assert_same_without_rules(
        *network(data_format="NCHW"), LAYERS - DILATED - {"filter_laid_out", "filter_laid_out_once"}
    )
    assert "filter_laid_out" not in plan


def test_overlapping_windows_add_up():
    x = tf.placeholder(tf.float32, [1, 7, 7, 2])
    y = tf.nn.max_pool(tf.nn.relu(x), [1, 3, 3, 1], [1, 1, 1, 1], "SAME")
    fetches = [y, tf.gradients(y, x, normal(1, 7, 7, 2))[0]]
    assert_same_without_rules(fetches, {x: normal(1, 7, 7, 2)}, ["relu_gradient_before_pools"])


def test_a_pool_without_gradient_keeps_nothing():
    x = tf.placeholder(tf.float32, [1, 4, 4, 1])
    _, plan = values_and_plan([tf.nn.max_pool(x, 2, 2, "SAME")], {x: normal(1, 4, 4, 1)})
    assert "pool_keeps_places" not in plan


def test_a_gradient_for_other_windows_is_left_alone():
    x = tf.placeholder(tf.float32, [1, 4, 4, 1])
    y = tf.nn.max_pool(x, 2, 2, "VALID")
    attrs = {"ksize": [1, 3, 3, 1], "strides": [1, 2, 2, 1], "padding": "SAME"}
    back = tf.raw_ops.MaxPoolGrad(orig_input=x, orig_output=y, grad=tf.ones_like(y), **attrs)
    _, plan = values_and_plan([y, back], {x: normal(1, 4, 4, 1)})
    assert "pool_gradient_by_places" not in plan


def test_what_others_take_is_not_fused_away():
    x = tf.placeholder(tf.float32, [1, 5, 5, 2])
    product = tf.nn.conv2d(x, normal(3, 3, 2, 3), 1, "SAME")
    biased = tf.nn.bias_add(product, normal(3))
    _, plan = values_and_plan([product, biased], {x: normal(1, 5, 5, 2)})
    assert "convolution_with_bias" not in plan
    plan = assert_same_without_rules([biased, tf.nn.relu(biased)], {x: normal(1, 5, 5, 2)}, [])
    assert "convolution_with_relu" not in plan


@pytest.mark.parametrize("shape", [(3,), (1, 3), (5, 3), ()])
def test_only_a_vector_of_channels_is_a_bias(shape):
    x = tf.placeholder(tf.float32, [2, 5, 5, 2])
    y = normal(*shape) + tf.nn.conv2d(x, normal(3, 3, 2, 3), 1, "SAME")
    plan = assert_same_without_rules([y], {x: normal(2, 5, 5, 2)}, [])
    assert ("convolution_with_bias" in plan) == (shape == (3,))


def test_strides_and_uneven_padding():
    x = tf.placeholder(tf.float32, [2, 6, 6, 2])
    y = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, normal(3, 3, 2, 3), 2, "SAME"), normal(3)))
    assert_same_without_rules([y], {x: normal(2, 6, 6, 2)}, ["convolution_with_relu"])


def test_shapes_that_only_the_step_knows():
    x, w = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    y = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, w, 1, "SAME"), normal(3)))
    y = tf.nn.max_pool(y, 2, 2, "SAME")
    fetches = [y, *tf.gradients(y, [x, w])]
    for size in (5, 8):
        assert_same_without_rules(fetches, {x: normal(2, size, size, 2), w: normal(3, 3, 2, 3)}, [])


def test_empty_batches():
    x = tf.placeholder(tf.float32, [0, 4, 4, 2])
    y = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, normal(3, 3, 2, 3), 1, "SAME"), normal(3)))
    y = tf.nn.max_pool(y, 2, 2, "SAME")
    values, _ = values_and_plan([y, tf.gradients(y, x)[0]], {x: normal(0, 4, 4, 2)})
    assert [value.shape for value in values] == [(0, 2, 2, 3), (0, 4, 4, 2)]


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("depthwise", [False, True])
def test_dilation_is_the_convolution_s_own(depthwise, padding):
    x = tf.placeholder(tf.float32, [2, 9, 8, 3])
    w = tf.placeholder_with_default(normal(3, 3, 3, 2), [3, 3, 3, 2])
    if depthwise:
        y = tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], padding, rate=[2, 2])
    else:
        y = tf.nn.convolution(x, w, padding, dilation_rate=[2, 3])
    fetches = [y, *tf.gradients(y * y, [x, w])]
    plan = assert_same_without_rules(fetches, {x: normal(2, 9, 8, 3)}, DILATED)
    assert "SpaceToBatchND(" not in plan and "BatchToSpaceND(" not in plan
