"""Every rewrite rule, from its law: what stands before the arrow becomes what stands after it."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tideflow as tf
from tests.compile.steps import EVERY_RULE, PLAIN, Compiled, normal, program, run, types
from tideflow.compile import rewrite
from tideflow.graph.op import definition

X = normal(2, 3)
IMAGE = normal(2, 6, 6, 2)


@pytest.fixture(autouse=True)
def graph(monkeypatch):
    monkeypatch.setenv("TIDEFLOW_INT8", "on")  # on every CPU, for products of any size
    with tf.Graph().as_default() as g:
        yield g


def registered() -> list[tuple[str, str]]:
    """Every rule with every op type it is for."""
    return sorted(
        {
            (entry.name, op_type)
            for by_type in rewrite._rules.values()
            for op_type, entries in by_type.items()
            for entry in entries
        }
    )


# -------------------------------------------------------------------------------------- the left-hand sides

BEFORE = {}


def before(rule: str):
    """Registers the graph to which a rule applies: a function of the op type that gives (fetches, feeds)."""

    def register(build):
        BEFORE[rule] = build
        return build

    return register


def fed(value, shape="same"):
    tensor = tf.placeholder(tf.as_dtype(value.dtype), value.shape if shape == "same" else shape)
    return tensor, {tensor: value}


@before("identity_is_its_input")
def _(op_type):
    x, feeds = fed(X)
    return definition(op_type)(tf.exp(x)) * 2.0, feeds


@before("rows_of_a_variable")
def _(op_type):
    rows = tf.placeholder(tf.int32, [None])
    return tf.gather(tf.Variable(X), rows) * 2.0, {rows: np.array([1, 0, 1], np.int32)}


@before("sum_of_equal_rows")
def _(op_type):
    gradients, feeds = fed(np.arange(12, dtype=np.float32).reshape(4, 3))
    rows = tf.placeholder(tf.int32, [4])
    distinct, numbers = tf.unique(rows)
    summed = tf.unsorted_segment_sum(gradients, numbers, tf.shape(distinct)[0])
    return [summed, distinct * 2], {**feeds, rows: np.array([3, 0, 3, 1], np.int32)}


def drawn_classes(op_type="LogUniformCandidateSampler"):
    classes = np.array([[1, 2], [3, 0], [9, 9]])
    sampler = {
        "LogUniformCandidateSampler": tf.nn.log_uniform_candidate_sampler,
        "UniformCandidateSampler": tf.nn.uniform_candidate_sampler,
    }[op_type]
    labels, feeds = fed(classes)
    return labels, feeds, sampler(labels, 2, 6, True, 10, seed=4)


@before("draws_apart_from_classes")
def _(op_type):
    _, feeds, (sampled, counts, expected) = drawn_classes(op_type)
    return [sampled + 0, counts * 2.0, expected * 2.0], feeds


@before("hits_in_a_matrix")
def _(op_type):
    labels, feeds, (sampled, _, _) = drawn_classes()
    rows, places, weights = tf.nn.compute_accidental_hits(labels, sampled, num_true=2)
    columns = [tf.reshape(rows, [-1, 1]), tf.reshape(tf.cast(places, tf.int32), [-1, 1])]
    indices = tf.concat(columns, 1)
    return tf.sparse_to_dense(indices, [3, 6], weights, 0.0, validate_indices=False) * 0.5, feeds


@before("identities_are_their_inputs")
def _(op_type):
    x, feeds = fed(X)
    a, b = tf.identity_n([tf.exp(x), tf.sin(x)])
    return a - b, feeds


@before("same_cast")
def _(op_type):
    x, feeds = fed(X)
    return tf.raw_ops.Cast(x=tf.exp(x), DstT=tf.float32) * 2.0, feeds


@before("same_reshape")
def _(op_type):
    x, feeds = fed(X, [None, 3])
    return tf.reshape(tf.exp(x), [2, 3]) * 2.0, feeds


@before("switch_is_its_data")
def _(op_type):
    if op_type == "RefSwitch":
        x, feeds = tf.Variable(X)._ref(), {}
    else:
        x, feeds = fed(X)
    pred = tf.placeholder(tf.bool, [])
    switch = definition(op_type)(x, pred)
    merged = tf.raw_ops.Merge(inputs=[switch.output_false * 3.0, switch.output_true * 5.0]).output
    return merged, {**feeds, pred: np.array(True)}


@before("reduction_over_no_axes")
def _(op_type):
    x, feeds = fed(X)
    truth = op_type in ("All", "Any")
    data = x > 0.0 if truth else tf.exp(x)
    made = definition(op_type)(data, np.zeros([0], np.int32))
    return tf.logical_not(made) if truth else made * 2.0, feeds


@before("times_one")
def _(op_type):
    x, feeds = fed(X)
    return [tf.exp(x) * 1.0 + 2.0, tf.ones([2, 3]) * tf.sin(x) + 2.0], feeds


@before("plus_zero")
def _(op_type):
    x, feeds = fed(X)
    add = definition(op_type)
    return [add(tf.exp(x), tf.zeros([3])) * 2.0, add(0.0, tf.sin(x)) * 2.0], feeds


@before("minus_zero")
def _(op_type):
    x, feeds = fed(X)
    return (tf.exp(x) - 0.0) * 2.0, feeds


@before("over_one")
def _(op_type):
    x, feeds = fed(X)
    return definition(op_type)(tf.exp(x), 1.0) * 2.0, feeds


@before("sum_of_one")
def _(op_type):
    x, feeds = fed(X)
    return tf.raw_ops.AddN(inputs=[tf.exp(x)]) * 2.0, feeds


@before("sum_of_two")
def _(op_type):
    x, feeds = fed(X)
    return tf.add_n([tf.exp(x), tf.sin(x)]), feeds


@before("matmul_with_bias")
def _(op_type):
    x, feeds = fed(X)
    product = tf.matmul(x, normal(4, 3, seed=1), transpose_b=True)
    return definition(op_type)(product, tf.constant(normal(4, seed=2))), feeds


@before("columns_of_product")
def _(op_type):
    x, feeds = fed(X)
    product = tf.matmul(x, normal(4, 3, seed=1), transpose_b=True)
    return tf.slice(product, [0, 1], [2, 2]), feeds


@before("multiply_and_add")
def _(op_type):
    x, feeds = fed(X)
    return definition(op_type)(tf.exp(x) * tf.sin(x), tf.constant(normal(3))), feeds


@before("all_values_are_finite")
def _(op_type):
    x, feeds = fed(X)
    parts = [tf.exp(x), tf.sin(x[0]), x[0, 0]]
    return tf.reduce_all([tf.reduce_all(tf.math.is_finite(part)) for part in parts]), feeds


def pool(x, **options):
    return tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME", **options)


@before("pool_keeps_places")
@before("pool_gradient_by_places")
def _(op_type):
    x, feeds = fed(IMAGE)
    y = pool(x)
    return [y, *tf.gradients(tf.reduce_sum(y**2), x)], feeds


@before("relu_gradient_before_pools")
def _(op_type):
    x, feeds = fed(IMAGE)
    return tf.gradients(tf.reduce_sum(pool(tf.nn.relu(x)) ** 2), x), feeds


@before("bias_gradient_before_pools")
def _(op_type):
    x, feeds = fed(IMAGE)
    bias = tf.constant(normal(2))
    y = pool(tf.nn.relu(tf.nn.bias_add(x, bias)))
    return tf.gradients(tf.reduce_sum(y**2), bias), feeds


def convolution(x, seed=1):
    return tf.nn.conv2d(x, tf.constant(normal(3, 3, 2, 4, seed=seed)), [1, 1, 1, 1], "SAME")


@before("filter_laid_out")
@before("filter_laid_out_once")
def _(op_type):
    x, feeds = fed(IMAGE)
    y = convolution(x)
    return [y, *tf.gradients(tf.reduce_sum(y**2), x)], feeds


@before("convolution_with_bias")
def _(op_type):
    x, feeds = fed(IMAGE)
    return definition(op_type)(convolution(x), tf.constant(normal(4))), feeds


@before("convolution_with_relu")
def _(op_type):
    x, feeds = fed(IMAGE)
    return tf.nn.relu(tf.nn.bias_add(convolution(x), tf.constant(normal(4)))), feeds


def dilated(x, depthwise):
    if depthwise:
        return tf.nn.depthwise_conv2d(x, normal(3, 3, 2, 2, seed=1), [1, 1, 1, 1], "SAME", rate=[2, 2])
    return tf.nn.convolution(x, tf.constant(normal(3, 3, 2, 4, seed=1)), "SAME", dilation_rate=[2, 3])


@before("dilated_convolution")
def _(op_type):
    x, feeds = fed(IMAGE)
    return [dilated(x, depthwise) for depthwise in (False, True)], feeds


@before("dilated_gradient_by_input")
def _(op_type):
    x, feeds = fed(IMAGE)
    return [tf.gradients(dilated(x, depthwise) ** 2, x)[0] for depthwise in (False, True)], feeds


@before("dilated_gradient_by_filter")
def _(op_type):
    x, feeds = fed(IMAGE)
    y = dilated(x, op_type.startswith("Depthwise"))
    filter = next(t for op in y.graph.get_operations() for t in op.outputs if t.shape.as_list()[:2] == [3, 3])
    return tf.gradients(y**2, filter), feeds


def written_out_softmax(x):
    """As OpenAI's GPT-2 has it."""
    exponentials = tf.exp(x - tf.reduce_max(x, axis=-1, keepdims=True))
    return exponentials / tf.reduce_sum(exponentials, axis=-1, keepdims=True)


