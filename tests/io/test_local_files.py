"""Files that are replaced whole, and what is never replaced."""

import os
import threading

from tideflow.io.local_files import replace_bytes


def test_a_file_is_replaced(tmp_path):
    path = tmp_path / "file"
    for text in (b"one", b"two"):
        replace_bytes(path, text)
        assert path.read_bytes() == text and os.listdir(tmp_path) == ["file"]


def test_a_pipe_is_written_to_and_stays_one(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    found = []
    reader = threading.Thread(target=lambda: found.append(path.read_bytes()))
    reader.start()
    replace_bytes(path, b"text")
    reader.join(60)
    assert found == [b"text"] and path.is_fifo()
