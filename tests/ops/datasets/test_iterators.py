"""Iterators: made in both ways, asked in all, found by the strings that stand for them."""

import numpy as np
import pytest

import tideflow as tf
from tests.ops.renaming import op_types, with_op_types
from tideflow.ops.datasets import iterators

raw = tf.raw_ops
NUMBERS = {"output_types": [tf.int64], "output_shapes": [[]]}
HANDLES = {
    "IteratorV2": "Iterator",
    "IteratorFromStringHandleV2": "IteratorFromStringHandle",
}


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.mark.parametrize("generation", ["first", "second"])
def test_an_iterator_that_is_started_and_asked(graph, generation):
    iterator = tf.data.make_initializable_iterator(tf.data.Dataset.range(9))
    tf.group(iterator.initializer, name="make")
    for name in ("IteratorGetNext", "IteratorGetNextSync"):
        getattr(raw, name)(iterator=iterator._iterator_resource, name=name, **NUMBERS)
    optional = raw.IteratorGetNextAsOptional(iterator=iterator._iterator_resource, **NUMBERS)
    raw.OptionalGetValue(optional=optional, name="optional", **NUMBERS)
    tf.identity(iterator.string_handle(), name="text")
    given = tf.placeholder(tf.string, [], name="given")
    raw.IteratorGetNext(
        iterator=raw.IteratorFromStringHandleV2(string_handle=given, **NUMBERS), name="by_handle", **NUMBERS
    )
    if generation == "first":
        graph = with_op_types(graph, lambda name: HANDLES.get(name, name))
        assert {"Iterator", "IteratorFromStringHandle"} <= op_types(graph)
    with tf.Session(graph=graph) as session:
        with pytest.raises(tf.errors.FailedPreconditionError, match="not been initialized"):
            session.run("IteratorGetNext:0")
        session.run("make")
        names = ("IteratorGetNext", "IteratorGetNextSync", "optional")
        assert [session.run(f"{name}:0") for name in names] == [0, 1, 2]
        text = session.run("text:0")
        assert session.run("by_handle:0", {"given:0": text}) == 3
        with pytest.raises(tf.errors.InvalidArgumentError, match="is no handle of an iterator"):
            session.run("by_handle:0", {"given:0": b"something else"})


def test_an_optional_is_empty_at_the_end():
    iterator = tf.data.make_one_shot_iterator(tf.data.Dataset.range(1))
    assert iterator._iterator_resource.op.type == "OneShotIterator"
    optional = raw.IteratorGetNextAsOptional(iterator=iterator._iterator_resource, **NUMBERS)
    there = raw.OptionalHasValue(optional=optional)
    with tf.Session() as session:
        assert [session.run(there) for _ in range(2)] == [True, False]


def test_the_string_of_an_iterator_of_other_elements_is_refused():
    iterator = tf.data.make_one_shot_iterator(tf.data.Dataset.range(1))
    text = iterator.string_handle()
    given = tf.placeholder(tf.string, [])
    cases = [
        ({"output_types": [tf.string], "output_shapes": [[]]}, "expected string but got int64"),
        ({"output_types": [tf.int64], "output_shapes": [[2]]}, "Incompatible shapes"),
        ({"output_types": [tf.int64] * 2, "output_shapes": [[]] * 2}, "Number of components"),
    ]
    with tf.Session() as session:
        known = session.run(text)
        for wanted, message in cases:
            found = raw.IteratorFromStringHandleV2(string_handle=given, **wanted)
            with pytest.raises(tf.errors.InvalidArgumentError, match=message):
                session.run(raw.IteratorGetNext(iterator=found, **wanted), {given: known})


@pytest.mark.parametrize("op_type", ["IteratorGetDevice", "ExperimentalIteratorGetDevice"])
def test_an_iterator_is_on_the_cpu(op_type):
    iterator = tf.data.make_one_shot_iterator(tf.data.Dataset.range(1))
    with tf.Session() as session:
        device = session.run(getattr(raw, op_type)(resource=iterator._iterator_resource))
    assert device.endswith(b"device:CPU:0")


def test_a_state_that_is_none_is_refused():
    iterator = tf.data.make_initializable_iterator(tf.data.Dataset.range(3))
    state = tf.placeholder(tf.string, [1])
    restore = iterators.restore_iterator_op(iterator._iterator_resource, state, name="restore")
    with tf.Session() as session:
        session.run(iterator.initializer)
        with pytest.raises(tf.errors.OpError):
            session.run(restore, {state: np.array([b"junk"], object)})
