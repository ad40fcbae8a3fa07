"""What `session.explain` shows of loops, and what a user is told about branches."""

import re
import warnings

import pytest

import tideflow as tf

pytestmark = pytest.mark.usefixtures("graph")


@pytest.fixture
def p():
    return tf.placeholder(tf.bool, [], "p")


def told(session, fetches, feeds):
    """The warnings of one step."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        session.run(fetches, feeds)
    return [str(warning.message) for warning in caught]


# ------------------------------------------------------------------------------------------------ explain


def test_a_loop_is_shown_as_the_loop_it_is():
    x = tf.placeholder(tf.float32, [3], "x")
    y = tf.while_loop(lambda i, t: i < 5, lambda i, t: (i + 1, t * x), [0, x], name="powers")[1]
    with tf.Session() as session:
        text = session.explain(y, {x: [1.0, 2.0, 3.0]})
    assert "while True:" in text
    assert "loop powers/while_context" in text and "operations an iteration" in text
    assert "variables of powers/while_context: int32[], float32[3]" in text
    assert "if not" in text and "break" in text


def test_nested_loops_are_shown_nested():
    def body(i):
        return i + tf.while_loop(lambda j: j < 3, lambda j: j + 1, [0], name="inner")

    y = tf.while_loop(lambda i: i < 9, body, [0], name="outer")
    with tf.Session() as session:
        lines = session.explain(y).splitlines()
    outer, inner = (
        next(line for line in lines if f"loop outer/{name}" in line) for name in ("while", "inner/while")
    )
    assert len(inner) - len(inner.lstrip()) > len(outer) - len(outer.lstrip())


def test_branches_are_shown_as_if(p):
    y = tf.cond(p, lambda: tf.exp(2.0), lambda: tf.random_uniform([]))
    with tf.Session() as session:
        assert re.search(r"^ +if (not )?feed0:", session.explain(y, {p: True}), re.MULTILINE)


def test_a_step_on_tokens_says_so():
    y = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0], name="w")
    config = tf.ConfigProto(experimental=tf.ConfigProto.Experimental(executor_type="TOKENS"))
    with tf.Session(config=config) as session:
        text = session.explain(y)
    assert "token executor" in text and "w/while_context" in text


# ------------------------------------------------------------------------------------------------ advice


def test_an_effect_made_outside_its_branch_is_told_once(p):
    v = tf.get_variable("v", initializer=1.0, use_resource=True)
    outside = tf.assign_add(v, 1.0).op

    def branch():
        with tf.control_dependencies([outside]):
            return tf.constant(1.0)

    y = tf.cond(p, branch, lambda: tf.constant(0.0))
    with tf.Session() as session:
        session.run(v.initializer)
        (message,) = told(session, y, {p: False})
        assert "AssignAddVariableOp" in message and "runs in every step" in message
        assert "true branch of 'cond'" in message and "test_advice.py" in message
        assert not told(session, y, {p: True})
        assert not told(session, [y, y + 1.0], {p: True})
        assert session.run(v) == 4.0
    with tf.Session() as another:
        another.run(v.initializer)
        assert not told(another, y, {p: False})


def test_a_pure_operation_made_outside_is_only_a_note(p):
    x = tf.placeholder(tf.float32, [2], "x")
    outside = tf.exp(x, name="outside")
    y = tf.cond(p, lambda: outside * 2.0, lambda: x)
    with tf.Session() as session:
        assert not told(session, y, {p: True, x: [1.0, 2.0]})
        text = session.explain(y, {p: True, x: [1.0, 2.0]})
    assert "# Exp 'outside' runs in every step, although only the true branch of 'cond' uses it" in text


def test_what_both_branches_or_others_use_is_not_mentioned(p):
    x = tf.placeholder(tf.float32, [], "x")
    both, fetched, elsewhere = tf.exp(x), tf.sin(x), tf.cos(x)
    y = tf.cond(p, lambda: both + fetched + elsewhere, lambda: both * 2.0)
    with tf.Session() as session:
        assert "runs in every step" not in session.explain([y, fetched, elsewhere + 1.0], {p: True, x: 1.0})


def test_what_is_made_inside_is_not_mentioned(p):
    v = tf.get_variable("v", initializer=1.0, use_resource=True)
    y = tf.cond(p, lambda: tf.assign_add(v, tf.exp(1.0)), lambda: tf.constant(0.0))
    with tf.Session() as session:
        session.run(v.initializer)
        assert not told(session, y, {p: True})
        assert "runs in every step" not in session.explain(y, {p: True})


def test_gradients_give_no_occasion(p):
    """Stacks that the gradient of a loop in a branch makes outside of it are nobody's mistake."""
    x = tf.placeholder(tf.float32, [])
    y = tf.cond(
        p, lambda: tf.while_loop(lambda i, t: i < 3, lambda i, t: (i + 1, t * x), [0, x])[1], lambda: x
    )
    slope = tf.gradients(y, x)[0]
    with tf.Session() as session:
        assert not told(session, slope, {p: True, x: 2.0})


def test_a_variable_in_nested_branches_gives_no_occasion(p):
    """A reference that goes through the switches of two branches is nobody's mistake."""
    v = tf.Variable(False)
    y = tf.cond(p, lambda: tf.cond(p, lambda: tf.assign(v, True).op, tf.no_op), tf.no_op)
    with tf.Session() as session:
        session.run(v.initializer)
        assert not told(session, y, {p: True})
        assert session.run(v)
