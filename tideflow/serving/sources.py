"""Where models come from: directories of versions, polled. Functions of the file system, and nothing else."""

from __future__ import annotations

import os
from collections.abc import Iterable

from tideflow.io.local_files import local_path
from tideflow.io.saved_models import contains_saved_model
from tideflow.serving.model_kinds import KINDS

LARGEST_VERSION = 2**63 - 1


def is_model(folder: str) -> bool:
    """Whether a directory holds the files of a model."""
    return contains_saved_model(folder) or any(
        os.path.exists(os.path.join(folder, kind.file)) for kind in KINDS.values()
    )


def versions_in(base_path: str) -> dict[int, str]:
    """The versions of a model, by number: the folders with numbers for names, up to the largest that messages
    have. A base path that holds a model itself has it as version 1. Raises OSError where it cannot be read.
    """
    base_path = local_path(base_path)
    found = {}
    with os.scandir(base_path) as entries:
        for entry in entries:
            is_number = entry.name.isascii() and entry.name.isdecimal()
            if is_number and int(entry.name) <= LARGEST_VERSION and _is_folder(entry):
                found[int(entry.name)] = entry.path
    if not found and is_model(base_path):
        return {1: base_path}
    return found


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether it is a directory, or a link to one. A link that leads nowhere, or to itself, is not."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def models_in(folder: str) -> dict[str, str]:
    """The base paths of the models in a directory, by name: the directory itself, if it holds a model or
    versions of one, otherwise those of its folders that do.
    """
    folder = os.path.abspath(local_path(folder))
    if versions_in(folder):
        return {os.path.basename(folder): folder}
    found = {}
    with os.scandir(folder) as entries:
        for entry in entries:
            if _is_folder(entry) and not entry.name.startswith("."):
                try:
                    if versions_in(entry.path):
                        found[entry.name] = entry.path
                except OSError:  # no folder of ours
                    continue
    return found


def is_within(path: str, folders: Iterable[str]) -> bool:
    """Whether a path leads to one of the folders, or into it, once all links are followed."""
    found = os.path.realpath(local_path(path))
    return any(os.path.commonpath([found, folder]) == folder for folder in map(os.path.realpath, folders))


def bytes_in(folder: str) -> int:
    """The bytes of all files of a version: about what it takes in memory."""
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(path, name)).st_size
            except OSError:  # it is being written
                continue
    return total
