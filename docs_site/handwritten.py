"""Examples that somebody wrote: the cells of docs_site/snippets/*.py.

A cell begins with the symbols that it shows, `# %% tf.train.Saver, tf.train.latest_checkpoint`, and is a
program of its own but for the imports at the top of its file.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

from docs_site import programs

FOLDER = Path(__file__).parent / "snippets"
_CELL = re.compile(r"^# %% (.+)$", re.MULTILINE)


@functools.cache
def cells() -> dict[str, str]:
    """The program for each symbol's path."""
    found: dict[str, str] = {}
    for file in sorted(FOLDER.glob("*.py")):
        _, *rest = _CELL.split(file.read_text())
        for symbols, body in zip(rest[::2], rest[1::2], strict=True):
            program = programs.with_imports(body.strip())
            for symbol in symbols.split(","):
                path = symbol.strip().removeprefix("tf.")
                if path in found:
                    raise ValueError(f"{file.name} shows tf.{path} a second time")
                found[path] = program
    return found
