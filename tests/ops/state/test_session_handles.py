"""Values that stay in the session between steps."""

import gc

import numpy as np
import pytest

import tideflow as tf


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def test_a_kept_value_is_there_in_a_later_step(session):
    x = tf.placeholder(tf.float32, [2])
    kept = session.run(tf.get_session_handle(x * 2.0), {x: [1.0, 2.0]})
    holder, tensor = tf.get_session_tensor(kept.handle, tf.float32)
    np.testing.assert_array_equal(session.run(tensor + 1.0, {holder: kept.handle}), [3.0, 5.0])
    np.testing.assert_array_equal(kept.eval(), [2.0, 4.0])


def test_a_handle_is_fed_as_its_value(session):
    x = tf.placeholder(tf.float32, [2])
    kept = session.run(tf.get_session_handle(tf.constant([1.0, 2.0])))
    np.testing.assert_array_equal(session.run(x * 3.0, {x: kept}), [3.0, 6.0])


def test_strings_are_kept_too(session):
    kept = session.run(tf.get_session_handle(tf.constant(["a", "b"])))
    holder, tensor = tf.get_session_tensor(kept.handle, tf.string)
    assert session.run(tensor, {holder: kept.handle}).tolist() == [b"a", b"b"]


def test_what_was_fed_is_kept_as_it_was(session):
    x, fed = tf.placeholder(tf.float32, [2]), np.array([1.0, 2.0], np.float32)
    kept = session.run(tf.get_session_handle(tf.identity(x)), {x: fed})
    fed[:] = 9.0
    kept.eval()[:] = 7.0
    np.testing.assert_array_equal(kept.eval(), [1.0, 2.0])


def test_a_deleted_value_is_gone(session):
    kept = session.run(tf.get_session_handle(tf.constant(1.0)))
    get_holder, tensor = tf.get_session_tensor(kept.handle, tf.float32)
    delete_holder, deleted = tf.delete_session_tensor(kept.handle)
    session.run(deleted, {delete_holder: kept.handle})
    with pytest.raises(tf.errors.InvalidArgumentError, match="is not in the session store"):
        session.run(tensor, {get_holder: kept.handle})
    with pytest.raises(tf.errors.InvalidArgumentError, match="is not in the session store"):
        session.run(deleted, {delete_holder: kept.handle})
    with pytest.raises(TypeError, match="may have already been deleted"):
        kept.delete()


def test_a_value_has_its_own_type(session):
    kept = session.run(tf.get_session_handle(tf.constant(1.0)))
    holder, tensor = tf.get_session_tensor(kept.handle, tf.int32)
    with pytest.raises(tf.errors.InternalError, match="has type float32, not int32"):
        session.run(tensor, {holder: kept.handle})


def test_values_are_let_go_after_their_handles_unless_kept_by_text(session):
    handle = tf.get_session_handle(tf.constant(1.0))
    kept = session.run(handle).get_raw_handle()
    lost = session.run(handle).handle
    for _ in range(20):
        session.run(handle)
    gc.collect()
    holder, tensor = tf.get_session_tensor(kept, tf.float32)
    assert session.run(tensor, {holder: kept}) == 1.0
    with pytest.raises(tf.errors.InvalidArgumentError):
        session.run(tensor, {holder: lost})


def test_only_tensors_are_kept():
    with tf.Graph().as_default(), pytest.raises(TypeError, match="`data` must be of type Tensor"):
        tf.get_session_handle([1.0])


def test_the_second_form_gives_a_resource(session):
    handle = tf.raw_ops.GetSessionHandleV2(value=tf.constant([1.0, 2.0]))
    assert handle.dtype == tf.resource
    kept = session.run(handle)
    holder, tensor = tf.get_session_tensor(kept.handle, tf.float32)
    assert session.run(tensor, {holder: kept.handle}).tolist() == [1.0, 2.0]
