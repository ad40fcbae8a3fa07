"""Argument scopes, model variables and nests."""

import threading

import numpy as np
import pytest

import tideflow as tf
from tideflow.platform import deprecation

framework = tf.contrib.framework


@framework.add_arg_scope
def combine(a, b=1, c=2):
    """A sum of parts."""
    return a, b, c


def test_scopes_nest_and_explicit_arguments_win():
    with framework.arg_scope([combine], b=5) as scope:
        assert combine(0) == (0, 5, 2) and combine(0, b=9) == (0, 9, 2)
        with framework.arg_scope([combine], c=6):
            assert combine(0) == (0, 5, 6)
        assert combine(0) == (0, 5, 2)
    assert combine(0) == (0, 1, 2)
    with framework.arg_scope(scope):
        assert combine(0) == (0, 5, 2)


def test_a_scope_ends_with_an_error_too():
    with pytest.raises(KeyError), framework.arg_scope([combine], b=5):
        raise KeyError
    assert combine(0) == (0, 1, 2)


def test_a_scope_is_its_threads_own():
    found = []
    with framework.arg_scope([combine], b=5):
        thread = threading.Thread(target=lambda: found.append(combine(0)))
        thread.start()
        thread.join()
    assert found == [(0, 1, 2)]


def test_decorated_functions_stay_themselves():
    assert combine.__doc__ == "A sum of parts." and framework.arg_scoped_arguments(combine) == ("b", "c")
    with pytest.raises(ValueError, match="is not decorated with @add_arg_scope"):
        framework.arg_scope([len], x=1).__enter__()


def test_variables_are_dealt_out_to_devices():
    with tf.Graph().as_default():
        choose = framework.VariableDeviceChooser(num_tasks=2)
        devices = [framework.model_variable(f"v{i}", [1], device=choose).device for i in range(3)]
    assert devices == [f"/job:ps/task:{i}/device:CPU:0" for i in (0, 1, 0)]


def test_values_are_assigned_by_name():
    with tf.Graph().as_default(), tf.Session() as session:
        a = tf.get_variable("scope/a", [2])
        framework.assign_from_values_fn({"scope/a": np.array([3.0, 4.0])})(session)
        np.testing.assert_array_equal(session.run(a), [3.0, 4.0])
        with pytest.raises(ValueError, match="Couldn't find variable b"):
            framework.assign_from_values({"b": np.zeros(1)})


def test_nests_up_to_a_shallower_one():
    nest = framework.nest
    assert nest.flatten_up_to([0, 0], [[1, 2], {"a": 3}]) == [[1, 2], {"a": 3}]
    assert nest.flatten_with_joined_string_paths({"b": [1, (2,)], "a": 3}) == [
        ("a", 3),
        ("b/0", 1),
        ("b/1/0", 2),
    ]
    assert nest.map_structure_up_to({"a": 0}, len, {"a": [1, 2]}) == {"a": 2}
    with pytest.raises(TypeError, match="must also be a sequence"):
        nest.flatten_up_to([0, [0]], [1, 2])


def test_smart_case_chooses_at_once_where_it_can():
    with tf.Graph().as_default() as graph:
        chosen = framework.smart_case([(False, lambda: 1), (True, lambda: 2)], lambda: 3)
        assert chosen == 2 and not graph.get_operations()
        assert framework.smart_case([(False, lambda: 1)], lambda: 3) == 3
        with pytest.raises(ValueError, match="No condition is True"):
            framework.smart_case([(False, lambda: 1)])
        with pytest.raises(ValueError, match="More than one"):
            framework.smart_case([(True, lambda: 1), (True, lambda: 2)], exclusive=True)
        x = tf.placeholder(tf.int32, [])
        value = framework.smart_case([(x > 5, lambda: tf.constant(1))], lambda: tf.constant(2))
        with tf.Session() as session:
            assert [session.run(value, {x: 9}), session.run(value, {x: 1})] == [1, 2]


@pytest.fixture
def warnings(monkeypatch):
    said = []
    monkeypatch.setattr(deprecation.logging, "warning", lambda message, *args: said.append(message % args))
    monkeypatch.setattr(deprecation, "_PRINTED_WARNING", {})
    return said


def test_deprecated_functions_say_so_once(warnings):
    @framework.deprecated("2020-01-01", "Use another.")
    def old(x):
        return x

    for _ in range(3):
        assert old(1) == 1
    old(2)
    assert len(warnings) == 1
    assert "test_framework.py" in warnings[0] and "removed after 2020-01-01" in warnings[0]
    assert warnings[0].endswith("Use another.")


def test_deprecated_arguments(warnings):
    @framework.deprecated_args(None, "Drop it.", "b", ("c", 0))
    def function(a, b=None, c=0):
        return a

    function(1)
    function(1, c=0)
    assert not warnings
    function(1, 2)
    function(1, c=5)
    assert (
        len(warnings) == 2 and "with b is deprecated and will be removed in a future version" in warnings[0]
    )

    @framework.deprecated_arg_values(None, "Not that.", a=3)
    def other(a):
        return a

    other(2)
    other(3)
    assert len(warnings) == 3


def test_records_are_divided_among_batches(tmp_path):
    kinds = tf.python_io.TFRecordCompressionType
    with tf.python_io.TFRecordWriter(str(tmp_path / "a"), tf.python_io.TFRecordOptions(kinds.GZIP)) as writer:
        for letter in "abcdef":
            writer.write(letter.encode())
    source = tf.contrib.framework.RecordInput(
        str(tmp_path / "a"), 3, buffer_size=6, batches=2, compression_type=kinds.GZIP
    )
    with tf.Session() as session:
        batches = session.run(source.get_yield_op())
    assert [len(batch) for batch in batches] == [3, 3]
    assert sorted(record for batch in batches for record in batch) == [letter.encode() for letter in "abcdef"]
