"""Attention as programs write it out: one operation takes its place, with the same values and gradients."""

import numpy as np
import pytest

import tideflow as tf
from tests.compile.steps import PLAIN, Compiled, normal

BATCH, HEADS, POSITIONS, SIZE = 2, 3, 5, 8
CAUSAL = np.tri(POSITIONS, dtype=np.float32)
LENGTHS = np.where(np.arange(POSITIONS) < 3, 0.0, -1e9).astype(np.float32)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def fed(*shape, seed=0):
    return tf.placeholder(tf.float32, shape), normal(*shape, seed=seed)


class Written:
    """An attention over fed queries, keys and values, with its gradients."""

    def __init__(self, scores=lambda product: product * SIZE**-0.5, shape=(BATCH, HEADS, POSITIONS, SIZE)):
        pairs = [fed(*shape, seed=seed) for seed in range(3)]
        self.inputs = query, key, self.value = [tensor for tensor, _ in pairs]
        self.factor, number = fed(1)
        self.feeds = {**dict(pairs), self.factor: number}
        self.product = tf.matmul(query, key, transpose_b=True)
        self.weights = tf.nn.softmax(scores(self.product))
        self.result = tf.matmul(self.weights, self.value)

    def attended(self, scores):
        return tf.matmul(tf.nn.softmax(scores), self.value)

    def gradients(self):
        return tf.gradients(tf.tanh(self.result), self.inputs)


def check(fetches, feeds, expected):
    """Runs a step with the rewrite and without any; counts the operations that take an attention's place."""
    step = Compiled(fetches, feeds)
    found = [step.types.count("_Attention"), step.types.count("_AttentionGrad")]
    assert found == expected
    assert ("fuse_attention" in step.plan.applied) == (sum(expected) > 0)
    with tf.Session(config=PLAIN) as session:
        for array, plain in zip(step.run(), session.run(fetches, feeds), strict=True):
            np.testing.assert_allclose(array, plain, rtol=1e-5, atol=1e-6)


SCORES = {
    "scaled": lambda product: product * SIZE**-0.5,
    "divided": lambda product: product / tf.sqrt(tf.constant(float(SIZE))),
    "not scaled": lambda product: product,
    "scaled twice": lambda product: 0.5 * (product / 2.0),
    "a mask of lengths": lambda product: product * 0.3 + tf.constant(LENGTHS),
    "a mask for each example": lambda product: (
        tf.constant(np.stack([LENGTHS, 0 * LENGTHS])[:, None, None]) + product
    ),
    "GPT-2's": lambda product: product * 0.3 * tf.constant(CAUSAL) - 1e10 * (1 - tf.constant(CAUSAL)),
    "the past": lambda product: product * 0.3 + tf.constant(-1e9 * (1 - CAUSAL)),
    "numbers for each pair": lambda product: product - tf.constant(normal(POSITIONS, POSITIONS)),
}


@pytest.mark.parametrize("name", SCORES)
def test_what_is_written_out_becomes_one_operation(name):
    attention = Written(SCORES[name])
    check([attention.result], attention.feeds, [1, 0])
    check([attention.result, *attention.gradients()], attention.feeds, [1, 1])


@pytest.mark.parametrize(("name", "is_causal"), [("GPT-2's", True), ("the past", True), ("scaled", False)])
def test_positions_that_see_themselves_and_those_before_need_no_mask(name, is_causal):
    attention = Written(SCORES[name])
    program = Compiled([attention.result], attention.feeds).plan.program
    (node,) = [node for node in program.nodes if node.type == "_Attention"]
    assert node.attrs["causal"] is is_causal
    assert len(node.inputs) == 3


def test_scores_without_heads():
    attention = Written(shape=(BATCH, POSITIONS, SIZE))
    check([attention.result, *attention.gradients()], attention.feeds, [1, 1])


def test_a_mask_that_is_fed():
    mask, lengths = fed(BATCH, 1, 1, POSITIONS)
    attention = Written(lambda product: product * 0.3 + (1 - mask) * -10000.0)
    check([attention.result, *attention.gradients()], {**attention.feeds, mask: lengths > 0}, [1, 1])


def test_keys_of_another_length():
    pairs = [fed(2, 3, 4, 8), fed(2, 3, 6, 8, seed=1), fed(2, 3, 6, 8, seed=2)]
    query, key, value = inputs = [tensor for tensor, _ in pairs]
    result = tf.matmul(tf.nn.softmax(tf.matmul(query, key, transpose_b=True)), value)
    check([result, *tf.gradients(tf.tanh(result), inputs)], dict(pairs), [1, 1])


