"""Tensors in messages: which bytes are copied, and which are no tensors."""

import numpy as np
import pytest
import torch
from google.protobuf.message import DecodeError
from tensorboard.compat.proto.tensor_pb2 import TensorProto

import tideflow as tf
from tests.cluster.tensorflow_clients.raw_client import as_proto
from tideflow.cluster.tensorflow_clients import messages, tensors


def placeholder(dtype, shape=None):
    with tf.Graph().as_default():
        return tf.placeholder(dtype, shape, name="x")


def test_a_fed_tensor_is_copied_once():
    array = np.arange(10_000, dtype=np.float32)
    feeds = [{"name": "x:0", "tensor": as_proto(array)}]
    data = messages.RunStepRequest(session_handle="s", feed=feeds, fetch=["y:0"]).SerializeToString()
    message, (feed,) = tensors.read_feeds(data, messages.RunStepRequest)
    assert feed.name == "x:0" and feed.content.obj is data
    assert message.session_handle == "s" and message.fetch == ["y:0"] and not message.feed
    fed = feed.read(placeholder(tf.float32))
    np.testing.assert_array_equal(fed.numpy(), array)
    assert fed.data_ptr() % 16 == 0  # it is in memory of its own, aligned
    fed += 1  # and may be written


def test_a_request_is_read_alike_whatever_its_size():
    for size in (0, 1, 10_000):
        array = np.arange(size, dtype=np.int64)
        named = messages.RunStepRequest(feed=[{"name": "x:0", "tensor": as_proto(array)}])
        unnamed = messages.RunCallableRequest(handle=7, feed=[as_proto(array)])
        for given, name in ((named, "x:0"), (unnamed, "")):
            _, (feed,) = tensors.read_feeds(given.SerializeToString(), type(given))
            assert feed.name == name
            np.testing.assert_array_equal(feed.read(placeholder(tf.int64)).numpy(), array)


def test_a_fetched_tensor_is_copied_once():
    value = torch.arange(1000.0)
    *_, content = tensors.tensor_pieces(value, tf.float32)
    assert np.frombuffer(content, np.float32).ctypes.data == value.data_ptr()
    answer = b"".join(tensors.answer(1, [tensors.named_pieces("y:0", value, tf.float32)], b""))
    _, (named,) = tensors.split(memoryview(answer), 1)
    read = messages.NamedTensor.FromString(bytes(named))
    assert read.name == "y:0"
    np.testing.assert_array_equal(tf.make_ndarray(read.tensor), value.numpy())


def test_values_of_other_layouts_are_written_in_their_order():
    value = torch.arange(6, dtype=torch.int64).reshape(2, 3).t()
    message = b"".join(tensors.tensor_pieces(value, tf.int64))
    np.testing.assert_array_equal(tf.make_ndarray(TensorProto.FromString(message)), value.numpy())


def test_fields_of_every_encoding_are_kept():
    message = b"\x08\x96\x01" + b"\x12\x02hi" + b"\x19" + b"8bytes.." + b"\x25" + b"4..." + b"\x12\x00"
    rest, found = tensors.split(memoryview(message), 2)
    assert [bytes(one) for one in found] == [b"hi", b""]
    assert rest == message.replace(b"\x12\x02hi", b"").removesuffix(b"\x12\x00")
    for wrong in (
        b"\x80",
        b"\x12\x05abc",
        b"\x19abc",
        b"\x0b",
        b"\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
    ):
        with pytest.raises(DecodeError):
            tensors.split(memoryview(wrong), 2)


@pytest.mark.parametrize(
    "content", [b"", b"\x01", b"\x05abc", b"\x01\x01ab!", b"\x80\x80", b"\xff\xff\xff\xff\x0fab"]
)
def test_strings_that_are_none(content):
    proto = as_proto(np.array([b"a", b"b"], object))
    proto.tensor_content = content
    for feed in (tensors.Feed("x:0", proto), tensors.Feed("x:0", proto, memoryview(content))):
        if not content:  # then there are no elements at all, and both are empty
            assert feed.read(placeholder(tf.string)).size == 2
            continue
        with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid TensorProto for feed 'x:0'"):
            feed.read(placeholder(tf.string))


def test_an_answer_that_no_client_could_read_is_refused(monkeypatch):
    monkeypatch.setattr(tensors, "LARGEST_MESSAGE", 100)
    with pytest.raises(tf.errors.ResourceExhaustedError, match="Fetch fewer"):
        tensors.answer(1, [tensors.tensor_pieces(torch.zeros(100), tf.float32)], b"")
    with pytest.raises(tf.errors.InvalidArgumentError, match="stays in its server"):
        tensors.tensor_pieces(object(), tf.resource)
