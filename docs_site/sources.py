"""Source files as pages of the site, so that a symbol can be linked to the line that defines it."""

from __future__ import annotations

from pathlib import Path

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

FOLDER = "source"


def file_of(source: str) -> str:
    """The page of a source file: `source/tideflow.nn.pools.md` for `tideflow/nn/pools.py`."""
    return f"{FOLDER}/{source.removesuffix('.py').replace('/', '.')}.md"


def page(root: Path, source: str) -> str:
    """A file with its lines colored, each under the anchor `L-<number>` (the style sheet numbers them)."""
    colored = highlight(
        (root / source).read_text(), PythonLexer(), HtmlFormatter(cssclass="highlight source", linespans="L")
    )
    front = "---\nhide:\n  - navigation\n  - toc\nsearch:\n  exclude: true\n---\n"
    return f"{front}\n# {source}\n\n{colored}\n"