@before("softmax_of_exponentials")
def _(op_type):
    x, feeds = fed(normal(2, 3, 5))
    return written_out_softmax(x), feeds


@before("gradient_of_softmax")
@before("gradient_by_subtracted_maximum")
def _(op_type):
    x, feeds = fed(normal(2, 3, 5))
    y = written_out_softmax(x)
    return [y, *tf.gradients(tf.tanh(y), x)], feeds


def deviation(x, epsilon=1e-3):
    """What is left of x without its mean, and its variance."""
    rest = x - tf.reduce_mean(x, axis=-1, keepdims=True)
    return rest, tf.reduce_mean(tf.square(rest), axis=-1, keepdims=True) + epsilon


def parameters(size=5):
    return tf.constant(normal(size, seed=1)), tf.constant(normal(size, seed=2))


@before("layer_norm")
def _(op_type):
    (x, feeds), (gamma, beta), add = fed(normal(2, 3, 5)), parameters(), definition(op_type)
    rest, variance = deviation(x)
    other, other_variance = deviation(tf.exp(x))
    third, third_variance = deviation(tf.sin(x))
    return [
        add(rest * tf.rsqrt(variance) * gamma, beta),
        add(gamma * (other / tf.sqrt(other_variance)), beta),
        add(beta, gamma * (third / third_variance**0.5)),
    ], feeds


