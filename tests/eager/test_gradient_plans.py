"""Gradients by plans: what going back one by one gives, for everything that a tape may have recorded."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import tideflow as tf
from tests.eager.plans import planned_at_once
from tideflow.eager import gradient_plans
from tideflow.eager.context import eager_graph

pytestmark = pytest.mark.usefixtures("eagerly")


@pytest.fixture
def plans(eagerly):
    """The plans of eager mode, none at first."""
    eager_graph().gradient_plans._seen.clear()
    return eager_graph().gradient_plans._seen


def is_planned(plans) -> bool:
    return any(isinstance(found, gradient_plans._GradientPlan) for found in plans.values())


def mlp():
    w, b = tf.Variable(np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3)), tf.Variable([0.1, 0.2, 0.3])
    return [w, b], lambda x: tf.reduce_mean(tf.square(tf.nn.relu(tf.matmul(x, w) + b)))


def rows():
    table = tf.Variable(np.arange(12, dtype=np.float32).reshape(4, 3))
    return [table], lambda x: tf.reduce_sum(tf.gather(table, [2, 0, 2]) * x[:3, :3])


def shared():
    v = tf.Variable(2.0)
    return [v, tf.Variable(1.0)], lambda x: tf.reduce_sum(x * v * v + tf.sin(v) * x) * 0.5


def shapes():
    v = tf.Variable(np.ones([2, 6], np.float32))

    def loss(x):
        turned = tf.reshape(tf.transpose(v * x[0, 0]), tf.shape(x)[:1] * 3)
        return tf.reduce_sum(tf.concat([turned, turned * 2], 0)[1:-1:2])

    return [v], loss


def many_outputs():
    v = tf.Variable(np.arange(8, dtype=np.float32).reshape(4, 2))

    def loss(x):
        top, places = tf.nn.top_k(v * x[:, :2], 1)
        first, _, last, _ = tf.unstack(v)
        return tf.reduce_sum(top) + tf.reduce_sum(first * last) + tf.cast(tf.reduce_sum(places), tf.float32)

    return [v], loss


@pytest.mark.parametrize("model", [mlp, rows, shared, shapes, many_outputs])
def test_a_plan_gives_what_going_back_one_by_one_gives(model, plans):
    variables, loss = model()
    found = []
    for turn in range(gradient_plans._COMPILED_AT + 2):
        x = tf.constant(np.cos(np.arange(16) + turn).astype(np.float32).reshape(4, 4))
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = loss(x)
        by_plan = tape.gradient(y, [x, *variables])
        with tf.GradientTape():  # a tape that records the gradients has them computed one by one
            wanted = tape.gradient(y, [x, *variables])
        for got, expected in zip(by_plan, wanted, strict=True):
            assert type(got) is type(expected)
            if got is not None:
                np.testing.assert_allclose(
                    tf.convert_to_tensor(got), tf.convert_to_tensor(expected), rtol=1e-5, atol=1e-6
                )
        found.append(is_planned(plans))
    assert found == [False] * (gradient_plans._COMPILED_AT - 1) + [True] * 3


def test_plans_know_weights_targets_and_what_is_not_connected(plans):
    x, z = tf.constant([1.0, 2.0]), tf.constant(3.0)
    with planned_at_once():
        for weight in (None, [1.0, 10.0], [0.0, 5.0]):
            with tf.GradientTape(persistent=True) as tape:
                tape.watch([x, z])
                y, other = x * x, tf.exp(x)
            w = np.array(weight or [1.0, 1.0])
            weight = weight and tf.constant(weight)
            np.testing.assert_allclose(tape.gradient(y, x, weight), 2 * np.array([1.0, 2.0]) * w)
            np.testing.assert_allclose(tape.gradient([y, other], x), [2 + np.e, 4 + np.exp(2.0)], rtol=1e-6)
            assert tape.gradient(y, z) is None
            np.testing.assert_allclose(tape.gradient(y, y), [1.0, 1.0])
            zero = tape.gradient(y, z, unconnected_gradients=tf.UnconnectedGradients.ZERO)
            assert float(zero) == 0.0
    assert is_planned(plans)


def test_higher_derivatives_are_recorded_and_inner_plans_are_not_used_for_them(plans):
    with planned_at_once():
        x = tf.constant(2.0)
        for _ in range(3):
            with tf.GradientTape() as outer:
                outer.watch(x)
                with tf.GradientTape() as inner:
                    inner.watch(x)
                    y = x * x * x
                first = inner.gradient(y, x)
            assert (float(first), float(outer.gradient(first, x))) == (12.0, 12.0)


def test_gradient_functions_of_the_program_are_called_each_time(plans):
    calls = []

    @tf.custom_gradient
    def noted(x):
        def gradient(dy):
            calls.append(float(dy))
            return 7.0 * dy

        return x, gradient

    with planned_at_once():
        x = tf.constant(1.0)
        for _ in range(3):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = noted(x) * 2.0
            assert float(tape.gradient(y, x)) == 14.0
    assert calls == [2.0] * 3


def test_a_plan_keeps_no_values_and_sees_each_tape_s_own(plans):
    v = tf.Variable(3.0)
    with planned_at_once():
        for number in (1.0, 5.0):
            x = tf.constant(number)
            with tf.GradientTape() as tape:
                y = v * v * x
            assert float(tape.gradient(y, v)) == 6.0 * number
            kept = weakref.ref(x)
            del x, y, tape
            gc.collect()
            assert kept() is None
        v.assign(4.0)
        with tf.GradientTape() as tape:
            y = v * v * 2.0
        v.assign(100.0)  # what was recorded is what was read
        assert float(tape.gradient(y, v)) == 16.0


def test_an_error_in_a_plan_says_which_operation_failed(plans):
    labels, logits = tf.constant([0, 1]), tf.Variable(np.zeros([2, 3], np.float32))
    with planned_at_once(), tf.GradientTape() as tape:
        y = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    seed = tf.ones([3])
    with planned_at_once(), pytest.raises((tf.errors.InvalidArgumentError, ValueError), match="3"):
        tape.gradient(y, logits, seed)


def test_programs_whose_tapes_differ_do_not_fill_the_memory(plans, monkeypatch):
    monkeypatch.setattr(gradient_plans, "_MOST_PLANS", 5)
    x = tf.constant(1.0)
    for size in range(1, 20):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(x * tf.ones([size]))
        assert float(tape.gradient(y, x)) == size
        assert len(plans) <= 7
