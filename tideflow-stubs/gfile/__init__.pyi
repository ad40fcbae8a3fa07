# Written by `python -m tideflow.programs.stubs`.

from tideflow.graph.typing import PathLike as _PathLike
from typing import Any as _Any
from tideflow.platform.gfile import Copy as Copy
from tideflow.platform.gfile import FastGFile as FastGFile
from tideflow.platform.gfile import GFile as GFile
from tideflow.platform.gfile import GFile as _Open
from tideflow.platform.gfile import Glob as Glob
from tideflow.platform.gfile import Rename as Rename
from tideflow.platform.gfile import Walk as Walk

def DeleteRecursively(dirname: _PathLike) -> _Any:
    """Removes a directory and everything in it.

    Args:
      dirname: The path.

    Raises:
      NotFoundError: If there is no such directory."""

def Exists(filename: _PathLike) -> _Any:
    """Whether a file or a directory exists.

    Args:
      filename: The path.

    Returns:
      True or False."""

def IsDirectory(dirname: _PathLike) -> _Any:
    """Whether a directory exists.

    Args:
      dirname: The path.

    Returns:
      True or False."""

def ListDirectory(dirname: _PathLike) -> _Any:
    """Lists the names in a directory.

    Args:
      dirname: The path.

    Returns:
      The names.

    Raises:
      NotFoundError: If there is no such directory."""

def MakeDirs(dirname: _PathLike) -> _Any:
    """Makes a directory and its missing parents.

    Args:
      dirname: The path."""

def MkDir(dirname: _PathLike) -> _Any:
    """Makes a directory, if it does not exist. Its parent must exist.

    Args:
      dirname: The path.

    Raises:
      NotFoundError: If the parent does not exist."""

Open = _Open
def Remove(filename: _PathLike) -> _Any:
    """Removes a file.

    Args:
      filename: The path.

    Raises:
      NotFoundError: If there is no such file."""

def Stat(filename: _PathLike) -> _Any:
    """Gets the size, the modification time and the type of a file.

    Args:
      filename: The path.

    Returns:
      An object with `length`, `mtime_nsec` and `is_directory`.

    Raises:
      NotFoundError: If there is no such file."""
