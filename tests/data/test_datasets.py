"""tf.data where the engine is more than its graph: threads that end, errors that tell, state that is kept."""

import contextlib
import gc
import sqlite3
import threading

import numpy as np
import pytest

import tideflow as tf
from tideflow.eager.context import eager_mode
from tideflow.programs.inner.testing import dataset_testing


def _threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name.startswith("tideflow")}


def _wait_until_gone(threads: set[threading.Thread]) -> None:
    for thread in threads:
        thread.join(timeout=20)
        assert not thread.is_alive()


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_a_prefetching_thread_ends_with_the_session():
    before = _threads()
    element = tf.data.Dataset.range(1_000_000).prefetch(4).make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert session.run(element) == 0
        made = _threads() - before
        assert len(made) == 1
    _wait_until_gone(made)


def test_a_prefetching_thread_ends_when_its_iterator_begins_again():
    iterator = tf.data.Dataset.range(1_000_000).prefetch(4).make_initializable_iterator()
    element = iterator.get_next()
    before = _threads()
    with tf.Session() as session:
        session.run(iterator.initializer)
        session.run(element)
        made = _threads() - before
        session.run(iterator.initializer)
        assert session.run(element) == 0
        _wait_until_gone(made)


def test_threads_of_epochs_end_with_them():
    before = _threads()
    dataset = tf.data.Dataset.range(3).prefetch(1).repeat(5)
    element = dataset.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert [session.run(element) for _ in range(15)] == list(range(3)) * 5
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(element)
        _wait_until_gone(_threads() - before)


def test_an_iterator_waiting_for_a_generator_leaves_when_the_step_runs_out_of_time():
    release = threading.Event()

    def wait_and_yield():
        release.wait()
        yield 1

    dataset = tf.data.Dataset.from_generator(wait_and_yield, tf.int64).prefetch(1)
    element = dataset.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(element, options=tf.RunOptions(timeout_in_ms=50))
        release.set()
        assert session.run(element) == 1


def test_the_error_of_an_element_names_the_op_of_the_function_and_its_line():
    dataset = tf.data.Dataset.from_tensor_slices([1, 0, 2]).map(lambda x: 10 // x)
    element = dataset.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert session.run(element) == 10
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"test_datasets\.py") as caught:
            session.run(element)
        assert caught.value.op.type == "FloorDiv"
        assert session.run(element) == 5


def test_calls_of_a_slow_function_overlap(meet):
    dataset = tf.data.Dataset.range(20).map(lambda x: tf.py_func(meet, [x], tf.int64), num_parallel_calls=2)
    element = dataset.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert [session.run(element) for _ in range(20)] == list(range(20))


def test_each_pass_over_a_shuffled_dataset_has_another_order():
    dataset = tf.data.Dataset.range(50).shuffle(50, seed=1)
    iterator = dataset.map(lambda x: x).repeat(2).make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer)
        numbers = [session.run(element) for _ in range(100)]
    assert sorted(numbers[:50]) == sorted(numbers[50:]) == list(range(50))
    assert numbers[:50] != numbers[50:]


def test_cached_elements_are_made_once():
    calls = []
    dataset = tf.data.Dataset.range(3).map(
        lambda x: tf.py_func(lambda v: calls.append(v) or v, [x], tf.int64)
    )
    element = dataset.cache().repeat(4).make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert [session.run(element) for _ in range(12)] == list(range(3)) * 4
    assert calls == [0, 1, 2]


def test_elements_cached_in_a_file_outlive_the_session(tmp_path):
    def elements(source):
        with tf.Graph().as_default(), tf.Session() as session:
            dataset = tf.data.Dataset.range(*source).map(lambda x: (x, tf.as_string(x)))
            element = dataset.cache(str(tmp_path / "kept")).make_one_shot_iterator().get_next()
            found = []
            with pytest.raises(tf.errors.OutOfRangeError):
                while True:
                    found.append(session.run(element))
            return found

    assert elements((3,)) == elements((7, 9)) == [(0, b"0"), (1, b"1"), (2, b"2")]


def test_fetched_elements_share_no_memory_with_the_dataset():
    element = (
        tf.data.Dataset.from_tensor_slices(np.zeros([1, 3])).repeat().make_one_shot_iterator().get_next()
    )
    with tf.Session() as session:
        session.run(element)[:] = 5
        assert session.run(element).tolist() == [0, 0, 0]


