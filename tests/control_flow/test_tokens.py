"""The token executor: iterations that overlap where an operation waits, and no more of them than allowed."""

import threading

import numpy as np
import pytest
import torch

import tideflow as tf
from tests.control_flow.frame_graphs import Frames
from tideflow.graph.op import Op

pytestmark = pytest.mark.usefixtures("graph")

wait_op = Op(
    "WaitForTest",
    "number: T -> same: T",
    stateful=True,
    blocking=True,
    differentiable=False,
    registered=False,
)
wait_op.shape(lambda number: number)


@wait_op.kernel
def _(number):
    _action(int(number))
    return number


def _action(number):
    raise AssertionError("the test says what to do")


@pytest.fixture
def at_each(monkeypatch):
    """Sets what the op does."""
    return lambda action: monkeypatch.setitem(globals(), "_action", action)


def waiting_loop(count, parallel_iterations):
    """A loop in which every iteration waits, and no iteration needs what another waited for."""

    def body(i, seen):
        return i + 1, seen.write(i, wait_op(i))

    seen = tf.TensorArray(tf.int32, count, element_shape=[])
    _, seen = tf.while_loop(lambda i, _: i < count, body, [0, seen], parallel_iterations=parallel_iterations)
    return seen.stack()


class Crowd:
    """How many are here at once, at most."""

    def __init__(self):
        self.lock = threading.Lock()
        self.here = self.most = 0

    def __call__(self, number):
        with self.lock:
            self.here += 1
            self.most = max(self.most, self.here)
        with self.lock:
            self.here -= 1


def test_iterations_overlap_where_one_waits(session, at_each):
    everybody = threading.Barrier(3)
    at_each(lambda number: everybody.wait(30))  # passes only when three iterations are in it
    assert session.run(waiting_loop(6, parallel_iterations=3)).tolist() == [0, 1, 2, 3, 4, 5]


def test_no_more_iterations_than_allowed(session, at_each):
    crowd = Crowd()
    at_each(crowd)
    session.run(waiting_loop(12, parallel_iterations=2))
    assert 1 <= crowd.most <= 2
    at_each(alone := Crowd())
    session.run(waiting_loop(6, parallel_iterations=1))
    assert alone.most == 1


def test_an_iteration_that_fails_ends_the_step(session, at_each):
    gate = threading.Event()

    def at_three(number):
        if number == 3:
            gate.set()
            raise ValueError("three is not allowed")
        gate.wait(30)

    at_each(at_three)
    with pytest.raises(tf.errors.InvalidArgumentError, match="three is not allowed"):
        session.run(waiting_loop(6, parallel_iterations=5))


def test_results_do_not_depend_on_the_order_of_ends(session, at_each):
    """Later iterations end first; each still has its own values."""
    ended = [threading.Event() for _ in range(5)]

    def last_first(number):
        if number < 4:
            ended[number + 1].wait(30)
        ended[number].set()

    at_each(last_first)
    assert session.run(waiting_loop(5, parallel_iterations=10)).tolist() == [0, 1, 2, 3, 4]


def test_nested_loops_in_overlapping_iterations(session, at_each):
    """Each outer iteration has inner ones of its own, whatever the others are at."""
    both = threading.Barrier(2)
    at_each(lambda number: both.wait(30))

    def outer(i, made):
        waited = wait_op(i)
        inner = tf.while_loop(lambda j, t: j < i + 2, lambda j, t: (j + 1, t + waited * 10 + j), [0, 0])[1]
        return i + 1, made.write(i, inner)

    made = tf.TensorArray(tf.int32, 4, element_shape=[])
    made = tf.while_loop(lambda i, _: i < 4, outer, [0, made], parallel_iterations=2)[1].stack()
    expected = [sum(i * 10 + j for j in range(i + 2)) for i in range(4)]
    assert session.run(made).tolist() == expected


def test_the_two_sides_of_a_deep_nest_agree(session):
    """Conditionals in loops in conditionals: dead values pass through frames in both directions."""
    p = tf.placeholder(tf.bool, [])
    n = tf.placeholder(tf.int32, [])

    def loop():
        def body(i, t):
            return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: t + inner(i), lambda: t - 1)

        return tf.while_loop(lambda i, _: i < n, body, [0, 0])[1]

    def inner(i):
        return tf.while_loop(
            lambda j, t: j < i, lambda j, t: (j + 1, t + tf.cond(p, lambda: j, lambda: 7)), [0, 0]
        )[1]

    y = tf.cond(p, loop, lambda: tf.constant(-5))

    def expected(n):
        t = 0
        for i in range(n):
            t = t + sum(range(i)) if i % 2 == 0 else t - 1
        return t

    for count in (0, 1, 6):
        assert session.run(y, {p: True, n: count}) == expected(count)
    assert session.run(y, {p: False, n: 3}) == -5


def test_a_waiting_operation_does_not_keep_others_from_running(session, at_each):
    """One waits for what the other brings; they are written the wrong way round."""
    brought = threading.Event()
    at_each(lambda number: brought.wait(30) if number == 0 else brought.set())
    first, second = wait_op(tf.constant(0)), wait_op(tf.constant(1))
    assert [value.item() for value in session.run([first, second])] == [0, 1]


def test_dead_iterations_are_not_counted_as_running(session):
    """More iterations than may run at once, most of them with a branch not taken."""
    frames = Frames()
    frames.counting_loop(limit=50)
    for node in frames.message.node:
        if node.op == "Enter":
            node.attr["parallel_iterations"].i = 1
    frames.import_here()
    assert session.run("exit:0") == 50


def test_what_a_dead_loop_would_push_is_not_popped(session):
    """The gradient of a loop inside a branch that is not taken."""
    x, p = tf.placeholder(tf.float32, []), tf.placeholder(tf.bool, [])
    y = tf.cond(
        p, lambda: tf.while_loop(lambda i, t: i < 3, lambda i, t: (i + 1, t * x), [0, x])[1], lambda: x * 5.0
    )
    slope = tf.gradients(y, x)[0]
    assert session.run([y, slope], {x: 2.0, p: True}) == [16.0, 32.0]
    assert session.run([y, slope], {x: 2.0, p: False}) == [10.0, 5.0]


def test_values_are_torch_tensors_of_the_step_alone(session):
    """Constants of a plan are not what a step hands out."""
    y = tf.while_loop(lambda i, t: i < 1, lambda i, t: (i + 1, t), [0, tf.constant([1.0, 2.0])])[1]
    first = session.run(y)
    first[:] = -1
    assert session.run(y).tolist() == [1.0, 2.0]
    assert isinstance(first, np.ndarray) and not isinstance(first, torch.Tensor)
