"""Small arithmetic by NumPy: where a plan uses it, and that it computes what ATen's kernels do."""

from __future__ import annotations

import threading
import warnings

import numpy as np
import pytest

import tideflow as tf
from tests.compile.steps import Compiled, normal
from tideflow.compile import small_arithmetic
from tideflow.compile.ir import Loop
from tideflow.runtime.resources import ResourceManager

WITHOUT = {"small_arithmetic", "multiply_and_add"}  # ATen may round a product and a sum at once


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def chain(x, count=30):
    for i in range(count):
        x = x * (1.0 - i / 100) + 0.25
    return x


def functions(step):
    """The sources of the step's functions of small arithmetic."""
    return step.plan.source.split("def small(")[1:]


def test_results_are_those_of_the_kernels():
    x, y = tf.placeholder(tf.float64, [3, 4]), tf.placeholder(tf.float64, [4])
    h = chain(x)
    h = tf.add_n([h, x - y, tf.abs(h), tf.square(x), -h, x / y])  # x - y and x / y broadcast
    h = tf.maximum(h, y) - tf.minimum(h, np.linspace(0, 1, 4))
    column = y[:, tf.newaxis] * 2.0
    fetches = [h, chain(h, 3), y * y + h, column * 3.0 + x[0]]
    feeds = {x: normal(3, 4).astype(np.float64), y: normal(4, seed=1).astype(np.float64)}
    with_numpy, with_aten = Compiled(fetches, feeds), Compiled(fetches, feeds, WITHOUT)
    assert functions(with_numpy) and not functions(with_aten)
    for ours, theirs in zip(with_numpy.run(), with_aten.run(), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_tanh_is_within_two_units_in_the_last_place():
    x = tf.placeholder(tf.float32, [1000])
    fetches = [tf.tanh(chain(x) * 4.0)]
    feeds = {x: normal(1000)}
    (ours,), (theirs,) = Compiled(fetches, feeds).run(), Compiled(fetches, feeds, WITHOUT).run()
    np.testing.assert_array_max_ulp(ours, theirs, 2)


def test_overflow_and_division_by_zero_are_values_not_warnings():
    x = tf.placeholder(tf.float32, [2])
    step = Compiled(chain(x / 0.0 * 3e38), {x: np.float32([0, 1])})
    assert functions(step)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (result,) = step.run()
        with pytest.raises(RuntimeWarning):  # of code outside
            np.divide(np.ones(2), 0.0)
    np.testing.assert_array_equal(result, np.float32([np.nan, np.inf]))


@pytest.mark.parametrize(
    "shape, count", [([4], 5), ([2000], 30), ([], 30)], ids=["short", "large", "numbers"]
)
def test_what_does_not_pay_stays_on_kernels(shape, count):
    x = tf.placeholder(tf.float32, shape)
    assert not functions(Compiled(chain(x, count), {x: np.ones(shape, np.float32)}))


def test_many_results_do_not_pay():
    x = tf.placeholder(tf.float32, [4])
    assert not functions(Compiled([x * float(i) for i in range(2, 40)], {x: normal(4)}))


def test_loops_branches_and_variables():
    def build():
        v = tf.Variable(normal(4), name="v")
        _, h = tf.while_loop(lambda i, _: i < 3, lambda i, h: (i + 1, chain(h) * v), [0, v.read_value()])
        h = tf.cond(tf.reduce_sum(h) > 1e9, lambda: chain(h), lambda: chain(-h))
        return [h, tf.assign_add(v, chain(h))]

    fetches = build()
    results = []
    for disabled in ((), WITHOUT):
        state = ResourceManager()
        Compiled(tf.global_variables_initializer(), state=state).run()
        step = Compiled(fetches, disabled=disabled, state=state)
        assert len(functions(step)) == (0 if disabled else 4)  # in the loop, two branches, and after them
        assert any(isinstance(node, Loop) for node in step.plan.program.nodes)
        results.append([np.copy(each) for _ in range(3) for each in step.run()])
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_the_program_of_the_plan_has_the_operations_one_by_one():
    x = tf.placeholder(tf.float32, [4])
    step = Compiled(chain(x), {x: normal(4)})
    assert "_SmallArithmetic" not in step.types and step.types.count("_MultiplyAdd") == 29
    assert "multiply(a" in functions(step)[0] and "_SmallArithmetic(feed0)" in step.plan.source


def test_fetched_arrays_share_memory_with_nothing():
    x = tf.placeholder(tf.float32, [4])
    fetches = [chain(x), tf.tanh(chain(x)), chain(x, 20)]
    with tf.Session() as session:
        value = np.ones(4, np.float32)
        first = session.run(fetches, {x: value})
        kept = [each.copy() for each in first]
        for each in first:
            each[:] = -7
        for again, before in zip(session.run(fetches, {x: value}), kept, strict=True):
            np.testing.assert_array_equal(again, before)
        np.testing.assert_array_equal(value, np.ones(4))


def test_several_threads_at_once():
    x = tf.placeholder(tf.float32, [16])
    fetch, found = chain(x, 200), {}
    with tf.Session() as session:
        expected = [session.run(fetch, {x: np.full(16, i, np.float32)}) for i in range(4)]

        def run(i):
            found[i] = [session.run(fetch, {x: np.full(16, i, np.float32)}) for _ in range(20)]

        threads = [threading.Thread(target=run, args=[i]) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for i, results in found.items():
        for result in results:
            np.testing.assert_array_equal(result, expected[i])


def test_old_numpy_is_not_used(monkeypatch):
    monkeypatch.setattr(np, "__version__", "1.26.4")
    x = tf.placeholder(tf.float32, [4])
    assert not small_arithmetic._is_quiet_possible()
    assert not functions(Compiled(chain(x), {x: normal(4)}))
