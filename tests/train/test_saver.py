"""Savers: what is restored is whole, what fails changes nothing, and a killed save costs nothing."""

import os
import random
import select
import signal
import threading
import time

import numpy as np
import pytest

import tideflow as tf
from tests.train.checkpoints import checkpoint_of
from tideflow.io.bundle import BundleReader
from tideflow.io.bundle_writer import BundleWriter
from tideflow.train import restoring


@pytest.fixture(autouse=True)
def _fresh_graph():
    with tf.Graph().as_default():
        yield


# ----------------------------------------------------------------------------------------- killed at any time


def _write_forever(saver, newest, save_next, saved):
    """In a process and a session of its own: checkpoints until killed; after each a byte says so."""
    with tf.Session() as sess:
        saver.restore(sess, newest)
        while True:
            save_next(sess)
            os.write(saved, b".")


def _killed_while_saving(saver, newest, save_next, delay):
    """Has a process go on from a checkpoint and save, and kills it some seconds after it has saved once."""
    told, saved = os.pipe()
    child = os.fork()
    if not child:
        try:
            _write_forever(saver, newest, save_next, saved)
        finally:
            os._exit(1)
    try:
        assert select.select([told], [], [], 60)[0], "the process saves nothing"
        time.sleep(delay)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(told)
        os.close(saved)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("sharded", [False, True])
def test_killed_at_any_instant_the_last_complete_checkpoint_loads(sharded, tmp_path):
    step = tf.get_variable("step", initializer=np.float32(0))
    with tf.device("/cpu:0"):
        parts = [tf.get_variable("v0", shape=[20000], initializer=tf.zeros_initializer())]
    parts += [tf.get_variable(f"v{i}", shape=[20000], initializer=tf.zeros_initializer()) for i in (1, 2)]
    count = step.assign_add(1)
    fill = tf.group(*[part.assign(tf.zeros_like(part) + step) for part in parts])
    saver = tf.train.Saver(max_to_keep=2, sharded=sharded)
    path = str(tmp_path / "m")
    chance = random.Random(1)
    with tf.Session() as sess:

        def save_next(sess):
            """Numbered checkpoints, and one name over and over."""
            number = int(sess.run(count))
            sess.run(fill)
            saver.save(sess, path, global_step=number % 3 or None, write_meta_graph=False)

        sess.run(tf.global_variables_initializer())
        save_next(sess)
        newest = tf.train.latest_checkpoint(str(tmp_path))
        for _ in range(15):
            before = sess.run(step)
            _killed_while_saving(saver, newest, save_next, delay=0.06 * chance.random())
            newest = tf.train.latest_checkpoint(str(tmp_path))
            assert newest is not None
            with BundleReader(newest) as reader:
                numbers = {float(n) for name in reader for n in np.unique(reader.read(name))}
            assert len(numbers) == 1, "variables of different steps in one checkpoint"
            assert numbers.pop() > before
            saver.restore(sess, newest)
            saver.recover_last_checkpoints(
                tf.train.get_checkpoint_state(str(tmp_path)).all_model_checkpoint_paths
            )


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


def test_steps_go_on_in_the_middle_of_a_save_which_keeps_what_it_began_with(tmp_path, monkeypatch):
    v = tf.get_variable("v", shape=[1000], initializer=tf.zeros_initializer())
    more = v.assign_add(tf.ones_like(v))
    saver = tf.train.Saver()
    begun, may_go_on, add = threading.Event(), threading.Event(), BundleWriter.add

    def add_when_told(*arguments):
        begun.set()
        assert may_go_on.wait(30)
        add(*arguments)

    monkeypatch.setattr(BundleWriter, "add", add_when_told)
    with tf.Session() as sess:
        sess.run(v.initializer)
        save = threading.Thread(target=saver.save, args=(sess, str(tmp_path / "m")))
        save.start()
        try:
            assert begun.wait(30)
            for _ in range(3):
                sess.run(more.op)
        finally:
            may_go_on.set()
            save.join()
        assert set(sess.run(v)) == {3}
    assert set(tf.train.load_variable(str(tmp_path / "m"), "v")) == {0}


def test_of_two_saves_at_once_the_one_that_began_last_is_the_latest(tmp_path, monkeypatch):
    tf.get_variable("v", shape=[2], initializer=tf.zeros_initializer())
    saver, prefix = tf.train.Saver(max_to_keep=2), str(tmp_path / "m")
    begun, may_go_on, write = threading.Event(), threading.Event(), saver._write

    def write_when_told(sess, prefix):
        if prefix.endswith("-1"):
            begun.set()
            assert may_go_on.wait(30)
        return write(sess, prefix)

    monkeypatch.setattr(saver, "_write", write_when_told)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        slow = threading.Thread(target=saver.save, args=(sess, prefix, 1))
        slow.start()
        try:
            assert begun.wait(30)
            saver.save(sess, prefix, 2)
        finally:
            may_go_on.set()
            slow.join()
        assert tf.train.latest_checkpoint(str(tmp_path)) == f"{prefix}-2"
        assert saver.last_checkpoints == [f"{prefix}-1", f"{prefix}-2"]
        saver.save(sess, prefix, 3)
    assert saver.last_checkpoints == [f"{prefix}-2", f"{prefix}-3"]


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
    path = checkpoint_of(tmp_path / "m", a=np.zeros(3, np.float32), b=np.zeros(3, np.float32))
    said = r"lhs shape= \[4\] rhs shape= \[3\]"
    _unchanged_by(path, tf.errors.InvalidArgumentError, said, sharded, a=[3], b=[4])


