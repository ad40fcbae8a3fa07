"""TensorArrays: written and read in all ways, with gradients; what they refuse."""

import numpy as np
import pytest

import tideflow as tf
from tests.ops.renaming import op_types

raw = tf.raw_ops


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def test_elements_one_by_one(session):
    array = tf.TensorArray(tf.float32, 3).write(0, [1.0]).write(2, [3.0]).write(1, [2.0])
    assert session.run([array.read(1), array.size()]) == [[2.0], 3]
    assert session.run(array.stack()).tolist() == [[1.0], [2.0], [3.0]]
    assert session.run(array.gather([2, 0])).tolist() == [[3.0], [1.0]]


def test_elements_of_different_length(session):
    value = tf.placeholder(tf.float32, [None])
    array = tf.TensorArray(tf.float32, 3, infer_shape=False).split(value, [2, 0, 1])
    assert session.run([array.read(0), array.read(2)], {value: [5.0, 6.0, 7.0]})[0].tolist() == [5.0, 6.0]
    assert session.run(array.concat(), {value: [5.0, 6.0, 7.0]}).tolist() == [5.0, 6.0, 7.0]


def one_by_one(array):
    return tf.stack([array.read(i) for i in range(2)])


@pytest.mark.parametrize(
    "through",
    [
        lambda array, x: array.unstack(x).stack(),
        lambda array, x: array.scatter([1, 0], x).gather([1, 0]),
        lambda array, x: array.split(x, [1, 1]).concat(),
        lambda array, x: one_by_one(array.write(0, x[0]).write(1, x[1])),
    ],
)
def test_gradients_pass_through(session, through):
    x = tf.placeholder(tf.float32, [2, 3])
    array = tf.TensorArray(tf.float32, 2, clear_after_read=False)
    y = through(array, x * x)
    given = np.arange(6, dtype=np.float32).reshape(2, 3)
    value, slope = session.run([y, tf.gradients(y, x)[0]], {x: given})
    np.testing.assert_array_equal(value, given**2)
    np.testing.assert_array_equal(slope, 2 * given)
    assert "TensorArrayGradV3" in op_types(session.graph)


def test_an_array_of_gradients_with_more_axes(session):
    array = raw.TensorArrayV3(size=np.int32(1), dtype=tf.float32, element_shape=[2])
    grads = raw.TensorArrayGradWithShape(
        handle=array.handle, flow_in=array.flow, shape_to_prepend=np.int32([3]), source="gradients"
    )
    flow = raw.TensorArrayWriteV3(
        handle=grads.grad_handle, index=np.int32(0), value=tf.ones([3, 2]), flow_in=grads.flow_out
    )
    read = raw.TensorArrayReadV3(handle=grads.grad_handle, index=np.int32(0), flow_in=flow, dtype=tf.float32)
    assert session.run(read).shape == (3, 2)


def test_a_closed_array_is_read_no_more(session):
    array = tf.TensorArray(tf.float32, 1).write(0, 1.0)
    with tf.control_dependencies([array.flow]):
        closed = array.close()
    with tf.control_dependencies([closed]):
        late = array.read(0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="has already been closed"):
        session.run(late)


def test_an_element_is_written_once(session):
    array = tf.TensorArray(tf.float32, 1).write(0, 1.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="already been written"):
        session.run(array.write(0, 2.0).flow)


def test_a_value_of_another_type_is_refused_by_the_step(session):
    written = tf.TensorArray(tf.float32, 1).write(0, tf.constant(1))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"dtype is float but .* dtype int32"):
        session.run(written.flow)
