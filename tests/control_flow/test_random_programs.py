"""Random programs of nested conditionals, loops and TensorArrays: compiled, on the token executor and in
NumPy they give the same; so do their gradients, compiled and on the token executor.
"""

from dataclasses import dataclass, replace

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tideflow as tf

TOKENS = tf.ConfigProto(experimental=tf.ConfigProto.Experimental(executor_type="TOKENS"))
SMALL = settings(
    max_examples=30,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
    database=None,
)

UNARY = ("tanh", "sin", "half", "negative")
BINARY = ("add", "multiply", "subtract", "maximum")

leaves = st.sampled_from([("x",), ("w",), ("variable",), ("outer",), ("constant", 0.5), ("constant", -1.25)])


def _larger(parts):
    preds = st.one_of(st.just(("flag",)), st.just(("even",)), st.tuples(st.just("positive"), parts))
    counts = st.integers(0, 3)
    return st.one_of(
        st.tuples(st.just("unary"), st.sampled_from(UNARY), parts),
        st.tuples(st.just("binary"), st.sampled_from(BINARY), parts, parts),
        st.tuples(st.just("cond"), preds, parts, parts),
        st.tuples(st.just("loop"), counts, parts, parts),
        st.tuples(st.just("until"), st.sampled_from([0.5, 2.0]), parts, parts),
        st.tuples(st.just("array"), counts, parts, parts),
        st.tuples(st.just("map"), parts),
    )


programs = st.recursive(leaves, _larger, max_leaves=10)


@dataclass(frozen=True)
class Scope:
    """What a part of a program can name."""

    x: object
    w: object
    flag: object
    variables: tuple = ()  # of the loops around, innermost last
    counter: object = None

    def inside(self, variable, counter):
        return replace(self, variables=(*self.variables, variable), counter=counter)


class Graphs:
    """Builds a program as a graph."""

    def of(self, program, scope):
        kind, *parts = program
        return getattr(self, kind)(scope, *parts)

    def x(self, scope):
        return scope.x

    def w(self, scope):
        return scope.w

    def variable(self, scope):
        return scope.variables[-1] if scope.variables else scope.x

    def outer(self, scope):
        return scope.variables[0] if scope.variables else scope.w

    def constant(self, scope, value):
        return tf.fill([2], tf.constant(value))

    def unary(self, scope, name, part):
        value = self.of(part, scope)
        return value * 0.5 if name == "half" else getattr(tf, name)(value)

    def binary(self, scope, name, a, b):
        return getattr(tf, name)(self.of(a, scope), self.of(b, scope))

    def cond(self, scope, pred, yes, no):
        return tf.cond(self.of(pred, scope), lambda: self.of(yes, scope), lambda: self.of(no, scope))

    def flag(self, scope):
        return scope.flag

    def even(self, scope):
        return scope.flag if scope.counter is None else tf.equal(scope.counter % 2, 0)

    def positive(self, scope, part):
        return tf.reduce_sum(self.of(part, scope)) > 0.0

    def loop(self, scope, count, body, begin):
        def step(i, v):
            return i + 1, tf.tanh(self.of(body, scope.inside(v, i)))

        return tf.while_loop(lambda i, v: i < count, step, [0, self.of(begin, scope)])[1]

    def until(self, scope, limit, body, begin):
        def goes_on(i, v):
            return tf.logical_and(i < 4, tf.reduce_sum(tf.abs(v)) < limit)

        def step(i, v):
            return i + 1, v + tf.abs(tf.tanh(self.of(body, scope.inside(v, i))))

        return tf.while_loop(goes_on, step, [0, self.of(begin, scope)])[1]

    def array(self, scope, count, body, begin):
        def step(i, v, made):
            v = tf.tanh(self.of(body, scope.inside(v, i)))
            return i + 1, v, made.write(i, v * tf.cast(i + 1, tf.float32))

        made = tf.TensorArray(tf.float32, count, element_shape=[2])
        last, made = tf.while_loop(lambda i, *_: i < count, step, [0, self.of(begin, scope), made])[1:]
        return last + tf.reduce_sum(made.stack(), 0)

    def map(self, scope, body):
        rows = tf.stack([scope.x, scope.w, scope.x * 0.5])
        made = tf.map_fn(lambda row: tf.tanh(self.of(body, scope.inside(row, scope.counter))), rows)
        return tf.reduce_sum(made, 0)