@pytest.mark.parametrize("sharded", [False, True])
def test_keys_that_are_missing_are_all_named_with_the_nearest_and_both_shapes(sharded, tmp_path):
    path = checkpoint_of(tmp_path / "m", a=np.zeros(3, np.float32), weights=np.zeros((2, 3), np.float32))
    said = r"Key weight not found.*weights \[2, 3\] \(wanted with shape \[2,3\]\)\nKey x not found"
    _unchanged_by(path, tf.errors.NotFoundError, said, sharded, a=[3], weight=[2, 3], x=[1])


@pytest.mark.parametrize("sharded", [False, True])
def test_data_that_is_damaged(sharded, tmp_path):
    path = checkpoint_of(tmp_path / "m", a=np.zeros(3, np.float32), b=np.zeros(3, np.float32))
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


def test_a_session_elsewhere_reads_for_itself(tmp_path, monkeypatch):
    path = checkpoint_of(tmp_path / "m", a=np.ones(9, np.float32), b=np.ones(9, np.float32))
    monkeypatch.setattr(restoring, "_AT_ONCE", 10)
    monkeypatch.setattr(tf.Session, "sess_str", "a task of a cluster")
    v = [tf.get_variable(name, shape=[9]) for name in "ab"]
    saver = tf.train.Saver()
    with tf.Session() as sess:
        steps, run = [], sess.run
        monkeypatch.setattr(sess, "run", lambda *arguments: steps.append(arguments) or run(*arguments))
        saver.restore(sess, path)
        assert [fetches for fetches, _ in steps] == [saver.saver_def.restore_op_name]
        assert set(np.concatenate(run(v))) == {1}


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


def test_a_table_alone(tmp_path):
    def made():
        return tf.lookup.experimental.DenseHashTable(
            tf.int64, tf.float32, default_value=-1.0, empty_key=0, deleted_key=-1, name="t"
        )

    with tf.Graph().as_default(), tf.Session() as session:
        table = made()
        session.run(table.insert([1], [3.0]))
        path = tf.train.Saver([table]).save(session, str(tmp_path / "model"))
    assert [name for name, _ in tf.train.list_variables(path)] == ["t-keys", "t-values"]
    with tf.Graph().as_default(), tf.Session() as session:
        table = made()
        tf.train.Saver([table]).restore(session, path)
        assert session.run(table.lookup([1, 2])).tolist() == [3.0, -1.0]


def test_a_saver_says_what_it_is(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("a", [])
        tf.get_variable("b", [])
        saver = tf.train.Saver()
        assert repr(saver) == "<Saver of 2 variables, keeps 5 checkpoints>"
        session.run(tf.global_variables_initializer())
        path = saver.save(session, str(tmp_path / "model"))
        assert repr(saver) == f"<Saver of 2 variables, keeps 5 checkpoints, last {path!r}>"
        assert repr(tf.train.Saver(max_to_keep=0, defer_build=True)) == "<Saver, keeps all checkpoints>"


class Owner(tf.contrib.checkpoint.CheckpointableBase):
    """An object of the user's that is no variable and keeps one."""

    def __init__(self, variable):
        self.variable = variable
        self.name = variable.name

    def _gather_saveables_for_checkpoint(self):
        return {"VARIABLE_VALUE": self.variable}


@pytest.mark.parametrize("listed", [True, False])
def test_an_object_that_keeps_a_variable_is_saved_by_it(listed, tmp_path):
    v = tf.get_variable("v", initializer=6.0, use_resource=True)
    saver = tf.train.Saver([Owner(v)] if listed else {"v": Owner(v)})
    with tf.Session() as session:
        session.run(v.initializer)
        path = saver.save(session, str(tmp_path / "c"))
        session.run(v.assign(7.0))
        saver.restore(session, path)
        assert session.run(v) == 6.0
    assert tf.train.list_variables(path) == [("v" if listed else "v:0", [])]


def test_a_part_of_a_variable_is_saved_by_a_processor_of_its_task():
    with tf.device("/job:ps/device:GPU:0"):
        parts = tf.fixed_size_partitioner(2)
        v = tf.get_variable("v", [4, 2], partitioner=parts, use_resource=True)
    tf.train.Saver({"v": v})
    (save,) = [op for op in tf.get_default_graph().get_operations() if op.type == "SaveV2"]
    assert {saved.device for saved in save.inputs[3:]} == {"/job:ps/device:CPU:0"}
