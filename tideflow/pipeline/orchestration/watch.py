"""Runs a pipeline again whenever the files that it reads have changed: continuous training on new spans."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tideflow.graph.errors import NotFoundError
from tideflow.pipeline.orchestration import runner
from tideflow.pipeline.orchestration.pipelines import Pipeline

Listing = dict[str, tuple[int, int]]


def watch(
    pipeline: Pipeline,
    listener: Callable[[runner.Event], None] = lambda event: None,
    every: float = 10.0,
    runs: int | None = None,
    wait: Callable[[float], Any] = time.sleep,
) -> Iterator[runner.Result]:
    """Yields the result of each run, until it is interrupted.

    Args:
        pipeline: the pipeline.
        listener: is told what happens.
        every: seconds between two looks. Files count as written when two looks find the same.
        runs: how many runs to make; None for no end.
        wait: waits between two looks.
    """
    watching = Watching()
    while runs is None or runs > 0:
        if watching.look(listing(pipeline)):
            yield runner.run(pipeline, listener)
            runs = None if runs is None else runs - 1
        else:
            wait(every)


class Watching:
    """Decides by what two looks have found whether there is something new, and whole, to run on."""

    def __init__(self) -> None:
        self._latest: Listing = {}
        self._ran_on: Listing = {}

    def look(self, found: Listing) -> bool:
        """Whether to run now.

        Args:
            found: the files with their sizes and times.
        """
        is_settled, self._latest = found == self._latest, found
        if not found or not is_settled or found == self._ran_on:
            return False
        self._ran_on = found
        return True


def listing(pipeline: Pipeline) -> Listing:
    """The files that the pipeline would read now, with their sizes and times.

    Args:
        pipeline: the pipeline.
    """
    found: Listing = {}
    for node in pipeline.components:
        if node.component.reads is not None:
            try:
                files = list(_paths(node.component.reads(**node.parameters)))
                found |= {
                    str(path): (stat.st_size, stat.st_mtime_ns) for path in files for stat in [path.stat()]
                }
            except (FileNotFoundError, NotFoundError):  # nothing there yet, or no longer
                return {}
    return found


def _paths(files: Any) -> Iterator[Path]:
    if isinstance(files, Path):
        yield files
    elif isinstance(files, Mapping):
        for each in files.values():
            yield from _paths(each)
    elif isinstance(files, (list, tuple)):
        for each in files:
            yield from _paths(each)
