"""`tf.gfile` and `tf.io.gfile`: files by path, with TensorFlow's errors for OSError. Local files only."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from tideflow.export import export, expose
from tideflow.graph import errors
from tideflow.io.local_files import as_tensorflow_errors, local_path, matching_paths
from tideflow.platform.compat import as_bytes, as_str_any

if TYPE_CHECKING:
    from tideflow.graph.typing import PathLike

_READ_BUFFER = 512 * 1024


# ------------------------------------------------------------------------------------------------ one file


@export("gfile.GFile", "gfile.Open", "io.gfile.GFile")
class GFile:
    """A file. It is opened when it is first read or written; reading and writing have separate positions.

    Args:
      name: The path.
      mode: The mode, as of Python's `open`.

    Raises:
      InvalidArgumentError: If the mode is not valid.
    """

    def __init__(self, name: PathLike, mode: str = "r"):
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
        """The path."""
        return self._name

    @property
    def mode(self) -> str:
        """The mode."""
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
        """The size of the file in bytes."""
        return stat(self._name).length

    def read(self, n: int = -1) -> bytes | str:
        """Reads from the file.

        Args:
          n: The number of bytes; all that are left if -1.

        Returns:
          Bytes or, in a text mode, a string.
        """
        return self._value(self._reading().read(n))

    def readline(self) -> bytes | str:
        """Reads a line with its newline; empty at the end of the file."""
        return self._value(self._reading().readline().replace(b"\r", b""))

    def readlines(self) -> list[bytes | str]:
        """Reads all lines that are left."""
        return list(self)

    def __iter__(self) -> GFile:
        return self

    def __next__(self) -> bytes | str:
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    next = __next__

    def write(self, file_content: str | bytes) -> None:
        """Appends to the file.

        Args:
          file_content: Bytes, or a string, which is encoded as UTF-8.
        """
        data = as_bytes(file_content)
        with as_tensorflow_errors(str(self._name)):
            self._writing().write(data)

    def seek(self, offset: int | None = None, whence: int = 0, position: int | None = None) -> None:
        """Sets the position for reading.

        Args:
          offset: The position, relative to `whence`.
          whence: 0 for the start of the file, 1 for the current position, 2 for the end.
          position: An older name of `offset`.

        Raises:
          InvalidArgumentError: If the position or `whence` is not valid.
        """
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
        """Whether the position can be set: True."""
        return True

    def tell(self) -> int:
        """The position for reading or, in a file that is only written, for writing."""
        return (self._reading() if self._may_read else self._writing()).tell()

    def flush(self) -> None:
        """Writes all data so far to the operating system."""
        if self._writer is not None:
            with as_tensorflow_errors(str(self._name)):
                self._writer.flush()

    def close(self) -> None:
        """Closes the file. Using it again opens it again."""
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
    """A GFile; an older name.

    Args:
      name: The path.
      mode: The mode, as of Python's `open`.
    """


class FileStatistics(NamedTuple):
    """A file's length in bytes, when it was last changed, and whether it is a directory."""

    length: int
    mtime_nsec: int
    is_directory: bool


# ------------------------------------------------------------------------------------------------ names
# Each function is public twice: by its old name and arguments in tf.gfile, by its new ones in tf.io.gfile.


@export("io.gfile.exists")
def exists(path: PathLike) -> bool:
    """Whether a file or a directory exists.

    Args:
      path: The path.

    Returns:
      True or False.
    """
    return os.path.exists(local_path(path))


@export("io.gfile.isdir")
def isdir(path: PathLike) -> bool:
    """Whether a directory exists.

    Args:
      path: The path.

    Returns:
      True or False.
    """
    return os.path.isdir(local_path(path))


@export("io.gfile.stat")
def stat(path: PathLike) -> FileStatistics:
    """Gets the size, the modification time and the type of a file.

    Args:
      path: The path.

    Returns:
      An object with `length`, `mtime_nsec` and `is_directory`.

    Raises:
      NotFoundError: If there is no such file.
    """
    path = local_path(path)
    with as_tensorflow_errors(path):
        found = os.stat(path)
    return FileStatistics(found.st_size, found.st_mtime_ns, os.path.isdir(path))


@export("io.gfile.mkdir")
def mkdir(path: PathLike) -> None:
    """Makes a directory, if it does not exist. Its parent must exist.

    Args:
      path: The path.

    Raises:
      NotFoundError: If the parent does not exist.
    """
    path = local_path(path)
    with as_tensorflow_errors(path), contextlib.suppress(FileExistsError):
        os.mkdir(path)


@export("io.gfile.makedirs")
def makedirs(path: PathLike) -> None:
    """Makes a directory and its missing parents.

    Args:
      path: The path.
    """
    path = local_path(path)
    with as_tensorflow_errors(path), contextlib.suppress(FileExistsError):
        os.makedirs(path)


@export("io.gfile.remove")
def remove(path: PathLike) -> None:
    """Removes a file.

    Args:
      path: The path.

    Raises:
      NotFoundError: If there is no such file.
    """
    path = local_path(path)
    with as_tensorflow_errors(path):
        os.remove(path)


