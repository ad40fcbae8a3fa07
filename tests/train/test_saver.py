"""Savers: what is restored is whole, what fails changes nothing, and a killed save costs nothing."""

import os
import random
import signal
import threading
import time

import numpy as np
import pytest

import tideflow as tf
from tideflow.io.bundle import BundleReader
from tideflow.train import restoring


@pytest.fixture(autouse=True)
def _fresh_graph():
    with tf.Graph().as_default():
        yield


def _saved(prefix, **values):
    """A checkpoint of variables of these values."""
    with tf.Graph().as_default(), tf.Session() as sess:
        for name, value in values.items():
            tf.get_variable(name, initializer=value)
        sess.run(tf.global_variables_initializer())
        return tf.train.Saver().save(sess, str(prefix), write_meta_graph=False)


_FILL = "fill"

# ----------------------------------------------------------------------------------------- killed at any time


def _write_forever(sess, step, saver, path):
    """In a process of its own: numbered checkpoints and one name over and over, until killed."""
    number = sess.run(step)
    while True:
        number = sess.run(step.assign_add(1))
        sess.run(_FILL)
        saver.save(sess, path, global_step=int(number) % 3 or None, write_meta_graph=False)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_killed_at_any_instant_the_last_complete_checkpoint_loads(tmp_path):
    step = tf.get_variable("step", initializer=np.float32(0))
    parts = [tf.get_variable(f"v{i}", shape=[20000], initializer=tf.zeros_initializer()) for i in range(3)]
    tf.group(*[part.assign(tf.zeros_like(part) + step) for part in parts], name=_FILL)
    saver = tf.train.Saver(max_to_keep=2)
    path = str(tmp_path / "m")
    chance = random.Random(1)
    seen = set()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        saver.save(sess, path, write_meta_graph=False)
        for _ in range(25):
            child = os.fork()
            if not child:
                try:
                    _write_forever(sess, step, saver, path)
                finally:
                    os._exit(1)
            time.sleep(0.02 + chance.random() * 0.08)
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            newest = tf.train.latest_checkpoint(str(tmp_path))
            assert newest is not None
            with BundleReader(newest) as reader:
                numbers = {float(n) for name in reader for n in np.unique(reader.read(name))}
            assert len(numbers) == 1, "variables of different steps in one checkpoint"
            seen |= numbers
            saver.restore(sess, newest)
            saver.recover_last_checkpoints(
                tf.train.get_checkpoint_state(str(tmp_path)).all_model_checkpoint_paths
            )
    assert len(seen) > 1, "no save was ever finished"


def test_steps_go_on_while_a_save_sees_each_variable_whole(tmp_path):
    v = tf.get_variable("v", shape=[100000], initializer=tf.zeros_initializer())
    more = v.assign_add(tf.ones_like(v))
    saver = tf.train.Saver(max_to_keep=1)
    with tf.Session() as sess:
        sess.run(v.initializer)
        stop = threading.Event()

        def train():
            while not stop.is_set():
                sess.run(more.op)

        thread = threading.Thread(target=train)
        thread.start()
        try:
            for i in range(10):
                path = saver.save(sess, str(tmp_path / "m"), global_step=i, write_meta_graph=False)
                assert len(np.unique(tf.train.load_variable(path, "v"))) == 1
        finally:
            stop.set()
            thread.join()


# --------------------------------------------------------------------------------- what fails changes nothing


def _unchanged_by(path, error, said, sharded=False, **shapes):
    """Restoring variables of these shapes fails so, and leaves each of them as it was."""
    variables = []
    for i, (name, shape) in enumerate(shapes.items()):
        with tf.device("/cpu:0" if i % 2 else None):
            variables.append(tf.get_variable(name, shape=shape, initializer=tf.ones_initializer()))
    saver = tf.train.Saver(sharded=sharded)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        with pytest.raises(error, match=said):
            saver.restore(sess, path)
        assert all((value == 1).all() for value in sess.run(variables))


@pytest.mark.parametrize("sharded", [False, True])
def test_a_shape_that_differs(sharded, tmp_path):
    path = _saved(tmp_path / "m", a=np.zeros(3, np.float32), b=np.zeros(3, np.float32))
    said = r"lhs shape= \[4\] rhs shape= \[3\]"
    _unchanged_by(path, tf.errors.InvalidArgumentError, said, sharded, a=[3], b=[4])


@pytest.mark.parametrize("sharded", [False, True])
def test_keys_that_are_missing_are_all_named_with_the_nearest_and_both_shapes(sharded, tmp_path):
    path = _saved(tmp_path / "m", a=np.zeros(3, np.float32), weights=np.zeros((2, 3), np.float32))
    said = r"Key weight not found.*weights \[2, 3\] \(wanted with shape \[2,3\]\)\nKey x not found"
    _unchanged_by(path, tf.errors.NotFoundError, said, sharded, a=[3], weight=[2, 3], x=[1])