@before("layer_norm_as_batch_norm")
def _(op_type):
    (x, feeds), (gamma, beta) = fed(normal(2, 3, 5)), parameters()
    mean, variance = tf.nn.moments(x, [-1], keep_dims=True)
    inverse = tf.rsqrt(variance + 1e-12) * gamma
    return definition(op_type)(x * inverse, beta - mean * inverse), feeds


@before("gelu")
def _(op_type):
    x, feeds = fed(normal(4, 5))
    return [
        x * 0.5 * (1.0 + tf.erf(x / tf.sqrt(2.0))),
        tf.exp(x) * (0.5 * (1 + tf.erf(tf.exp(x) * 0.5**0.5))),
    ], feeds


def levels(x, largest):
    """Fake quantization by a range that is symmetric but for one level: bytes, and weights of 127 a side."""
    return tf.quantization.fake_quant_with_min_max_vars(x, -largest * 128 / 127, largest)


def weight_levels(*shape):
    weights = tf.Variable(normal(*shape, seed=1) / 4)
    return tf.quantization.fake_quant_with_min_max_vars(weights, -1.0, 1.0, narrow_range=True)


def dense_of_bytes(x):
    return tf.matmul(levels(x, 3.0), weight_levels(3, 4))


@before("bytes_for_products")
def _(op_type):
    x, feeds = fed(X)
    ends = {} if op_type.endswith("Args") else {"min": -2.0, "max": 2.5}
    rounded = definition(op_type).raw(inputs=x, **ends)
    return [tf.matmul(rounded, weight_levels(3, 4)), tf.exp(rounded)], feeds


