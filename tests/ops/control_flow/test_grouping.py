"""Groups, tuples, and tensors that wait for operations."""

import pytest

import tideflow as tf
from tideflow.ops.control_flow.grouping import with_dependencies


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def run(fetches, feeds=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feeds)


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


def test_groups_of_values_made_of_several_tensors():
    sparse = tf.SparseTensor([[0]], [1.0], [2])
    rows = tf.IndexedSlices(tf.constant([1.0]), tf.constant([3]), tf.constant([9]))
    step = tf.group(sparse, rows)
    parts = [sparse.indices, sparse.values, sparse.dense_shape, rows.values, rows.indices, rows.dense_shape]
    assert set(step.control_inputs) == {part.op for part in parts}


@pytest.mark.parametrize("value", [3, [1, 2], "text"])
def test_plain_values_wait_too(value):
    v = tf.Variable(0)
    waiting = with_dependencies([v.assign_add(1)], value)
    with tf.Session() as session:
        session.run(v.initializer)
        found = session.run(waiting)
        assert (found.tolist() if isinstance(value, list) else found) == (
            value.encode() if isinstance(value, str) else value
        )
        assert session.run(v) == 1


def test_a_reference_that_waits_is_one():
    v = tf.Variable(1, use_resource=False)
    waiting = with_dependencies([tf.no_op()], tf.assign(v, 5))
    assert waiting.op.type == "RefIdentity" and waiting.dtype._is_ref_dtype
    assert run([waiting, tf.assign(waiting, 7)])[1] == 7