@export("io.gfile.rmtree")
def rmtree(path: PathLike) -> None:
    """Removes a directory and everything in it.

    Args:
      path: The path.

    Raises:
      NotFoundError: If there is no such directory.
    """
    path = local_path(path)
    with as_tensorflow_errors(path):
        shutil.rmtree(path)


@export("io.gfile.rename")
def rename(src: PathLike, dst: PathLike, overwrite: bool = False) -> None:
    """Moves a file or a directory.

    Args:
      src: The path.
      dst: The new path.
      overwrite: Whether an existing file is replaced.

    Raises:
      AlreadyExistsError: If `dst` exists and `overwrite` is not set.
    """
    src, dst = local_path(src), local_path(dst)
    _refuse_taken(dst, overwrite)
    with as_tensorflow_errors(src):
        os.replace(src, dst)


@export("io.gfile.copy")
def copy(src: PathLike, dst: PathLike, overwrite: bool = False) -> None:
    """Copies a file.

    Args:
      src: The path.
      dst: The path of the copy.
      overwrite: Whether an existing file is replaced.

    Raises:
      AlreadyExistsError: If `dst` exists and `overwrite` is not set.
    """
    src, dst = local_path(src), local_path(dst)
    _refuse_taken(dst, overwrite)
    with as_tensorflow_errors(src):
        shutil.copyfile(src, dst)


def _refuse_taken(path: str, overwrite: bool) -> None:
    if not overwrite and os.path.exists(path):
        raise errors.already_exists("file already exists")


@export("io.gfile.listdir")
def listdir(path: PathLike) -> list[str]:
    """Lists the names in a directory.

    Args:
      path: The path.

    Returns:
      The names.

    Raises:
      NotFoundError: If there is no such directory.
    """
    if not isdir(path):
        raise errors.not_found(f"Could not find directory {as_str_any(path)}")
    return sorted(os.listdir(local_path(path)))


@export("io.gfile.walk")
def walk(
    top: PathLike, topdown: bool = True, onerror: Callable[[errors.OpError], Any] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Walks through a directory tree.

    Args:
      top: The directory.
      topdown: Whether a directory comes before those in it.
      onerror: A function that is called with errors, which are ignored otherwise.

    Yields:
      Tuples of directory, the names of its directories and the names of its files.
    """
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
def glob(pattern: PathLike | Sequence[PathLike]) -> list[str]:
    """Finds the paths that match patterns.

    Args:
      pattern: A pattern with `*`, `?`, `[a-z]` and `[!a]`, or a list of patterns.

    Returns:
      The paths.
    """
    patterns = pattern if isinstance(pattern, (list, tuple)) else [pattern]
    return [path for one in patterns for path in matching_paths(one)]


@export("gfile.Rename")
def Rename(oldname: PathLike, newname: PathLike, overwrite: bool = False) -> None:
    """Moves a file or a directory.

    Args:
      oldname: The path.
      newname: The new path.
      overwrite: Whether an existing file is replaced.
    """
    rename(oldname, newname, overwrite)


@export("gfile.Copy")
def Copy(oldpath: PathLike, newpath: PathLike, overwrite: bool = False) -> None:
    """Copies a file.

    Args:
      oldpath: The path.
      newpath: The path of the copy.
      overwrite: Whether an existing file is replaced.
    """
    copy(oldpath, newpath, overwrite)


@export("gfile.Walk")
def Walk(top: PathLike, in_order: bool = True) -> Iterator[tuple[str, list[str], list[str]]]:
    """Walks through a directory tree.

    Args:
      top: The directory.
      in_order: Whether a directory comes before those in it.

    Returns:
      An iterator of tuples of directory, the names of its directories and the names of its files.
    """
    return walk(top, in_order)


@export("gfile.Glob")
def Glob(filename: PathLike | Sequence[PathLike]) -> list[str]:
    """Finds the paths that match patterns.

    Args:
      filename: A pattern with `*`, `?`, `[a-z]` and `[!a]`, or a list of patterns.

    Returns:
      The paths.
    """
    return glob(filename)


def _with_argument(function: Callable, name: str) -> str:
    """The docstring of a function of one argument, under another name of the argument."""
    return re.sub(r"(?<=Args:\n {6})\w+", name, function.__doc__ or "")


def _by_filename(function: Callable) -> Callable:
    """The function under its old name, whose argument is called `filename`."""

    def old(filename: PathLike) -> Any:
        return function(filename)

    old.__doc__ = _with_argument(function, "filename")
    return old


def _by_dirname(function: Callable) -> Callable:
    """The function under its old name, whose argument is called `dirname`."""

    def old(dirname: PathLike) -> Any:
        return function(dirname)

    old.__doc__ = _with_argument(function, "dirname")
    return old


for _old, _function in {"Exists": exists, "Remove": remove, "Stat": stat}.items():
    expose(_by_filename(_function), f"gfile.{_old}")
for _old, _function in {
    "DeleteRecursively": rmtree,
    "IsDirectory": isdir,
    "ListDirectory": listdir,
    "MakeDirs": makedirs,
    "MkDir": mkdir,
}.items():
    expose(_by_dirname(_function), f"gfile.{_old}")
