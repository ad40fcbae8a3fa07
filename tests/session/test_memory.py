"""Memory: feeds are not copied, results are handed over, and nothing that a user holds is ever written."""

import gc
import weakref

import numpy as np
import pytest
import torch

import tideflow as tf
from tideflow.graph.op import Op, definitions
from tideflow.session.feeds import feeder


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


@pytest.fixture
def session(graph):
    with tf.Session() as s:
        yield s


@pytest.fixture
def look():
    """An op that passes its input on and notes where it is."""
    op = Op("Look", "x: T -> y: T", differentiable=False, stateful=True)
    op.shape(lambda x: x)
    op.samples()
    op.seen = []

    @op.kernel
    def _(x):
        op.seen.append(x.data_ptr())
        return x

    yield op
    del definitions()["Look"]


def address(array):
    return array.__array_interface__["data"][0]


# ------------------------------------------------------------------------------------------ feeds


@pytest.mark.parametrize(
    "dtype", [np.float32, np.float64, np.float16, np.int32, np.int64, np.uint8, np.bool_, np.complex64]
)
def test_a_fed_array_is_what_the_kernel_gets(session, look, dtype):
    x = tf.placeholder(tf.as_dtype(dtype), [None])
    value = np.ones(1000, dtype)
    session.run(look(x).op, {x: value})
    assert look.seen == [address(value)]


def test_bfloat16_is_shared_too(session, look):
    x = tf.placeholder(tf.bfloat16, [None])
    value = np.ones(1000, tf.bfloat16.as_numpy_dtype)
    session.run(look(x).op, {x: value})
    assert look.seen == [address(value)]


def test_views_are_shared(session, look):
    x = tf.placeholder(tf.float32, None)
    base = np.zeros((20, 30), np.float32)
    for view in (base, base[5:], base.T, base[:, ::2]):
        session.run(look(x).op, {x: view})
        assert look.seen.pop() == address(view)


def test_torch_tensors_are_shared(session, look):
    x = tf.placeholder(tf.float32, [None])
    value = torch.zeros(1000)
    session.run(look(x).op, {x: value})
    assert look.seen == [value.data_ptr()]


def test_what_must_be_converted_is_copied(session, look):
    x = tf.placeholder(tf.float32, [None])
    frozen = np.zeros(10, np.float32)
    frozen.flags.writeable = False
    for value in (np.zeros(10), np.zeros(10, ">f4"), np.zeros(10, np.float32)[::-1], frozen):
        session.run(look(x).op, {x: value})
        assert look.seen.pop() != address(value)


def test_a_feeder_keeps_no_array(session):
    x = tf.placeholder(tf.float32, [None])
    y = tf.reduce_sum(x)
    value = np.ones(1000, np.float32)
    session.run(y, {x: value})
    gone = weakref.ref(value)
    del value
    gc.collect()
    assert gone() is None
    assert feeder(x)(np.zeros(3, np.float32)).shape == (3,)


def test_a_fed_array_is_never_written(session):
    x = tf.placeholder(tf.float32, [4])
    value = np.arange(4, dtype=np.float32)
    v = tf.Variable(tf.zeros([4]))
    session.run(v.initializer)
    steps = [tf.exp(x), x + 1.0, tf.nn.relu(-x), v.assign(x), v.assign_add(x), tf.reshape(x, [2, 2]) * 2.0]
    for step in steps:
        session.run(step, {x: value})
    np.testing.assert_array_equal(value, np.arange(4))


# ------------------------------------------------------------------------------------------ results


def handed_over(session, fetch, feeds=None):
    """Two results of one fetch; writing into the first must change nothing."""
    first = session.run(fetch, feeds)
    kept = first.copy()
    first.fill(99)
    second = session.run(fetch, feeds)
    np.testing.assert_array_equal(second, kept)
    assert second.flags.writeable and second.flags.c_contiguous
    return second


