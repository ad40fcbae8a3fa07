"""Variable scopes: names of variables and operations, sharing, defaults, getters, regularizers."""

import threading

import numpy as np
import pytest

import tideflow as tf
from tideflow.variables.reference import RefVariable
from tideflow.variables.resource import ResourceVariable

ZEROS = tf.zeros_initializer()


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def get(name, shape=(1,), **options):
    return tf.get_variable(name, list(shape), **{"initializer": ZEROS, **options})


# ------------------------------------------------------------------------------------------ names


def test_names_of_variables_follow_variable_scopes_and_names_of_ops_name_scopes():
    seen = []
    with tf.name_scope("ns"), tf.variable_scope("a") as a:
        seen += [get("w").name, tf.no_op(name="n").name, tf.Variable(1.0, name="v").name, a.name]
        seen += [a.original_name_scope]
        with tf.variable_scope("b") as b:
            seen += [get("w").name, tf.no_op(name="n").name, b.name, b.original_name_scope]
    assert seen == [
        "a/w:0", "ns/a/n", "ns/a/v:0", "a", "ns/a/", "a/b/w:0", "ns/a/b/n", "a/b", "ns/a/b/",
    ]  # fmt: skip


def test_a_scope_entered_again_opens_a_new_name_scope():
    with tf.variable_scope("a") as a:
        tf.no_op(name="n")
    with tf.variable_scope("a", reuse=True) as again:
        assert tf.no_op(name="n").name == "a_1/n" and again.original_name_scope == "a_1/"
    with tf.variable_scope(a) as jumped:
        assert tf.no_op(name="n").name == "a_2/n" and jumped.original_name_scope == "a/"
    with tf.variable_scope("c"), tf.variable_scope(a):
        assert tf.no_op(name="n").name == "c/a/n" and get("z").name == "a/z:0"
    with tf.variable_scope(a, auxiliary_name_scope=False):
        assert tf.no_op(name="n").name == "n"
    with tf.name_scope(a.original_name_scope):
        assert tf.no_op(name="n").name == "a/n_1"


def test_default_names_are_made_unique():
    seen = []
    for _ in range(3):
        with tf.variable_scope(None, "d") as outer:
            seen.append(outer.name)
            for _ in range(2):
                with tf.variable_scope(None, "e") as inner:
                    seen.append(inner.name)
    assert seen == ["d", "d/e", "d/e_1", "d_1", "d_1/e", "d_1/e_1", "d_2", "d_2/e", "d_2/e_1"]
    with tf.variable_scope("given", "d") as scope:
        assert scope.name == "given"


def test_variable_op_scope():
    with tf.variable_op_scope([tf.constant(1.0)], None, "d") as scope:
        assert (scope.name, scope.original_name_scope) == ("d", "d/")


def test_a_name_that_an_operation_has():
    tf.no_op(name="w")
    assert get("w").name == "w_1:0"


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((None,), TypeError, "name_or_scope is required"),
        ((3,), TypeError, "must be a string or VariableScope"),
        (("a", None, None, None, None, None, None, None, 3), ValueError, "must be True or False or None"),
    ],
)
def test_scopes_that_are_none(arguments, error, message):
    with pytest.raises(error, match=message):
        tf.variable_scope(*arguments)


def test_default_names_are_not_shared():
    with pytest.raises(ValueError, match="reuse=True cannot be used without a name_or_scope"):
        with tf.variable_scope(None, "d", reuse=True):
            pass


def test_threads_have_scopes_of_their_own(graph):
    names = []

    def elsewhere():
        with graph.as_default():
            names.append(tf.get_variable_scope().name)

    with tf.variable_scope("a"):
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
    assert names == [""]


# ------------------------------------------------------------------------------------------ sharing


def test_sharing():
    with tf.variable_scope("a"):
        made = get("w", [2])
    with tf.variable_scope("a", reuse=True) as scope:
        assert scope.reuse and get("w", [2]) is made and tf.get_variable("w") is made
        with tf.variable_scope("b", reuse=False) as inner:
            assert inner.reuse
    for _ in range(2):
        with tf.variable_scope("auto", reuse=tf.AUTO_REUSE):
            found = get("w")
    assert found is tf.global_variables()[-1] and len(tf.global_variables()) == 2
    tf.get_variable_scope().reuse_variables()
    with pytest.raises(ValueError, match="Variable new does not exist, or was not created"):
        get("new")


def test_refusals_say_where_the_variable_was_made():
    with tf.variable_scope("a"):
        get("w", [2])
        with pytest.raises(ValueError, match=r"Variable a/w already exists, disallowed") as caught:
            get("w", [2])
        assert "test_variable_scope.py" in str(caught.value)
    with tf.variable_scope("a", reuse=True):
        with pytest.raises(ValueError, match=r"specified shape \(3,\) and found shape \(2,\)") as caught:
            get("w", [3])
        assert "test_variable_scope.py" in str(caught.value)
        with pytest.raises(ValueError, match="specified dtype int32 and found dtype float32_ref"):
            get("w", [2], dtype=tf.int32)


# ------------------------------------------------------------------------------------------ initial values


