"""`tf.function`: what the oracle's programs cannot say: threads, children, interrupts, speed of the way."""

import gc
import logging
import os
import threading
import weakref

import numpy as np
import pytest

import tideflow as tf


def traced(f, **options):
    return tf.function(f, autograph=False, **options)


def test_an_interrupt_while_tracing_leaves_nothing_behind():
    made, interrupts = [], [True, False]

    def f(x):
        with tf.name_scope("inner"), tf.variable_scope("scope"):
            if not made:
                made.append(tf.Variable(2.0))
            if interrupts.pop(0):
                made.clear()
                raise KeyboardInterrupt
            interrupts.append(False)
            return made[0] * x

    g = traced(f)
    with pytest.raises(KeyboardInterrupt):
        g(tf.constant(1.0))
    assert tf.executing_eagerly()
    assert tf.get_variable_scope().name == ""
    assert g(tf.constant(3.0)).numpy() == 6.0
    assert g(tf.constant(4.0)).numpy() == 8.0


def test_an_interrupt_while_running_gives_variables_back():
    v = tf.Variable([1.0, 2.0])
    interrupt = [True]

    def stop(x):
        if interrupt.pop():
            raise KeyboardInterrupt
        interrupt.append(False)
        return x

    def f():
        v.assign_add([1.0, 1.0])
        return tf.py_function(stop, [v.read_value()], tf.float32)

    g = traced(f)
    with pytest.raises(KeyboardInterrupt):
        g()
    interrupt.append(False)
    g()
    assert v.numpy().tolist() == [3.0, 4.0]


def test_an_error_in_a_trace_is_tried_again():
    calls = []

    def f(x):
        calls.append(1)
        if len(calls) == 1:
            raise ValueError("first")
        return x + 1.0

    g = traced(f)
    with pytest.raises(ValueError, match="first"):
        g(tf.constant(1.0))
    assert g(tf.constant(1.0)).numpy() == 2.0
    assert len(calls) == 2


def test_threads_that_call_first_share_a_trace():
    traces, made = [], []

    def f(x):
        traces.append(threading.get_ident())
        if not made:
            made.append(tf.Variable(3.0))
        return made[0] * x

    g = traced(f)
    start, results = threading.Barrier(4), []

    def call():
        start.wait()
        results.append(float(g(tf.constant(2.0))))

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [6.0] * 4
    assert len(traces) == 2, "once to make the variable, once without it"
    assert len(made) == 1


