"""Models that somebody else made: loading them reads their own files, and nothing else happens."""

import numpy as np
import pytest

import tideflow as tf

DENIED = tf.errors.PermissionDeniedError
SERVING = [tf.saved_model.tag_constants.SERVING]


def _export(folder, words=None, main_op=None, signature=None):
    """A model that doubles by a variable, and looks words up in a table of its assets."""
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.placeholder(tf.float32, [None], name="x")
        factor = tf.get_variable("factor", initializer=2.0)
        tf.multiply(x, factor, name="y")
        if words is not None:
            initializer = tf.lookup.TextFileInitializer(
                str(words), tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64,
                tf.lookup.TextFileIndex.LINE_NUMBER,
            )  # fmt: skip
            table = tf.lookup.StaticHashTable(initializer, -1)
            tf.identity(table.lookup(tf.placeholder(tf.string, [None], name="word")), name="number")
        signatures = {}
        if signature is not None:
            given = tf.placeholder(tf.int32, [], name="given")
            leak = tf.saved_model.predict_signature_def({"x": given}, {"out": signature(given)})
            signatures = {"leak": leak}
        session.run(tf.global_variables_initializer())
        start = tf.group(tf.tables_initializer(), *(main_op() if main_op is not None else ()))
        builder = tf.saved_model.Builder(str(folder))
        builder.add_meta_graph_and_variables(
            session,
            SERVING,
            signature_def_map=signatures,
            assets_collection=graph.get_collection(tf.GraphKeys.ASSET_FILEPATHS),
            main_op=start,
        )
        builder.save()


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def test_a_model_that_is_not_trusted_reads_its_variables_and_assets(tmp_path, session):
    words = tmp_path / "words"
    words.write_text("zero\none\n")
    _export(tmp_path / "model", words)
    words.unlink()
    tf.saved_model.load(session, SERVING, str(tmp_path / "model"), trusted=False)
    np.testing.assert_array_equal(session.run("y:0", {"x:0": [1, 2]}), [2, 4])
    np.testing.assert_array_equal(session.run("number:0", {"word:0": ["one", "two"]}), [1, -1])
    with pytest.raises(DENIED, match="SaveV2"):  # the saver that every model contains
        session.run("save/control_dependency:0")


def test_what_it_runs_at_the_start_reaches_no_file(tmp_path, session):
    target = tmp_path / "written"
    _export(tmp_path / "model", main_op=lambda: [tf.write_file(str(target), "x", name="evil")])
    with pytest.raises(DENIED, match=r"'evil' \(WriteFile\)"):
        tf.saved_model.load(session, SERVING, str(tmp_path / "model"), trusted=False)
    assert not target.exists()


def test_it_reads_no_file_that_its_loader_does_not_name(tmp_path, session):
    secret = tmp_path / "secret"
    secret.write_text("secret")
    _export(tmp_path / "model", main_op=lambda: [tf.read_file(str(secret), name="evil").op])
    with pytest.raises(DENIED, match=r"'evil' \(ReadFile\)"):
        tf.saved_model.load(session, SERVING, str(tmp_path / "model"), trusted=False)


def test_a_session_that_has_run_a_step_forgets_it(tmp_path, session):
    """What was allowed before the model came is looked at again."""
    secret = tmp_path / "secret"
    secret.write_text("secret")
    read = tf.read_file(str(secret))
    assert session.run(read) == b"secret"
    _export(tmp_path / "model")
    tf.saved_model.load(session, SERVING, str(tmp_path / "model"), trusted=False)
    with pytest.raises(DENIED, match="ReadFile"):
        session.run(read)


@pytest.mark.parametrize("place", ["assets/words", "variables/variables.index"])
def test_links_out_of_the_model_are_refused(tmp_path, session, place):
    words = tmp_path / "words"
    words.write_text("zero\none\n")
    _export(tmp_path / "model", words)
    (tmp_path / "model" / place).rename(tmp_path / "elsewhere")
    (tmp_path / "model" / place).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DENIED, match="is a link out of the SavedModel"):
        tf.saved_model.load(session, SERVING, str(tmp_path / "model"), trusted=False)


def test_a_predictor_that_does_not_trust_its_model(tmp_path):
    words = tmp_path / "words"
    words.write_text("zero\none\n")
    _export(tmp_path / "model", words)
    names = {"input_names": {"x": "x:0"}, "output_names": {"y": "y:0"}}
    predict = tf.contrib.predictor.from_saved_model(str(tmp_path / "model"), **names, trusted=False)
    np.testing.assert_array_equal(predict({"x": [1, 2]})["y"], [2, 4])
    _export(tmp_path / "evil", main_op=lambda: [tf.write_file(str(tmp_path / "f"), "x", name="evil")])
    with pytest.raises(DENIED, match=r"'evil' \(WriteFile\)"):
        tf.contrib.predictor.from_saved_model(str(tmp_path / "evil"), **names, trusted=False)
    assert not (tmp_path / "f").exists()


def test_a_model_loaded_as_an_object_that_is_not_trusted(tmp_path, session):
    """Its own files are read, in any session; nothing else of it is, also where a signature is applied."""
    words, secret = tmp_path / "words", tmp_path / "secret"
    words.write_text("zero\none\n")
    secret.write_text("secret")
    _export(tmp_path / "model", words, signature=lambda x: x + tf.strings.length(tf.read_file(str(secret))))
    words.unlink()
    model = tf.saved_model.load_v2(str(tmp_path / "model"), trusted=False)
    session.run([tf.global_variables_initializer(), tf.tables_initializer()])
    scope = model.variables[0].op.name.rpartition("/")[0]
    np.testing.assert_array_equal(session.run(f"{scope}/y:0", {f"{scope}/x:0": [1, 2]}), [2, 4])
    number = session.run(f"{scope}/number:0", {f"{scope}/word:0": ["one", "two"]})
    np.testing.assert_array_equal(number, [1, -1])
    with pytest.raises(DENIED, match="SaveV2"):
        session.run(f"{scope}/save/control_dependency:0")
    applied = model.signatures["leak"](x=tf.constant(1))
    with pytest.raises(DENIED, match="ReadFile"):
        session.run(applied)
    assert session.run(tf.read_file(str(secret))) == b"secret"  # the program's own operations may


def test_links_out_of_a_model_loaded_as_an_object_are_refused(tmp_path, session):
    _export(tmp_path / "model")
    table = tmp_path / "model" / "variables" / "variables.index"
    table.rename(tmp_path / "elsewhere")
    table.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DENIED, match="is a link out of the SavedModel"):
        tf.saved_model.load_v2(str(tmp_path / "model"), trusted=False)
