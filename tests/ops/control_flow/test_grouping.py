"""Grouping, assertions, printing, numeric checks and Python functions."""

import threading

import numpy as np
import pytest

import tideflow as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def run(fetches, feeds=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feeds)


# ------------------------------------------------------------------------------------------ group and tuple


def test_a_group_has_run_when_all_have():
    made = [tf.Variable(0) for _ in range(3)]
    step = tf.group(made[0].assign_add(1), [made[1].assign_add(2), (made[2].assign_add(3),)], name="all")
    assert step.name == "all" and step.type == "NoOp"
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(step) is None
        assert session.run(made) == [1, 2, 3]


def test_groups_of_nothing_and_of_variables():
    assert run(tf.group()) is None
    v = tf.Variable(1.0)
    assert [op.name for op in tf.group(v).control_inputs] == [v.op.name]


def test_groups_wait_by_device():
    with tf.device("/cpu:0"):
        a = tf.no_op("a")
    with tf.device("/job:x"):
        b = tf.no_op("b")
    step = tf.group(a, b)
    assert sorted(op.type for op in step.control_inputs) == ["NoOp", "NoOp"]
    assert {op.device for op in step.control_inputs} == {a.device, b.device}


@pytest.mark.parametrize("bad", [None, 3, "text"])
def test_what_cannot_be_grouped(bad):
    with pytest.raises(TypeError, match=r"tf\.group"):
        tf.group(tf.no_op(), bad)
    with pytest.raises(ValueError, match="Unknown keyword"):
        tf.group(tf.no_op(), nam="x")


def test_of_a_tuple_nothing_is_there_before_all_is():
    v = tf.Variable(0)
    a, missing, b = tf.tuple([tf.constant(1.0), None, tf.constant(2.0)], control_inputs=[v.assign_add(1)])
    assert missing is None
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(a) == 1.0 and session.run(v) == 1
        assert session.run([a, b]) == [1.0, 2.0] and session.run(v) == 2


def test_tuples_of_sparse_rows():
    v = tf.Variable(0)
    rows = tf.IndexedSlices(tf.constant([1.0]), tf.constant([3]))
    (found,) = tf.tuple([rows], control_inputs=[v.assign_add(1)])
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(found).values.tolist() == [1.0] and session.run(v) == 1


def test_mistakes_with_tuples():
    for nothing in ([], [None]):
        with pytest.raises(ValueError, match="at least one Tensor"):
            tf.tuple(nothing)
    with pytest.raises(TypeError, match="Control input"):
        tf.tuple([tf.constant(1.0)], control_inputs=[3])


# ------------------------------------------------------------------------------------------ Assert


@pytest.mark.parametrize(
    ("data", "options", "wanted"),
    [
        (["x =", [1, 2, 3, 4]], {}, "[x =] [1 2 3...]"),
        ([[1.5, 2.5, 3.5, 4.5]], {}, "[1.5 2.5 3.5...]"),
        ([1, 2.5], {}, "[1] [2.5]"),
        (["m", [[1, 2], [3, 4]]], {"summarize": 10}, "[m] [[1 2][3 4]]"),
        ([[1, 2, 3, 4, 5]], {"summarize": -1}, "[1 2 3 4 5]"),
        (["a[0]"], {}, "[a[0]]"),
    ],
)
def test_an_assertion_shows_its_data(data, options, wanted):
    condition = tf.placeholder(tf.bool, [])
    check = tf.Assert(condition, data, **options)
    with tf.Session() as session:
        assert session.run(check, {condition: True}) is None
        with pytest.raises(tf.errors.InvalidArgumentError) as info:
            session.run(check, {condition: False})
    assert info.value.message == f"assertion failed: {wanted}"
    assert __file__ in str(info.value)


def test_what_waits_for_an_assertion_fails_with_it():
    x = tf.placeholder(tf.float32, [])
    with tf.control_dependencies([tf.Assert(x > 0.0, [x])]):
        y = tf.sqrt(x)
    with tf.Session() as session:
        assert session.run(y, {x: 4.0}) == 2.0
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"assertion failed: \[-4\]"):
            session.run(y, {x: -4.0})


def test_data_is_only_computed_for_an_assertion_that_fails():
    seen = []
    ok = tf.placeholder(tf.bool, [])
    source = tf.constant(1.0)

    def note(value):
        seen.append(value)
        return value

    shown = tf.py_func(note, [source], tf.float32, stateful=False)
    check = tf.Assert(ok, [tf.identity(shown)])
    with tf.Session() as session:
        session.run(check, {ok: True})
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(check, {ok: False})
    assert seen


def test_an_assertion_of_a_vector_is_refused():
    condition = tf.placeholder(tf.bool, None)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="scalar"):
        session.run(tf.Assert(condition, [1]), {condition: [True, True]})
    with pytest.raises(ValueError):
        tf.Assert(tf.constant(True), [])


# ------------------------------------------------------------------------------------------ Print


