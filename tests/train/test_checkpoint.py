"""Checkpoints of objects, what a restore would do, and renamed keys."""

import os

import numpy as np
import pytest

import tideflow as tf
from tests.train.checkpoints import checkpoint_of
from tideflow.io.bundle_writer import BundleWriter
from tideflow.io.object_graph import GRAPH_KEY, TrackableObjectGraph
from tideflow.train import restoring


@pytest.fixture(autouse=True)
def _fresh_graph():
    with tf.Graph().as_default():
        yield


# ----------------------------------------------------------------------------------------- objects and files


def test_saves_add_nodes_only_where_objects_have_changed(tmp_path):
    with tf.Session() as sess:
        checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
        sess.run(tf.global_variables_initializer())
        checkpoint.save(tmp_path / "m")
        count = len(sess.graph.get_operations())
        checkpoint.save(tmp_path / "m")
        assert len(sess.graph.get_operations()) == count
        checkpoint.w = tf.Variable(2.0)
        sess.run(checkpoint.w.initializer)
        path = checkpoint.save(tmp_path / "m")
    assert "w/.ATTRIBUTES/VARIABLE_VALUE" in dict(tf.train.list_variables(path))


def test_restores_add_nodes_once(tmp_path):
    with tf.Session() as sess:
        checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
        sess.run(tf.global_variables_initializer())
        path = checkpoint.save(tmp_path / "m")
        checkpoint.restore(path).run_restore_ops()
        count = len(sess.graph.get_operations())
        checkpoint.restore(path).run_restore_ops()
        assert len(sess.graph.get_operations()) == count


class _State(tf.train.experimental.PythonState):
    def __init__(self, text):
        self.text = text

    def serialize(self):
        return self.text

    def deserialize(self, string_value):
        self.text = string_value.decode()


def test_an_object_in_the_place_of_another_is_the_one_that_is_saved(tmp_path):
    with tf.Session():
        checkpoint = tf.train.Checkpoint(state=_State("first"))
        checkpoint.save(tmp_path / "m")
        checkpoint.state = _State("second")
        path = checkpoint.save(tmp_path / "m")
        checkpoint.state.text = ""
        checkpoint.restore(path)
        assert checkpoint.state.text == "second"


def test_slots_of_what_is_no_optimizer_any_more_are_left(tmp_path):
    with tf.Session() as sess:
        v = tf.Variable(1.0)
        optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
        optimizer.minimize(v * v)
        sess.run(tf.global_variables_initializer())
        path = tf.train.Checkpoint(v=v, optimizer=optimizer).save(tmp_path / "m")
        other = tf.train.Checkpoint(v=v, optimizer=tf.Variable(2.0))
        other.restore(path).expect_partial().run_restore_ops()
        assert sess.run(v) == 1


def test_rings_of_objects_are_no_trouble(tmp_path):
    a, b = tf.train.Checkpoint(), tf.train.Checkpoint()
    a.other, b.other, a.v = b, a, tf.Variable(1.0)
    with tf.Session() as sess:
        sess.run(a.v.initializer)
        a.restore(a.save(tmp_path / "m")).assert_consumed().run_restore_ops()


def test_without_a_session_a_graph_is_saved_in_that_of_keras(tmp_path):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value"):
        checkpoint.save(tmp_path / "m")
    tf.keras.backend.get_session().run(checkpoint.v.initializer)
    assert tf.train.list_variables(checkpoint.write(str(tmp_path / "n")))


def test_names_of_a_saver_are_restored_without_the_counter(tmp_path):
    path = checkpoint_of(tmp_path / "m", v=np.float32([1, 2]))
    checkpoint = tf.train.Checkpoint(x=tf.get_variable("v", shape=[2]))
    with tf.Session() as sess:
        status = checkpoint.restore(path)
        with pytest.raises(AssertionError, match="Object not restored"):
            status.assert_consumed()
        status.initialize_or_restore()
        status.assert_consumed()
        assert sess.run([checkpoint.x, checkpoint.save_counter])[0].tolist() == [1, 2]


def test_a_restore_that_fails_leaves_all_objects_as_they_were(tmp_path):
    with tf.Session() as sess:
        both = tf.train.Checkpoint(a=tf.Variable([1.0, 2.0]), b=tf.Variable([3.0]))
        sess.run(tf.global_variables_initializer())
        path = both.save(tmp_path / "m")
    with tf.Graph().as_default(), tf.Session() as sess:
        other = tf.train.Checkpoint(a=tf.Variable([8.0, 8.0]), b=tf.Variable([9.0, 9.0]))
        sess.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"lhs shape= \[2\] rhs shape= \[1\].*byte"):
            other.restore(path).run_restore_ops()
        assert [value.tolist() for value in sess.run([other.a, other.b])] == [[8, 8], [9, 9]]


def test_what_was_not_used_is_warned_of_unless_that_was_expected(tmp_path, caplog):
    with tf.Session() as sess:
        v = tf.Variable(1.0)
        sess.run(v.initializer)
        path = tf.train.Checkpoint(v=v).save(tmp_path / "m")
        tf.train.Checkpoint().restore(path).expect_partial()
        assert not caplog.records
        tf.train.Checkpoint().restore(path)
    assert "Unresolved object in checkpoint: (root).v" in caplog.text


def _graph_of(*children):
    graph = TrackableObjectGraph()
    node = graph.nodes.add()
    for number in children:
        node.children.add(node_id=number, local_name="x")
    return graph.SerializeToString()