@before("bytes_moved")
def _(op_type):
    x, feeds = fed(IMAGE)
    if op_type == "Squeeze":
        x, feeds = fed(normal(2, 3, 1))
        return tf.matmul(tf.squeeze(levels(x, 3.0), [2]), weight_levels(3, 4)), feeds
    moved = levels(x, 3.0)
    if op_type == "MaxPool":
        moved = tf.nn.max_pool(moved, [1, 2, 2, 1], [1, 3, 2, 1], "VALID")
    else:
        moved = tf.reshape(moved, [2, 9, 8, 1])
    return tf.nn.conv2d(moved, weight_levels(2, 2, moved.shape[3].value, 3), 1, "SAME"), feeds


@before("convolution_of_bytes")
def _(op_type):
    x, feeds = fed(IMAGE)
    return tf.nn.conv2d(levels(x, 3.0), weight_levels(3, 3, 2, 4), [1, 2, 2, 1], "SAME"), feeds


@before("matmul_of_bytes")
def _(op_type):
    x, feeds = fed(X)
    return dense_of_bytes(x), feeds


@before("bytes_with_bias")
def _(op_type):
    x, feeds = fed(X)
    return definition(op_type)(dense_of_bytes(x), tf.Variable(normal(4, seed=2))), feeds


@before("bytes_with_relu")
def _(op_type):
    x, feeds = fed(X)
    return definition(op_type)(dense_of_bytes(x)), feeds


# ------------------------------------------------------------------------------------------ the laws


def assert_equal(found, wanted):
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


def initialized(fetches, feeds, disabled=()):
    """The step, compiled, its variables initialized."""
    step = Compiled(fetches, feeds, disabled)
    variables = tf.global_variables()
    if variables:
        Compiled([v.initializer for v in variables], state=step.state).run()
    return step


def test_every_rule_has_a_law_and_an_example():
    assert set(rewrite.all_rules()) == set(BEFORE)
    for rule in rewrite.all_rules().values():
        assert "->" in rule.law, f"{rule.name} states no law"


@pytest.mark.parametrize(("rule", "op_type"), registered())
class TestRule:
    def test_it_applies_to_its_left_hand_side(self, rule, op_type):
        fetches, feeds = BEFORE[rule](op_type)
        assert op_type in types(program(fetches, feeds))
        step = initialized(fetches, feeds)
        assert rule in step.plan.applied
        step.plan.program.check()

    def test_the_result_is_the_same_without_it(self, rule, op_type):
        fetches, feeds = BEFORE[rule](op_type)
        without = initialized(fetches, feeds, {rule})
        assert rule not in without.plan.applied
        assert_equal(initialized(fetches, feeds).run(), without.run())

    def test_the_result_is_the_same_without_any(self, rule, op_type):
        fetches, feeds = BEFORE[rule](op_type)
        plain = initialized(fetches, feeds, EVERY_RULE)
        assert not plain.plan.applied
        assert_equal(initialized(fetches, feeds).run(), plain.run())
        items = fetches if isinstance(fetches, list) else [fetches]
        assert_equal(run(items, feeds), run(items, feeds, config=PLAIN))

    def test_it_makes_its_right_hand_side(self, rule, op_type):
        """Ops that only the right side of the law names are there, those only on the left are gone."""
        fetches, feeds = BEFORE[rule](op_type)
        left, right = named_ops(rewrite.all_rules()[rule].law)
        made = set(initialized(fetches, feeds).types)
        for name in right - left:
            assert name in made or f"_{name}" in made
        if op_type in left - right:
            assert op_type not in made - {"Mul", "AddV2"}  # the examples calculate with these as well


