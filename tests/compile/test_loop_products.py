"""Products in loops: done once, or for several iterations at once, they are the same within rounding."""

import numpy as np
import pytest

import tideflow as tf
from tests.compile.steps import Compiled, normal
from tideflow.compile import loop_products as laws
from tideflow.compile.ir import Loop, walk
from tideflow.compile.stretches import stretches_of
from tideflow.ops.helpers import cpu_products
from tideflow.runtime import loop_products

LAWS = set(laws.LAWS)
ROWS, UNITS, STEPS = 8, 16, 70  # more iterations than one large product has


@pytest.fixture(autouse=True)
def by_onednn(monkeypatch):
    """Small products are oneDNN's too, on every CPU that has it."""
    if not hasattr(cpu_products.torch.ops.mkldnn, "_linear_pointwise"):
        pytest.skip("PyTorch was built without oneDNN")
    for decision in ("is_quicker_by_onednn", "is_quicker_laid_out"):
        monkeypatch.setattr(cpu_products, decision, lambda: True)
    monkeypatch.setattr(cpu_products, "SMALLEST", 1)
    with tf.Graph().as_default():
        yield


def recurrent(steps=STEPS, initial=0.0, frozen=False):
    """A recurrent network, some of its weights two parts of one matrix; its last state and gradients."""
    x = tf.placeholder(tf.float32, [steps, ROWS, UNITS])
    arrays = (
        0.3 * normal(2 * UNITS, 2 * UNITS),
        0.2 * normal(UNITS, 2 * UNITS, seed=2),
        normal(2 * UNITS, seed=3),
    )
    w, v, b = (tf.constant(array) if frozen else tf.placeholder(tf.float32, array.shape) for array in arrays)
    rows = tf.TensorArray(tf.float32, steps).unstack(x)

    def body(t, h):
        z = tf.matmul(tf.concat([rows.read(t), h], 1), w) + b
        left, right = tf.split(v, 2, 1)
        return t + 1, tf.tanh(z[:, :UNITS] + tf.matmul(h, left)) * tf.sigmoid(tf.matmul(h, right))

    start = [0, tf.fill([ROWS, UNITS], initial)]
    _, h = tf.while_loop(lambda t, _: t < steps, body, start)
    feeds = {} if frozen else dict(zip((w, v, b), arrays))
    return [h, *tf.gradients(tf.reduce_sum(h * h), [w, b])], {x: normal(steps, ROWS, UNITS, seed=5), **feeds}


