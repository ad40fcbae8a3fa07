"""The first two generations of TensorArrays, which only graphs of old have: made, filled, read, in loops."""

import numpy as np
import pytest

import tideflow as tf

raw = tf.raw_ops
PAIRS = np.float32([[1, 2], [3, 4]])


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


class OldArray:
    """An array of a generation, whose ops end with `suffix`."""

    def __init__(self, suffix, size=2):
        self.suffix = suffix
        self.handle = self.op("", size=np.int32(size), dtype=tf.float32)

    def op(self, name, **inputs):
        return getattr(raw, f"TensorArray{name}{self.suffix}")(**inputs)

    def on(self, name, flow=0.0, **inputs):
        return self.op(name, handle=self.handle, flow_in=tf.convert_to_tensor(flow), **inputs)

    def gather(self, flow, indices):
        return self.on("Gather", flow, indices=np.int32(indices), dtype=tf.float32)


@pytest.fixture(params=["", "V2"])
def array(request):
    return OldArray(request.param)


def test_elements_one_by_one(session, array):
    flow = array.on("Write", index=np.int32(0), value=PAIRS[0])
    flow = array.on("Write", flow, index=np.int32(1), value=PAIRS[1])
    read = array.on("Read", flow, index=np.int32(1), dtype=tf.float32)
    assert [x.tolist() for x in session.run([read, array.on("Size", flow)])] == [[3, 4], 2]


def test_elements_together(session, array):
    scattered = array.on("Scatter", indices=np.int32([1, 0]), value=PAIRS)
    assert session.run(array.gather(scattered, [0, 1])).tolist() == [[3, 4], [1, 2]]
    split = array.on("Split", value=np.float32([5, 6, 7]), lengths=np.int64([1, 2]))
    joined = session.run(array.on("Concat", split, dtype=tf.float32))
    assert [x.tolist() for x in joined] == [[5, 6, 7], [1, 2]]


def test_gradients_add_up(session, array):
    flow = array.on("Scatter", indices=np.int32([0, 1]), value=PAIRS)
    array.handle = array.on("Grad", flow, source="gradients")
    for _ in range(2):
        flow = array.on("Scatter", flow, indices=np.int32([0, 1]), value=PAIRS)
    np.testing.assert_array_equal(session.run(array.gather(flow, [0, 1])), 2 * PAIRS)


def test_in_a_loop(session, array):
    def body(i, flow):
        return i + 1, array.on("Write", flow, index=i, value=tf.cast(i, tf.float32))

    _, flow = tf.while_loop(lambda i, _: i < 2, body, [0, 0.0])
    assert session.run(array.gather(flow, [1, 0])).tolist() == [1, 0]


def test_all_elements_in_order(session):
    array = OldArray("")
    flow = array.on("Unpack", value=PAIRS)
    np.testing.assert_array_equal(session.run(array.on("Pack", flow, dtype=tf.float32)), PAIRS)


def test_a_closed_array_is_read_no_more(session, array):
    with tf.control_dependencies([array.op("Close", handle=array.handle)]):
        size = array.on("Size")
    with pytest.raises(tf.errors.InvalidArgumentError, match="has already been closed"):
        session.run(size)