@pytest.mark.parametrize("sharded", [False, True])
def test_data_that_is_damaged(sharded, tmp_path):
    path = _saved(tmp_path / "m", a=np.zeros(3, np.float32), b=np.zeros(3, np.float32))
    with open(f"{path}.data-00000-of-00001", "r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\x01")
    _unchanged_by(path, tf.errors.DataLossError, "key 'b': checksum", sharded, a=[3], b=[3])


def _of_every_kind():
    """Variables and a table, and tensors that change and that read all of them."""
    table = tf.lookup.experimental.DenseHashTable(tf.int64, tf.float32, -1.0, -1, -2)
    tf.get_variable("a", initializer=np.arange(6, dtype=np.float32).reshape(2, 3))
    tf.get_variable("b", initializer=np.arange(3), use_resource=True)
    tf.get_variable("c", initializer=np.array([b"x", b"yz"], object))
    tf.get_variable("d", initializer=np.array([True, False]))
    tf.get_variable("e", initializer=tf.cast([1.5, 2.5], tf.bfloat16))
    tf.get_variable("f", shape=[5, 2], partitioner=tf.fixed_size_partitioner(2))
    return table, [table.lookup(tf.constant([1, 2], tf.int64)), *tf.global_variables()]


@pytest.mark.parametrize("sharded", [False, True])
@pytest.mark.parametrize("reshape", [False, True])
def test_large_checkpoints_are_restored_in_parts(reshape, sharded, tmp_path, monkeypatch):
    monkeypatch.setattr(restoring, "_AT_ONCE", 10)
    table, values = _of_every_kind()
    insert = table.insert([1], [3.0])
    saver = tf.train.Saver(reshape=reshape, sharded=sharded)
    with tf.Session() as sess:
        sess.run([insert, tf.global_variables_initializer()])
        path = saver.save(sess, str(tmp_path / "m"))
        saved = sess.run(values)
    with tf.Session() as sess:
        saver.restore(sess, path)
        for before, after in zip(saved, sess.run(values)):
            assert before.dtype == after.dtype
            assert (before == after).all()


def test_a_part_that_is_damaged_keeps_the_others_from_being_restored(tmp_path, monkeypatch):
    monkeypatch.setattr(restoring, "_AT_ONCE", 10)
    test_data_that_is_damaged(False, tmp_path)


def test_a_save_that_fails_leaves_the_old_checkpoint_and_state(tmp_path):
    v = tf.get_variable("v", initializer=np.float32([1, 2]))
    w = tf.get_variable("w", initializer=np.float32(3))
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        path = saver.save(sess, str(tmp_path / "m"))
        before = sorted(os.listdir(tmp_path))
    with tf.Session() as sess:
        sess.run(v.initializer)
        with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value w"):
            saver.save(sess, str(tmp_path / "m"))
    assert sorted(os.listdir(tmp_path)) == before
    assert tf.train.latest_checkpoint(str(tmp_path)) == path
    assert tf.train.load_variable(path, w.op.name) == 3


# ---------------------------------------------------------------------------------------------------- keeping


def test_one_checkpoint_in_so_many_hours_stays(tmp_path, monkeypatch):
    v = tf.get_variable("v", initializer=np.float32(1))
    now = [time.time()]
    monkeypatch.setattr(time, "time", lambda: now[0])
    saver = tf.train.Saver(max_to_keep=1, keep_checkpoint_every_n_hours=2)
    with tf.Session() as sess:
        sess.run(v.initializer)
        for hour in range(7):
            saver.save(sess, str(tmp_path / "m"), global_step=hour, write_meta_graph=False)
            now[0] += 3600
    kept = sorted(name for name in os.listdir(tmp_path) if name.endswith(".index"))
    assert kept == ["m-3.index", "m-5.index", "m-6.index"]


def test_tables_are_saved_and_restored(tmp_path):
    table = tf.lookup.experimental.DenseHashTable(tf.int64, tf.float32, -1.0, -1, -2)
    insert = table.insert([1, 2], [10.0, 20.0])
    read = table.lookup(tf.constant([1, 2, 3], tf.int64))
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(insert)
        path = saver.save(sess, str(tmp_path / "m"))
    with tf.Session() as sess:
        saver.restore(sess, path)
        assert sess.run(read).tolist() == [10, 20, -1]


def test_a_saver_of_a_message_is_the_same_saver(tmp_path):
    v = tf.get_variable("v", initializer=np.float32([1, 2]))
    saver = tf.train.Saver({"renamed": v})
    with tf.Session() as sess:
        sess.run(v.initializer)
        path = saver.save(sess, str(tmp_path / "m"))
        again = tf.train.Saver.from_proto(saver.to_proto())
        sess.run(v.assign([5.0, 5.0]))
        again.restore(sess, path)
        assert sess.run(v).tolist() == [1, 2]