@pytest.mark.parametrize(
    "value, said",
    [
        (np.array(b"\xff\xff\xff", object), "is not a graph of objects"),
        (np.array(b"", object), "has no objects"),
        (np.array(_graph_of(7), object), "point to object 7 of 1"),
        (np.array(_graph_of(-1), object), "point to object -1 of 1"),
        (np.float32([1]), r"is float32\[1\], not a string"),
    ],
)
def test_damaged_graphs_of_objects_are_refused(value, said, tmp_path):
    with BundleWriter(tmp_path / "m") as writer:
        writer.add(GRAPH_KEY, value)
    with pytest.raises(tf.errors.DataLossError, match=said):
        tf.train.Checkpoint().restore(tmp_path / "m")


# ------------------------------------------------------------------------------------ plans and renamed keys


def test_a_plan_says_what_would_be_loaded_and_what_not(tmp_path):
    path = checkpoint_of(
        tmp_path / "m",
        kernel=np.zeros((2, 3), np.float32),
        bias=np.zeros(3, np.float32),
        step=np.int64(1),
        extra=np.zeros(1, np.float32),
    )
    tf.get_variable("kernel", shape=[2, 3])
    tf.get_variable("bias", shape=[4])
    tf.get_variable("step", shape=[], dtype=tf.float32)
    tf.get_variable("biass", shape=[3])
    plan = tf.train.Saver().plan_restore(path)
    assert [(match.name, match.key, match.shape) for match in plan.loaded] == [("kernel", "kernel", (2, 3))]
    assert plan.unused == ("extra",)
    (missing,) = plan.missing
    assert "Key biass not found" in missing
    assert "bias [3]" in missing
    assert "(wanted with shape [3])" in missing
    assert any("lhs shape= [4] rhs shape= [3]" in line for line in plan.mismatched)
    assert any("step" in line and "int64" in line and "byte" in line for line in plan.mismatched)
    assert str(plan).startswith(f"{path}: 1 of 4 variables can be restored\n  loaded: kernel  float32 [2,3]")


@pytest.mark.parametrize(
    "renamed",
    [
        {"old/w": "new/kernel", "old/b": "new/bias"},
        {"old/": "new/", "old/w": "new/kernel", "old/b": "new/bias"},
    ],
)
def test_renamed_keys_are_found(renamed, tmp_path):
    path = checkpoint_of(tmp_path / "m", **{"old/w": np.float32([1, 2]), "old/b": np.float32([3])})
    kernel = tf.get_variable("new/kernel", shape=[2], initializer=tf.zeros_initializer())
    bias = tf.get_variable("new/bias", shape=[1], use_resource=True)
    saver = tf.train.Saver()
    with tf.Session() as sess:
        saver.restore(sess, path, renamed=renamed)
        assert [value.tolist() for value in sess.run([kernel, bias])] == [[1, 2], [3]]


def test_whole_scopes_are_renamed_also_from_none(tmp_path):
    path = checkpoint_of(tmp_path / "m", **{"a": np.float32([1]), "in/b": np.float32([2])})
    a, b = tf.get_variable("model/a", shape=[1]), tf.get_variable("model/in/b", shape=[1])
    saver = tf.train.Saver()
    assert not saver.plan_restore(path, renamed={"": "model/"}).missing
    with tf.Session() as sess:
        saver.restore(sess, path, renamed={"": "model/"})
        assert sess.run([a, b]) == [1, 2]


def test_a_renamed_key_that_nobody_has_is_a_mistake(tmp_path):
    path = checkpoint_of(tmp_path / "m", a=np.float32([1]))
    tf.get_variable("b", shape=[1])
    saver = tf.train.Saver()
    with pytest.raises(ValueError, match="no variable that is restored is called so"):
        saver.plan_restore(path, renamed={"a": "c"})
    with tf.Session() as sess, pytest.raises(tf.errors.NotFoundError, match=r"Key z not found.* for b"):
        saver.restore(sess, path, renamed={"z": "b"})


def test_a_renamed_restore_that_is_damaged_changes_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(restoring, "_AT_ONCE", 10)
    path = checkpoint_of(tmp_path / "m", a=np.float32([1] * 9), b=np.float32([2] * 9))
    variables = [tf.get_variable(f"new/{name}", shape=[9]) for name in "ab"]
    with open(f"{path}.data-00000-of-00001", "r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\x01")
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        before = sess.run(variables)
        with pytest.raises(tf.errors.DataLossError, match="key 'b': checksum"):
            tf.train.Saver().restore(sess, path, renamed={"": "new/"})
        assert all((x == y).all() for x, y in zip(before, sess.run(variables)))


# --------------------------------------------------------------------------------------------------- managers


def test_one_checkpoint_in_so_many_hours_stays(tmp_path, monkeypatch):
    now = [1e9]
    monkeypatch.setattr("time.time", lambda: now[0])
    with tf.Session() as sess:
        v = tf.Variable(1.0)
        sess.run(v.initializer)
        manager = tf.train.CheckpointManager(
            tf.train.Checkpoint(v=v), tmp_path, max_to_keep=1, keep_checkpoint_every_n_hours=2
        )
        for _ in range(6):
            now[0] += 3600
            manager.save()
    kept = sorted(name for name in os.listdir(tmp_path) if name.endswith(".index"))
    assert kept == ["ckpt-2.index", "ckpt-4.index", "ckpt-6.index"]
