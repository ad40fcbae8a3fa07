"""`tf.gfile` and `tf.io.gfile`: files by path, with TensorFlow's errors for OSError. Local files only."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, NamedTuple

from tideflow.export import export, expose
from tideflow.graph import errors
from tideflow.io.local_files import as_tensorflow_errors, local_path, matching_paths
from tideflow.platform.compat import as_bytes, as_str_any

_READ_BUFFER = 512 * 1024


# ------------------------------------------------------------------------------------------------ one file


@export("gfile.GFile", "gfile.Open", "io.gfile.GFile")
class GFile:
    """A file, opened when it is first read or written. Reading and writing have a position each."""

    def __init__(self, name: Any, mode: str = "r"):
        plain = mode.replace("b", "")
        if plain not in ("r", "w", "a", "r+", "w+", "a+"):
            raise errors.invalid_argument("mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+'")
        self._name = name
        self._mode = mode
        self._binary = "b" in mode
        self._may_read = plain not in ("w", "a")
        self._may_write = plain != "r"
        self._reader: BinaryIO | None = None
        self._writer: BinaryIO | None = None

    @property
    def name(self) -> Any:
        """The file's name, as given."""
        return self._name

    @property
    def mode(self) -> str:
        """The mode, as given."""
        return self._mode

    def _reading(self) -> BinaryIO:
        if self._reader is None:
            if not self._may_read:
                raise errors.permission_denied("File isn't open for reading")
            path = local_path(self._name)
            with as_tensorflow_errors(path):
                self._reader = open(path, "rb", buffering=_READ_BUFFER)  # noqa: SIM115 - `close` closes it
        return self._reader

    def _writing(self) -> BinaryIO:
        if self._writer is None:
            if not self._may_write:
                raise errors.permission_denied("File isn't open for writing")
            path = local_path(self._name)
            with as_tensorflow_errors(path):
                self._writer = open(path, "ab" if "a" in self._mode else "wb")  # noqa: SIM115
        return self._writer

    def _value(self, data: bytes) -> bytes | str:
        return data if self._binary else data.decode()

    def size(self) -> int:
        """The file's length in bytes."""
        return stat(self._name).length

    def read(self, n: int = -1) -> bytes | str:
        """The next `n` bytes, or all that are left."""
        return self._value(self._reading().read(n))

    def readline(self) -> bytes | str:
        """The next line with its newline, without carriage returns; empty at the end."""
        return self._value(self._reading().readline().replace(b"\r", b""))

    def readlines(self) -> list[bytes | str]:
        """The lines that are left."""
        return list(self)

    def __iter__(self) -> GFile:
        return self

    def __next__(self) -> bytes | str:
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    next = __next__

    def write(self, file_content: Any) -> None:
        """Appends bytes, or text as UTF-8."""
        data = as_bytes(file_content)
        with as_tensorflow_errors(str(self._name)):
            self._writing().write(data)

    def seek(self, offset: int | None = None, whence: int = 0, position: int | None = None) -> None:
        """The next read starts at `offset` from the start (whence 0), from here (1) or from the end (2)."""
        reader = self._reading()
        if offset is None and position is None:
            raise TypeError("seek(): offset argument required")
        if offset is not None and position is not None:
            raise TypeError("seek(): offset and position may not be set simultaneously.")
        if whence not in (0, 1, 2):
            raise errors.invalid_argument(f"Invalid whence argument: {whence}. Valid values are 0, 1, or 2.")
        base = (0, reader.tell(), self.size())[whence]
        target = base + (position if offset is None else offset)
        if target < 0:
            raise errors.invalid_argument(f"Seeking to a negative position: {target}")
        if target > self.size():
            raise errors.out_of_range("reached end of file")
        reader.seek(target)

    def seekable(self) -> bool:
        """True."""
        return True

    def tell(self) -> int:
        """Where the next read starts; in a file that is only written, the next write."""
        return (self._reading() if self._may_read else self._writing()).tell()

    def flush(self) -> None:
        """What was written has left the process."""
        if self._writer is not None:
            with as_tensorflow_errors(str(self._name)):
                self._writer.flush()

    def close(self) -> None:
        """Closes the file; using it again opens it anew."""
        reader, writer, self._reader, self._writer = self._reader, self._writer, None, None
        with as_tensorflow_errors(str(self._name)):
            for file in (reader, writer):
                if file is not None:
                    file.close()

    def __enter__(self) -> GFile:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.close()


@export("gfile.FastGFile")
class FastGFile(GFile):
    """A GFile under its older name."""


class FileStatistics(NamedTuple):
    """A file's length in bytes, when it was last changed, and whether it is a directory."""

    length: int
    mtime_nsec: int
    is_directory: bool


# ------------------------------------------------------------------------------------------------ names
# Each function is public twice: by its old name and arguments in tf.gfile, by its new ones in tf.io.gfile.


@export("io.gfile.exists")
def exists(path: Any) -> bool:
    """Whether there is a file or directory of this name."""
    return os.path.exists(local_path(path))


