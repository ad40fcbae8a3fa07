"""EagerTensor: memory shared with torch and DLPack, pickling, and state that lives with its handle."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest
import torch

import tideflow as tf

pytestmark = pytest.mark.usefixtures("eagerly")


def test_torch_and_dlpack_share_memory_both_ways():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    for other in (torch.from_dlpack(x), x.torch()):
        assert other.data_ptr() == x.torch().data_ptr()
    given = torch.arange(4.0)
    assert tf.convert_to_tensor(given).torch().data_ptr() == given.data_ptr()
    assert tf.convert_to_tensor(given, tf.float64).dtype is tf.float64
    assert float(tf.reduce_sum(given)) == 6.0
    with pytest.raises(TypeError, match="no torch value"):
        tf.constant("a").torch()
    with tf.Graph().as_default(), tf.Session() as session:
        assert session.run(tf.convert_to_tensor(given)).tolist() == [0, 1, 2, 3]


def test_numpy_gives_a_copy_and_constants_take_one():
    array = np.ones(3, np.float32)
    x = tf.constant(array)
    array[0] = 5
    x.numpy()[1] = 7
    assert x.numpy().tolist() == [1, 1, 1]
    v = tf.Variable(array)
    v.numpy()[0] = 9
    read = v.value()
    v.assign_add([1.0, 1.0, 1.0])
    assert (read.numpy().tolist(), v.numpy().tolist()) == ([5, 1, 1], [6, 2, 2])


def test_copies_and_pickles():
    x, v = tf.constant([1, 2]), tf.Variable([1.0], name="v", trainable=False)
    assert copy.deepcopy(x) is x
    again = pickle.loads(pickle.dumps([x, tf.constant(["a"])]))
    assert (again[0].numpy().tolist(), again[1].numpy().tolist()) == ([1, 2], [b"a"])
    other = copy.deepcopy(v)
    other.assign([5.0])
    assert (v.numpy(), other.name, other.trainable) == (1.0, "v:0", False)


def test_bfloat16_strings_and_quantized_values():
    assert tf.cast([1.5], tf.bfloat16).numpy().dtype.name == "bfloat16"
    assert tf.constant(["a", "bc"])[1].numpy() == b"bc"
    assert f"{tf.constant(1.25):.1f} {tf.constant(2)}" == "1.2 tf.Tensor(2, shape=(), dtype=int32)"
    assert tf.quantize([0.0, 1.0], 0.0, 1.0, tf.quint8).output.numpy().dtype.names is not None


def test_state_lives_as_long_as_its_handle():
    v = tf.Variable(tf.ones([10]))
    state = weakref.ref(v.handle)
    del v
    gc.collect()
    assert state() is None


def test_errors_name_the_op():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[Op:MatMul\]"):
        tf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected to be a float tensor but is a int32"):
        tf.constant(1.0) + tf.constant(1)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[Op:Reshape\]"):
        tf.reshape(tf.ones([2, 3]), [4])
    with pytest.raises(RuntimeError, match=r"op does not support eager execution\. Arg 'ref' is a ref"):
        tf.raw_ops.Assign(ref=tf.constant(1.0), value=2.0)


def test_layers_keep_nothing_of_a_call():
    layer = tf.layers.Dense(2, kernel_regularizer=tf.contrib.layers.l2_regularizer(1.0))
    for _ in range(3):
        layer(tf.ones([1, 2]))
    before = float(layer.losses[0])
    layer.kernel.assign(layer.kernel * 2.0)
    assert layer._inbound_nodes == [] and float(layer.losses[0]) == pytest.approx(4 * before)
    norm = tf.layers.BatchNormalization()
    norm(tf.ones([2, 2]), training=True)
    assert norm.updates == [] and tf.losses.get_losses() == []
