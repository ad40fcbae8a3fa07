"""Lookup tables against a dictionary, under threads, and in their buckets."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tideflow as tf
from tideflow.runtime.tables import DenseTable, StaticTable, Table

KEYS = st.lists(st.integers(-20, 20), min_size=1, max_size=12)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["insert", "remove", "find", "import"]), KEYS), max_size=20))
def test_a_table_is_a_dictionary(steps):
    table, known, number = Table("", "t", tf.int64, tf.int64, (2,)), {}, 0
    for what, keys in steps:
        array = np.array(keys)
        if what in ("insert", "import"):
            values = np.arange(number, number + 2 * len(keys)).reshape(-1, 2)
            number += 2 * len(keys)
            if what == "import":
                known.clear()
                table.import_items(array, values)
            else:
                table.insert(array, values)
            known.update(zip(keys, values.tolist(), strict=True))
        elif what == "remove":
            table.remove(array)
            for key in keys:
                known.pop(key, None)
        found = table.find(array, np.array([-1, -2]))
        assert found.tolist() == [known.get(key, [-1, -2]) for key in keys]
        assert table.size() == len(known)
    found_keys, found_values = table.export_items()
    assert dict(zip(found_keys.tolist(), found_values.tolist(), strict=True)) == known


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64, tf.float32, tf.string])
def test_many_keys_of_every_type(dtype):
    numbers = np.random.default_rng(0).permutation(5000)
    keys = numbers.astype(dtype.as_numpy_dtype)
    if dtype is tf.string:
        keys = np.array([str(number).encode() for number in numbers], object)
    table = StaticTable("", "t", dtype, tf.float64)
    table.initialize(keys[:4000], np.arange(4000.0))
    for _ in range(3):
        found = table.find(keys.reshape(50, 100), np.float64(-1))
        expected = np.where(np.arange(5000) < 4000, np.arange(5000), -1)
        np.testing.assert_array_equal(found.ravel(), expected)


def test_threads_insert_and_find():
    table = Table("", "t", tf.int64, tf.int64)
    failures = []

    def work(offset):
        for i in range(200):
            keys = np.arange(offset, offset + 10) + 10 * i
            table.insert(keys, keys * 2)
            if not (table.find(keys, np.int64(-1)) == keys * 2).all():
                failures.append(keys)

    threads = [threading.Thread(target=work, args=(10_000 * n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert table.size() == 4 * 2000


def dense(buckets: int = 8) -> DenseTable:
    return DenseTable("", "t", tf.int64, tf.int64, (), np.array(0), np.array(-1), buckets, 0.8)


def test_buckets_are_where_tensorflow_looks_for_them():
    table = dense(4)
    table.insert(np.array([11, 12, 13]), np.array([1, 2, 3]))
    table.insert(np.array([5]), np.array([4]))
    keys, values = table.export_items()
    assert keys.ravel().tolist() == [0, 0, 0, 11, 12, 13, 5, 0]
    assert values.ravel().tolist() == [0, 0, 0, 1, 2, 3, 4, 0]
    other = dense()
    other.import_items(keys, values)
    assert other.find(np.array([5, 11, 7]), np.int64(-9)).tolist() == [4, 1, -9]


def test_reserved_keys_are_refused():
    table = dense()
    for keys, word in (([3, 0], "empty_key"), ([-1], "deleted_key")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"Using the {word} as a table key"):
            table.insert(np.array(keys), np.zeros(len(keys), np.int64))
    assert table.size() == 0
