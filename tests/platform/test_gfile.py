"""tf.gfile and tf.io.gfile against what TensorFlow 1.15 does with local files."""

import os

import pytest

import tideflow as tf

GFile = tf.gfile.GFile


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\nthree")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.txt").write_text("b")
    return str(tmp_path)


def test_a_file_is_opened_when_it_is_first_used(folder):
    missing = GFile(folder + "/none")
    with pytest.raises(tf.errors.NotFoundError, match="none; No such file or directory"):
        missing.read()
    GFile(folder + "/new", "w").close()
    assert not os.path.exists(folder + "/new")


def test_text_and_bytes(folder):
    assert GFile(folder + "/a.txt").read() == "one\ntwo\nthree"
    assert GFile(folder + "/a.txt", "rb").read(4) == b"one\n"
    assert list(tf.gfile.Open(folder + "/a.txt")) == ["one\n", "two\n", "three"]
    assert tf.gfile.FastGFile(folder + "/a.txt", "rb").readlines() == [b"one\n", b"two\n", b"three"]


def test_lines_lose_their_carriage_returns(folder):
    with GFile(folder + "/dos.txt", "w") as file:
        file.write("x\r\ny")
    assert GFile(folder + "/dos.txt").readlines() == ["x\n", "y"]


def test_writing_and_appending(folder):
    with GFile(folder + "/w", "w") as file:
        file.write("abc")
        file.write(b"de")
        assert file.tell() == 5
    with GFile(folder + "/w", "a+") as file:
        assert file.read() == "abcde"
        file.write("f")
        file.flush()
        file.seek(0)
        assert file.read() == "abcdef"
    assert GFile(folder + "/w").size() == 6


def test_seeking(folder):
    file = GFile(folder + "/a.txt")
    file.seek(-5, 2)
    assert file.read() == "three"
    file.seek(0)
    file.seek(2, 1)
    assert (file.read(2), file.tell()) == ("e\n", 4)
    for bad, error in (
        (dict(offset=-1), tf.errors.InvalidArgumentError),
        (dict(offset=1, whence=5), tf.errors.InvalidArgumentError),
        (dict(offset=100), tf.errors.OutOfRangeError),
        ({}, TypeError),
        (dict(offset=1, position=1), TypeError),
    ):
        with pytest.raises(error):
            file.seek(**bad)


@pytest.mark.parametrize(
    "act, error",
    [
        (lambda d: GFile(d + "/a.txt", "x"), tf.errors.InvalidArgumentError),
        (lambda d: GFile(d + "/a.txt").write("x"), tf.errors.PermissionDeniedError),
        (lambda d: GFile(d + "/w", "w").read(), tf.errors.PermissionDeniedError),
        (lambda d: GFile(d + "/sub").read(), tf.errors.FailedPreconditionError),
        (lambda d: GFile(d + "/w", "w").write(3), TypeError),
        (lambda d: GFile("zz://x").read(), tf.errors.UnimplementedError),
        (lambda d: tf.gfile.Exists(None), TypeError),
        (lambda d: tf.gfile.MkDir(d + "/p/q"), tf.errors.NotFoundError),
        (lambda d: tf.gfile.MakeDirs(d + "/a.txt/x"), tf.errors.FailedPreconditionError),
        (lambda d: tf.gfile.Remove(d + "/none"), tf.errors.NotFoundError),
        (lambda d: tf.gfile.Remove(d + "/sub"), tf.errors.FailedPreconditionError),
        (lambda d: tf.gfile.DeleteRecursively(d + "/none"), tf.errors.NotFoundError),
        (lambda d: tf.gfile.Rename(d + "/none", d + "/x"), tf.errors.NotFoundError),
        (lambda d: tf.gfile.Rename(d + "/sub/b.txt", d + "/a.txt"), tf.errors.AlreadyExistsError),
        (lambda d: tf.gfile.Copy(d + "/sub/b.txt", d + "/a.txt"), tf.errors.AlreadyExistsError),
        (lambda d: tf.gfile.ListDirectory(d + "/a.txt"), tf.errors.NotFoundError),
        (lambda d: tf.gfile.Glob(d + "/none/*"), tf.errors.NotFoundError),
        (lambda d: tf.gfile.Stat(d + "/none"), tf.errors.NotFoundError),
    ],
)
def test_refusals(folder, act, error):
    with pytest.raises(error):
        act(folder)


def test_making_moving_and_removing(folder):
    for _ in range(2):  # what exists is fine
        tf.gfile.MkDir(folder + "/m")
        tf.gfile.MakeDirs(folder + "/p/q/r")
    tf.gfile.Copy(folder + "/sub/b.txt", folder + "/a.txt", overwrite=True)
    tf.gfile.Rename(folder + "/a.txt", folder + "/c.txt")
    assert GFile("file://" + folder + "/c.txt").read() == "b"
    assert not tf.gfile.Exists(folder + "/a.txt") and tf.io.gfile.isdir(folder + "/m")
    tf.gfile.DeleteRecursively(folder + "/p")
    assert tf.gfile.ListDirectory(folder) == ["c.txt", "m", "sub"]


def test_globbing(folder, monkeypatch):
    monkeypatch.chdir(folder)
    (open(".hidden", "w")).close()
    glob = tf.io.gfile.glob
    assert glob(folder + "/*/*.txt") == [folder + "/sub/b.txt"]
    assert glob([folder + "/[a-b].tx?", folder + "/s*"]) == [folder + "/a.txt", folder + "/sub"]
    assert glob("*") == ["./.hidden", "./a.txt", "./sub"]
    assert glob(folder + "/none") == glob(folder + "/{a,b}*") == []


def test_walking(folder):
    parents_first = [(folder, ["sub"], ["a.txt"]), (folder + "/sub", [], ["b.txt"])]
    assert list(tf.gfile.Walk(folder)) == parents_first
    assert list(tf.gfile.Walk(folder, in_order=False)) == parents_first[::-1]
    seen = []
    assert list(tf.io.gfile.walk(folder + "/none", onerror=seen.append)) == []
    assert isinstance(seen[0], tf.errors.NotFoundError)


def test_statistics(folder):
    found = tf.gfile.Stat(folder + "/a.txt")
    assert (found.length, found.is_directory) == (13, False)
    assert tf.io.gfile.stat(folder).is_directory
