"""tf.print and tf.strings.format: the text TensorFlow 1.15 gives."""

import collections
import sys

import numpy as np
import pytest

import tideflow as tf

Point = collections.namedtuple("Point", "x y")


def text(value, summarize=3):
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(tf.strings.format("{}", tf.constant(value), summarize=summarize)).decode()


@pytest.mark.parametrize(
    "value, expected",
    [
        (1, "1"),
        (True, "1"),
        ("abc", '"abc"'),
        (b"a\"b\n\x00\xff'", r'"a\"b\n\000\377\'"'),
        (np.arange(6), "[0 1 2 3 4 5]"),
        (np.arange(7), "[0 1 2 ... 4 5 6]"),
        (np.arange(6).reshape(2, 3), "[[0 1 2]\n [3 4 5]]"),
        (np.arange(8).reshape(2, 2, 2), "[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]"),
        (np.arange(9).reshape(9, 1), "[[0]\n [1]\n [2]\n ...\n [6]\n [7]\n [8]]"),
        (np.zeros(0), "[]"),
        (np.zeros((3, 0)), "[\n ...]"),
        (np.float32([0.1, 123456789, 1e6]), "[0.1 123456792 1e+06]"),
        (np.float64([1 / 3, 1e10, np.nan]), "[0.33333333333333331 10000000000 nan]"),
        (np.float16([0.1, 65504]), "[0.0999755859 65504]"),
        (np.float32([np.inf, -np.inf, -0.0]), "[inf -inf -0]"),
    ],
)
def test_format_of_a_tensor(value, expected):
    assert text(value) == expected


def test_summarize():
    assert text(np.arange(10), 1) == "[0 ... 9]"
    assert text(np.arange(10), 0) == "[ ...]"
    assert text(np.arange(10), -1) == "[0 1 2 3 4 5 6 7 8 9]"


def test_placeholders_and_tensors_must_match():
    with pytest.raises(ValueError, match=r"2 placeholder\(s\) in template does not match 1 tensor\(s\)"):
        tf.strings.format("{}{}", [tf.constant(1)])


def printed(capfd, *inputs, **kwargs):
    with tf.Session() as session:
        session.run(tf.print(*inputs, output_stream=sys.stdout, **kwargs))
    return capfd.readouterr().out


def test_print(capfd):
    with tf.Graph().as_default():
        ten, one = tf.range(10), tf.constant(1)
        assert printed(capfd, "t:", ten, {2: ten * 2}) == "t: [0 1 2 ... 7 8 9] {2: [0 2 4 ... 14 16 18]}\n"
        assert (
            printed(capfd, [one, "a", None], (one,), Point(one, "z"))
            == "[1, 'a', None] (1,) Point(x=1, y='z')\n"
        )
        assert printed(capfd, one, one, sep=",", end="!") == "1,1!"
        assert printed(capfd, "{} %s", one) == "{} %s 1\n"
        assert printed(capfd, tf.constant("plain")) == "plain\n"
        assert printed(capfd, tf.constant("s"), "q") == '"s" q\n'
        sparse = tf.SparseTensor([[0, 1]], [2.5], [3, 4])
        assert printed(capfd, [sparse]) == "['SparseTensor(indices=[[0 1]], values=[2.5], shape=[3 4])']\n"
        assert printed(capfd, ten, summarize=1) == "[0 ... 9]\n"


def test_print_nodes_are_named_as_tensorflow_names_them():
    with tf.Graph().as_default() as graph:
        tf.print(tf.constant(3), name="show")
        tf.print(tf.constant("alone"))
        assert [op.name for op in graph.get_operations()] == [
            "Const",
            "show_format",
            "show",
            "Const_1",
            "PrintV2",
        ]


def test_print_streams(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        path = f"file://{tmp_path}/out"
        session.run(tf.print("x", tf.constant(1), output_stream=path))
        assert (tmp_path / "out").read_text() == "x 1\n"
        assert tf.print("x", output_stream=tf.logging.info).get_attr("output_stream") == b"log(info)"
        with pytest.raises(ValueError, match="Unsupported output stream"):
            tf.print("x", output_stream="nowhere")
        with pytest.raises(ValueError, match="Unrecognized keyword arguments"):
            tf.print("x", where=1)
