"""make_template: one set of variables for all calls of a function."""

import pytest

import tideflow as tf

ZEROS = tf.zeros_initializer()


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def scaled(x):
    return x * tf.get_variable("w", [], initializer=ZEROS)


def weight():
    return tf.get_variable("w", [], initializer=ZEROS)


def test_calls_share_variables():
    one, other = tf.make_template("t", scaled), tf.make_template("t", scaled)
    made = [one(tf.constant(1.0)), one(tf.constant(2.0)), other(tf.constant(3.0))]
    assert [tensor.op.name for tensor in made] == ["t/mul", "t_1/mul", "t_2/mul"]
    assert [v.name for v in tf.global_variables()] == ["t/w:0", "t_1/w:0"]
    assert one.name == "t" and one.func is scaled and one.variable_scope.name == one.var_scope.name == "t"
    assert one.variables == one.trainable_variables == one.global_variables == one.weights
    assert [v.name for v in one.variables] == ["t/w:0"] and one.local_variables == []
    assert one.non_trainable_variables == []


def test_the_scope_is_that_of_the_first_call_or_of_now():
    later, now = tf.make_template("t", weight), tf.make_template("t", weight, create_scope_now_=True)
    assert later.variable_scope is None and later.variables == [] and later.variable_scope_name is None
    assert now.variable_scope_name == "t"
    with tf.variable_scope("a"):
        first = later()
    with tf.variable_scope("b"):
        assert later() is first
    assert first.name == "a/t/w:0" and now().name == "t/w:0"


def test_unique_names_arguments_and_getters():
    def renamed(getter, name, *args, **kwargs):
        return getter(f"{name}_x", *args, **kwargs)

    assert tf.make_template("t", weight, unique_name_="mine")().name == "mine/w:0"
    assert tf.make_template("t", weight, custom_getter_=renamed)().name == "t/w_x:0"
    assert tf.make_template("t", lambda x, y: (x, y), y=2)(1) == (1, 2)


def test_templates_nest():
    inner = tf.make_template("i", weight)
    outer = tf.make_template("o", lambda: (inner(), inner()))
    assert {v.name for call in (outer(), outer()) for v in call} == {"o/i/w:0"}


def test_refusals():
    made = []

    def grows():
        made.append(None)
        return [tf.get_variable(f"w{i}", [], initializer=ZEROS) for i in range(len(made))]

    growing, plain = tf.make_template("g", grows), tf.make_template("p", lambda: tf.Variable(1.0))
    growing(), plain()
    with pytest.raises(ValueError, match="Variable g/w1 does not exist") as caught:
        growing()
    assert "originally defined at" in str(caught.value) and "test_template.py" in str(caught.value)
    with pytest.raises(ValueError, match=r"perhaps you used tf.Variable when you meant tf.get_variable"):
        plain()
    with pytest.raises(ValueError, match="name cannot be None"):
        tf.make_template(None, weight)
