"""A Python file that is a tutorial, as a page: its sections become headings, its long comments text."""

from __future__ import annotations

import ast
import re
from pathlib import Path

_SECTION = re.compile(r"^# (\d+\. .+?) =+$")


def page(file: Path) -> str:
    """The file as Markdown: the docstring, then comments that begin a section as text and code as code."""
    source = file.read_text()
    tree = ast.parse(source)
    title, _, opening = (ast.get_docstring(tree) or "").partition("\n")
    heading, _, how = title.partition(": ")
    parts = [f"# {heading}\n\n{how}\n\n{opening.strip()}\n"]
    lines = source.splitlines()[tree.body[0].end_lineno :]
    code: list[str] = []
    position = 0
    while position < len(lines):
        section = _SECTION.match(lines[position])
        if section is None:
            code.append(lines[position])
            position += 1
            continue
        parts += [_code(code), f"\n## {section[1]}\n"]
        code, position = [], position + 1
        while position < len(lines) and lines[position].startswith("#"):
            parts.append(lines[position].removeprefix("#").removeprefix(" "))
            position += 1
    return "\n".join([*parts, _code(code)])


def _code(lines: list[str]) -> str:
    text = "\n".join(lines).strip("\n")
    return f"\n```python\n{text}\n```\n" if text else ""
