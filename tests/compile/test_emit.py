"""Plans: results written over temporaries never harm a value that is still needed; the source can be read."""

from __future__ import annotations

import ast
import gc
import weakref

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import tideflow as tf
from tests.compile.steps import PLAIN, Compiled, normal
from tideflow.compile.compiler import compile_step
from tideflow.compile.request import Hook, StepRequest
from tideflow.graph.op import Op, definitions
from tideflow.runtime.devices import ONE_CPU, Placement, local_devices
from tideflow.runtime.resources import ResourceManager
from tideflow.runtime.waiting import StepContext

SHAPES = [(2, 3), (3, 2), (6,)]


# ------------------------------------------------------------------------------------------ random programs

UNARY = [
    tf.tanh, tf.sin, tf.cos, tf.negative, tf.abs, tf.sigmoid, tf.nn.relu, tf.square, tf.identity,
    tf.stop_gradient, lambda x: tf.exp(-tf.abs(x)), lambda x: tf.sqrt(tf.abs(x)), lambda x: x * 1.0,
    lambda x: x + 0.0,
]  # fmt: skip
BINARY = [
    tf.add, tf.subtract, tf.multiply, tf.maximum, lambda x, y: tf.add_n([x, y]),
    lambda x, y: x / (1.0 + y * y), lambda x, y: x * y + x, lambda x, y: tf.where(x > y, x, y),
]  # fmt: skip
VIEWS = [
    lambda x: tf.reshape(x, [6]), lambda x: tf.reshape(x, [2, 3]), lambda x: tf.reshape(x, [3, 2]),
    tf.transpose, lambda x: x[::-1], lambda x: tf.squeeze(tf.expand_dims(x, 0), 0),
    lambda x: tf.stack(tf.unstack(x)), lambda x: tf.concat(tf.split(x, int(x.shape[0]), 0), 0),
]  # fmt: skip


def as_shape(tensor, shape):
    """The tensor in another shape of the same size: a view."""
    return tensor if tuple(tensor.shape) == shape else tf.reshape(tensor, shape)


steps = st.one_of(
    st.tuples(st.just("unary"), st.sampled_from(UNARY), st.integers(0, 30)),
    st.tuples(st.just("binary"), st.sampled_from(BINARY), st.integers(0, 30), st.integers(0, 30)),
    st.tuples(st.just("view"), st.sampled_from(VIEWS), st.integers(0, 30)),
    st.tuples(st.just("cond"), st.sampled_from(UNARY), st.sampled_from(UNARY), st.integers(0, 30)),
    st.tuples(st.just("assign"), st.integers(0, 30)),
    st.tuples(st.just("read")),
)


class Drawn:
    """A random program: tensors of six elements, made of each other, of feeds, constants and a variable."""

    def __init__(self, plan):
        self.pred = tf.placeholder(tf.bool, [])
        self.fed = tf.placeholder(tf.float32, [2, 3])
        self.variable = tf.Variable(normal(2, 3, seed=5))
        constant = tf.constant(normal(3, 2, seed=6))
        self.tensors = [self.fed, constant, self.variable.read_value(), tf.tanh(self.fed), tf.sin(constant)]
        self.last_write = None
        for kind, *parts in plan:
            with tf.control_dependencies(self.last_write):
                getattr(self, kind)(*parts)

    def pick(self, index):
        return self.tensors[index % len(self.tensors)]

    def unary(self, function, index):
        self.tensors.append(function(self.pick(index)))

    view = unary

    def binary(self, function, left, right):
        a = self.pick(left)
        self.tensors.append(function(a, as_shape(self.pick(right), tuple(a.shape))))

    def cond(self, on_true, on_false, index):
        x = self.pick(index)
        self.tensors.append(tf.cond(self.pred, lambda: on_true(x), lambda: on_false(x) * 2.0))

    def assign(self, index):
        with tf.control_dependencies(self.tensors):  # what was read before stays as it was
            self.last_write = [self.variable.assign(as_shape(self.pick(index), (2, 3))).op]

    def read(self):
        self.tensors.append(self.variable.read_value())


WATCHED = tf.RunOptions(timeout_in_ms=60_000)  # a step that is looked at keeps every value in its own memory


