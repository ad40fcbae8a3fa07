"""Assertions, printing, numeric checks, the time and the end of the process."""

import signal
import subprocess
import sys

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


# ------------------------------------------------------------------------------------------ the process


@pytest.mark.parametrize(("quietly", "status"), [(True, 0), (False, -signal.SIGABRT)])
def test_abort_ends_the_process(quietly, status):
    program = (
        "import tideflow as tf\n"
        f"op = tf.raw_ops.Abort(error_msg='that was it', exit_without_error={quietly})\n"
        "with tf.control_dependencies([op]): y = tf.constant(1)\n"
        "tf.Session().run(tf.identity(y))\n"
        "print('still here')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == status
    assert "still here" not in done.stdout
    assert quietly or "that was it" in done.stderr


def test_a_timestamp_is_taken_in_each_step():
    now = tf.timestamp()
    with tf.Session() as session:
        assert session.run(now) < session.run(now)
