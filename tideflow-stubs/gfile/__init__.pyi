# Written by `python -m tideflow.programs.stubs`.

from typing import Any as _Any
from tideflow.platform.gfile import Copy as Copy
from tideflow.platform.gfile import FastGFile as FastGFile
from tideflow.platform.gfile import GFile as GFile
from tideflow.platform.gfile import GFile as Open
from tideflow.platform.gfile import Rename as Rename
from tideflow.platform.gfile import Walk as Walk

def DeleteRecursively(dirname: _Any) -> _Any:
    """Removes a directory and everything in it.

    Args:
      dirname: The path.

    Raises:
      NotFoundError: If there is no such directory."""

def Exists(filename: _Any) -> _Any:
    """Whether a file or a directory exists.

    Args:
      filename: The path.

    Returns:
      True or False."""

def Glob(filename: _Any) -> _Any:
    """Finds the paths that match patterns.

    Args:
      filename: A pattern with `*`, `?`, `[a-z]` and `[!a]`, or a list of patterns.

    Returns:
      The paths."""

def IsDirectory(dirname: _Any) -> _Any:
    """Whether a directory exists.

    Args:
      dirname: The path.

    Returns:
      True or False."""

def ListDirectory(dirname: _Any) -> _Any:
    """Lists the names in a directory.

    Args:
      dirname: The path.

    Returns:
      The names.

    Raises:
      NotFoundError: If there is no such directory."""

def MakeDirs(dirname: _Any) -> _Any:
    """Makes a directory and its missing parents.

    Args:
      dirname: The path."""

def MkDir(dirname: _Any) -> _Any:
    """Makes a directory, if it does not exist. Its parent must exist.

    Args:
      dirname: The path.

    Raises:
      NotFoundError: If the parent does not exist."""

def Remove(filename: _Any) -> _Any:
    """Removes a file.

    Args:
      filename: The path.

    Raises:
      NotFoundError: If there is no such file."""

def Stat(filename: _Any) -> _Any:
    """Gets the size, the modification time and the type of a file.

    Args:
      filename: The path.

    Returns:
      An object with `length`, `mtime_nsec` and `is_directory`.

    Raises:
      NotFoundError: If there is no such file."""