def computed(drawn, fetches, taken, config=None, options=None):
    """Two steps in a row, and the fed array afterwards."""
    value = normal(2, 3, seed=7)
    with tf.Session(config=config) as session:
        session.run(tf.global_variables_initializer())
        feeds = {drawn.fed: value, drawn.pred: taken}
        found = [session.run(fetches, feeds, options) for _ in range(2)]
        return flat([*found, session.run(drawn.variable)]), value


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    plan=st.lists(steps, min_size=3, max_size=25),
    chosen=st.lists(st.integers(0, 60), min_size=1, max_size=5),
    taken=st.booleans(),
)
def test_random_programs_compute_what_their_plain_selves_do(plan, chosen, taken):
    with tf.Graph().as_default():
        drawn = Drawn(plan)
        fetches = [drawn.pick(i) for i in chosen] + [drawn.tensors[-1]] + (drawn.last_write or [])
        found, fed = computed(drawn, fetches, taken)
        reusing, _ = computed(drawn, fetches, taken, PLAIN)
        plain, _ = computed(drawn, fetches, taken, PLAIN, WATCHED)
    np.testing.assert_array_equal(fed, normal(2, 3, seed=7))
    for a, b, c in zip(found, reusing, plain, strict=True):
        np.testing.assert_array_equal(b, c)
        np.testing.assert_allclose(a, c, rtol=1e-5, atol=1e-5)


def flat(value):
    if isinstance(value, list):
        return [item for part in value for item in flat(part)]
    return [] if value is None else [value]


# ------------------------------------------------------------------------------------------ memory


@pytest.fixture
def graph():
    with tf.Graph().as_default() as g:
        yield g


@pytest.fixture
def x(graph):
    return tf.placeholder(tf.float32, [4])


def source(fetches, feeds):
    return Compiled(fetches, feeds).plan.source


FED = np.array([1.0, 2.0, 3.0, 4.0], np.float32)


def test_results_are_written_over_temporaries(x):
    text = source(tf.exp(tf.sin(x) * 2.0), {x: FED})
    assert "mul_(v" in text and "exp_(v" in text and "sin(feed0)" in text


@pytest.mark.parametrize(
    "build",
    {
        "a feed": lambda x, v, c: tf.exp(x),
        "a constant": lambda x, v, c: tf.exp(c) * x[0],
        "a variable": lambda x, v, c: tf.exp(v.read_value()),
        "a view of a feed": lambda x, v, c: tf.exp(tf.reshape(x, [2, 2])),
        "a view of a variable": lambda x, v, c: tf.exp(tf.transpose(tf.reshape(v, [2, 2]))),
    }.values(),
)
def test_what_others_own_is_never_written(x, build):
    v, c = tf.Variable(FED), tf.constant(FED)
    made = build(x, v, c)
    fed = FED.copy()
    with tf.Session() as session:
        session.run(v.initializer)
        first = session.run(made, {x: fed})
        np.testing.assert_array_equal(session.run(made, {x: fed}), first)
        np.testing.assert_array_equal(session.run([v, c]), [FED, FED])
    np.testing.assert_array_equal(fed, FED)


def test_a_value_that_is_fetched_is_not_written(x):
    y = tf.sin(x)
    with tf.Session() as session:
        a, b = session.run([y, tf.exp(y)], {x: FED})
    np.testing.assert_allclose(b, np.exp(a), rtol=1e-6)


def test_a_value_that_is_taken_twice_is_not_written(x):
    y = tf.sin(x)
    z = tf.exp(y) + tf.cos(y) * y
    with tf.Session() as session:
        s = np.sin(FED)
        np.testing.assert_allclose(session.run(z, {x: FED}), np.exp(s) + np.cos(s) * s, rtol=1e-5)


def test_a_value_that_has_a_view_is_not_written(x):
    y = tf.sin(x)
    view = tf.reshape(y, [2, 2])
    with tf.Session() as session:
        a, b = session.run([view, tf.exp(y)], {x: FED})
    np.testing.assert_allclose(b.reshape(2, 2), np.exp(a), rtol=1e-6)


def test_results_of_another_shape_or_type_are_not_written_over(x):
    small = tf.sin(x)
    wide = small + tf.zeros([3, 4])
    cast = tf.cast(tf.cos(x), tf.float64) * 2.0
    with tf.Session() as session:
        a, b = session.run([wide, cast], {x: FED})
    assert a.shape == (3, 4) and b.dtype == np.float64