class Arrays(Graphs):
    """Computes a program with NumPy."""

    def constant(self, scope, value):
        return np.full(2, value, np.float32)

    def unary(self, scope, name, part):
        value = self.of(part, scope)
        return value * np.float32(0.5) if name == "half" else getattr(np, name)(value)

    def binary(self, scope, name, a, b):
        return getattr(np, name)(self.of(a, scope), self.of(b, scope))

    def cond(self, scope, pred, yes, no):
        return self.of(yes if self.of(pred, scope) else no, scope)

    def even(self, scope):
        return scope.flag if scope.counter is None else scope.counter % 2 == 0

    def positive(self, scope, part):
        return self.of(part, scope).sum() > 0

    def loop(self, scope, count, body, begin):
        value = self.of(begin, scope)
        for i in range(count):
            value = np.tanh(self.of(body, scope.inside(value, i)))
        return value

    def until(self, scope, limit, body, begin):
        value, i = self.of(begin, scope), 0
        while i < 4 and np.abs(value).sum() < limit:
            value, i = value + np.abs(np.tanh(self.of(body, scope.inside(value, i)))), i + 1
        return value

    def array(self, scope, count, body, begin):
        value, total = self.of(begin, scope), np.zeros(2, np.float32)
        for i in range(count):
            value = np.tanh(self.of(body, scope.inside(value, i)))
            total = total + value * np.float32(i + 1)
        return value + total

    def map(self, scope, body):
        rows = (scope.x, scope.w, scope.x * np.float32(0.5))
        return sum(np.tanh(self.of(body, scope.inside(row, scope.counter))) for row in rows)


X, W = np.array([0.37, -0.81], np.float32), np.array([1.13, 0.29], np.float32)


def _as_graph(program):
    """The program's value and its gradients, with zeros for those that are None."""
    x, w = tf.placeholder(tf.float32, [2], "x"), tf.placeholder(tf.float32, [2], "w")
    y = Graphs().of(program, Scope(x, w, tf.placeholder(tf.bool, [], "flag")))
    slopes = tf.gradients(y, [x, w])
    return y, [tf.zeros([2]) if slope is None else slope for slope in slopes]


def _results(fetches, flag, config=None):
    with tf.Session(config=config) as session:
        return session.run(fetches, {"x:0": X, "w:0": W, "flag:0": flag})


@SMALL
@given(program=programs, flag=st.booleans())
def test_both_executors_give_what_numpy_gives(program, flag):
    with tf.Graph().as_default():
        y, slopes = _as_graph(program)
        compiled = _results([y, *slopes], flag)
        by_tokens = _results([y, *slopes], flag, TOKENS)
        expected = Arrays().of(program, Scope(X, W, flag))
    np.testing.assert_allclose(compiled[0], expected, rtol=1e-4, atol=1e-5)
    for a, b in zip(compiled, by_tokens, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


@SMALL
@given(program=programs, flag=st.booleans())
def test_a_graph_survives_its_graph_def(program, flag):
    """Without contexts, from the graph alone, the same structure is found."""
    with tf.Graph().as_default() as graph:
        y, slopes = _as_graph(program)
        names = [tensor.name for tensor in (y, *slopes)]
        before = _results(names, flag)
        message = graph.as_graph_def()
    with tf.Graph().as_default():
        tf.import_graph_def(message, name="")
        after = _results(names, flag)
    for a, b in zip(before, after, strict=True):
        np.testing.assert_array_equal(a, b)
