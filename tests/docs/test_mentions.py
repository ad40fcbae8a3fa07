"""Files that pages, comments and docstrings mention are there."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("benchmarks", "docs", "docs_site", "examples", "tests", "tideflow")
PROSE = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
MENTION = re.compile(r"`([\w.-]+(?:/[\w.-]+)*\.(?:py|md))\b")
MADE = {"tideflow.nn.pools.md", "getting_started.py"}  # by the site, by a test


def mentions(text: str) -> Iterator[str]:
    """The files that a text names between backquotes."""
    yield from (name for name in MENTION.findall(text) if name.split("/")[-1] not in MADE)


def comments(source: str) -> Iterator[str]:
    """The comments and docstrings of a program."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.string
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            yield ast.get_docstring(node) or ""


def is_there(name: str, files: set[str]) -> bool:
    return name in files or any(file.endswith(f"/{name}") for file in files)


def test_files_that_are_mentioned_exist():
    files = {path.relative_to(ROOT).as_posix() for folder in FOLDERS for path in (ROOT / folder).rglob("*.*")}
    files |= {path.name for path in ROOT.glob("*.*")}
    texts = {path: [path.read_text()] for path in PROSE}
    for folder in ("tideflow", "docs_site", "tests"):
        for path in (ROOT / folder).rglob("*.py"):
            source = path.read_text()
            if MENTION.search(source) and "scripts" not in path.parts:
                texts[path] = list(comments(source))
    stale = {
        f"{path.relative_to(ROOT)}: {name}"
        for path, parts in texts.items()
        for text in parts
        for name in mentions(text)
        if not is_there(name, files)
    }
    assert not stale
