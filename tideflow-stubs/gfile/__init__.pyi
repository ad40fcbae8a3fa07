# Written by `python -m tideflow.programs.stubs`.

from typing import Any as _Any
from tideflow.platform.gfile import Copy as Copy
from tideflow.platform.gfile import FastGFile as FastGFile
from tideflow.platform.gfile import GFile as GFile
from tideflow.platform.gfile import GFile as Open
from tideflow.platform.gfile import Rename as Rename
from tideflow.platform.gfile import Walk as Walk

def DeleteRecursively(dirname: _Any) -> _Any:
    """Removes a directory and everything in it."""

def Exists(filename: _Any) -> _Any:
    """Whether there is a file or directory of this name."""

def Glob(filename: _Any) -> _Any:
    """The paths that match a pattern (`*`, `?`, `[a-z]`, `[!a]`), or any of a list of patterns."""

def IsDirectory(dirname: _Any) -> _Any:
    """Whether there is a directory of this name."""

def ListDirectory(dirname: _Any) -> _Any:
    """The names in a directory."""

def MakeDirs(dirname: _Any) -> _Any:
    """Makes a directory and those it lies in; any of them may exist."""

def MkDir(dirname: _Any) -> _Any:
    """Makes a directory in one that exists; it may exist itself."""

def Remove(filename: _Any) -> _Any:
    """Removes a file."""

def Stat(filename: _Any) -> _Any:
    """Length, time of the last change and kind of a file."""
