"""The cluster key: a file for its owner alone, from which both ends' keys follow."""

import os
import stat

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
