"""Python functions of arrays as ops."""

import gc
import threading

import numpy as np
import pytest

import tideflow as tf
from tideflow.eager.context import eager_mode
from tideflow.ops.control_flow import python_functions


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


@pytest.fixture
def eagerly(graph):
    with eager_mode():
        yield


def run(fetches, feeds=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feeds)


def test_arguments_are_arrays_and_scalars_of_the_right_types():
    seen = []

    def look(*args):
        seen.extend(args)
        return np.float32(0)

    run(tf.py_func(look, [1.0, [1], "s", ["a", "b"], tf.constant([[True]])], tf.float32))
    assert type(seen[0]) is np.float32
    assert seen[1].dtype == np.int32 and seen[1].tolist() == [1]
    assert seen[2] == b"s"
    assert seen[3].dtype == object and seen[3].tolist() == [b"a", b"b"]
    assert seen[4].dtype == np.bool_ and seen[4].shape == (1, 1)


def test_several_outputs_of_several_types():
    def both(a, b):
        return (a + b).astype(np.float32), np.array([len(a)], np.int64), b"text"

    made = tf.py_func(both, [[1.0, 2.0], [1.0, 1.0]], [tf.float32, tf.int64, tf.string])
    assert [m.dtype for m in made] == [tf.float32, tf.int64, tf.string]
    found = run(made)
    assert found[0].tolist() == [2.0, 3.0] and found[1].tolist() == [1 + 1] and found[2] == b"text"


def test_no_outputs_make_an_operation():
    seen = []
    step = tf.py_func(lambda: seen.append(1), [], [])
    assert isinstance(step, tf.Operation)
    assert run(step) is None and seen == [1]


def test_a_list_of_one_and_a_single_type():
    assert isinstance(tf.py_func(lambda: 1.0, [], [tf.float64]), list)
    single = tf.py_func(lambda: 1.0, [], tf.float64)
    assert isinstance(single, tf.Tensor) and run(single) == 1.0


def test_strings_in_and_out():
    made = tf.py_func(lambda words: b"-".join(words.tolist()), [["a", "b"]], tf.string)
    wide = tf.py_func(lambda: np.array(["é", b"x"], object), [], tf.string)
    assert run(made) == b"a-b"
    assert run(wide).tolist() == ["é".encode(), b"x"]


