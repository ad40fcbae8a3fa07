"""A crash of the machine at any instant of a save leaves a whole checkpoint: the old one, or the new one.

The operations on files are recorded, and replayed on a model of a file system that forgets: the contents of
a file are those at its last fsync, and the names in a directory those at the directory's last fsync, with any
of the changes since then.
"""

import itertools
import os
from pathlib import Path

import numpy as np
import pytest

import tideflow as tf
from tideflow.io.events import EventFile
from tideflow.io.local_files import replace_bytes


class Recorder:
    """Records what is done to files below a folder: fsyncs, with what they save, and changes of names."""

    def __init__(self, folder, monkeypatch):
        self.folder = os.path.realpath(folder)
        self.record = []
        self._patch = monkeypatch
        self._seen = set()
        self._kept = []  # open files: the system gives the number of one to no other
        for name in ("replace", "link", "remove", "fsync"):
            self._wrap(name)

    def _wrap(self, name):
        real = getattr(os, name)

        def wrapped(*args, **options):
            getattr(self, f"_{name}")(*args)
            return real(*args, **options)

        self._patch.setattr(os, name, wrapped)

    def _path(self, path):
        return os.path.realpath(path)

    def _inode(self, path):
        """The number of a file; one that is seen for the first time was made before."""
        path = self._path(path)
        if not path.startswith(self.folder):
            return None
        inode = os.stat(path).st_ino
        if inode not in self._seen:
            self._seen.add(inode)
            self._kept.append(open(path, "rb"))  # noqa: SIM115
            self.record.append(("name", path, inode))
        return inode

    def _replace(self, path, new):
        inode = self._inode(path)
        self.record.append(("rename", self._path(path), self._path(new), inode))

    def _link(self, path, new):
        self.record.append(("name", self._path(new), self._inode(path)))

    def _remove(self, path):
        if os.path.exists(path):
            self._inode(path)
            self.record.append(("remove", self._path(path)))

    def _fsync(self, descriptor):
        path = os.readlink(f"/proc/self/fd/{descriptor}")
        if os.path.isdir(path):
            self.record.append(("names", path))
        elif self._inode(path) is not None:
            self.record.append(("contents", os.stat(path).st_ino, Path(path).read_bytes()))

    def close(self):
        for file in self._kept:
            file.close()


def _changed(names, change):
    """The names after a change of one of them; those of a rename move together."""
    names = dict(names)
    match change:
        case ("name", path, inode):
            names[path] = inode
        case ("rename", path, new, inode):
            names.pop(path, None)
            names[new] = inode
        case ("remove", path):
            names.pop(path, None)
    return names


def _folder_of(change):
    return os.path.dirname(change[2] if change[0] == "rename" else change[1])


def crashes(record):
    """What a crash may leave after so many operations of a record: the contents of files by path."""
    contents, names, pending = {}, {}, []
    for position, operation in enumerate([*record, None]):
        for count in range(len(pending) + 1):
            for kept in itertools.combinations(pending, count):
                left = names
                for change in kept:
                    left = _changed(left, change)
                yield position, {path: contents.get(inode, b"") for path, inode in left.items()}
        match operation:
            case ("contents", inode, data):
                contents[inode] = data
            case ("names", folder):
                for change in pending:
                    if _folder_of(change) == folder:
                        names = _changed(names, change)
                pending = [change for change in pending if _folder_of(change) != folder]
            case tuple():
                pending.append(operation)


def distinct(record):
    """The different states that a crash may leave, each with the last position at which it may."""
    last = {frozenset(state.items()): position for position, state in crashes(record)}
    return [(position, dict(state)) for state, position in last.items()]


def materialize(state, folder, at):
    for path, data in state.items():
        place = at / os.path.relpath(path, folder)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    return at


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


@pytest.fixture
def recorder(tmp_path, monkeypatch):
    folder = tmp_path / "saved"
    folder.mkdir()
    made = Recorder(folder, monkeypatch)
    yield made
    made.close()


