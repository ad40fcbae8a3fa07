"""Examples that somebody wrote: the cells of docs_site/snippets/*.py.

A cell begins with the symbols that it shows, `# %% tf.train.Saver, tf.train.latest_checkpoint`, on one line
or several, and is a program of its own but for the imports at the top of its file.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

FOLDER = Path(__file__).parent / "snippets"
_HEAD = re.compile(r"((?:^# %% .+\n)+)", re.MULTILINE)


@functools.cache
def cells(name: str = "*") -> dict[str, str]:
    """The program for each symbol's path, of one file or of all."""
    found: dict[str, str] = {}
    for file in sorted(FOLDER.glob(f"{name}.py")):
        _, *rest = _HEAD.split(file.read_text())
        for symbols, body in zip(rest[::2], rest[1::2], strict=True):
            for path in re.findall(r"\btf\.([\w.]+)", symbols):
                if path in found:
                    raise ValueError(f"{file.name} shows tf.{path} a second time")
                found[path] = body.strip()
    return found
