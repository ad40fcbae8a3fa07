"""Eager mode in several threads, and in children."""

from __future__ import annotations

import os
import threading

import numpy as np
import pytest

import tideflow as tf
from tests.eager.plans import planned_at_once
from tideflow.eager.context import eager_graph, eager_mode


def step(v: tf.Variable, rate: float) -> float:
    """A step of gradient descent on `sum(v * v)`; the slope."""
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(v * v)
    slope = tape.gradient(y, v)
    tf.train.GradientDescentOptimizer(rate).apply_gradients([(slope, v)])
    return float(slope[0])


def test_threads_record_and_go_back_each_for_itself():
    with eager_mode():
        eager_graph().gradient_plans._seen.clear()
        shared = tf.Variable(np.zeros(16, np.float32))
        own = [tf.Variable(np.full(3, i + 1.0, np.float32)) for i in range(4)]
    found: dict[int, list[float]] = {}
    start = threading.Barrier(4)

    def work(i: int) -> None:
        with eager_mode():
            start.wait(30)
            slopes = []
            for _ in range(20):  # the plan is compiled on the way, by one or by several of them
                slopes.append(step(own[i], 0.25))
                shared.assign_add(tf.ones([16]))
            found[i] = slopes

    threads = [threading.Thread(target=work, args=[i]) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    for i in range(4):
        np.testing.assert_allclose(found[i], 2 * (i + 1.0) * 0.5 ** np.arange(20), rtol=1e-5)
    with eager_mode():
        assert shared.numpy().tolist() == [80.0] * 16, "an update is lost"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no children")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_child_goes_on_where_its_parent_was():
    with eager_mode():
        v, double = tf.Variable([1.0, 2.0]), tf.function(lambda x: x * 2.0)
        with planned_at_once():
            step(v, 0.25)
        assert double(v).numpy().tolist() == [1.0, 2.0]
        child = os.fork()
        if not child:
            status = 1
            try:
                with planned_at_once():
                    slope = step(v, 0.25)
                right = slope == 1.0 and double(v).numpy().tolist() == [0.5, 1.0]
                status = 0 if right else 2
            finally:
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert v.numpy().tolist() == [0.5, 1.0]
