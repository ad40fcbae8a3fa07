"""session.explain: the plan for reading, with devices, rewrites, shapes and memory."""

import re

import numpy as np
import pytest

import tideflow as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


@pytest.fixture
def session(graph):
    with tf.Session() as s:
        yield s


def test_the_parts_of_an_explanation(session):
    x = tf.placeholder(tf.float32, [None, 3], "x")
    y = tf.nn.relu(tf.matmul(tf.identity(x), tf.ones([3, 4])) + tf.ones([4]), name="out")
    text = session.explain(y, {x: np.ones((2, 3), np.float32)})
    head, _, source = text.partition("\n\n")
    assert re.match(r"# \d+ operations, compiled in [\d.]+ ms\n# devices: cpu runs \d+\n", head)
    assert "# rewrites: identity_is_its_input, matmul_with_bias" in head
    assert "# peak memory of values: " in head
    assert source.startswith("def step(feed0):\n") and source.rstrip().splitlines()[-1].startswith(
        "    return"
    )
    assert re.search(r"# out float32\[2,4\]", source)


def test_nothing_is_run(session):
    v = tf.Variable(1.0)
    calls = []
    y = tf.py_func(lambda: calls.append(1) or np.float32(1), [], tf.float32)
    session.run(v.initializer)
    session.explain([v.assign_add(1.0), y])
    assert session.run(v) == 1.0 and calls == []


def test_structures_and_operations_can_be_explained(session):
    a = tf.constant(1.0)
    text = session.explain({"a": [a * 2.0], "op": tf.no_op()})
    assert "return" in text


def test_rules_that_applied_often_are_counted(session):
    x = tf.placeholder(tf.float32, [2])
    y = tf.identity(tf.identity(tf.identity(x))) * 3.0
    assert "identity_is_its_input x3" in session.explain(y, {x: [1.0, 2.0]})


def test_without_rewrites_it_says_none(session):
    x = tf.placeholder(tf.float32, [2])
    assert "# rewrites: none" in session.explain(tf.exp(x), {x: [1.0, 2.0]})


@pytest.mark.parametrize(
    ("count", "wanted"), [(10, "80 B"), (1 << 10, "8 KiB"), (1 << 18, "2 MiB"), (1 << 28, "2 GiB")]
)
def test_peak_memory_is_of_values_alive_at_once(session, count, wanted):
    """A chain of unary operations has two values at a time, of four bytes an element."""
    x = tf.placeholder(tf.float32, [count])
    y = x
    for _ in range(5):
        y = tf.sin(y)
    assert f"# peak memory of values: {wanted}\n" in session.explain(y)


def test_values_of_unknown_shape_are_counted(session):
    words = tf.py_func(lambda: np.zeros(3, np.float32), [], tf.float32)
    assert "and 2 values of unknown shape" in session.explain(tf.exp(words))


def test_conditionals_are_shown_as_ifs(session):
    pred = tf.placeholder(tf.bool, [])
    y = tf.cond(pred, lambda: tf.exp(tf.placeholder_with_default(1.0, None)), lambda: tf.constant(2.0))
    text = session.explain(y, {pred: True})
    assert " if " in text


def test_what_cannot_run_cannot_be_explained(session):
    x = tf.placeholder(tf.float32, [2])
    with pytest.raises(ValueError, match="Cannot feed value of shape"):
        session.explain(x + 1.0, {x: [1.0]})
    with pytest.raises(TypeError, match="Fetch argument"):
        session.explain(None)


def test_comments_stand_apart_from_long_lines(session):
    parts = [tf.placeholder(tf.float32, [2], f"a_part_with_a_name_{i}") for i in range(20)]
    text = session.explain(tf.add_n(parts, name="whole"), {part: [1.0, 2.0] for part in parts})
    (line,) = [line for line in text.splitlines() if "# whole" in line]
    assert line.index("# whole") > 84 and "  # whole float32[2]" in line
