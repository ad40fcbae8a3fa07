"""tf.contrib.data and the pipelines of tf.contrib.training."""

import sys
import threading

import pytest

import tideflow as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def until_the_end(fetches):
    """What the steps of a pipeline give, and whether all of its threads ended."""
    found = []
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        with tf.train.Coordinator() as coord:
            threads = tf.train.start_queue_runners(session, coord)
            while not coord.should_stop():
                found.append(session.run(fetches))
    return found, not any(thread.is_alive() for thread in threads)


def numbers(count):
    return tf.train.range_input_producer(count, num_epochs=1, shuffle=False).dequeue()


def test_buckets_hold_what_is_alike():
    length = numbers(20) % 6
    lengths, rows = tf.contrib.training.bucket_by_sequence_length(
        length, [tf.fill([length], length)], 2, [2, 4], dynamic_pad=True, allow_smaller_final_batch=True
    )
    found, ended = until_the_end([lengths, *rows])
    assert ended
    assert sorted(n for lengths, _ in found for n in lengths.tolist()) == sorted(i % 6 for i in range(20))
    for lengths, table in found:
        assert len({(n >= 2) + (n >= 4) for n in lengths.tolist()}) == 1
        assert table.shape == (len(lengths), lengths.max())


def test_a_bucket_says_which_it_is():
    number = numbers(12)
    which, batch = tf.contrib.training.bucket([number, number * 2], number % 3, 2, 3)
    found, ended = until_the_end([which, *batch])
    assert ended
    assert sorted(tuple(first.tolist()) for _, first, _ in found) == [
        (0, 3), (1, 4), (2, 5), (6, 9), (7, 10), (8, 11)
    ]  # fmt: skip
    assert all((first % 3 == which).all() and (second == 2 * first).all() for which, first, second in found)


def test_a_queue_is_filled_with_what_functions_give():
    queue, value = tf.FIFOQueue(10, tf.int32, [[]]), tf.placeholder(tf.int32, [])
    given = iter(range(4))

    def feeds():
        for number in given:
            return {value: number}
        raise tf.errors.OutOfRangeError(None, None, "that was all")

    runner = tf.contrib.training.FeedingQueueRunner(queue, [queue.enqueue(value)], feed_fns=[feeds])
    tf.train.add_queue_runner(runner)
    found, ended = until_the_end(queue.dequeue())
    assert ended and found == [0, 1, 2, 3]


def test_an_error_of_a_function_that_feeds_reaches_who_trains():
    queue, value = tf.FIFOQueue(10, tf.int32, [[]]), tf.placeholder(tf.int32, [])

    def feeds():
        raise KeyError("no data")

    runner = tf.contrib.training.FeedingQueueRunner(queue, [queue.enqueue(value)], feed_fns=[feeds])
    tf.train.add_queue_runner(runner)
    before = set(threading.enumerate())
    with pytest.raises(KeyError, match="no data"):
        until_the_end(queue.dequeue())
    assert set(threading.enumerate()) <= before


def test_a_monitored_session_has_started_its_runners():
    number = numbers(2)
    with tf.train.MonitoredSession() as session:
        assert tf.train.start_queue_runners(sess=session) == []
        assert [session.run(number) for _ in range(2)] == [0, 1]


def test_runners_need_a_session():
    with pytest.raises(TypeError, match=r"must be a `tf\.Session` object"):
        tf.train.start_queue_runners(sess="a session")


def elements(dataset):
    element, found = dataset.make_one_shot_iterator().get_next(), []
    with tf.Session() as session, pytest.raises(tf.errors.OutOfRangeError):
        while True:
            found.append(session.run(element))
    return found


def test_windows_that_overlap():
    windows = elements(
        tf.data.Dataset.range(7).apply(tf.contrib.data.sliding_window_batch(3, window_shift=2))
    )
    assert [window.tolist() for window in windows] == [[0, 1, 2], [2, 3, 4], [4, 5, 6]]


def test_elements_have_the_shapes_that_were_promised():
    rows = tf.data.Dataset.from_generator(lambda: iter([[1, 2], [3]]), tf.int32)
    checked = rows.apply(tf.contrib.data.assert_element_shape(tf.TensorShape([2])))
    assert checked.output_shapes.as_list() == [2]
    element = checked.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert session.run(element).tolist() == [1, 2]
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(element)


def test_the_items_of_a_database(tmp_path):
    lmdb = pytest.importorskip("lmdb")
    with lmdb.open(str(tmp_path)) as database, database.begin(write=True) as transaction:
        for i in (1, 0):
            transaction.put(b"key %d" % i, b"value %d" % i)
    items = elements(tf.contrib.data.LMDBDataset([str(tmp_path)]))
    assert items == [(b"key 0", b"value 0"), (b"key 1", b"value 1")]


def test_a_database_without_its_library_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "lmdb", None)
    element = tf.contrib.data.LMDBDataset([str(tmp_path)]).make_one_shot_iterator().get_next()
    with tf.Session() as session, pytest.raises(tf.errors.UnimplementedError, match="pip install lmdb"):
        session.run(element)
