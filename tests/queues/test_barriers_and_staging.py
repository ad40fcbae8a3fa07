"""Barriers and staging areas: who waits gets what comes, and who gives up takes nothing along."""

from __future__ import annotations

import threading

import pytest

import tideflow as tf
from tideflow.queues.barriers import Barrier
from tideflow.queues.record_input import RecordInput
from tideflow.queues.staging import MapStagingArea, StagingArea

# ------------------------------------------------------------------------------------------------ barriers


def test_a_barrier_waits_for_the_last_component(session, in_thread):
    barrier = Barrier((tf.int32, tf.int32), shapes=((), ()))
    thread, found = in_thread(barrier.take_many(2))
    session.run(barrier.insert_many(0, ["a", "b"], [1, 2]))
    session.run(barrier.insert_many(1, ["b"], [20]))
    assert not found
    session.run(barrier.insert_many(1, ["a"], [10]))
    thread.join(60)
    _, keys, (first, second) = found[0]
    assert sorted(zip(keys.tolist(), first.tolist(), second.tolist())) == [(b"a", 1, 10), (b"b", 2, 20)]


def test_a_closed_barrier_wakes_who_waits(session):
    barrier = Barrier((tf.int32, tf.int32), shapes=((), ()))
    errors: list[BaseException] = []

    def take():
        try:
            session.run(taken)
        except tf.errors.OutOfRangeError as error:
            errors.append(error)

    taken, insert, close = barrier.take_many(2), barrier.insert_many(0, ["a"], [1]), barrier.close(True)
    session.run(insert)
    thread = threading.Thread(target=take)
    thread.start()
    session.run(close)
    thread.join(60)
    assert len(errors) == 1


def test_a_refused_insert_inserts_nothing(session):
    barrier = Barrier((tf.int32,), shapes=((),))
    pair = Barrier((tf.int32, tf.int32), shapes=((), ()))
    with pytest.raises(tf.errors.InvalidArgumentError, match="already has a value"):
        session.run(pair.insert_many(0, ["a", "b", "a"], [1, 2, 3]))
    assert session.run([pair.incomplete_size(), barrier.ready_size()]) == [0, 0]
    with pytest.raises(ValueError, match="Dimension 0 in both shapes must be equal, but are 3 and 2"):
        pair.insert_many(0, ["a", "b", "c"], [1, 2])
    with pytest.raises(ValueError, match="must be rank 1 but is rank 2"):
        pair.insert_many(0, [["a"]], [1])


# ------------------------------------------------------------------------------------------- staging areas


def test_a_full_area_waits_for_room(session):
    area = StagingArea([tf.int32], shapes=[[]], capacity=1)
    value = tf.placeholder(tf.int32, [])
    put, get = area.put(value), area.get()
    session.run(put, {value: 1})
    with pytest.raises(tf.errors.DeadlineExceededError, match="full"):
        session.run(put, {value: 2}, options=tf.RunOptions(timeout_in_ms=30))
    thread = threading.Thread(target=lambda: session.run(put, {value: 3}))
    thread.start()
    assert [session.run(get), session.run(get)] == [[1], [3]]
    thread.join(60)


def test_memory_is_counted(session):
    area = StagingArea([tf.float32], memory_limit=16)
    put, get = area.put(tf.ones([2])), area.get()
    session.run(put)
    session.run(put)
    with pytest.raises(tf.errors.DeadlineExceededError):
        session.run(put, options=tf.RunOptions(timeout_in_ms=30))
    session.run(get)
    session.run(put)
    assert session.run(area.size()) == 2


def test_a_key_is_waited_for(session, in_thread):
    area = MapStagingArea([tf.int32, tf.int32], shapes=[[], []], ordered=True)
    key = tf.placeholder(tf.int64, [])
    put_first = area.put(key, [tf.constant(1)], [0])
    put_second = area.put(key, [tf.constant(2)], [1])
    _, got = area.get(tf.constant(7, tf.int64))
    thread, found = in_thread(got)
    session.run(put_first, {key: 7})
    session.run(put_second, {key: 6})
    session.run(put_second, {key: 7})
    thread.join(60)
    assert found == [[1, 2]]
    assert session.run([area.size(), area.incomplete_size()]) == [0, 1]


def test_map_capacity_is_of_complete_elements(session):
    area = MapStagingArea([tf.int32, tf.int32], capacity=1)
    key, one = tf.placeholder(tf.int64, []), tf.constant(1)
    whole, half = area.put(key, [one, one], [0, 1]), area.put(key, [one], [0])
    rest, (_, got) = area.put(key, [one], [1]), area.get(key)
    session.run(whole, {key: 1})
    session.run(half, {key: 2})
    for step, number in ((whole, 3), (rest, 2)):
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(step, {key: number}, options=tf.RunOptions(timeout_in_ms=30))
    session.run(got, {key: 1})
    session.run(rest, {key: 2})
    assert session.run([area.size(), area.incomplete_size()]) == [1, 0]


# --------------------------------------------------------------------------------------------- RecordInput


def test_record_input_gives_each_record_once_an_epoch(session, tmp_path):
    for i in range(4):
        with tf.io.TFRecordWriter(str(tmp_path / f"part{i}"), None) as writer:
            for j in range(5):
                writer.write(b"%d%d" % (i, j))
    records = RecordInput(str(tmp_path / "part*"), 20, 8, seed=3).get_yield_op()
    first, second = session.run(records).tolist(), session.run(records).tolist()
    assert sorted(first) == sorted(second) == [b"%d%d" % (i, j) for i in range(4) for j in range(5)]
    assert first != second


def test_record_input_without_records(session, tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(tf.errors.InvalidArgumentError, match="has a record"):
        session.run(RecordInput(str(tmp_path / "empty")).get_yield_op())
    with pytest.raises(tf.errors.NotFoundError, match="No files match"):
        session.run(RecordInput(str(tmp_path / "nothing*")).get_yield_op())
