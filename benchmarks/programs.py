"""Peers that are programs in environments of their own: each answers lines of its input by lines of JSON."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.peers import QUIET


class Program:
    """A running program: what it says of itself first, and what it measures when asked."""

    def __init__(self, name: str, process: subprocess.Popen):
        self._name = name
        self._process = process
        self.facts: dict[str, Any] = self._answer()

    @property
    def version(self) -> str:
        """The version of what is measured."""
        return str(self.facts["version"])

    @property
    def first(self) -> dict[str, float]:
        """By work, a number that is the same for all peers that do the same."""
        return dict(self.facts["first"])

    def measured(self, title: str) -> float:
        """The seconds of a work, in this round."""
        print(title, file=self._process.stdin, flush=True)
        seconds: float = self._answer()
        return seconds

    def _answer(self) -> Any:
        line = self._process.stdout.readline() if self._process.stdout is not None else ""
        if not line:
            raise RuntimeError(f"{self._name} ended, with status {self._process.wait()}")
        return json.loads(line)


@contextmanager
def running(
    name: str, python: Path, program: Sequence[str | Path], how_to_make: str, **environment: str
) -> Iterator[Program | None]:
    """Runs a program until the block ends; None where its Python is not there."""
    if not python.exists():
        print(f"{name} is left out: there is no {python}. {how_to_make}")
        yield None
        return
    process = subprocess.Popen(
        [python, *program],
        env={**os.environ, **QUIET, **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield Program(name, process)
    finally:
        process.communicate()  # its input ends, and so does it


def disagreements(first: dict[str, dict[str, float]]) -> list[str]:
    """Works that do not give every peer the same numbers; `first` has them by peer and work."""
    found = []
    for title in first["Tideflow"]:
        values = {name: numbers[title] for name, numbers in first.items() if title in numbers}
        if max(values.values()) - min(values.values()) > 1e-3 * (1 + max(map(abs, values.values()))):
            seen = ", ".join(f"{name} {value:g}" for name, value in values.items())
            found.append(f"{title}: the peers compute different things: {seen}")
    return found
