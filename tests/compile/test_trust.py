"""Graphs that are not trusted: what reaches files or Python is refused, wherever in the graph it stands."""

import pytest

import tideflow as tf

DENIED = tf.errors.PermissionDeniedError


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def _file(tmp_path):
    path = tmp_path / "file"
    path.write_text("secret")
    return str(path)


def test_a_session_that_does_not_trust_its_graph_refuses_files(tmp_path):
    harmless = tf.constant(2) + 3
    path = _file(tmp_path)
    read = tf.read_file(path, name="read")
    written = tf.write_file(str(tmp_path / "other"), "x", name="write")
    with tf.Session(trusted=False) as session:
        assert session.run(harmless) == 5
        with pytest.raises(DENIED, match=r"'read' \(ReadFile\) reads or writes files"):
            session.run(read)
        with pytest.raises(DENIED, match=r"'write' \(WriteFile\)"):
            session.run([harmless, written])
        with pytest.raises(DENIED, match="'write'"), tf.control_dependencies([written]):
            session.run(tf.identity(harmless))
        with pytest.raises(DENIED, match="ReadFile"):
            session.run(read, {read.op.inputs[0]: path})  # that the name is fed does not make it safe
        with pytest.raises(DENIED, match="ReadFile"):
            session.partial_run_setup([read])
        with pytest.raises(DENIED, match="ReadFile"):
            session.make_callable(read)()
        assert session.run(tf.identity(read), {read: b"given"}) == b"given"  # the file is not read
    assert not (tmp_path / "other").exists()
    with tf.Session() as session:
        assert session.run(read) == b"secret"


def test_python_is_refused():
    called = tf.py_func(lambda: 1, [], tf.int64, name="call")
    with tf.Session(trusted=False) as session, pytest.raises(DENIED, match=r"'call' \(PyFunc\) calls Python"):
        session.run(called)


def test_functions_are_searched_too(tmp_path):
    path = _file(tmp_path)
    lines = tf.data.Dataset.from_tensors(path).map(lambda name: tf.read_file(name))
    read = tf.data.make_one_shot_iterator(lines).get_next()
    generated = tf.data.Dataset.from_generator(lambda: iter([1]), tf.int64)
    iterator = tf.data.make_initializable_iterator(generated)
    good = tf.data.make_one_shot_iterator(tf.data.Dataset.range(3).map(lambda x: x + 1)).get_next()
    with tf.Session(trusted=False) as session:
        assert session.run(good) == 1
        with pytest.raises(DENIED, match=r"of function '.*' \(ReadFile\)"):
            session.run(read)
        with pytest.raises(DENIED, match=r"\(PyFunc\) calls Python functions"):
            session.run(iterator.initializer)
    with tf.Session() as session:
        assert session.run(read) == b"secret"


@pytest.mark.parametrize(
    "make",
    [
        lambda path: tf.data.TextLineDataset(path),
        lambda path: tf.data.TFRecordDataset(path),
        lambda path: tf.data.Dataset.list_files(path),
        lambda path: tf.data.Dataset.range(3).cache(path),
    ],
    ids=["text", "records", "list", "cache"],
)
def test_datasets_of_files(tmp_path, make):
    iterator = tf.data.make_initializable_iterator(make(_file(tmp_path)))
    with tf.Session(trusted=False) as session, pytest.raises(DENIED, match="reads or writes files"):
        session.run(iterator.initializer)


def test_savers_tables_and_writers(tmp_path):
    variable = tf.get_variable("v", initializer=1.0)
    saver = tf.train.Saver()
    tf.lookup.StaticHashTable(
        tf.lookup.TextFileInitializer(_file(tmp_path), tf.string, 0, tf.int64, 1, delimiter=" "), 0
    )
    reader = tf.WholeFileReader()
    key, _ = reader.read(tf.train.string_input_producer([_file(tmp_path)]))
    with tf.Session(trusted=False) as session:
        session.run(variable.initializer)
        with pytest.raises(DENIED, match="SaveV2"):
            saver.save(session, str(tmp_path / "model"))
        with pytest.raises(DENIED, match="RestoreV2"):
            session.run(saver.saver_def.restore_op_name)
        with pytest.raises(DENIED, match="InitializeTableFromTextFileV2"):
            session.run(tf.tables_initializer())
        with pytest.raises(DENIED, match="WholeFileReader"):
            session.run(key)