def printed(capfd, data, **options):
    run(tf.Print(tf.constant(1.0), [tf.constant(d) for d in data], **options))
    return capfd.readouterr().err


@pytest.mark.parametrize(
    ("data", "options", "wanted"),
    [
        ([[1.5, 2.25, 1e-7, 1e20, 1 / 3]], {"summarize": 9}, "[1.5 2.25 1e-07 1e+20 0.333333343]"),
        ([np.array([1.5, 1 / 3])], {}, "[1.5 0.33333333333333331]"),
        ([[[1, 2], [3, 4]]], {}, "[[1 2][3...]...]"),
        ([[[1, 2], [3, 4]]], {"summarize": 2}, "[[1 2]...]"),
        ([[[1, 2], [3, 4]]], {"summarize": -1}, "[[1 2][3 4]]"),
        ([np.arange(8).reshape(2, 2, 2)], {"summarize": 5}, "[[[0 1][2 3]][[4...]]...]"),
        ([3.25, 7, True], {}, "[3.25][7][1]"),
        ([[True, False]], {}, "[1 0]"),
        ([["a", "b c"], "x"], {"message": "words: "}, "words: [a b c][x]"),
        ([np.zeros([0], np.float32), np.zeros([0, 3], np.float32)], {}, "[][]"),
        ([[np.nan, np.inf, -np.inf]], {}, "[nan inf -inf]"),
        ([[1, 2, 3, 4, 5]], {}, "[1 2 3...]"),
        ([], {"message": "nothing"}, "nothing"),
    ],
)
def test_print_writes_as_tensorflow_does(capfd, data, options, wanted):
    assert printed(capfd, data, **options) == wanted + "\n"


def test_print_passes_its_input_and_its_gradient(capfd):
    x = tf.constant([1.0, 2.0])
    y = tf.Print(x * 3.0, [x], message="seen ")
    value, grad = run([y, tf.gradients(y, x)[0]])
    assert value.tolist() == [3.0, 6.0] and grad.tolist() == [3.0, 3.0]
    assert capfd.readouterr().err == "seen [1 2]\n"


def test_print_stops_after_the_first_n_of_each_session(capfd):
    y = tf.Print(tf.constant(1.0), [], message="now", first_n=2)
    for _ in range(2):
        with tf.Session() as session:
            for _ in range(4):
                session.run(y)
        assert capfd.readouterr().err == "now\n" * 2


def test_print_v2_has_streams(capfd, tmp_path):
    file = tmp_path / "log"
    for stream in ("stdout", "stderr", f"file://{file}"):
        run(tf.raw_ops.PrintV2(input="words", output_stream=stream, end="!\n"))
    out, err = capfd.readouterr()
    assert out == err == file.read_text() == "words!\n"


# ------------------------------------------------------------------------------------------ check_numerics


@pytest.mark.parametrize(
    ("bad", "found"),
    [([1.0, np.nan], "NaN"), ([-np.inf, 1.0], "Inf"), ([np.nan, np.inf], "Inf and NaN")],
)
def test_check_numerics_says_what_it_found(bad, found):
    x = tf.placeholder(tf.float32, [2])
    y = tf.check_numerics(x, "in the middle")
    with tf.Session() as session:
        assert session.run(y, {x: [1.0, 2.0]}).tolist() == [1.0, 2.0]
        with pytest.raises(tf.errors.InvalidArgumentError) as info:
            session.run(y, {x: bad})
    assert info.value.message == f"in the middle : Tensor had {found} values"


def test_check_numerics_looks_at_the_gradient_too():
    x = tf.placeholder(tf.float32, [])
    (grad,) = tf.gradients(tf.sqrt(tf.check_numerics(x, "below the root")), x)
    with tf.Session() as session:
        assert session.run(grad, {x: 4.0}) == 0.25
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"gradient.*below the root.*Inf"):
            session.run(grad, {x: 0.0})


def test_check_numerics_is_for_floats():
    with pytest.raises(TypeError, match="int32"):
        tf.check_numerics(tf.constant(1), "no")


def test_add_check_numerics_ops_where_there_is_one():
    assert run(tf.check_numerics(tf.constant([], tf.float32), "empty")).size == 0


# ------------------------------------------------------------------------------------------ py_func


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
        (lambda: np.float64(1), tf.float32, "float64, but expects float32"),
        (lambda: np.int64([1]), tf.int32, "int64, but expects int32"),
        (lambda: None, tf.float32, "returns 0 values, but expects to see 1"),
        (lambda: (1.0, 2.0), tf.float32, "returns 2 values, but expects to see 1"),
        (lambda: np.float32(1), [tf.float32, tf.float32], "returns 1 values, but expects to see 2"),
    ],
)
def test_what_a_function_returns_must_fit(function, types, message):
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(tf.py_func(function, [], types))


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
    assert tf.py_func(lambda: 1.0, [], tf.float32).op.type == "PyFunc"
    assert tf.py_func(lambda: 1.0, [], tf.float32, stateful=False).op.type == "PyFuncStateless"
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
