"""What programs write out of small operations: the forms of real models, and what is left as it is."""

import numpy as np
import pytest

import tideflow as tf
from tests.compile.steps import EVERY_RULE, Compiled, normal
from tests.compile.test_rules import deviation, parameters, written_out_softmax

RULES = {
    "softmax_of_exponentials", "gradient_of_softmax", "gradient_by_subtracted_maximum", "layer_norm",
    "layer_norm_as_batch_norm", "gelu",
}  # fmt: skip
X = normal(2, 3, 5)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def initialized(fetches, feeds, disabled=()):
    step = Compiled(fetches, feeds, disabled)
    if variables := tf.global_variables():
        Compiled([v.initializer for v in variables], state=step.state).run()
    return step


def applied(build):
    """The rules of written-out forms that apply to what `build` makes of a fed tensor."""
    x = tf.placeholder(tf.float32, X.shape)
    fetches = build(x)
    step = initialized(fetches, {x: X})
    for found, wanted in zip(step.run(), initialized(fetches, {x: X}, EVERY_RULE).run(), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
    return RULES.intersection(step.plan.applied)


def erf_gelu(x, half=0.5):
    return half * x * (1 + tf.erf(x / np.sqrt(2)))


def layer_norm(rest, variance):
    gamma, beta = parameters()
    return rest * tf.rsqrt(variance) * gamma + beta


def test_attention_on_a_written_out_softmax():
    x = tf.placeholder(tf.float32, X.shape)
    y = tf.matmul(written_out_softmax(tf.matmul(x, x, transpose_b=True)), x)
    fetches = [y, *tf.gradients(tf.tanh(y), x)]
    step = Compiled(fetches, {x: X})
    assert {"_Attention", "_AttentionGrad"} < set(step.types)
    for found, wanted in zip(step.run(), Compiled(fetches, {x: X}, EVERY_RULE).run(), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def layers_of_contrib(x):
    return [tf.contrib.layers.layer_norm(x, begin_norm_axis=-1)]


def layers_of_keras(x):
    return [tf.keras.layers.LayerNormalization()(x)]


def softmax_with_a_constant_maximum(x):
    e = tf.exp(x - tf.stop_gradient(tf.reduce_max(x, -1, keepdims=True)))
    return tf.gradients(tf.tanh(e / tf.reduce_sum(e, -1, keepdims=True)), x)


FORMS = {
    layers_of_contrib: "layer_norm_as_batch_norm",
    layers_of_keras: "layer_norm_as_batch_norm",
    softmax_with_a_constant_maximum: "gradient_of_softmax",
}


@pytest.mark.parametrize("build", FORMS)
def test_other_forms(build):
    assert FORMS[build] in applied(build)


def normalized_with_its_gradient(x):
    y = layer_norm(*deviation(x))
    return [y, *tf.gradients(y**2, x)]


def exponentials(x):
    return tf.exp(x - tf.reduce_max(x, -1, keepdims=True))


def exponentials_that_others_take(x):
    e = exponentials(x)
    return [e / tf.reduce_sum(e, -1, keepdims=True), e]


LEFT = {
    "an epsilon that is fed": lambda x: [layer_norm(*deviation(x, tf.exp(x[0, 0, 0])))],
    "a normalization with its gradient": normalized_with_its_gradient,
    "the variance along another axis": lambda x: [
        layer_norm(deviation(x)[0], tf.reduce_mean(tf.square(deviation(x)[0]), axis=1, keepdims=True) + 1.0)
    ],
    "the variance of something else": lambda x: [layer_norm(deviation(x)[0], deviation(tf.exp(x))[1])],
    "parameters for each element": lambda x: [
        deviation(x)[0] * tf.rsqrt(deviation(x)[1]) * tf.exp(x) + parameters()[1]
    ],
    "a GELU with its gradient": lambda x: [erf_gelu(x), *tf.gradients(erf_gelu(x), x)],
    "a GELU of other constants": lambda x: [erf_gelu(x, 0.51)],
    "a gate of something else": lambda x: [0.5 * tf.exp(x) * (1 + tf.erf(x / np.sqrt(2)))],
    "a chain of products": lambda x: [0.5 * x * x * x * x * x * x * x],
    "exponentials without their maximum": lambda x: [tf.exp(x) / tf.reduce_sum(tf.exp(x), -1, keepdims=True)],
    "sums over another axis": lambda x: [exponentials(x) / tf.reduce_sum(exponentials(x), 1, keepdims=True)],
    "exponentials that others take": exponentials_that_others_take,
}


@pytest.mark.parametrize("name", LEFT)
def test_what_is_left(name):
    assert applied(LEFT[name]) == set()