def named_ops(law: str) -> tuple[set[str], set[str]]:
    """The op types on either side of a law's arrow."""
    left, _, right = law.partition("->")
    return tuple(set(re.findall(r"\b_?[A-Z]\w+(?=\()", side)) for side in (left, right))


def test_explain_names_the_rules_that_applied():
    x, feeds = fed(X)
    with tf.Session() as session:
        text = session.explain(tf.add_n([tf.identity(x), tf.exp(x)]), feeds)
    assert "# rewrites: identity_is_its_input, sum_of_two" in text


# -------------------------------------------------------------------------------------- what they leave alone


def applied(fetches, feeds):
    step = initialized(fetches, feeds)
    assert_equal(step.run(), initialized(fetches, feeds, EVERY_RULE).run())
    return list(step.plan.applied)


def test_neutral_elements_that_change_the_shape_stay():
    x, feeds = fed(normal(1, 3))
    made = [x * tf.ones([2, 3]), x + tf.zeros([2, 1]), x - tf.zeros([4, 1, 3]), x / tf.ones([2, 1])]
    assert applied(made, feeds) == []


def test_neutral_elements_on_the_wrong_side_stay():
    x, feeds = fed(X)
    assert applied([0.0 - x, 1.0 / x], feeds) == []


def test_nearly_neutral_elements_stay():
    x, feeds = fed(X)
    assert applied([x * [1.0, 1.0, 2.0], x + [0.0, 0.0, 1e-6]], feeds) == []


def test_empty_constants_are_not_neutral():
    x, feeds = fed(normal(1, 1))
    made = x * tf.ones([0, 1])
    assert applied(made, feeds) == [] and run(made, feeds).shape == (0, 1)


def test_reductions_of_unknown_axes_stay():
    x, feeds = fed(X)
    axes = tf.placeholder(tf.int32, [0])
    assert applied(tf.reduce_sum(x, axes), {**feeds, axes: np.zeros([0], np.int32)}) == []


def test_other_reshapes_and_casts_stay():
    x, feeds = fed(X)
    assert applied([tf.reshape(x, [3, 2]), tf.cast(x, tf.float64)], feeds) == []


def test_products_that_others_take_are_not_fused():
    x, feeds = fed(X)
    product = x * tf.exp(x)
    assert "multiply_and_add" not in applied([product + 1.0, product], feeds)
    dense = tf.matmul(x, tf.constant(normal(3, 4)))
    assert "matmul_with_bias" not in applied([dense + tf.constant(normal(4)), dense], feeds)


@pytest.mark.parametrize("shift", [lambda m, z: -m * z, lambda m, z: 1.0 - m * z, lambda m, z: -(m * z)])
def test_what_normalizes_is_rounded_as_what_it_is_taken_from(shift):
    x, feeds = fed(X)
    large, mean = tf.exp(x[:, :1]), tf.reduce_mean(x, 1, keepdims=True)
    assert "multiply_and_add" not in applied(x * large + shift(mean, large), feeds)


def test_seeded_numbers_are_scaled_and_shifted_in_two_roundings():
    assert "multiply_and_add" not in applied(tf.random_uniform([3], -0.1, 0.1, seed=5), {})


