"""Records as tensors: what the samples cannot say."""

import gzip
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tideflow as tf


def example(**features) -> bytes:
    message = tf.train.Example()
    for key, values in features.items():
        kind = {int: "int64_list", float: "float_list", bytes: "bytes_list"}[type(values[0])]
        getattr(message.features.feature[key], kind).value.extend(values)
    return message.SerializeToString()


def run(fetches, feeds=None):
    with tf.Session() as session:
        return session.run(fetches, feeds)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


SPECS = {
    "a": tf.FixedLenFeature([2], tf.int64),
    "b": tf.VarLenFeature(tf.float32),
    "c": tf.FixedLenSequenceFeature([], tf.string, allow_missing=True),
}


@pytest.mark.parametrize("count", [1, 100])
def test_errors_name_the_element_and_the_feature(count):
    batch = [example(a=[1, 2])] * count
    cases = {
        example(
            b=[1.0]
        ): rf"Feature: a \(data type: int64\) is required but could not be found. Index: {count}",
        example(a=[1]): rf"Key: a, Index: {count}.  Number of int64 values != expected.  Values size: 1",
        example(a=[1.0, 2.0]): rf"Key: a, Index: {count}.  Data types don't match. Data type: float",
        example(a=[1, 2], b=[3]): rf"Key: b, Index: {count}.  Data types don't match. Expected type: float",
        b"junk": rf"Could not parse example input, value: 'junk' Index: {count}",
    }
    for bad, message in cases.items():
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            run(tf.parse_example([*batch, bad], SPECS))


def test_strings_are_counted_as_bytes():
    texts = example(a=[b"x", b"y"])
    wanted = {"a": tf.FixedLenFeature([1], tf.string)}
    with pytest.raises(tf.errors.InvalidArgumentError, match="Number of bytes values != expected"):
        run(tf.parse_example([texts], wanted))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Can't parse serialized Example"):
        run(tf.parse_single_example(texts, wanted))


def test_names_of_examples_are_in_errors():
    parsed = tf.parse_example([example(a=[1, 2]), b"\x0a\x00"], SPECS, example_names=["first", "second"])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Name: second, Feature: a"):
        run(parsed)


def test_large_and_small_batches_are_parsed_alike():
    batch = [example(a=[i, -i], b=[0.5] * (i % 4 + 1), c=[b"x" * i]) for i in range(200)]
    serialized = tf.placeholder(tf.string, [None])
    parsed = tf.parse_example(serialized, SPECS)
    with tf.Session() as session:
        whole = session.run(parsed, {serialized: batch})
        parts = [session.run(parsed, {serialized: batch[i : i + 20]}) for i in range(0, 200, 20)]
    np.testing.assert_array_equal(whole["a"], np.concatenate([part["a"] for part in parts]))
    np.testing.assert_array_equal(whole["b"].values, np.concatenate([part["b"].values for part in parts]))
    np.testing.assert_array_equal(whole["c"], np.concatenate([part["c"] for part in parts]))


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=60), st.booleans())
def test_any_bytes_are_parsed_or_refused(data, in_large_batch):
    batch = [example(a=[1, 2])] * (100 if in_large_batch else 1)
    refused_or_parsed(lambda: tf.parse_example([*batch, data], SPECS))
    refused_or_parsed(lambda: tf.parse_single_example(data, SPECS))
    steps = {"s": tf.FixedLenSequenceFeature([1], tf.int64), "t": tf.VarLenFeature(tf.string)}
    refused_or_parsed(lambda: tf.io.parse_sequence_example([data], {"b": SPECS["b"]}, steps))
    refused_or_parsed(lambda: tf.parse_single_sequence_example(data, {"b": SPECS["b"]}, steps))


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_broken_examples_are_parsed_or_refused(data):
    broken = bytearray(example(a=[1, 2], b=[0.5, 1.5], c=[b"xyz", b""]))
    broken[data.draw(st.integers(0, len(broken) - 1))] = data.draw(st.integers(0, 255))
    refused_or_parsed(lambda: tf.parse_example([bytes(broken)] * 60, SPECS))
    refused_or_parsed(lambda: tf.parse_example([bytes(broken[: data.draw(st.integers(0, 40))])], SPECS))


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=40))
def test_any_bytes_are_decoded_or_refused(data):
    refused_or_parsed(lambda: tf.decode_csv([data], [[1], [1.0], [""]]))
    refused_or_parsed(lambda: tf.decode_raw(data, tf.int16))
    refused_or_parsed(lambda: tf.decode_compressed(data, "ZLIB"))
    refused_or_parsed(lambda: tf.decode_json_example(data))
    refused_or_parsed(lambda: tf.parse_tensor(data, tf.float32))
    refused_or_parsed(
        lambda: tf.io.decode_proto([data], "tensorflow.VersionDef", ["producer"], [tf.int32]).values
    )


def refused_or_parsed(build) -> None:
    with tf.Graph().as_default():
        fetches = build()
        try:
            run(fetches)
        except tf.errors.OpError as error:
            assert error.__cause__ is None, f"not refused, but failed with {error.__cause__!r}"


def test_a_step_may_lack_values_only_where_it_is_sparse():
    message = tf.train.SequenceExample()
    message.feature_lists.feature_list["s"].feature.add().int64_list.value.append(1)
    message.feature_lists.feature_list["s"].feature.add()
    data = message.SerializeToString()
    sparse = tf.parse_single_sequence_example(data, None, {"s": tf.VarLenFeature(tf.int64)})[1]["s"]
    assert run(sparse).dense_shape.tolist() == [2, 1]
    dense = tf.parse_single_sequence_example(data, None, {"s": tf.FixedLenSequenceFeature([1], tf.int64)})
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Feature list: s, Index: 1\.  Data types"):
        run(dense)


def test_compressed_data_is_decompressed():
    assert run(tf.decode_compressed([gzip.compress(b"hello")], "GZIP")).tolist() == [b"hello"]
    with pytest.raises(tf.errors.DataLossError, match="inflate"):
        run(tf.decode_compressed([b"no zlib"], "ZLIB"))
    cut = zlib.compress(b"hello")[:-4]  # the checksum is missing; TensorFlow does not mind
    assert run(tf.decode_compressed([cut], "ZLIB")).tolist() == [b"hello"]


def test_messages_by_their_own_descriptors():
    from google.protobuf import descriptor_pb2

    files = descriptor_pb2.FileDescriptorSet()
    message = files.file.add(name="zz.proto", package="zz").message_type.add(name="M")
    message.field.add(name="x", number=1, label=1, type=1, default_value="2.5")
    message.field.add(name="s", number=2, label=3, type=9)
    source = b"bytes://" + files.SerializeToString()
    found = tf.io.decode_proto(
        [b"\x12\x01a\x12\x01b", b""], "zz.M", ["x", "s"], [tf.float64, tf.string], descriptor_source=source
    )
    sizes, (x, s) = run([found.sizes, found.values])
    assert sizes.tolist() == [[0, 2], [0, 0]]
    assert x.tolist() == [[2.5], [2.5]]
    assert s.tolist() == [[b"a", b"b"], [b"", b""]]
    back = tf.io.encode_proto(found.sizes, found.values, ["x", "s"], "zz.M", descriptor_source=source)
    assert run(back).tolist() == [b"\x12\x01a\x12\x01b", b""]


def test_examples_are_messages_of_our_own_package():
    assert tf.train.Example.DESCRIPTOR.full_name == "tideflow.Example"
    assert tf.train.Example.DESCRIPTOR.file.name == "tideflow/example.proto"
