"""Files that people name, written whole or not at all; and text from data as a terminal may get it."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator


@contextlib.contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[str]:
    """The path to write to in the `with` block, which then becomes the file; a failure leaves the old one.

    A link stays a link: the file that it names is replaced. A file keeps its permissions. What is no file (a
    pipe, `/dev/stdout`) is written to as it is.

    Args:
      path: The file.
    """
    target = os.path.realpath(os.fspath(path))
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        mode = None
    if mode is not None and not stat.S_ISREG(mode):
        yield os.fspath(path)
        return
    folder, name = os.path.split(target)
    beside = os.path.join(folder, f".{name[:200]}.{secrets.token_hex(4)}")
    try:
        yield beside
        if mode is not None:
            os.chmod(beside, stat.S_IMODE(mode))
        os.replace(beside, target)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.remove(beside)


def write_whole(path: str | os.PathLike[str], data: str | bytes) -> None:
    """Writes a file whole or not at all.

    Args:
      path: The file.
      data: Its contents; text is encoded in UTF-8.
    """
    with written_whole(path) as place, open(place, "wb") as file:
        file.write(data.encode() if isinstance(data, str) else data)


def write_new(path: str | os.PathLike[str], data: str | bytes) -> bool:
    """Writes a file that is not there yet, whole or not at all; whether it did.

    Args:
      path: The file. One that is there stays as it is.
      data: Its contents; text is encoded in UTF-8.
    """
    if os.path.lexists(path):
        return False
    folder, name = os.path.split(os.path.abspath(path))
    beside = os.path.join(folder, f".{name[:200]}.{secrets.token_hex(4)}")
    try:
        write_whole(beside, data)
        try:
            os.link(beside, path)  # unlike a rename, it replaces nothing
        except FileExistsError:
            return False
        except OSError:  # there are file systems without links
            os.rename(beside, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.remove(beside)
    return True


def printable(text: str, kept: str = "") -> str:
    """Text of data as a terminal may get it: escaped where it would command the terminal or break a line.

    Args:
      text: Any text.
      kept: Characters that stay as they are, such as line breaks.
    """
    return "".join(
        char if char.isprintable() or char in kept else char.encode("unicode_escape").decode()
        for char in text
    )
