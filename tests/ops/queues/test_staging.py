"""Staging areas: a line of elements, and elements by key, in order or not."""

import pytest

import tideflow as tf
from tests.ops.renaming import op_types
from tideflow.queues.staging import MapStagingArea, StagingArea


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def test_a_line_of_elements(session):
    area = StagingArea([tf.int32, tf.string], [[], []])
    number = tf.placeholder(tf.int32, [])
    put, get, peek = area.put([number, tf.as_string(number)]), area.get(), area.peek(1)
    for value in (5, 6, 7):
        session.run(put, {number: value})
    assert session.run(peek) == [6, b"6"]
    assert session.run(get) == [5, b"5"]
    assert session.run(area.size()) == 2
    session.run(area.clear())
    assert session.run(area.size()) == 0


@pytest.mark.parametrize("ordered", [False, True])
def test_elements_by_key(session, ordered):
    area = MapStagingArea([tf.int32, tf.string], [[], []], ordered=ordered)
    key, number = tf.placeholder(tf.int64, []), tf.placeholder(tf.int32, [])
    put = area.put(key, [number, tf.as_string(number)], [0, 1])
    put_half = area.put(key, [number], [0])
    peek, (_, get), get_any = area.peek(key), area.get(key), area.get()
    for value in (3, 1, 2, 4):
        session.run(put, {key: value, number: 10 * value})
    session.run(put_half, {key: 9, number: 90})
    assert session.run(peek, {key: 2}) == [20, b"20"]
    assert session.run(get, {key: 2}) == [20, b"20"]
    assert session.run([area.size(), area.incomplete_size()]) == [3, 1]
    found = [session.run(get_any) for _ in range(2)]
    assert all(values == [10 * key, b"%d" % (10 * key)] for key, values in found)
    assert not ordered or [key for key, _ in found] == [1, 3]
    session.run(area.clear())
    assert session.run([area.size(), area.incomplete_size()]) == [0, 0]
    prefix = "OrderedMap" if ordered else "Map"
    assert {op_type for op_type in op_types(session.graph) if "Map" in op_type} == {
        prefix + what
        for what in ("Stage", "Peek", "Unstage", "UnstageNoKey", "Size", "IncompleteSize", "Clear")
    }