@pytest.mark.parametrize(
    "build",
    {
        "fed": lambda x, v, c: x,
        "view of fed": lambda x, v, c: tf.reshape(x, [2, 2]),
        "slice of fed": lambda x, v, c: x[1:3],
        "variable": lambda x, v, c: v,
        "read": lambda x, v, c: v.read_value(),
        "view of variable": lambda x, v, c: tf.transpose(tf.reshape(v, [2, 2])),
        "constant": lambda x, v, c: c,
        "view of constant": lambda x, v, c: tf.reshape(c, [2, 2]),
        "computed": lambda x, v, c: x * 2.0,
        "view of computed": lambda x, v, c: tf.transpose(tf.reshape(x * 2.0, [2, 2])),
        "broadcast": lambda x, v, c: tf.broadcast_to(x, [3, 4]),
        "through a branch": lambda x, v, c: tf.cond(x[0] < 5.0, lambda: x, lambda: c),
        "through python": lambda x, v, c: tf.py_func(lambda a: a, [x], tf.float32),
    }.values(),
)
def test_results_share_memory_with_nothing(session, build):
    x, v, c = (
        tf.placeholder(tf.float32, [4]),
        tf.Variable([1.0, 2.0, 3.0, 4.0]),
        tf.constant([5.0, 6.0, 7.0, 8.0]),
    )
    session.run(v.initializer)
    value = np.arange(4, dtype=np.float32)
    handed_over(session, build(x, v, c), {x: value})
    np.testing.assert_array_equal(value, np.arange(4))
    np.testing.assert_array_equal(session.run([v, c]), [[1, 2, 3, 4], [5, 6, 7, 8]])


def test_two_views_of_one_result_are_apart(session):
    x = tf.placeholder(tf.float32, [4])
    y = x * 2.0
    a, b = session.run([tf.reshape(y, [2, 2]), y[1:]], {x: [1.0, 2.0, 3.0, 4.0]})
    a.fill(0)
    assert b.tolist() == [4.0, 6.0, 8.0]


def test_large_results_are_not_copied(session, look):
    x = tf.placeholder(tf.float32, [None])
    y = look(x * 2.0)
    found = session.run(y, {x: np.ones(100_000, np.float32)})
    assert look.seen == [address(found)]


def test_strings_are_apart(session):
    v = tf.Variable(["a", "b"])
    session.run(v.initializer)
    found = session.run(v)
    found[0] = b"z"
    assert session.run(v).tolist() == [b"a", b"b"]


def test_a_result_outlives_its_session():
    x = tf.constant([1.0, 2.0]) * 3.0
    with tf.Session() as session:
        found = session.run(x)
    del session
    gc.collect()
    assert found.tolist() == [3.0, 6.0]


# ------------------------------------------------------------------------------------------ what is let go


def test_a_step_leaves_nothing_behind(session):
    """Only results live on: temporaries of the last step are gone."""
    made = []

    def note(value):
        made.append(weakref.ref(value))
        return value

    x = tf.placeholder(tf.float32, [1000])
    y = tf.reduce_sum(tf.exp(tf.py_func(note, [x], tf.float32)))
    session.run(y, {x: np.zeros(1000)})
    gc.collect()
    assert made[0]() is None


def test_a_failed_step_leaves_nothing_behind(session):
    made = []

    def note(value):
        made.append(weakref.ref(value))
        return value

    x = tf.placeholder(tf.float32, [4])
    y = tf.reshape(tf.py_func(note, [x], tf.float32), [3, 3])
    with pytest.raises(tf.errors.InvalidArgumentError):
        session.run(y, {x: np.zeros(4)})
    gc.collect()
    assert made[0]() is None


def test_closing_lets_go_of_state():
    v = tf.Variable(tf.zeros([1000]))
    session = tf.Session()
    session.run(v.initializer)
    (state,) = session._resources.all("variable")
    gone = weakref.ref(state.value)
    del state
    session.close()
    gc.collect()
    assert gone() is None


def test_graphs_sessions_and_plans_are_collected():
    with tf.Graph().as_default() as g:
        x = tf.placeholder(tf.float32, [2])
        y = tf.py_func(lambda a: a, [x], tf.float32) + tf.Variable(1.0).initial_value
        with tf.Session() as session:
            session.run(y, {x: [1.0, 2.0]})
    gone = [weakref.ref(g), weakref.ref(session)]
    del g, x, y, session
    gc.collect()
    assert [ref() for ref in gone] == [None, None]


def test_a_closed_session_keeps_no_variable(without_collector):
    weights = tf.get_variable("w", [4], initializer=tf.ones_initializer())
    x = tf.placeholder(tf.float32, [None])
    product = tf.reduce_sum(weights) * x
    with tf.Session() as session:
        session.run(weights.initializer)
        for size in range(1, 12):  # plans for each of these sizes, and one for all
            session.run(product, {x: [1.0] * size})
        value = weakref.ref(session._executor._resources.find("", "variable", "w").value)
    assert value() is None