def test_integers_are_not_fused():
    x, feeds = fed(np.arange(6).reshape(2, 3))
    assert "multiply_and_add" not in applied(x * x + 1, feeds)
    matrix, feeds = fed(np.arange(4, dtype=np.int32).reshape(2, 2))
    assert "matmul_with_bias" not in applied(tf.matmul(matrix, matrix) + tf.constant([1, 2]), feeds)


def test_what_is_added_to_a_product_must_be_a_bias():
    x, feeds = fed(X)
    product = tf.matmul(x, tf.constant(normal(3, 4)))
    assert "matmul_with_bias" not in applied([tf.square(product + tf.constant(normal(2, 1)))], feeds)
    image, feeds = fed(IMAGE)
    made = [convolution(image) + tf.constant(normal(6, 1)), convolution(image) + 1.0]
    assert "convolution_with_bias" not in applied(made, feeds)


def test_a_bias_as_wide_as_both_axes_is_added_to_the_columns():
    x, feeds = fed(normal(4, 3))
    made = tf.matmul(x, tf.constant(normal(3, 4))) + tf.constant(normal(4))
    assert "matmul_with_bias" in applied(made, feeds)


def test_sums_of_different_shapes_are_reported_not_broadcast():
    x, y = tf.placeholder(tf.float32, None), tf.placeholder(tf.float32, None)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="AddN"):
        session.run(tf.add_n([x, y]), {x: np.ones(3), y: np.ones(1)})


def test_what_is_made_outside_a_branch_is_not_drawn_into_it():
    x, feeds = fed(X)
    pred = tf.placeholder(tf.bool, [])
    product = tf.matmul(tf.exp(x), tf.constant(normal(3, 4)))
    made = tf.cond(pred, lambda: product + tf.constant(normal(4)), lambda: tf.zeros([2, 4]))
    for taken in (True, False):
        assert "matmul_with_bias" not in applied(made, {**feeds, pred: np.array(taken)})


def test_pools_without_a_gradient_keep_no_places():
    x, feeds = fed(IMAGE)
    assert applied(pool(x), feeds) == []
    other = tf.gradients(pool(tf.nn.relu(x)), x)[0]
    assert applied([pool(x), other], feeds).count("pool_keeps_places") == 1


def test_the_gradient_of_another_pools_result_is_left():
    x, feeds = fed(IMAGE)
    y = pool(x)
    odd = tf.raw_ops.MaxPoolGrad(
        orig_input=x * 1.5, orig_output=y, grad=tf.ones_like(y), ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1],
        padding="SAME",
    )  # fmt: skip
    assert "pool_gradient_by_places" not in applied([y, odd], feeds)


def test_relu_gradient_of_other_features_is_left():
    x, feeds = fed(IMAGE)
    hidden = tf.nn.relu(x)
    back = tf.gradients(pool(hidden), hidden)[0]
    odd = tf.raw_ops.ReluGrad(gradients=back, features=x)
    assert "relu_gradient_before_pools" not in applied(odd, feeds)


def test_blocks_that_are_not_put_back_are_no_dilation():
    x, feeds = fed(normal(16, 8, 8, 2))

    def space(t):
        return tf.batch_to_space_nd(t, [2, 2], [[0, 0], [0, 0]])

    def conv(t):
        return tf.nn.conv2d(t, tf.constant(normal(3, 3, 2, 2)), [1, 1, 1, 1], "VALID")

    assert applied(space(conv(space(x))), feeds) == []
    batch = tf.space_to_batch_nd(x, [2, 2], [[1, 1], [1, 1]])
    other = tf.batch_to_space_nd(conv(batch), [4, 1], [[0, 0], [0, 0]])
    assert applied(other, feeds) == []


def test_sizes_that_do_not_fit_are_the_steps_to_report():
    x, y = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, None)
    made = tf.matmul(x, y) + tf.constant(normal(4))
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="MatMul"):
        session.run(made, {x: X, y: normal(2, 4)})