@pytest.mark.parametrize("law", sorted(LAWS - {"reads_before_loops"}))  # no variable is read there
def test_each_law_keeps_the_values_and_can_be_switched_off(law):
    fetches, feeds = gates() if law == "side_by_side" else recurrent()
    alone, without = Compiled(fetches, feeds, LAWS - {law}), Compiled(fetches, feeds, LAWS)
    assert set(alone.plan.applied) & LAWS == {law}
    assert not set(without.plan.applied) & LAWS
    alone.plan.program.check()
    for _ in range(2):  # the second step lays the weights out
        for found, wanted in zip(alone.run(), without.run(), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize("frozen", [False, True])
def test_all_together_are_those_of_the_plain_loop(frozen):
    fetches, feeds = recurrent(frozen=frozen)
    together = Compiled(fetches, feeds)
    absent = {"reads_before_loops", "side_by_side", *(["views_before_loops"] if frozen else [])}
    assert set(together.plan.applied) >= LAWS - absent
    together.plan.program.check()
    wanted = Compiled(fetches, feeds, LAWS).run()
    for _ in range(3):
        for found, value in zip(together.run(), wanted, strict=True):
            np.testing.assert_allclose(found, value, rtol=2e-4, atol=2e-4)


def test_weights_are_laid_out_only_for_long_loops():
    for steps, is_laid_out in ((4, False), (STEPS, True)):
        fetches, feeds = recurrent(steps)
        step = Compiled(fetches[:1], feeds)
        counts = [node.attrs["count"] for node in walk(step.plan.program) if "count" in node.attrs]
        step.run()
        step.run()
        assert counts
        assert all((count.last >= loop_products._PAYS) == is_laid_out for count in counts)


def test_a_loop_without_iterations_gives_what_it_began_with():
    a, n = tf.placeholder(tf.float32, [ROWS, UNITS]), tf.placeholder(tf.int32, [])

    def body(i, total):
        return i + 1, total + tf.matmul(a, a * tf.cast(i, tf.float32), transpose_a=True)

    _, total = tf.while_loop(lambda i, _: i < n, body, [0, tf.ones([UNITS, UNITS])])
    array = normal(ROWS, UNITS)
    for count in (0, 1, 65, 130):
        step = Compiled(total, {a: array, n: np.int32(count)})
        assert "postpone_products" in step.plan.applied
        wanted = 1 + array.T @ array * sum(range(count))
        np.testing.assert_allclose(step.run()[0], wanted, rtol=1e-4, atol=1e-2)


def gates(steps=STEPS):
    """A cell with the gates of Keras' LSTM: products of one input with parts of two matrices, and a bias."""
    x = tf.placeholder(tf.float32, [steps, ROWS, UNITS])
    arrays = (
        0.3 * normal(UNITS, 4 * UNITS),
        0.2 * normal(UNITS, 4 * UNITS, seed=2),
        normal(4 * UNITS, seed=3),
    )
    w, u, b = (tf.placeholder(tf.float32, array.shape) for array in arrays)
    rows = tf.TensorArray(tf.float32, steps).unstack(x)

    def body(t, h, c):
        given = rows.read(t)
        parts = zip(tf.split(w, 4, 1), tf.split(b, 4, 0), strict=True)
        from_input = [tf.nn.bias_add(tf.matmul(given, part), bias) for part, bias in parts]
        from_state = [tf.matmul(h, u[:, k * UNITS : (k + 1) * UNITS]) for k in range(4)]
        i, f, g, o = (a + b for a, b in zip(from_input, from_state, strict=True))
        c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
        return t + 1, tf.sigmoid(o) * tf.tanh(c), c

    zeros = tf.zeros([ROWS, UNITS])
    _, h, _ = tf.while_loop(lambda t, *_: t < steps, body, [0, zeros, zeros])
    feeds = {x: normal(steps, ROWS, UNITS, seed=5), **dict(zip((w, u, b), arrays, strict=True))}
    return [h, *tf.gradients(tf.reduce_sum(h * h), [w, u, b, x])], feeds


def products_in_loops(step):
    loops = [node for node in step.plan.program.nodes if isinstance(node, Loop)]
    return [sum("Product" in n.type or "MatMul" in n.type for n in loop.body.nodes) for loop in loops]


def test_gates_are_one_product():
    fetches, feeds = gates()
    together, apart = Compiled(fetches, feeds), Compiled(fetches, feeds, LAWS)
    together.plan.program.check()
    assert products_in_loops(apart) == [8, 16]
    assert products_in_loops(together) == [2, 4]
    for _ in range(3):
        for found, wanted in zip(together.run(), apart.run(), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=2e-4, atol=2e-4)


def test_stacks_hold_only_what_differs_from_iteration_to_iteration():
    fetches, feeds = gates()
    for disabled, is_smaller in ((LAWS, False), (LAWS - {"views_before_loops", "values_off_stacks"}, True)):
        step = Compiled(fetches, feeds, disabled)
        pushes = [node for node in walk(step.plan.program) if node.type == "StackPushV2"]
        shapes = {node.inputs[1].shape.tuple for node in pushes}
        assert ((UNITS, UNITS) not in shapes) == is_smaller


@pytest.mark.parametrize("writes", [False, True])
def test_variables_are_read_once_where_the_loop_does_not_write_them(writes):
    v = tf.get_variable("v", initializer=np.eye(3, dtype=np.float32), use_resource=True)

    def body(i, x):
        with tf.control_dependencies([v.assign(v * 2.0)] if writes else []):
            return i + 1, tf.matmul(x, v.read_value())

    _, found = tf.while_loop(lambda i, _: i < 3, body, [0, tf.ones([2, 3])])
    with tf.Session() as session:
        session.run(v.initializer)
        inside = session.explain(found).partition("while True")[2]
        assert ("ReadVariableOp" in inside) == writes
        np.testing.assert_array_equal(session.run(found), np.full((2, 3), 64.0 if writes else 1.0))


def test_numbers_that_are_not_finite_stay_so():
    fetches, feeds = recurrent(initial=np.inf)
    for found, wanted in zip(
        Compiled(fetches, feeds).run(), Compiled(fetches, feeds, LAWS).run(), strict=True
    ):
        np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted))


def test_loops_of_other_types_stay_as_they_are():
    a = tf.placeholder(tf.float64, [ROWS, UNITS])
    _, total = tf.while_loop(
        lambda i, _: i < 3,
        lambda i, s: (i + 1, s + tf.matmul(a, a, transpose_a=True)),
        [0, tf.zeros([UNITS, UNITS], tf.float64)],
    )
    feeds = {a: np.ones((ROWS, UNITS))}
    step = Compiled(total, feeds)
    assert not set(step.plan.applied) & LAWS
    assert any(isinstance(node, Loop) for node in step.plan.program.nodes)
    np.testing.assert_allclose(step.run()[0], np.full((UNITS, UNITS), 3.0 * ROWS))


def test_the_hot_tier_leaves_products_to_onednn():
    fetches, feeds = recurrent()
    stretches = stretches_of(Compiled(fetches, feeds, LAWS).plan.program, frozenset())
    assert stretches
    assert not any("MatMul" in node.type for stretch in stretches for node in stretch.nodes)
