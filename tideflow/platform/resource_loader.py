"""`tf.resource_loader`: files that lie beside a program's own."""

from __future__ import annotations

import os

import tideflow
from tideflow.export import export
from tideflow.graph.traceback import file_and_line, user_frames


@export("resource_loader.get_data_files_path")
def get_data_files_path() -> str:
    """The directory of the calling file."""
    return os.path.dirname(os.path.abspath(file_and_line(user_frames()[0])[0]))


@export("resource_loader.get_path_to_datafile")
def get_path_to_datafile(path: str) -> str:
    """Gets the path of a file beside the calling file.

    Args:
      path: The path, relative to the calling file.

    Returns:
      The path.
    """
    return os.path.join(get_data_files_path(), path)


@export("resource_loader.load_resource")
def load_resource(path: str) -> bytes:
    """Reads a file of the package.

    Args:
      path: The path, relative to the package.

    Returns:
      The contents as bytes.

    Raises:
      OSError: If the file cannot be read.
    """
    with open(os.path.join(get_root_dir_with_all_resources(), path), "rb") as file:
        return file.read()


@export("resource_loader.get_root_dir_with_all_resources")
def get_root_dir_with_all_resources() -> str:
    """The directory of the package."""
    return os.path.dirname(os.path.abspath(tideflow.__file__))


@export("resource_loader.readahead_file_path")
def readahead_file_path(path: str, readahead: str = "128M") -> str:
    """Returns a path unchanged: local files need no reading ahead.

    Args:
      path: The path.
      readahead: Ignored.

    Returns:
      The path.
    """
    return path
