"""Pipelines made of queues: their threads end, their ends are quiet, their errors reach who trains."""

import logging
import subprocess
import sys
import threading

import pytest

import tideflow as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def numbers(epochs, batch=2, count=6, **more):
    number = tf.train.range_input_producer(count, epochs, shuffle=False).dequeue()
    return tf.train.batch([number], batch, **more)


def runner_threads():
    return {thread for thread in threading.enumerate() if thread.name.startswith("QueueRunnerThread")}


def test_a_coordinator_in_a_with_block_ends_it_all_quietly(caplog, capfd):
    before = runner_threads()
    batch, found = numbers(epochs=2), []
    with tf.Session() as session, caplog.at_level(logging.WARNING):
        session.run(tf.local_variables_initializer())
        with tf.train.Coordinator() as coord:
            threads = tf.train.start_queue_runners(session, coord)
            while not coord.should_stop():
                found += session.run(batch).tolist()
    assert found == [*range(6), *range(6)]
    assert threads and not any(thread.is_alive() for thread in threads)
    assert not runner_threads() - before
    assert not caplog.records
    assert capfd.readouterr() == ("", "")


def test_leaving_the_block_early_cancels_what_waits():
    batch = numbers(epochs=None, capacity=4, num_threads=3)
    with tf.Session() as session:
        with tf.train.Coordinator() as coord:
            threads = tf.train.start_queue_runners(session, coord)
            assert session.run(batch).shape == (2,)
        assert coord.joined
        assert not any(thread.is_alive() for thread in threads)


def test_an_error_of_the_block_is_raised_and_the_threads_end():
    batch = numbers(epochs=None, capacity=4)
    with tf.Session() as session:
        with pytest.raises(ZeroDivisionError, match="of the block"), tf.train.Coordinator() as coord:
            threads = tf.train.start_queue_runners(session, coord)
            session.run(batch)
            raise ZeroDivisionError("of the block")
        assert not any(thread.is_alive() for thread in threads)


def test_an_error_in_a_thread_is_raised_in_the_main_one():
    number = tf.train.range_input_producer(6, shuffle=False).dequeue()
    batch = tf.train.batch([12 // (number - 3)], 2)
    with tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"):
            with tf.train.Coordinator() as coord:
                threads = tf.train.start_queue_runners(session, coord)
                while not coord.should_stop():
                    session.run(batch)
        assert not any(thread.is_alive() for thread in threads)


def test_epochs_without_local_variables_initialized_name_the_variable():
    batch = numbers(epochs=1)
    with tf.Session() as session:
        with pytest.raises(tf.errors.FailedPreconditionError, match="epochs"):
            with tf.train.Coordinator() as coord:
                threads = tf.train.start_queue_runners(session, coord)
                while not coord.should_stop():
                    session.run(batch)
        assert not any(thread.is_alive() for thread in threads)


def test_closing_the_session_ends_runners_without_a_coordinator(caplog):
    batch = numbers(epochs=None, capacity=4)
    with tf.Session() as session:
        threads = tf.train.start_queue_runners(session)
        session.run(batch)
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


def test_damage_in_a_file_reaches_who_trains_with_file_and_offset(tmp_path):
    path = tmp_path / "records"
    with tf.python_io.TFRecordWriter(str(path)) as writer:
        for _ in range(5):
            writer.write(b"12345678")
    path.write_bytes(path.read_bytes()[:-3])
    files = tf.train.string_input_producer([str(path)], num_epochs=1)
    batch = tf.train.batch([tf.TFRecordReader().read(files)[1]], 2)
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        with pytest.raises(tf.errors.DataLossError, match=f"truncated record at 96 of {path}"):
            with tf.train.Coordinator() as coord:
                tf.train.start_queue_runners(session, coord)
                while not coord.should_stop():
                    session.run(batch)


@pytest.mark.parametrize("ends", ["", "session.close()", "raise SystemExit(3)"])
def test_a_program_that_just_ends_ends_well(ends):
    program = f"""
import tideflow as tf
image = tf.random_uniform([64, 64, 3])
batch = tf.train.batch([image], 8, num_threads=3, capacity=32)
element = tf.data.Dataset.range(10**9).map(lambda x: tf.random_normal([256, 256])).prefetch(3)
element = element.make_one_shot_iterator().get_next()
session = tf.Session()
tf.train.start_queue_runners(session)
print(session.run([batch, element])[0].shape)
{ends}
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (3 if "3" in ends else 0, "(8, 64, 64, 3)\n", "")


@pytest.mark.parametrize("other", ["y", "xy"])
def test_joined_dictionaries_have_the_same_keys(other):
    sources = [{key: tf.constant(1.0) for key in keys} for keys in ("x", other)]
    with pytest.raises(ValueError, match="must have the same keys"):
        tf.train.batch_join(sources, 2)
