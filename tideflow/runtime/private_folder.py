"""Folders that belong to one user alone, for what is executed or trusted when it is read back.

A folder under the system's temporary directory may have been made by another user, who then decides what is
read from it: compiled code above all.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path


class NotPrivate(Exception):
    """A folder that others can write to, or that is not this user's."""


def private_folder(*names: str) -> Path:
    """A folder under the user's cache directory, made on first use and looked at on each: every part of the
    path below the cache directory is a real folder (no link), belongs to this user and is closed to others.

    Raises:
      NotPrivate: Where that is not so, with the reason.
    """
    folder = _cache_directory()
    for name in ("tideflow", *names):
        folder = folder / name
        try:
            folder.mkdir(mode=0o700, parents=name == "tideflow", exist_ok=True)
        except OSError as error:
            raise NotPrivate(f"{folder} cannot be made: {error.strerror}") from None
        check_private(folder)
    return folder


def check_private(folder: Path) -> None:
    """Raises NotPrivate unless a folder is this user's own, real, and closed to others."""
    try:
        found = folder.lstat()
    except OSError as error:
        raise NotPrivate(f"{folder} cannot be looked at: {error.strerror}") from None
    if not stat.S_ISDIR(found.st_mode):
        raise NotPrivate(f"{folder} is a link or a file, and not a folder")
    if found.st_uid != os.geteuid():
        raise NotPrivate(f"{folder} belongs to the user with number {found.st_uid}")
    if found.st_mode & 0o077:
        raise NotPrivate(f"{folder} is open to others (mode {found.st_mode & 0o777:o}): chmod 700 {folder}")


def _cache_directory() -> Path:
    named = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(named):
        return Path(named)
    try:
        return Path.home() / ".cache"
    except RuntimeError:  # neither HOME nor the system's list of users says where it is
        raise NotPrivate("the home folder of this user is not known, and XDG_CACHE_HOME is not set") from None
