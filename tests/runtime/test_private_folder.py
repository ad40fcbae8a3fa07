"""Folders that belong to one user alone: links, other owners and open modes are refused."""

import os

import pytest

from tideflow.runtime.private_folder import NotPrivate, check_private, private_folder


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def test_it_is_made_closed_to_others(cache):
    folder = private_folder("inductor")
    assert folder == cache / "tideflow" / "inductor"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert private_folder("inductor") == folder


def test_a_link_is_refused(cache, tmp_path):
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (cache / "tideflow").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(NotPrivate, match="a link or a file"):
        private_folder("inductor")


def test_a_folder_open_to_others_is_refused(cache):
    folder = private_folder("inductor")
    folder.chmod(0o770)
    with pytest.raises(NotPrivate, match=r"open to others \(mode 770\)"):
        private_folder("inductor")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_another_user_s_folder_is_refused(cache):
    folder = private_folder("inductor")
    os.chown(folder, 12345, 12345)
    with pytest.raises(NotPrivate, match="belongs to the user with number 12345"):
        check_private(folder)


def test_a_cache_home_that_is_not_absolute_does_not_count(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", "here")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert private_folder("inductor") == tmp_path / ".cache" / "tideflow" / "inductor"
