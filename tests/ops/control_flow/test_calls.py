"""Calls of functions: plain, conditional, in a loop; their gradients, and what cannot be differentiated."""

import numpy as np
import pytest

import tideflow as tf
from tideflow.functions.defun import Defun
from tideflow.ops.control_flow import calls
from tideflow.programs.inner.graph import functional_names

raw = tf.raw_ops


@Defun(tf.float32)
def square(x):
    return x * x


@Defun(tf.float32)
def thrice(x):
    return 3.0 * x


@Defun(tf.float32)
def less_than_ten(a):
    return a < 10.0


@Defun(tf.float32)
def twice(a):
    return a * 2.0


@Defun(tf.int32, tf.float32)
def plus_number(i, total):
    return total + tf.cast(i, tf.float32)


@Defun(tf.float32)
def nothing(x):
    return raw.FakeParam(dtype=tf.float32, shape=[])


FUNCTIONS = (square, thrice, less_than_ten, twice, plus_number, nothing)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        for function in FUNCTIONS:
            function.add_to_graph(graph)
        yield graph


def value_and_slope(y, x, feeds):
    with tf.Session() as session:
        return session.run([y, tf.gradients(y, x)[0]], feeds)


@pytest.mark.parametrize("op_type", ["PartitionedCall", "StatefulPartitionedCall"])
def test_a_call_and_its_gradient(op_type):
    x = tf.placeholder(tf.float32, [])
    (y,) = getattr(raw, op_type)(args=[x], Tout=[tf.float32], f=square.name)
    assert value_and_slope(y, x, {x: 4.0}) == [16.0, 8.0]


@pytest.mark.parametrize("op_type", ["If", "StatelessIf"])
def test_one_of_two_functions(op_type):
    x, which = tf.placeholder(tf.float32, []), tf.placeholder(tf.bool, [])
    (y,) = getattr(raw, op_type)(
        cond=which, input=[x], Tout=[tf.float32], then_branch=square.name, else_branch=thrice.name
    )
    assert value_and_slope(y, x, {x: 5.0, which: True}) == [25.0, 10.0]
    assert value_and_slope(y, x, {x: 5.0, which: False}) == [15.0, 3.0]


@pytest.mark.parametrize("op_type", ["Case", "StatelessCase"])
def test_one_of_many_functions(op_type):
    x, which = tf.placeholder(tf.float32, []), tf.placeholder(tf.int32, [])
    branches = [square.name, thrice.name, twice.name]
    (y,) = getattr(raw, op_type)(branch_index=which, input=[x], Tout=[tf.float32], branches=branches)
    found = [value_and_slope(y, x, {x: 5.0, which: i}) for i in (0, 1, 2, 7)]
    assert found == [[25.0, 10.0], [15.0, 3.0], [10.0, 2.0], [10.0, 2.0]]


@pytest.mark.parametrize("op_type", ["While", "StatelessWhile"])
def test_a_loop_of_functions(op_type):
    x = tf.placeholder(tf.float32, [])
    (y,) = getattr(raw, op_type)(input=[x], cond=less_than_ten.name, body=twice.name)
    with tf.Session() as session:
        assert session.run(y, {x: 3.0}) == 12.0
        assert session.run(tf.gradients(y, x)[0], {x: 3.0}) == 4.0


def test_a_loop_that_counts():
    start, limit, delta = (tf.placeholder(tf.int32, []) for _ in range(3))
    (total,) = raw.For(start=start, limit=limit, delta=delta, input=[0.5], body=plus_number.name)
    with tf.Session() as session:
        assert session.run(total, {start: 1, limit: 6, delta: 2}) == 0.5 + 1 + 3 + 5


def test_the_gradient_of_a_function_as_an_op():
    x, grad = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    (slope,) = raw.SymbolicGradient(input=[x, grad], Tout=[tf.float32], f=square.name)
    with tf.Session() as session:
        assert session.run(slope, {x: 3.0, grad: 10.0}) == 60.0


def test_a_value_that_nobody_looks_at():
    (y,) = raw.PartitionedCall(args=[1.0], Tout=[tf.float32], f=nothing.name)
    with tf.Session() as session:
        assert np.shape(session.run(y)) == ()


def test_arguments_and_results_of_a_body():
    """A body as a graph of its own, as imported functions have it."""
    with tf.Graph().as_default() as body:
        argument = calls.argument_op(T=tf.float32, index=0, name="argument")
        calls.result_op(argument, index=0, name="result")
    assert [op.type for op in body.get_operations()] == ["_Arg", "_Retval"]


@Defun(tf.float32)
def pair(x):
    return x, x


@Defun(tf.float32)
def whole(x):
    return tf.cast(x, tf.int32)


_ANOTHER_TYPE = r"Expects arg\[0\] to be float but int32 is provided"


@pytest.mark.parametrize(
    ("make", "refused"),
    [
        (lambda: functional_names.If(True, [1], thrice, square), _ANOTHER_TYPE),
        (lambda: functional_names.If(True, [1.0, 2.0], thrice, square), "Expects 1 arguments, but 2 is"),
        (lambda: functional_names.If(True, [1.0], thrice, pair), "returned 2 values. Expected: 1"),
        (lambda: functional_names.While([1.0], less_than_ten, whole), _ANOTHER_TYPE),
        (lambda: functional_names.While([1], less_than_ten, twice), _ANOTHER_TYPE),
        (
            lambda: functional_names.For(0, 3, 1, [1.0], pair),
            "For loop body returned 2 arguments. Expected: 1",
        ),
        (lambda: functional_names.For(0, 3, 1, [1.0], twice), "Expects 1 arguments, but 2 is provided"),
        (lambda: raw.PartitionedCall(args=[1], Tout=[tf.float32], f=twice), _ANOTHER_TYPE),
    ],
)
def test_functions_get_the_arguments_they_take(make, refused):
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=refused):
        session.run(make())


def test_calls_that_find_the_types_of_results():
    calls_made = [
        functional_names.partitioned_call([3.0], square),
        functional_names.Gradient([3.0, 1.0], square),
    ]
    assert [results[0].op.type for results in calls_made] == ["PartitionedCall", "SymbolicGradient"]
    with tf.Session() as session:
        assert session.run(calls_made) == [[9.0], [6.0]]
    silent = Defun(tf.float32)(lambda x: tf.print(x) and None)
    assert functional_names.partitioned_call([tf.constant(1.0)], silent).type == "StatefulPartitionedCall"