def test_layers_on_top_of_each_other():
    (x, array), weights = fed(BATCH, HEADS, POSITIONS, SIZE), tf.constant(normal(SIZE, SIZE))
    y = x
    for _ in range(3):
        query = tf.einsum("bhps,st->bhpt", y, weights)
        y += tf.matmul(tf.nn.softmax(tf.matmul(query, y, transpose_b=True) * 0.1), y)
    check([y, *tf.gradients(y, x)], {x: array}, [3, 3])


def test_double_precision():
    arrays = [normal(2, 4, 8, seed=seed).astype(np.float64) for seed in range(3)]
    inputs = [tf.placeholder(tf.float64, [2, 4, 8]) for _ in arrays]
    query, key, value = inputs
    result = tf.matmul(tf.nn.softmax(tf.matmul(query, key, transpose_b=True)), value)
    check([result, *tf.gradients(result, inputs)], dict(zip(inputs, arrays, strict=True)), [1, 1])


def test_in_a_loop():
    attention = Written()
    query, key, value = attention.inputs

    def body(step, q):
        return step + 1, tf.matmul(tf.nn.softmax(tf.matmul(q, key, transpose_b=True)), value)

    final = tf.while_loop(lambda step, q: step < 3, body, [0, query])[1]
    step = Compiled([final], attention.feeds)
    assert "fuse_attention" in step.plan.applied
    with tf.Session(config=PLAIN) as session:
        np.testing.assert_allclose(step.run()[0], session.run(final, attention.feeds), rtol=1e-5, atol=1e-6)


LEFT = {  # since somebody wants what is inside of the attention, or for its form
    "the weights are fetched": lambda a: [a.result, a.weights],
    "the weights are used twice": lambda a: [a.result, tf.reduce_sum(a.weights)],
    "the weights are dropped out": lambda a: [tf.matmul(tf.nn.dropout(a.weights, 0.5), a.value)],
    "only the values learn": lambda a: tf.gradients(a.result, [a.value]),
    "a scale that is fed": lambda a: [a.attended(a.product * a.factor)],
    "zeros for hidden scores": lambda a: [a.attended(a.product * tf.constant(CAUSAL))],
    "other weights by constants": lambda a: [a.attended(a.product * tf.constant(CAUSAL + 1))],
    "a mask that learns": lambda a: tf.gradients(a.attended(a.product + a.factor), [*a.inputs, a.factor]),
    "values of another size": lambda a: [tf.matmul(tf.nn.softmax(a.product), a.value[..., :4])],
    "another axis": lambda a: [tf.matmul(tf.nn.softmax(a.product, axis=2), a.value)],
}


@pytest.mark.parametrize("name", LEFT)
def test_what_is_left(name):
    attention = Written()
    fetches = LEFT[name](attention)
    step = Compiled(fetches, attention.feeds)
    assert "_Attention" not in step.types
    assert "fuse_attention" not in step.plan.applied


def test_second_derivatives_are_written_out():
    attention = Written()
    (first, *_) = attention.gradients()
    check(tf.gradients(first, attention.inputs), attention.feeds, [0, 0])


def test_it_can_be_switched_off_alone():
    attention = Written()
    step = Compiled([attention.result], attention.feeds, disabled={"fuse_attention"})
    assert "Softmax" in step.types
    assert "fuse_attention" not in step.plan.applied


def test_in_16_bits():
    """Casts stand between the operations that compute in 16 bits and those that do not."""
    config = tf.ConfigProto()
    config.graph_options.rewrite_options.auto_mixed_precision_cpu = 1
    attention = Written(SCORES["GPT-2's"])
    fetches = [tf.reduce_sum(tf.exp(-each)) for each in (attention.result, *attention.gradients())]
    with tf.Session(config=config) as session, tf.Session(config=PLAIN) as plain:
        source = session.explain(fetches, attention.feeds)
        assert "_AttentionGrad" in source
        results = session.run(fetches, attention.feeds), plain.run(fetches, attention.feeds)
    np.testing.assert_allclose(*results, rtol=2e-2)


def test_gradients_that_are_fetched_stay_in_32_bits():
    config = tf.ConfigProto()
    config.graph_options.rewrite_options.auto_mixed_precision_cpu = 1
    attention = Written()
    fetches = attention.gradients()
    with tf.Session(config=config) as session, tf.Session(config=PLAIN) as plain:
        assert "_Attention" not in session.explain(fetches, attention.feeds)
        found = session.run(fetches, attention.feeds)
        for array, expected in zip(found, plain.run(fetches, attention.feeds), strict=True):
            np.testing.assert_allclose(array, expected, rtol=2e-2, atol=2e-2)
