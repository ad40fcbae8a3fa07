"""Locks that the kernel gives back when their holder dies, however it dies."""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path
from typing import Any

# Folders and files of a pipeline are its user's alone: artifacts are data, and models are code.
FOLDER_MODE = 0o700


def make_folder(path: Path) -> Path:
    """Makes a folder that only its user can enter, and those above it.

    Args:
        path: the folder.
    """
    missing = [each for each in (path, *path.parents) if not each.exists()]
    for each in reversed(missing):
        with contextlib.suppress(FileExistsError):
            each.mkdir(mode=FOLDER_MODE)
    return path


class Lock:
    """A lock on a file, which is made and stays."""

    def __init__(self, path: Path) -> None:
        self._path, self._descriptor = path, -1

    def take(self, wait: bool = True) -> bool:
        """Takes the lock; whether it did.

        Args:
            wait: wait for whoever holds it, instead of giving up.
        """
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return False
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor = descriptor
        return True

    def give_back(self) -> None:
        """Lets others take it."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def __enter__(self) -> None:
        self.take()

    def __exit__(self, *exc: Any) -> None:
        self.give_back()
