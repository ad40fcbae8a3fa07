"""Handles of variables: shared by name, of one type, without a value until one is assigned."""

import numpy as np
import pytest

import tideflow as tf

raw = tf.raw_ops


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def test_handles_of_one_name_are_of_one_variable(session):
    first = raw.VarHandleOp(dtype=tf.float32, shape=[2], shared_name="w", name="first")
    second = raw.VarHandleOp(dtype=tf.float32, shape=[2], shared_name="w", name="second")
    session.run(raw.AssignVariableOp(resource=first, value=np.float32([1, 2])))
    assert session.run(raw.ReadVariableOp(resource=second, dtype=tf.float32)).tolist() == [1, 2]
    other = raw.VarHandleOp(dtype=tf.int32, shape=[2], shared_name="w", name="other")
    with pytest.raises(tf.errors.InvalidArgumentError, match="but it holds float32"):
        session.run(raw.VarIsInitializedOp(resource=other))


def test_a_handle_knows_the_variable_behind_it():
    handle = raw.VarHandleOp(dtype=tf.float32, shape=[2, 3])
    assert handle.shape.as_list() == []
    assert raw.ReadVariableOp(resource=handle, dtype=tf.float32).shape.as_list() == [2, 3]
    with pytest.raises(ValueError, match="Expected float got int32"):
        raw.ReadVariableOp(resource=handle, dtype=tf.int32)


def test_a_variable_has_no_value_before_it_is_assigned_and_after_it_is_destroyed(session):
    handle = raw.VarHandleOp(dtype=tf.float32, shape=[])
    there, read = (
        raw.VarIsInitializedOp(resource=handle),
        raw.ReadVariableOp(resource=handle, dtype=tf.float32),
    )
    assert not session.run(there)
    with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized"):
        session.run(read)
    session.run(raw.AssignVariableOp(resource=handle, value=1.0))
    assert session.run([there, read]) == [True, 1.0]
    session.run(raw.DestroyResourceOp(resource=handle))
    assert not session.run(there)
    with pytest.raises(tf.errors.NotFoundError):
        session.run(raw.DestroyResourceOp(resource=handle, ignore_lookup_error=False))