@pytest.mark.parametrize(
    ("raised", "kind"),
    [
        (StopIteration("s"), tf.errors.OutOfRangeError),
        (MemoryError("m"), tf.errors.ResourceExhaustedError),
        (NotImplementedError("n"), tf.errors.UnimplementedError),
        (TypeError("t"), tf.errors.InvalidArgumentError),
        (ValueError("v"), tf.errors.InvalidArgumentError),
        (KeyError("k"), tf.errors.UnknownError),
        (ZeroDivisionError("z"), tf.errors.UnknownError),
        (OSError("o"), tf.errors.UnknownError),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_what_a_function_raises_is_mapped(raised, kind):
    def fail():
        raise raised

    with tf.Session() as session, pytest.raises(tf.errors.OpError) as info:
        session.run(tf.py_func(fail, [], tf.float32))
    assert type(info.value) is kind
    assert type(raised).__name__ in info.value.message and str(raised) in info.value.message
    assert info.value.op.type == "PyFunc" and __file__ in str(info.value)
    cause = info.value.__cause__ or info.value
    while cause.__cause__ is not None:
        cause = cause.__cause__
    assert cause is raised  # whose traceback shows the function's own line


@pytest.mark.parametrize(
    ("function", "types", "message"),
    [
        (lambda: np.float64(1), tf.float32, "double, but expects float"),
        (lambda: np.int64([1]), tf.int32, "int64, but expects int32"),
        (lambda: 1, tf.float32, "0-th value returned by pyfunc_[0-9]+ is int64, but expects float"),
        (lambda: "x", tf.float32, "is string, but expects float"),
        (lambda: None, tf.float32, "returns 0 values, but expects to see 1"),
        (lambda: (1.0, 2.0), tf.float32, "returns 2 values, but expects to see 1"),
        (lambda: np.float32(1), [tf.float32, tf.float32], "returns 1 values, but expects to see 2"),
    ],
)
def test_what_a_function_returns_must_fit(function, types, message):
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(tf.py_func(function, [], types))


def test_the_error_of_a_step_has_the_lines_of_the_function():
    def innermost():
        raise ValueError("no such thing")

    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError) as info:
        session.run(tf.py_func(lambda: innermost(), [], tf.float32))
    said = info.value.message
    assert said.startswith("ValueError: no such thing\nTraceback (most recent call last):\n")
    assert "in innermost" in said and 'raise ValueError("no such thing")' in said


def test_arrays_of_fields_are_refused():
    made = tf.py_func(lambda: np.zeros(1, [("x", np.float32)]), [], tf.float32)
    with tf.Session() as session, pytest.raises(tf.errors.InternalError, match="Unsupported numpy data type"):
        session.run(made)


def test_a_function_of_its_own_graph_goes_with_it():
    gc.collect()
    before = python_functions.registered_count()

    def make():
        with tf.Graph().as_default():
            x = tf.constant([1.0])
            tf.py_func(lambda y: y + x.shape[0].value, [x], tf.float32)
            tf.py_function(lambda y: y + x.shape[0].value, [x], tf.float32)

    make()
    gc.collect()
    assert python_functions.registered_count() == before


def test_no_results_of_a_stateless_function_are_an_empty_list():
    assert tf.py_func(lambda: None, [], [], stateful=False) == []


def test_eagerly_it_is_the_function_and_its_errors_are_its_own(eagerly):
    assert tf.py_func(lambda x: x + 1, [tf.constant([1.0])], tf.int32).numpy().tolist() == [2.0]
    assert tf.py_func(lambda: None, [], []) is None
    with pytest.raises(ZeroDivisionError):
        tf.py_func(lambda: 1 / 0, [], tf.float32)


def test_a_function_cannot_change_what_it_is_given():
    c, v = tf.constant([1.0, 2.0]), tf.Variable([3.0, 4.0])

    def spoil(*arrays):
        for array in arrays:
            array[:] = 9
        return arrays[0]

    spoiled = tf.py_func(spoil, [c, v], tf.float32)
    with tf.Session() as session:
        session.run(v.initializer)
        for _ in range(2):
            found = session.run([spoiled, c, v])
            assert [f.tolist() for f in found] == [[9.0, 9.0], [1.0, 2.0], [3.0, 4.0]]


def test_an_array_that_a_function_keeps_does_not_become_state():
    kept = np.float32([1.0, 2.0])
    v = tf.Variable([0.0, 0.0])
    assign = v.assign(tf.py_func(lambda: kept, [], tf.float32))
    with tf.Session() as session:
        session.run(assign)
        kept[:] = 7
        assert session.run(v).tolist() == [1.0, 2.0]


def test_state_is_said_by_the_op_type():
    assert tf.py_func(lambda: 1.0, [], tf.float64).op.type == "PyFunc"
    stateless = tf.py_func(lambda: 1.0, [], tf.float64, stateful=False)
    assert stateless.op.type == "PyFuncStateless" and run(stateless) == 1.0
    assert tf.numpy_function(lambda: 1.0, [], tf.float32).op.type == "PyFunc"


def test_a_function_that_nobody_needs_does_not_run():
    seen = []
    unused = tf.py_func(lambda: seen.append(1), [], [])
    assert run(tf.constant(1.0)) == 1.0 and seen == []
    assert unused.type == "PyFunc"


def test_shapes_are_unknown_until_they_are_said():
    y = tf.py_func(lambda: np.ones((2, 3), np.float32), [], tf.float32)
    assert y.shape.ndims is None
    y.set_shape([2, None])
    assert run(tf.reduce_sum(y, 1)).tolist() == [3.0, 3.0]


def test_functions_have_no_gradient():
    x = tf.constant(1.0)
    assert tf.gradients(tf.py_func(lambda a: a, [x], tf.float32), x) == [None]


def test_functions_run_in_the_thread_of_their_step():
    seen = []
    y = tf.py_func(lambda: seen.append(threading.current_thread()), [], [])
    with tf.Session() as session:
        thread = threading.Thread(target=lambda: session.run(y))
        thread.start()
        thread.join()
    assert seen == [thread]


def test_a_graph_of_another_process_has_no_functions(graph):
    tf.py_func(lambda: 1.0, [], tf.float32, name="mine")
    graph_def = graph.as_graph_def()
    graph_def.node[-1].attr["token"].s = b"pyfunc_elsewhere"
    with tf.Graph().as_default():
        (y,) = tf.import_graph_def(graph_def, return_elements=["mine:0"])
        with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="pyfunc_elsewhere"):
            session.run(y)


def test_what_is_not_callable():
    with pytest.raises(ValueError, match="callable"):
        tf.py_func(3, [], tf.float32)