def test_random_ops_of_different_functions_have_streams_of_their_own():
    numbers = tf.data.Dataset.range(3)
    first = numbers.map(lambda x: tf.random_uniform([], seed=1))
    second = numbers.map(lambda x: tf.random_uniform([], seed=1))
    element = tf.data.Dataset.zip((first, second)).make_initializable_iterator()
    following = element.get_next()
    with tf.Session() as session:
        session.run(element.initializer)
        for _ in range(3):
            a, b = session.run(following)
            assert a == b


def test_an_iterator_that_nobody_holds_stops_its_threads():
    before = _threads()
    session = tf.Session()
    element = tf.data.Dataset.range(1_000_000).prefetch(2).make_one_shot_iterator().get_next()
    session.run(element)
    made = _threads() - before
    session.close()
    del session
    gc.collect()
    _wait_until_gone(made)


def test_rows_of_a_database(tmp_path):
    path = str(tmp_path / "rows.db")
    with sqlite3.connect(path) as database:
        database.execute("create table t (n integer, x real, s text)")
        database.executemany("insert into t values (?, ?, ?)", [(1, 0.5, "a"), (2, 1.5, None)])
    types = tf.int64, tf.float64, tf.string
    dataset = tf.data.experimental.SqlDataset("sqlite", path, "select * from t order by n", types)
    element = dataset.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert [session.run(element) for _ in range(2)] == [(1, 0.5, b"a"), (2, 1.5, b"")]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(element)