@pytest.mark.parametrize("kind", ["V2", "V1", "the same name again", "sharded", "tf.train.Checkpoint"])
def test_after_a_crash_at_any_point_the_newest_checkpoint_is_whole(kind, recorder, tmp_path):
    made = [tf.get_variable(f"v{i}", initializer=np.zeros(50, np.float32)) for i in range(2)]
    step = tf.group(*[v.assign_add(tf.ones([50])) for v in made])
    version = tf.train.SaverDef.V1 if kind == "V1" else tf.train.SaverDef.V2
    options = {"write_version": version, "sharded": kind == "sharded", "save_relative_paths": True}
    saver = tf.train.Saver(max_to_keep=1, **options)
    objects = tf.train.Checkpoint(a=made[0], b=made[1])
    announced = []  # how much was recorded when a save had returned
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for number in range(1, 4):
            session.run(step)
            if kind == "tf.train.Checkpoint":
                objects.save(f"{recorder.folder}/model", session)
                tf.train.update_checkpoint_state(recorder.folder, f"model-{number}")
            else:
                named = None if kind == "the same name again" else number
                saver.save(session, f"{recorder.folder}/model", named, write_meta_graph=False)
            announced.append(len(recorder.record))
    found = set()
    for count, (position, state) in enumerate(distinct(recorder.record)):
        folder = materialize(state, recorder.folder, tmp_path / str(count))
        newest = tf.train.latest_checkpoint(str(folder))
        value = 0 if newest is None else whole_value(newest)
        assert value >= sum(length <= position for length in announced), "a save that had returned is lost"
        found.add(value)
    assert found == {0, 1, 2, 3}


def test_a_save_syncs_each_file_once_and_its_folder_twice(recorder):
    """The names of the checkpoint's files, and then the state that names the checkpoint."""
    v = tf.get_variable("v", initializer=np.zeros(50, np.float32))
    with tf.Session() as session:
        session.run(v.initializer)
        tf.train.Saver().save(session, f"{recorder.folder}/model", 1)
    kinds = [operation[0] for operation in recorder.record if operation[0] in ("contents", "names")]
    assert kinds == ["contents", "contents", "names", "contents", "contents", "names"]
    lost = [state for position, state in distinct(recorder.record) if position == len(recorder.record)]
    assert [sorted(os.path.basename(path) for path in state) for state in lost] == [
        ["checkpoint", "model-1.data-00000-of-00001", "model-1.index", "model-1.meta"]
    ]


def whole_value(prefix):
    """What every element of both variables is."""
    reader = tf.train.load_checkpoint(prefix)
    names = [name for name, shape in reader.get_variable_to_shape_map().items() if shape == [50]]
    values = np.array([reader.get_tensor(name) for name in names])
    assert len(values) == 2 and values.min() == values.max()
    return int(values.max())


def test_a_file_that_is_replaced_is_the_old_one_or_the_new_one(recorder):
    path = f"{recorder.folder}/file"
    for data in (b"old", b"new"):
        replace_bytes(path, data)
    states = distinct(recorder.record)
    assert {state.get(path) for _, state in states} == {None, b"old", b"new"}
    assert {state[path] for position, state in states if position == len(recorder.record)} == {b"new"}


def test_a_saved_model_is_announced_last(recorder, tmp_path):
    v = tf.get_variable("v", initializer=np.ones(50, np.float32))
    asset = tmp_path / "words"
    asset.write_text("words")
    tf.add_to_collection(tf.GraphKeys.ASSET_FILEPATHS, tf.constant(str(asset)))
    export = f"{recorder.folder}/model"
    with tf.Session() as session:
        session.run(v.initializer)
        builder = tf.saved_model.Builder(export)
        assets = tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS)
        builder.add_meta_graph_and_variables(session, ["serve"], assets_collection=assets)
        builder.save()
    loaded = 0
    for count, (_, state) in enumerate(distinct(recorder.record)):
        folder = materialize(state, recorder.folder, tmp_path / str(count)) / "model"
        if not (folder / "saved_model.pb").exists():
            continue
        assert (folder / "assets" / "words").read_text() == "words"
        with tf.Session(graph=tf.Graph()) as session:
            tf.saved_model.load(session, ["serve"], str(folder))
            assert session.run("v:0").tolist() == [1.0] * 50
        loaded += 1
    assert loaded


def test_flushed_events_are_on_the_disk(recorder):
    file = EventFile(recorder.folder)
    file.write(tf.Event(step=1))
    file.flush()
    *_, (_, last) = crashes(recorder.record)
    (data,) = last.values()
    (name,) = last
    assert data == Path(name).read_bytes() != b""
    file.close()