@export("io.gfile.isdir")
def isdir(path: Any) -> bool:
    """Whether there is a directory of this name."""
    return os.path.isdir(local_path(path))


@export("io.gfile.stat")
def stat(path: Any) -> FileStatistics:
    """Length, time of the last change and kind of a file."""
    path = local_path(path)
    with as_tensorflow_errors(path):
        found = os.stat(path)
    return FileStatistics(found.st_size, found.st_mtime_ns, os.path.isdir(path))


@export("io.gfile.mkdir")
def mkdir(path: Any) -> None:
    """Makes a directory in one that exists; it may exist itself."""
    path = local_path(path)
    with as_tensorflow_errors(path), contextlib.suppress(FileExistsError):
        os.mkdir(path)


@export("io.gfile.makedirs")
def makedirs(path: Any) -> None:
    """Makes a directory and those it lies in; any of them may exist."""
    path = local_path(path)
    with as_tensorflow_errors(path), contextlib.suppress(FileExistsError):
        os.makedirs(path)


@export("io.gfile.remove")
def remove(path: Any) -> None:
    """Removes a file."""
    path = local_path(path)
    with as_tensorflow_errors(path):
        os.remove(path)


@export("io.gfile.rmtree")
def rmtree(path: Any) -> None:
    """Removes a directory and everything in it."""
    path = local_path(path)
    with as_tensorflow_errors(path):
        shutil.rmtree(path)


@export("io.gfile.rename")
def rename(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Moves a file or directory; AlreadyExistsError where `dst` is taken, unless it may be overwritten."""
    src, dst = local_path(src), local_path(dst)
    _refuse_taken(dst, overwrite)
    with as_tensorflow_errors(src):
        os.replace(src, dst)


@export("io.gfile.copy")
def copy(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Copies a file; AlreadyExistsError where `dst` is taken, unless it may be overwritten."""
    src, dst = local_path(src), local_path(dst)
    _refuse_taken(dst, overwrite)
    with as_tensorflow_errors(src):
        shutil.copyfile(src, dst)


def _refuse_taken(path: str, overwrite: bool) -> None:
    if not overwrite and os.path.exists(path):
        raise errors.already_exists("file already exists")


@export("io.gfile.listdir")
def listdir(path: Any) -> list[str]:
    """The names in a directory."""
    if not isdir(path):
        raise errors.not_found(f"Could not find directory {as_str_any(path)}")
    return sorted(os.listdir(local_path(path)))


@export("io.gfile.walk")
def walk(
    top: Any, topdown: bool = True, onerror: Callable[[errors.OpError], Any] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """(directory, its directories, its files) of every directory under `top`, parents first if `topdown`."""
    top = as_str_any(top)
    try:
        names = listdir(top)
    except errors.NotFoundError as error:
        if onerror is not None:
            onerror(error)
        return
    folders = [name for name in names if isdir(os.path.join(top, name))]
    here = top, folders, [name for name in names if name not in set(folders)]
    if topdown:
        yield here
    for folder in folders:
        yield from walk(os.path.join(top, folder), topdown, onerror)
    if not topdown:
        yield here


@export("io.gfile.glob")
def glob(pattern: Any) -> list[str]:
    """The paths that match a pattern (`*`, `?`, `[a-z]`, `[!a]`), or any of a list of patterns."""
    patterns = pattern if isinstance(pattern, (list, tuple)) else [pattern]
    return [path for one in patterns for path in matching_paths(one)]


@export("gfile.Rename")
def Rename(oldname: Any, newname: Any, overwrite: bool = False) -> None:
    """Moves a file or directory."""
    rename(oldname, newname, overwrite)


@export("gfile.Copy")
def Copy(oldpath: Any, newpath: Any, overwrite: bool = False) -> None:
    """Copies a file."""
    copy(oldpath, newpath, overwrite)


@export("gfile.Walk")
def Walk(top: Any, in_order: bool = True) -> Iterator[tuple[str, list[str], list[str]]]:
    """(directory, its directories, its files) of every directory under `top`, parents first if `in_order`."""
    return walk(top, in_order)


def _by_filename(function: Callable) -> Callable:
    """The function under its old name, whose argument is called `filename`."""

    def old(filename: Any) -> Any:
        return function(filename)

    old.__doc__ = function.__doc__
    return old


def _by_dirname(function: Callable) -> Callable:
    """The function under its old name, whose argument is called `dirname`."""

    def old(dirname: Any) -> Any:
        return function(dirname)

    old.__doc__ = function.__doc__
    return old


for _old, _function in {"Exists": exists, "Glob": glob, "Remove": remove, "Stat": stat}.items():
    expose(_by_filename(_function), f"gfile.{_old}")
for _old, _function in {
    "DeleteRecursively": rmtree,
    "IsDirectory": isdir,
    "ListDirectory": listdir,
    "MakeDirs": makedirs,
    "MkDir": mkdir,
}.items():
    expose(_by_dirname(_function), f"gfile.{_old}")