def test_a_child_calls_functions_of_its_parent():
    v = tf.Variable(1.0)
    known, new = traced(lambda x: x * v), traced(lambda x: x + v)
    known(tf.constant(1.0))
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            v.assign(5.0)
            values = [known(tf.constant(2.0)).numpy(), new(tf.constant(2.0)).numpy()]
            os.write(writer, str([float(value) for value in values]).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as said:
        assert said.read() == "[10.0, 7.0]"
    os.waitpid(child, 0)
    assert known(tf.constant(2.0)).numpy() == 2.0


def test_a_fork_while_a_thread_traces_leaves_the_child_free():
    tracing, go_on = threading.Event(), threading.Event()

    def slow(x):
        if not go_on.is_set():
            tracing.set()
            go_on.wait()
        return x * 2.0

    g = traced(slow)
    thread = threading.Thread(target=g, args=(tf.constant(1.0),))
    thread.start()
    tracing.wait()
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            go_on.set()
            os.write(writer, str(float(g(tf.constant(4.0)))).encode())
        finally:
            os._exit(0)
    os.close(writer)
    go_on.set()
    with os.fdopen(reader) as said:
        assert said.read() == "8.0"
    os.waitpid(child, 0)
    thread.join()


def test_retracing_is_told_once_with_its_reason(caplog):
    g = traced(lambda x, n: x * n)
    with caplog.at_level(logging.WARNING, "tensorflow"):
        for n in range(12):
            g(tf.constant(1.0), n)
    (record,) = [r for r in caplog.records if "retracing" in r.getMessage()]
    assert "The argument 'n' was the Python number" in record.getMessage()
    caplog.clear()
    h = traced(lambda x: tf.reduce_sum(x))
    with caplog.at_level(logging.WARNING, "tensorflow"):
        for n in range(12):
            h(tf.ones([n]))
    (record,) = [r for r in caplog.records if "retracing" in r.getMessage()]
    assert "had shape" in record.getMessage()


def test_a_signature_with_open_sizes_has_a_plan_for_each_size():
    g = traced(lambda x: tf.reduce_sum(x * 2.0), input_signature=[tf.TensorSpec([None], tf.float32)])
    assert [float(g(tf.ones([n]))) for n in range(12)] == [2.0 * n for n in range(12)]


def test_an_object_is_let_go_with_its_functions():
    class Model:
        def __init__(self):
            self.v = tf.Variable(1.0)

        @tf.function(autograph=False)
        def run(self, x):
            return self.v * x

    model = Model()
    model.run(tf.constant(1.0))
    known = weakref.ref(model)
    del model
    gc.collect()
    assert known() is None


def test_results_keep_their_values():
    v = tf.Variable([1.0, 2.0])
    g = traced(lambda: v.read_value())
    before = g()
    v.assign_add([1.0, 1.0])
    assert before.numpy().tolist() == [1.0, 2.0]
    assert g().numpy().tolist() == [2.0, 3.0]


def test_updates_of_variables_that_are_arguments_keep_their_order():
    def f(a, b):
        a.assign_add(b)
        b.assign(a * 2.0)
        a.assign(b - a)
        return a.read_value(), b.read_value()

    g = traced(f)
    a, b = tf.Variable(np.float32(1.0)), tf.Variable(np.float32(2.0))
    assert [float(x) for x in g(a, b)] == [3.0, 6.0]
    assert [float(x) for x in g(b, a)] == [9.0, 18.0]


def test_gradients_in_a_function_reach_tensors_of_the_graph_around_it():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(3.0)

        @tf.function
        def slope():
            return tf.gradients(x * x, x)[0]

        assert session.run(slope()) == 6.0


def test_a_gradient_may_capture_what_the_function_does_not():
    outside = tf.Variable(3.0)

    @tf.custom_gradient
    def scaled(x):
        return x * 1.0, lambda dy: dy * outside.read_value()

    g, x = traced(lambda x: scaled(x)), tf.constant(2.0)
    for _ in range(2):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = g(x)
        assert tape.gradient(y, x).numpy() == 3.0
    assert g(x).numpy() == 2.0


def test_an_argument_that_is_missing_is_not_another_ones_default():
    function = traced(lambda x, y=1: x + y)
    with pytest.raises(AssertionError, match="Not enough arguments"):
        function()
    with pytest.raises(TypeError, match="missing a required argument: 'x'"):
        function(y=2)
    assert function(2, y=3).numpy() == 5


def test_a_trace_refuses_tensors_of_another_type():
    number = tf.TensorSpec([], tf.float32)
    trace = traced(lambda x, y: x - y).get_concrete_function(number, number)
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"input #1.* a float tensor but is a int32 tensor"
    ):
        trace(tf.constant(1.0), tf.constant(1))
    assert trace(tf.constant(3.0), tf.constant(1.0)).numpy() == 2


@pytest.mark.parametrize(("takes_loop", "slope"), [(True, 32.0), (False, 2.0)])
def test_the_gradient_of_a_branch_with_a_loop(takes_loop, slope):
    @tf.function
    def slope_of(x, flag):
        loop = lambda: tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, y * x), [0, x])[1]
        return tf.gradients(tf.cond(flag, loop, lambda: x * 2.0), x)[0]

    with tf.Graph().as_default(), tf.Session() as session:
        assert session.run(slope_of(tf.constant(2.0), tf.constant(takes_loop))) == slope