def test_initializers_by_default(graph):
    def first_node(name):
        return next(op.type for op in graph.get_operations() if op.name.startswith(f"{name}/Initializer"))

    floats, ints = tf.get_variable("f", [2, 3]), tf.get_variable("i", [2], tf.int32)
    assert floats.initial_value.op.name == "f/Initializer/random_uniform"
    assert first_node("i") == "Const" and ints.dtype.base_dtype is tf.int32
    assert tf.get_variable("b", [2], tf.bool).initial_value.op.name == "b/Initializer/zeros"
    with pytest.raises(ValueError, match="An initializer for variable c of"):
        tf.get_variable("c", [2], tf.complex64)


def test_values_and_functions_as_initializers():
    assert tf.get_variable("v", initializer=np.float32([1, 2])).shape.as_list() == [2]
    assert tf.get_variable("n", initializer=3).dtype.base_dtype is tf.int32
    assert tf.get_variable("f", initializer=lambda: tf.ones([3])).shape.as_list() == [3]
    assert tf.get_variable("s", [2], initializer=lambda shape, dtype: tf.ones(shape, dtype)).shape[0] == 2
    assert tf.get_variable("c", [2], initializer=tf.ones_initializer).initial_value.op.type == "Const"
    with pytest.raises(ValueError, match="do not specify shape"):
        tf.get_variable("bad", [2], initializer=[1.0, 2.0])
    with pytest.raises(ValueError, match="don't match"):
        tf.get_variable("bad", initializer=1.0, dtype=tf.int32)
    with pytest.raises(ValueError, match="The initializer passed is not valid"):
        tf.get_variable("bad")


# ------------------------------------------------------------------------------------------ defaults


def test_scopes_hand_their_defaults_down():
    def square(value):
        return value

    with tf.variable_scope(
        "a",
        initializer=tf.ones_initializer(),
        dtype=tf.float64,
        use_resource=True,
        caching_device="/cpu:0",
        constraint=square,
    ) as outer:
        with tf.variable_scope("b", dtype=tf.float32) as inner:
            v = tf.get_variable("v", [2])
            assert isinstance(v, ResourceVariable) and v.dtype is tf.float32 and v.constraint is square
            assert inner.initializer is outer.initializer and inner.caching_device == "/cpu:0"
            assert isinstance(tf.get_variable("r", [2], use_resource=False), RefVariable)
        assert tf.get_variable("v", [2]).dtype is tf.float64
    with tf.variable_scope(outer, reuse=True, dtype=tf.int32) as jumped:
        assert jumped.reuse and jumped.dtype is tf.int32 and outer.dtype is tf.float64 and not outer.reuse


def test_settings_of_a_scope():
    with tf.variable_scope("a") as scope:
        w, local = get("w"), tf.get_local_variable("l", [1], initializer=ZEROS)
        scope.set_dtype(tf.float64)
        scope.set_initializer(tf.ones_initializer())
        scope.set_use_resource(True)
        scope.set_regularizer(tf.no_regularizer)
        assert tf.get_variable("x", [1]).dtype is tf.float64
        assert isinstance(tf.get_variable("y", [1]), ResourceVariable)
    with tf.variable_scope("ab"):
        get("w")
    assert scope.global_variables()[0] is w and len(scope.global_variables()) == 3
    assert scope.local_variables() == [local] == tf.local_variables() and not local.trainable
    assert len(scope.trainable_variables()) == 3 and len(tf.global_variables("ab")) == 1


def test_regularizers():
    def norm(value):
        return tf.reduce_sum(value) * 2.0

    with tf.variable_scope("a", regularizer=norm):
        get("w", [2])
        get("free", regularizer=tf.no_regularizer)
        with tf.variable_scope("b", regularizer=tf.no_regularizer):
            get("y")
    with tf.variable_scope("a", reuse=True, regularizer=norm):
        get("w", [2])
    losses = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    assert [loss.name for loss in losses] == ["a/w/Regularizer/mul:0"]
    assert losses[0].op.colocation_groups() == [b"loc:@a/w"]


def test_custom_getters_nest():
    seen = []

    def outer(getter, name, *args, **kwargs):
        seen.append(("outer", name))
        return getter(f"{name}_outer", *args, **kwargs)

    def inner(getter, name, *args, **kwargs):
        seen.append(("inner", name))
        return getter(f"{name}_inner", *args, **kwargs)

    def doubled(getter, name, *args, **kwargs):
        return getter(name, *args, **kwargs) * 2.0

    with tf.variable_scope("a", custom_getter=outer):
        with tf.variable_scope("b", custom_getter=inner):
            assert get("w").name == "a/b/w_inner_outer:0"
        assert isinstance(get("x", custom_getter=doubled), tf.Tensor)
    assert seen == [("inner", "a/b/w"), ("outer", "a/b/w_inner")]
    with pytest.raises(ValueError, match="not callable"):
        get("y", custom_getter=3)


def test_modes_are_checked():
    with pytest.raises(ValueError, match="Invalid variable aggregation mode: 7 for variable: w"):
        get("w", aggregation=7)
    with pytest.raises(ValueError, match="Invalid variable synchronization mode: 7 for variable: w"):
        get("w", synchronization=7)
