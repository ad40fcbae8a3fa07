"""`tideflow check`: names are followed, missing symbols and arguments are told by line."""

import textwrap

import pytest

from tideflow.programs.check import as_text, check, programs, summary


@pytest.fixture
def checked(tmp_path):
    def run(source: str):
        path = tmp_path / "program.py"
        path.write_text(textwrap.dedent(source))
        return check(path)

    return run


def test_symbols_are_found_under_any_name(checked):
    report = checked("""
        import tensorflow
        import tensorflow as tf
        import tensorflow.compat.v1 as tf1
        import tensorflow.contrib.slim as slim
        from tensorflow.contrib import layers as L
        from tensorflow.python.ops import array_ops
        from tensorflow import nn
        from tensorflow.nn import softmax as sm
        import numpy as np

        layers = tf.layers

        class Model:
            def build(self, x):
                y = layers.dense(slim.flatten(x), 3, activation=nn.relu)
                z = [sm(y), tensorflow.exp(y), tf1.log(y), L.softmax(y)]
                return z + [array_ops.concat([y, y], 1), np.sum(y)]
    """)
    assert {use.shown for use in report.uses.values()} == {
        "tf.layers.dense",
        "tf.contrib.slim.flatten",
        "tf.nn.relu",
        "tf.nn.softmax",
        "tf.exp",
        "tf.log",
        "tf.contrib.layers.softmax",
        "tensorflow.python.ops.array_ops.concat",
    }
    assert not report.faults


def test_lines_are_those_of_the_uses(checked):
    report = checked("""
        import tensorflow as tf
        a = tf.constant(1)
        b = tf.constant(
            tf.float32)
        c = tf.constant(2) if a else tf.constant(3)
    """)
    assert report.uses["tensorflow.constant"].lines == [3, 4, 6]
    assert report.uses["tensorflow.float32"].lines == [5]


@pytest.mark.parametrize(
    "line, shown, fault",
    [
        ("tf.reduce_summ(1)", "tf.reduce_summ", "tf.reduce_sum"),
        ("tf.mul(1, 2)", "tf.mul", "tf.multiply"),
        ("tf.contrib.layers.fully_conected(1, 2)", "tf.contrib.layers.fully_conected", "fully_connected"),
        ("tf.placeholder(tf.float32, nam='x')", "tf.placeholder", "lacks the argument nam"),
        ("tf.nn.relu(1, 'a', 2)", "tf.nn.relu", "takes 2 arguments by position, not 3"),
        ("tf.GraphKeys.LOSES", "tf.GraphKeys.LOSES", "LOSSES"),
        ("tf.flags.DEFINE_strin('a', 'b', 'c')", "tf.flags.DEFINE_strin", "DEFINE_string"),
        ("tf.enable_eager_execution()", "tf.enable_eager_execution", "refuse"),
        ("import tensorflow.nowhere", "tf.nowhere", "missing"),
        ("from tensorflow.python.ops import arry_ops", "tensorflow.python.ops.arry_ops", "array_ops"),
        ("import tensorflow.compat.v2 as tf2", "tf.compat.v2", "graphs and sessions"),
    ],
)
def test_faults(checked, line, shown, fault):
    report = checked(f"import tensorflow as tf\n{line}\n")
    [use] = report.faults
    assert (use.shown, use.lines) == (shown, [2]) and fault in " ".join(use.faults)


@pytest.mark.parametrize(
    "line",
    [
        "tf.group(*[1, 2, 3])",
        "tf.train.AdamOptimizer(0.1).minimize(loss, unknown=1)",  # an instance's own affair
        "tf.Session(**options)",
        "tf.ConfigProto(allow_soft_placement=True).gpu_options.allow_growth",
        "tf.app.flags.FLAGS.anything",
        "tf.errors.OutOfRangeError.__name__",
        "tf.layers.conv2d(x, 3, 3, 1, 'same', name='c', reuse=True)",
        "tf.contrib.layers.relu(x, 3, scope='s')",
    ],
)
def test_what_is_right_or_cannot_be_known_is_no_fault(checked, line):
    assert not checked(f"import tensorflow as tf\n{line}\n").faults


def test_a_name_that_stands_for_something_else_later_is_not_followed(checked):
    report = checked("import tensorflow as tf\nnn = tf.nn\nnn = object()\nnn.nothing\n")
    assert not report.faults


def test_the_table_and_the_summary(checked, tmp_path):
    report = checked("import tensorflow as tf\n" + "tf.exp(1)\n" * 7 + "tf.mul(1, 2)\n")
    lines = as_text([report]).splitlines()
    assert lines[1] == "  ✓ tf.exp  lines 2, 3, 4, 5, 6 …"
    assert lines[2].startswith("  ✗ tf.mul  line 9  missing")
    assert lines[3] == "  1 of the 2 TensorFlow symbols that it uses are missing or lack an argument."
    assert "tf.exp" not in as_text([report], only_missing=True)
    assert summary(checked("import os\n")) == "  It does not use TensorFlow."
    assert programs(tmp_path) == [tmp_path / "program.py"] and programs(tmp_path / "no") == []
