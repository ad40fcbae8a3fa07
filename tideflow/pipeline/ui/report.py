"""A run as one HTML file, which needs no server: the page with the run's figures in it."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

from tideflow.pipeline.data.whole_files import write_whole
from tideflow.pipeline.orchestration.metadata import Metadata
from tideflow.pipeline.ui.figures import run_figures

_EMPTY = '<script type="application/json" id="given">null</script>'


def page() -> str:
    """The page without figures, which asks a server for them."""
    return resources.files(__package__).joinpath("page.html").read_text(encoding="utf-8")


def page_with(figures: dict[str, Any]) -> str:
    """The page with figures in it.

    Args:
        figures: of a run.
    """
    # "<" would let a string of the data end the script element.
    data = json.dumps(figures).replace("<", "\\u003c")
    return page().replace(_EMPTY, _EMPTY.replace("null", data))


def write_report(store: Metadata, run: int, path: Path) -> None:
    """Writes the page of a run.

    Args:
        store: the metadata.
        run: the run's number.
        path: the file.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, page_with(run_figures(store, store.run(run))))
