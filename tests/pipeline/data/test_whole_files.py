"""data/whole_files.py: files appear whole, through links too, and devices are written to."""

import os
import stat

import pytest

from tideflow.pipeline.data.faults import Fault
from tideflow.pipeline.data.whole_files import printable, write_new, write_whole, written_whole


def test_a_failure_leaves_the_old_file(tmp_path):
    path = tmp_path / "schema.pbtxt"
    write_whole(path, "old")
    with pytest.raises(KeyError), written_whole(path) as place:
        with open(place, "w") as file:
            file.write("half of the n")
        raise KeyError
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["schema.pbtxt"]


def test_a_link_stays_a_link_and_a_file_keeps_its_permissions(tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to("real")
    write_whole(link, b"new")
    assert link.is_symlink() and real.read_bytes() == b"new"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    dangling = tmp_path / "dangling"
    dangling.symlink_to("elsewhere")
    write_whole(dangling, "made")
    assert dangling.is_symlink() and (tmp_path / "elsewhere").read_text() == "made"


def test_what_is_no_file_is_written_to(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_whole(pipe, "through")
    assert os.read(reader, 100) == b"through" and stat.S_ISFIFO(pipe.stat().st_mode)
    os.close(reader)
    with pytest.raises(OSError, match="No space left"):
        write_whole("/dev/full", "more than there is room for")
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


def test_data_do_not_command_the_terminal():
    assert printable("a\x1b[2Jb\r\u202ec") == "a\\x1b[2Jb\\r\\u202ec"
    assert printable("two\nlines\x07", "\n") == "two\nlines\\x07"
    assert str(Fault("in.csv", 3, "2 fields", "\x1b]0;title\x07")) == "in.csv:3: 2 fields: \\x1b]0;title\\x07"


@pytest.mark.parametrize("has_links", [True, False])
def test_a_new_file_replaces_none(tmp_path, monkeypatch, has_links):
    def refuse(*paths):
        raise PermissionError("no links here")

    if not has_links:
        monkeypatch.setattr(os, "link", refuse)
    path = tmp_path / "schema.pbtxt"
    assert write_new(path, "draft") and not write_new(path, "other")
    assert path.read_text() == "draft" and os.listdir(tmp_path) == ["schema.pbtxt"]
    (tmp_path / "dangling").symlink_to("nowhere")
    assert not write_new(tmp_path / "dangling", "draft")


def test_of_two_who_write_a_new_file_at_once_one_does(tmp_path, monkeypatch):
    path = tmp_path / "schema.pbtxt"
    monkeypatch.setattr(os.path, "lexists", lambda name: False)  # both looked before either wrote
    assert write_new(path, "first") and not write_new(path, "second")
    assert path.read_text() == "first" and os.listdir(tmp_path) == ["schema.pbtxt"]
