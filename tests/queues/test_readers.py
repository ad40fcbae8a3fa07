"""Readers: batches, damage, several threads, and steps that give up."""

from __future__ import annotations

import itertools
import sys
import threading

import numpy as np
import pytest

import tideflow as tf


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def record_file(path, records):
    with tf.io.TFRecordWriter(str(path), None) as writer:
        for record in records:
            writer.write(record)
    return str(path)


def work_queue(work):
    queue = tf.FIFOQueue(100, [tf.string], shapes=[[]])
    return queue, [queue.enqueue_many([work]), queue.close()]


def run_all(session, steps):
    for step in steps:
        session.run(step)


def test_records_in_front_of_damage_are_given_out(graph, tmp_path):
    path = record_file(tmp_path / "a", [b"one", b"two", b"three"])
    data = bytearray((tmp_path / "a").read_bytes())
    data[-6] ^= 1
    (tmp_path / "a").write_bytes(data)
    queue, start = work_queue([path])
    _, values = tf.TFRecordReader().read_up_to(queue, 10)
    with tf.Session() as session:
        run_all(session, start)
        assert session.run(values).tolist() == [b"one", b"two"]
        for _ in range(2):
            with pytest.raises(tf.errors.DataLossError, match=f"corrupted record at 38 of {path}"):
                session.run(values)


def test_after_a_reset_the_next_file_is_read(graph, tmp_path):
    (tmp_path / "bad").write_bytes(b"no records at all")
    good = record_file(tmp_path / "good", [b"x"])
    queue, start = work_queue([str(tmp_path / "bad"), good])
    reader = tf.TFRecordReader()
    key, value = reader.read(queue)
    with tf.Session() as session:
        run_all(session, start)
        with pytest.raises(tf.errors.DataLossError):
            session.run(value)
        session.run(reader.reset())
        assert session.run([key, value]) == [f"{good}:0".encode(), b"x"]


def test_an_unfinished_file_of_records_is_no_silent_end(graph, tmp_path):
    path = record_file(tmp_path / "a", [b"one", b"two"])
    (tmp_path / "a").write_bytes((tmp_path / "a").read_bytes()[: 16 + 3 + 5])
    queue, start = work_queue([path])
    _, value = tf.TFRecordReader().read(queue)
    with tf.Session() as session:
        run_all(session, start)
        assert session.run(value) == b"one"
        with pytest.raises(tf.errors.DataLossError, match="truncated record at 19"):
            session.run(value)


def test_every_record_once_whoever_reads(graph, tmp_path):
    files = [record_file(tmp_path / str(i), [b"%d-%d" % (i, j) for j in range(50 + i)]) for i in range(10)]
    queue, start = work_queue(files)
    reader = tf.TFRecordReader()
    one, some = reader.read(queue)[1], reader.read_up_to(queue, 7)[1]
    found: list[list[bytes]] = [[] for _ in range(6)]

    def read(number):
        try:
            while True:
                found[number] += np.atleast_1d(session.run(some if number % 2 else one)).tolist()
        except tf.errors.OutOfRangeError:
            pass

    with tf.Session() as session:
        run_all(session, start)
        threads = [threading.Thread(target=read, args=[i]) for i in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert not any(thread.is_alive() for thread in threads)
        produced = session.run(reader.num_records_produced())
        assert session.run(reader.num_work_units_completed()) == 10
    everything = sorted(b"%d-%d" % (i, j) for i in range(10) for j in range(50 + i))
    assert sorted(itertools.chain(*found)) == everything
    assert produced == len(everything)


def test_a_late_step_leaves_the_reader_free(graph):
    queue = tf.FIFOQueue(10, [tf.string], shapes=[[]])
    key, _ = tf.IdentityReader().read(queue)
    with tf.Session() as session:
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(key, options=tf.RunOptions(timeout_in_ms=30))
        session.run(queue.enqueue("x"))
        assert session.run(key) == b"x"


def test_reads_and_what_feeds_them_in_one_step(graph):
    queue = tf.FIFOQueue(1, [tf.string], shapes=[[]])
    key, _ = tf.IdentityReader().read(queue)
    put = queue.enqueue("work")
    with tf.Session() as session:
        assert [session.run([key, put])[0] for _ in range(3)] == [b"work"] * 3


def test_only_queues_of_strings_are_work(graph):
    reader = tf.IdentityReader()
    with tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="single string component"):
            session.run(reader.read(tf.FIFOQueue(3, [tf.int32])))
        with pytest.raises(tf.errors.InvalidArgumentError, match="single string component"):
            session.run(reader.read(tf.FIFOQueue(3, [tf.string, tf.string])))


def test_readers_of_the_first_generation(graph):
    raw = tf.raw_ops
    queue = raw.FIFOQueue(component_types=[tf.string], shapes=[[]])
    reader = raw.IdentityReader()
    put = raw.QueueEnqueueMany(handle=queue, components=[tf.constant(["a", "b", "c"])])
    some = raw.ReaderReadUpTo(reader_handle=reader, queue_handle=queue, num_records=5)
    with tf.Session() as session:
        session.run(put)
        assert session.run(raw.ReaderRead(reader_handle=reader, queue_handle=queue))[0] == b"a"
        assert session.run(some[1]).tolist() == [b"b"]
        state = session.run(raw.ReaderSerializeState(reader_handle=reader))
        session.run(raw.ReaderReset(reader_handle=reader))
        assert session.run(raw.ReaderNumRecordsProduced(reader_handle=reader)) == 0
        session.run(raw.ReaderRestoreState(reader_handle=reader, state=state))
        assert session.run(raw.ReaderNumWorkUnitsCompleted(reader_handle=reader)) == 2


def _all_of_a_database(path):
    files = tf.train.string_input_producer([str(path)], num_epochs=1)
    record = tf.LMDBReader().read(files)
    found = []
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        with tf.train.Coordinator() as coord:
            tf.train.start_queue_runners(session, coord)
            while not coord.should_stop():
                found.append(tuple(session.run(record)))
    return found


def test_the_records_of_a_database(graph, tmp_path):
    lmdb = pytest.importorskip("lmdb")
    with lmdb.open(str(tmp_path)) as database, database.begin(write=True) as transaction:
        for i in (2, 0, 1):
            transaction.put(b"key %d" % i, b"value %d" % i)
    assert _all_of_a_database(tmp_path) == [(b"key %d" % i, b"value %d" % i) for i in range(3)]


def test_what_is_no_database_is_refused(graph, tmp_path):
    pytest.importorskip("lmdb")
    path = tmp_path / "text"
    path.write_text("no database")
    with pytest.raises(tf.errors.InvalidArgumentError, match="text is no LMDB database"):
        _all_of_a_database(path)


def test_a_database_without_its_library_says_what_to_install(graph, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "lmdb", None)
    with pytest.raises(tf.errors.UnimplementedError, match="pip install lmdb"):
        _all_of_a_database(tmp_path)
