"""The cluster key: a file for its owner alone, from which both ends' keys follow."""

import os
import stat
import threading

import pytest

from tideflow import cli
from tideflow.cluster import keys
from tideflow.graph.errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
)


def test_a_key_is_written_for_its_owner_and_read_back(tmp_path):
    key, path = keys.generate(), tmp_path / "key"
    keys.write(key, path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert keys.read(path) == key
    assert key.secret.hex() not in repr(key)


def test_pairs_follow_from_the_key_and_differ():
    one, other = keys.generate(), keys.generate()
    pairs = {one.server(), one.client(), other.server(), other.client()}
    assert len(pairs) == 4 and keys.Key(one.secret).server() == one.server()
    assert {len(part) for pair in pairs for part in pair} == {40}


def test_a_file_that_is_there_stays(tmp_path):
    path = tmp_path / "key"
    path.write_text("precious")
    with pytest.raises(AlreadyExistsError, match="exists already"):
        keys.write(keys.generate(), path)
    assert path.read_text() == "precious"


def test_a_key_that_others_can_read_is_refused(tmp_path):
    path = tmp_path / "key"
    keys.write(keys.generate(), path)
    os.chmod(path, 0o640)
    with pytest.raises(FailedPreconditionError, match=r"mode 640.*chmod 600"):
        keys.read(path)


@pytest.mark.parametrize(
    "content", ["", "tideflow-cluster-key-1", "tideflow-cluster-key-1 abc", "other " + "0" * 64, "\xff" * 90]
)
def test_a_file_that_is_no_key(tmp_path, content):
    path = tmp_path / "key"
    path.write_text(content, encoding="latin-1")
    path.chmod(0o600)
    with pytest.raises(InvalidArgumentError, match="is not a cluster key"):
        keys.read(path)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(NotFoundError, match="tideflow keygen"):
        keys.read(tmp_path / "key")
    with pytest.raises(NotFoundError, match="cannot be written"):
        keys.write(keys.generate(), tmp_path / "folder" / "key")


def test_the_environment_names_the_file(tmp_path, monkeypatch):
    monkeypatch.delenv(keys.VARIABLE, raising=False)
    assert keys.from_environment() is None
    key = keys.generate()
    keys.write(key, tmp_path / "key")
    monkeypatch.setenv(keys.VARIABLE, str(tmp_path / "key"))
    assert keys.from_environment() == key


def test_keygen(tmp_path, capsys):
    path = tmp_path / "my.key"
    assert cli.main(["keygen", str(path)]) == 0
    assert f"export TIDEFLOW_CLUSTER_KEY={path}" in capsys.readouterr().out
    assert keys.read(path)
    assert cli.main(["keygen", str(path)]) == 2
    assert "exists already" in capsys.readouterr().err


# ----------------------------------------------------------------------------------------- the user's own key


@pytest.fixture
def own_key(tmp_path, monkeypatch):
    """Where a user's own key is made, in a folder for this test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "tideflow" / "keys" / "loopback.key"


def test_a_users_key_is_made_on_first_use(own_key):
    key = keys.of_user()
    assert stat.S_IMODE(own_key.stat().st_mode) == 0o600
    assert stat.S_IMODE(own_key.parent.stat().st_mode) == 0o700
    assert keys.of_user() == keys.read(own_key) == key
    assert os.listdir(own_key.parent) == [own_key.name]


def test_all_who_make_a_users_key_at_once_have_the_same(own_key):
    found, together = [], threading.Barrier(16)

    def make():
        together.wait()
        found.append(keys.of_user())

    threads = [threading.Thread(target=make) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 16 and set(found) == {keys.read(own_key)}


def _as_link(path):
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


def _as_folder(path):
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    "change, reason",
    [
        (_as_link, "loopback.key is a link"),
        (_as_folder, "loopback.key is not a file"),
        (lambda path: path.chmod(0o644), r"open to others \(mode 644\): delete it"),
        (lambda path: os.truncate(path, 10), "is not a cluster key"),
        pytest.param(
            lambda path: os.chown(path, 12345, 12345),
            "belongs to the user with number 12345",
            marks=pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away"),
        ),
    ],
    ids=["link", "folder", "mode", "content", "owner"],
)
def test_a_users_key_that_others_may_know_is_refused(own_key, change, reason):
    keys.of_user()
    change(own_key)
    with pytest.raises(FailedPreconditionError, match=rf"{reason}.*--insecure or TIDEFLOW_INSECURE=1"):
        keys.of_user()


def test_a_home_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(FailedPreconditionError, match=r"cannot be made: Not a directory.*XDG_CACHE_HOME"):
        keys.of_user()
