"""Tables in graphs: in sessions of their own, in conditionals, through GraphDefs, and when misused."""

import threading

import numpy as np
import pytest

import tideflow as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def vocabulary(**keywords):
    return tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2], value_dtype=tf.int64), -1, **keywords
    )


def test_each_session_fills_its_own_table():
    found = vocabulary().lookup(tf.constant(["b", "z"]))
    with tf.Session() as filled, tf.Session() as empty:
        filled.run(tf.tables_initializer())
        assert filled.run(found).tolist() == [2, -1]
        with pytest.raises(tf.errors.FailedPreconditionError, match="Table not initialized"):
            empty.run(found)


def test_a_table_goes_through_a_graph_def(graph):
    found = vocabulary(name="words").lookup(tf.placeholder(tf.string, [None], name="asked"), name="found")
    definition, name = graph.as_graph_def(), found.name
    with tf.Graph().as_default() as copy:
        tf.import_graph_def(definition, name="")
        with tf.Session(graph=copy) as session:
            session.run(copy.get_operation_by_name("key_value_init/LookupTableImportV2"))
            assert session.run(name, {"asked:0": ["a", "q"]}).tolist() == [1, -1]


def test_lookup_in_a_branch():
    table = vocabulary()
    which = tf.placeholder(tf.bool, [])
    found = tf.cond(which, lambda: table.lookup(tf.constant("a")), lambda: tf.constant(7, tf.int64))
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        assert [session.run(found, {which: side}) for side in (True, False)] == [1, 7]


def test_table_made_in_a_branch_is_filled_outside_it():
    found = tf.cond(
        tf.placeholder_with_default(True, []),
        lambda: vocabulary().lookup(tf.constant("b")),
        lambda: tf.constant(7, tf.int64),
    )
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        assert session.run(found) == 2


def test_control_edges_order_changes():
    table = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1)
    with tf.control_dependencies([table.insert(["k"], [5])]):
        found = table.lookup(["k"])
    with tf.Session() as session:
        assert session.run(found).tolist() == [5]


def test_steps_of_many_threads_share_a_table():
    table = tf.contrib.lookup.MutableHashTable(tf.int64, tf.int64, -1)
    keys = tf.placeholder(tf.int64, [None])
    insert, size = table.insert(keys, keys), table.size()
    with tf.Session() as session:

        def work(offset):
            for i in range(20):
                session.run(insert, {keys: np.arange(5) + offset + 5 * i})

        threads = [threading.Thread(target=work, args=(1000 * n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert session.run(size) == 4 * 100


def test_values_that_were_fetched_stay_as_they_are():
    table = tf.contrib.lookup.MutableHashTable(tf.string, tf.float32, [0.0, 0.0])
    found = table.lookup(["k"])
    with tf.Session() as session:
        session.run(table.insert(["k"], [[1.0, 2.0]]))
        before = session.run(found)
        session.run(table.insert(["k"], [[3.0, 4.0]]))
        assert before.tolist() == [[1.0, 2.0]]
        assert session.run(found).tolist() == [[3.0, 4.0]]


def test_misuse_names_both_types():
    table = vocabulary()
    with pytest.raises(TypeError, match="Keys must be dtype <dtype: 'string'>, got <dtype: 'int32'>"):
        table.lookup(tf.constant([1]))
    raw = tf.raw_ops.LookupTableFindV2(
        table_handle=table.resource_handle, keys=[1], default_value=np.int64(0)
    )
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError) as caught:
        session.run(raw)
    assert "have: resource, int32, int64->int64 expected: resource, string, int64->int64" in str(caught.value)


def test_a_vocabulary_file(tmp_path):
    path = tmp_path / "words"
    path.write_bytes(b"the\nquick\nfox\n")
    table = tf.contrib.lookup.index_table_from_file(str(path), num_oov_buckets=1)
    back = tf.contrib.lookup.index_to_string_table_from_file(str(path))
    ids = table.lookup(tf.constant(["fox", "the", "dog"]))
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        found, words = session.run([ids, back.lookup(ids)])
    assert found.tolist() == [2, 0, 3]
    assert words.tolist() == [b"fox", b"the", b"UNK"]
    assert [t.op.type for t in tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS)] == ["Const", "Const"]


def test_a_line_that_is_no_number_is_named(tmp_path):
    path = tmp_path / "words"
    path.write_bytes(b"1\ntwo\n")
    table = tf.lookup.StaticHashTable(
        tf.lookup.TextFileInitializer(str(path), tf.int64, -2, tf.int64, -1), -1
    )
    with (
        tf.Session() as session,
        pytest.raises(tf.errors.InvalidArgumentError, match="Field two in line 1 is not a valid int64"),
    ):
        session.run(table.initializer)


def test_own_initializers():
    class Squares(tf.contrib.lookup.TableInitializerBase):
        def initialize(self, table):
            numbers = tf.range(10, dtype=tf.int64)
            filled = tf.raw_ops.InitializeTableV2(
                table_handle=table.resource_handle, keys=numbers, values=numbers * numbers
            )
            tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, filled)
            return filled

    table = tf.lookup.StaticHashTable(Squares(tf.int64, tf.int64), -1)
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        assert session.run(table.lookup(tf.constant([3, 12], tf.int64))).tolist() == [9, -1]
