"""Which exports are kept: functions from the paths of exports to those of them that stay."""

from __future__ import annotations

import heapq
import os
from collections.abc import Callable, Sequence
from typing import NamedTuple

from tideflow.export import export
from tideflow.platform import gfile
from tideflow.platform.deprecation import deprecated


@export("contrib.session_bundle.gc.Path")
class Path(NamedTuple):
    """An export.

    Args:
      path: Its path.
      export_version: Its version, or None.
    """

    path: str
    export_version: int | None


Filter = Callable[[Sequence[Path]], list[Path]]
_SAVED_MODEL = ("2017-06-30", "No longer supported. Switch to SavedModel immediately.")


@export("contrib.session_bundle.gc.largest_export_versions")
@deprecated(*_SAVED_MODEL)
def largest_export_versions(n: int) -> Filter:
    """Keeps the newest exports.

    Args:
      n: How many are kept.

    Returns:
      The function that chooses them.
    """

    def keep(paths: Sequence[Path]) -> list[Path]:
        numbered = [(path.export_version, place) for place, path in enumerate(paths)]
        newest = heapq.nlargest(n, (pair for pair in numbered if pair[0] is not None))
        return sorted(paths[place] for _, place in newest)

    return keep


@export("contrib.session_bundle.gc.one_of_every_n_export_versions")
@deprecated(*_SAVED_MODEL)
def one_of_every_n_export_versions(n: int) -> Filter:
    """Keeps the newest export of every so many versions.

    Args:
      n: The number of versions of which one is kept.

    Returns:
      The function that chooses them.
    """

    def keep(paths: Sequence[Path]) -> list[Path]:
        newest: dict[int, Path] = {}
        for path in sorted(path for path in paths if path.export_version is not None):
            interval = (path.export_version - 1) // n if path.export_version else 0
            if interval not in newest or newest[interval].export_version < path.export_version:
                newest[interval] = path
        return sorted(newest.values())

    return keep


@export("contrib.session_bundle.gc.mod_export_version")
@deprecated(*_SAVED_MODEL)
def mod_export_version(n: int) -> Filter:
    """Keeps the exports whose version is a multiple of a number.

    Args:
      n: The number.

    Returns:
      The function that chooses them.
    """
    return lambda paths: sorted(path for path in paths if path.export_version % n == 0)


@export("contrib.session_bundle.gc.union")
@deprecated(*_SAVED_MODEL)
def union(lf: Filter, rf: Filter) -> Filter:
    """Keeps what one of two functions keeps.

    Args:
      lf: The first function.
      rf: The second function.

    Returns:
      The function that chooses them.
    """
    return lambda paths: sorted({*lf(paths), *rf(paths)})


@export("contrib.session_bundle.gc.negation")
@deprecated(*_SAVED_MODEL)
def negation(f: Filter) -> Filter:
    """Keeps what a function does not keep.

    Args:
      f: The function.

    Returns:
      The function that chooses the others.
    """
    return lambda paths: sorted({*paths} - {*f(paths)})


@export("contrib.session_bundle.gc.get_paths")
@deprecated(*_SAVED_MODEL)
def get_paths(base_dir: str, parser: Callable[[Path], Path | None]) -> list[Path]:
    """Lists the exports of a directory.

    Args:
      base_dir: The directory.
      parser: A function that gives a path its version, and returns None for what is no export.

    Returns:
      The paths.
    """
    base = os.fsdecode(base_dir)
    found = (parser(Path(os.path.join(base, name), None)) for name in gfile.listdir(base))
    return sorted(path for path in found if path)
