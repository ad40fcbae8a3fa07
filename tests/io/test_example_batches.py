"""Batches of Examples read in step say the same as Examples read one by one, whatever their bytes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tideflow as tf
from tideflow.graph.example_proto import BytesList, Example, Feature, Features, FloatList, Int64List
from tideflow.io import examples
from tideflow.io.example_batches import columns_in_step
from tideflow.io.examples import Blame, Wanted, _one_by_one, read_columns

WANTED = [("a", tf.int64), ("b", tf.float32), ("c", tf.string), ("a longer key", tf.int64)]
INTEGERS = st.lists(st.integers(-(2**63), 2**63 - 1), max_size=5)
FLOATS = st.lists(st.floats(width=32, allow_nan=False), max_size=5)
STRINGS = st.lists(st.binary(max_size=200), max_size=4)


def feature(kind: str, values: list) -> Feature:
    classes = {"int64_list": Int64List, "float_list": FloatList, "bytes_list": BytesList}
    return Feature(**{kind: classes[kind](value=values)})


def kinds(values: st.SearchStrategy, kind: str) -> st.SearchStrategy:
    return st.builds(lambda v: feature(kind, v), values)


FEATURES = st.fixed_dictionaries(
    {},
    optional={
        "a": kinds(INTEGERS, "int64_list"),
        "b": kinds(FLOATS, "float_list"),
        "c": kinds(STRINGS, "bytes_list") | st.just(Feature()),
        "a longer key": kinds(INTEGERS, "int64_list"),
        "another key": kinds(FLOATS, "float_list"),
        "ab": kinds(STRINGS, "bytes_list"),
    },
)
EXAMPLES = st.builds(
    lambda features: Example(features=Features(feature=features)).SerializeToString(), FEATURES
)


def slowly(messages: list[bytes]) -> list:
    return _one_by_one(messages, [Wanted(key, dtype) for key, dtype in WANTED], Blame([]))


def assert_same(found: list, expected: list) -> None:
    for (key, _), (counts, values), (wanted_counts, wanted_values) in zip(
        WANTED, found, expected, strict=True
    ):
        np.testing.assert_array_equal(counts, wanted_counts, err_msg=key)
        np.testing.assert_array_equal(values, wanted_values, err_msg=key)
        assert values.dtype == wanted_values.dtype


@settings(max_examples=60, deadline=None)
@given(st.lists(EXAMPLES, max_size=8))
def test_in_step_is_as_one_by_one(messages):
    found = columns_in_step(messages, WANTED)
    assert found is not None
    assert_same(found, slowly(messages))


@settings(max_examples=200, deadline=None)
@given(st.lists(EXAMPLES, min_size=1, max_size=4), st.data())
def test_broken_bytes_are_left_to_the_careful_reader(messages, data):
    """What is read in step from broken bytes, if anything, is what the careful reader reads."""
    victim = data.draw(st.integers(0, len(messages) - 1))
    broken = bytearray(messages[victim])
    for _ in range(data.draw(st.integers(1, 3))):
        if broken:
            broken[data.draw(st.integers(0, len(broken) - 1))] = data.draw(st.integers(0, 255))
    messages[victim] = bytes(broken[: data.draw(st.integers(0, len(broken)))])
    found = columns_in_step(messages, WANTED)
    if found is None:
        return
    try:
        expected = slowly(messages)
    except tf.errors.InvalidArgumentError:
        return  # a key that is no UTF-8, or a wanted feature's own list cut in a way that TensorFlow takes
    assert_same(found, expected)


ONE = Example(features=Features(feature={"a": feature("int64_list", [5])})).SerializeToString()


@pytest.mark.parametrize(
    "odd",
    [
        pytest.param(ONE + ONE, id="two parts"),
        pytest.param(b"\x0a\x0d\x0a\x0b\x0a\x01a\x12\x06\x1a\x04\x08\x01\x08\x02", id="unpacked integers"),
        pytest.param(b"\x0a\x0c\x0a\x0a\x12\x05\x1a\x03\x0a\x01\x07\x0a\x01a", id="value before key"),
        pytest.param(b"\x12\x01x", id="unknown field"),
    ],
)
def test_other_layouts_are_read_one_by_one(odd):
    assert columns_in_step([ONE, odd], WANTED) is None
    counts, _ = slowly([ONE, odd])[0]
    assert counts[0] == 1


def test_other_types_are_left_to_the_careful_reader():
    message = Example(features=Features(feature={"a": feature("float_list", [1.0])})).SerializeToString()
    assert columns_in_step([message], WANTED) is None
    with pytest.raises(tf.errors.InvalidArgumentError, match="Data types don't match"):
        slowly([message])


def test_one_long_list_among_short_ones():
    long = Example(features=Features(feature={"c": feature("bytes_list", [b"x"] * 500)}))
    short = Example(features=Features(feature={"c": feature("bytes_list", [b"y"])}))
    messages = [short.SerializeToString()] * 50 + [long.SerializeToString()]
    assert columns_in_step(messages, WANTED) is None  # five hundred turns for one message
    assert slowly(messages)[2][0].tolist() == [1] * 50 + [500]


def test_a_few_messages_with_many_numbers_are_read_by_columns(monkeypatch):
    messages = [
        Example(
            features=Features(feature={"x": Feature(float_list=FloatList(value=[row] * 784))})
        ).SerializeToString()
        for row in range(16)
    ]
    wanted, blame = [Wanted("x", tf.float32, (784,))], Blame([])
    expected = _one_by_one(messages[:4], wanted, blame)
    ((_, few),) = read_columns(messages[:4], wanted, blame)
    assert few.tolist() == expected[0][1].tolist()
    monkeypatch.setattr(examples, "_one_by_one", None)
    ((counts, values),) = read_columns(messages, wanted, blame)
    assert counts.tolist() == [784] * 16
    assert values.reshape(16, 784)[:, 5].tolist() == list(range(16))
