"""Pages of the documentation as programs: their blocks are run in order, and must do what the page says.

| block | what is done with it |
|---|---|
| `python` with `title="train.py"` | written to a file of that name |
| other `python` | run, in one program with those before it |
| `console` | each line after a `$` is run by a shell; the lines below it must be what it prints |
| `text` | must be what the block before it printed, or the error that it ended with |

The program is called like the page (`getting_started.py`) and has the lines of the blocks so far, but for
those that end with an error. An ellipsis on the page (…) stands for anything; a number with a decimal point
or a percent sign may be a tenth off, since kernels round in their own ways.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import linecache
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

DOCS = Path(__file__).parents[2] / "docs"
_BLOCK = re.compile(r"^```(\w*)(?: title=\"([^\"]+)\")?[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A fenced block of a page."""

    language: str
    title: str | None
    text: str
    line: int


def blocks(page: str) -> list[Block]:
    """The fenced blocks of a page of docs/, in order."""
    text = (DOCS / page).read_text()
    return [
        Block(found[1], found[2], found[3], text[: found.start(3)].count("\n") + 1)
        for found in _BLOCK.finditer(text)
    ]


class Run:
    """Runs the blocks of a page in a folder."""

    def __init__(self, page: str, folder: Path) -> None:
        self.page, self.folder = page, folder
        self.scope: dict[str, Any] = {"__name__": "__main__"}
        self.program = ""
        self.said = ""  # what the last block printed, or the error it ended with

    def run(self, chosen: list[Block] | None = None) -> None:
        """Runs the blocks; AssertionError where one does not do what the page says."""
        for block in blocks(self.page) if chosen is None else chosen:
            if block.title:
                (self.folder / block.title).write_text(block.text)
            elif block.language == "python":
                self._python(block)
            elif block.language == "console":
                self._console(block)
            elif block.language == "text":
                self._expect(block.text, block.line)

    def _python(self, block: Block) -> None:
        name = f"{Path(self.page).stem}.py"
        program = self.program + block.text
        linecache.cache[name] = (len(program), None, program.splitlines(keepends=True), name)
        offset = "\n" * self.program.count("\n")
        printed = io.StringIO()
        here = os.getcwd()
        os.chdir(self.folder)
        try:
            with contextlib.redirect_stdout(printed):
                exec(compile(offset + block.text, name, "exec"), self.scope)
            self.program, self.said = program, printed.getvalue()
        except Exception as error:
            self.said = f"{type(error).__name__}: {error}"
            if not self._is_expected(block):
                raise
        finally:
            os.chdir(here)

    def _is_expected(self, block: Block) -> bool:
        """Whether the page shows, right below the block, that it ends with an error."""
        following = [other for other in blocks(self.page) if other.line > block.line][:1]
        return any(other.language == "text" and "Error: " in other.text for other in following)

    def _console(self, block: Block) -> None:
        for command, expected in re.findall(r"^\$ (.+)\n((?:(?!\$ ).*\n?)*)", block.text, re.MULTILINE):
            done = subprocess.run(
                ["bash", "-c", command],
                cwd=self.folder,
                env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=300,
                check=False,
            )
            self.said = done.stdout
            assert done.returncode == 0, (
                f"{self.page}: `{command}` ends with {done.returncode}:\n{done.stdout}"
            )
            if expected.strip():
                self._expect(expected, block.line)

    def _expect(self, expected: str, line: int) -> None:
        assert _alike(expected, self.said), (
            f"docs/{self.page}:{line} shows\n{expected}\nbut it is\n{self.said}"
        )


def _alike(expected: str, said: str) -> bool:
    """Whether the two texts are the same but for spaces, ellipses and how numbers are rounded."""
    if "…" in expected:
        pattern = r"\s+".join(".*?".join(map(re.escape, word.split("…"))) for word in expected.split())
        return re.fullmatch(pattern, said.strip(), re.DOTALL) is not None
    pairs = list(itertools.zip_longest(expected.split(), said.split(), fillvalue=""))
    return all(a == b or _near(a, b) for a, b in pairs)


def _near(expected: str, said: str) -> bool:
    numbers = [re.fullmatch(r"\W*(-?\d+\.\d+|\d+%)\W*", word) for word in (expected, said)]
    if not all(numbers):
        return False
    a, b = (float(number[1].strip("%")) for number in numbers)
    return abs(a - b) <= 0.1 * max(abs(a), 1)