def test_a_predicate_is_not_written_over(graph):
    p = tf.placeholder(tf.bool, [])
    q = tf.logical_not(p)
    y = tf.cond(q, lambda: tf.constant(1.0), lambda: tf.constant(2.0))
    with tf.Session() as session:
        assert session.run([y, tf.logical_not(q)], {p: True}) == [2.0, True]


@pytest.fixture
def define():
    """Makes element-wise ops, which are forgotten after the test."""
    made = []

    def op(name, kernel, **facts):
        made.append(name)
        op = Op(name, "x: float -> y: float", differentiable=False, **facts)
        op.shape(lambda x: x)
        op.kernel(kernel)
        op.samples()
        return op

    yield op
    for name in made:
        del definitions()[name]


def test_values_are_freed_after_their_last_use(x, define):
    made, alive = [], []

    def watched(value):
        gc.collect()
        alive.append([ref() is not None for ref in made])
        made.append(weakref.ref(result := value.clone()))
        return result

    op = define("Watched", watched, stateful=True)
    with tf.Session() as session:
        session.run(op(op(op(op(x)))) * 1.5, {x: FED})
    assert alive == [[], [True], [False, True], [False, False, True]]


def test_values_nobody_takes_are_freed_at_once(x):
    parts = tf.unstack(x)
    lines = source(parts[0] + tf.exp(parts[3]), {x: FED}).splitlines()
    made = lines[1].partition(", =")[0].split(", ")
    assert lines[2].strip() == f"del feed0, {', '.join(part.strip() for part in made[1:3])}"


# ------------------------------------------------------------------------------------------ the source


def test_the_source_is_one_function_of_the_feeds(x):
    plan = Compiled([tf.exp(x) * 2.0], {x: FED}).plan
    (function,) = ast.parse(plan.source).body
    assert function.name == "step" and [a.arg for a in function.args.args] == ["feed0"]


def test_every_line_knows_its_operation(x):
    y = tf.exp(x, name="the_exp")
    plan = Compiled([y], {x: FED}).plan
    lines = plan.source.splitlines()
    (number,) = [i for i, text in enumerate(lines, 1) if "exp" in text]
    assert plan.operation_at(number) is y.op
    assert plan.operation_at(1) is None


def test_sizes_that_are_constants_are_literals(x):
    assert "[2, 2]" in source(tf.reshape(x, [2, 2]) * 1.5, {x: FED})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_attributes_that_have_no_literal(x, value):
    made = tf.raw_ops.ApproximateEqual(x=x, y=tf.constant(FED + 1), tolerance=value)
    with tf.Session() as session:
        assert session.run(made, {x: FED}).tolist() == [value > 0] * 4


@pytest.mark.parametrize("name", ["lambda", "step", "feed0", "None", "host", "v1"])
def test_op_types_may_have_any_name(x, define, name):
    op = define(name, lambda value: value + 1)
    (found,) = Compiled([op(op(x))], {x: FED}).run()
    np.testing.assert_array_equal(found, FED + 2)


def test_long_literals_are_bound_to_a_name(x):
    text = source(tf.reshape(x, [1] * 200 + [4]) * 1.5, {x: FED})
    assert max(len(line) for line in text.splitlines()) < 110


def test_hooks_see_every_value_unharmed(x):
    seen = {}

    def after(context, node, outputs, inputs):
        seen[node.type] = [value.clone() for value in outputs if isinstance(value, torch.Tensor)]

    y = tf.exp(tf.sin(x) * 2.0)
    request = StepRequest((y,), feeds=(x,), feed_shapes=((4,),), hook=Hook(after))
    plan = compile_step(request, ResourceManager(), Placement(local_devices(ONE_CPU)))
    (result,) = plan.run(StepContext(), [torch.from_numpy(FED)])
    np.testing.assert_allclose(seen["Sin"][0].numpy(), np.sin(FED), rtol=1e-6)
    np.testing.assert_allclose(seen["Mul"][0].numpy(), np.sin(FED) * 2, rtol=1e-6)
    np.testing.assert_allclose(result.numpy(), np.exp(np.sin(FED) * 2), rtol=1e-6)