def test_steps_of_many_threads_get_each_element_once():
    element = tf.data.Dataset.range(400).prefetch(4).make_one_shot_iterator().get_next()
    found = []

    def take(session):
        with pytest.raises(tf.errors.OutOfRangeError):
            while True:
                found.append(int(session.run(element)))

    with tf.Session() as session:
        threads = [threading.Thread(target=take, args=[session]) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(found) == list(range(400))


def test_features_from_csv_files(tmp_path):
    (tmp_path / "a.csv").write_text("x,y,name\n1,2.5,a\n3,,b\n5,6,c\n")
    dataset = tf.data.experimental.make_csv_dataset(
        str(tmp_path / "*.csv"), 2, label_name="y", num_epochs=1, shuffle=False
    )
    features, label = dataset.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        found, labels = session.run([features, label])
    assert found["x"].tolist() == [1, 3] and found["name"].tolist() == [b"a", b"b"]
    assert labels.tolist() == [2.5, 0.0]


def test_features_from_records(tmp_path):
    with tf.python_io.TFRecordWriter(str(tmp_path / "r")) as writer:
        for i in range(4):
            value = tf.train.Feature(int64_list=tf.train.Int64List(value=[i]))
            example = tf.train.Example(features=tf.train.Features(feature={"n": value, "l": value}))
            writer.write(example.SerializeToString())
    features = {"n": tf.FixedLenFeature([], tf.int64), "l": tf.FixedLenFeature([], tf.int64)}
    dataset = tf.data.experimental.make_batched_features_dataset(
        str(tmp_path / "r"), 3, features, label_key="l", num_epochs=1, shuffle=False
    )
    element = dataset.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        found, labels = session.run(element)
    assert found["n"].tolist() == labels.tolist() == [0, 1, 2]


def test_a_dataset_says_what_it_is():
    elements = {"image": np.zeros([3, 4], np.float32), "label": np.zeros([3], np.int64)}
    dataset = tf.data.Dataset.from_tensor_slices((elements, [1, 2, 3])).batch(2)
    assert repr(dataset) == (
        "<DatasetV1Adapter shapes: ({image: (?, 4), label: (?,)}, (?,)), "
        "types: ({image: tf.float32, label: tf.int64}, tf.int32)>"
    )
    shown = dataset._repr_html_()
    assert "<td>[0][&#x27;image&#x27;]</td><td>TensorSpec(shape=(?, 4), dtype=tf.float32" in shown
    assert "<td>[1]</td><td>TensorSpec(shape=(?,), dtype=tf.int32" in shown
    assert "<td>element</td>" in tf.data.Dataset.range(3)._repr_html_()


def elements_of(dataset):
    iterator = tf.data.make_initializable_iterator(dataset)
    element, found = iterator.get_next(), []
    with tf.Session() as session:
        session.run(iterator.initializer)
        with contextlib.suppress(tf.errors.OutOfRangeError):
            while True:
                found.append(session.run(element))
    return found


def test_an_element_that_fails_is_the_error_of_the_windows_that_it_is_in():
    given = tf.data.Dataset.from_tensor_slices([1.0, np.nan, 2.0, np.nan, 3.0])
    checked = given.map(lambda x: tf.check_numerics(x, "x"))
    apart = checked.window(2, shift=2, stride=2, drop_remainder=True).flat_map(lambda w: w.batch(2))
    np.testing.assert_array_equal(elements_of(apart), [[1, 2], [2, 3]])
    beside = checked.window(2).flat_map(lambda w: w.batch(2)).apply(tf.data.experimental.ignore_errors())
    np.testing.assert_array_equal(elements_of(beside), [[3]])


def test_ragged_values_are_elements():
    rows = tf.ragged.constant_value([[1], [2, 3]])
    (whole,) = elements_of(tf.data.Dataset.from_tensors(rows))
    assert whole.to_list() == [[1], [2, 3]]
    deep = tf.ragged.constant_value([[[1]], [[2], [3]]])
    pairs = elements_of(tf.data.Dataset.from_tensor_slices((deep, [8, 9])))
    assert [(row.to_list(), number) for row, number in pairs] == [([[1]], 8), ([[2], [3]], 9)]


@pytest.mark.parametrize(
    "make, error, words",
    [
        (
            lambda: tf.data.Dataset.range(2).batch(1).padded_batch(2, -tf.constant([5], tf.int64)),
            tf.errors.InvalidArgumentError,
            "Dimension -5 must be >= -1",
        ),
        (
            lambda: tf.data.Dataset.from_sparse_tensor_slices(
                tf.SparseTensor([[1, 0], [0, 0]], [1, 2], [2, 2])
            ),
            tf.errors.UnimplementedError,
            "must be ordered in the batch dimension",
        ),
    ],
)
def test_what_is_given_in_a_wrong_form(make, error, words):
    with pytest.raises(error, match=words):
        elements_of(make())


def test_a_query_may_change_its_database(tmp_path):
    path = str(tmp_path / "rows.db")
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("create table t (n integer)")
    dataset = tf.data.experimental.SqlDataset("sqlite", path, "insert into t values (7)", (tf.int64,))
    assert elements_of(dataset) == []
    with contextlib.closing(sqlite3.connect(path)) as database:
        assert list(database.execute("select * from t")) == [(7,)]


def test_types_are_not_inferred_from_rows_of_several_lengths(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n3\n")
    with pytest.raises(ValueError, match="different number of fields than expected"):
        tf.data.experimental.make_csv_dataset(str(tmp_path / "a.csv"), 1)


def test_an_iterator_in_a_function_begins_at_each_call():
    with eager_mode():
        dataset = tf.data.Dataset.range(3)

        @tf.function
        def first_two():
            iterator = iter(dataset)
            return next(iterator) * 10 + next(iterator)

        assert [first_two().numpy() for _ in range(2)] == [1, 1]


def test_eagerly_the_base_of_unit_tests_reads_elements():
    class Case(dataset_testing.DatasetTestBase):
        def runTest(self):
            with eager_mode():
                self.assertDatasetProduces(tf.data.Dataset.range(2), [0, 1])

    Case().debug()


def test_values_of_sparse_tensors_are_states_and_results():
    def row(i):
        return tf.SparseTensorValue(np.array([[0, 0]]), i * np.array([1]), np.array([1, 1]))

    last = tf.data.Dataset.range(3).map(lambda i: {"row": row(i)}).reduce(row(7), lambda _, x: x["row"])
    with tf.Session() as session:
        assert session.run(last).values.tolist() == [2]


def test_a_generator_may_yield_ranges():
    dataset = tf.data.Dataset.from_generator(lambda: iter([range(2), range(3)]), tf.int64, [None])
    assert [element.tolist() for element in elements_of(dataset)] == [[0, 1], [0, 1, 2]]
