"""MkDocs' hook: it adds the pages of the API reference, and those of the files that are not Markdown."""

from __future__ import annotations

import logging
from typing import Any

from mkdocs.structure.files import File, Files

from docs_site import catalog, pages, sources, tutorial
from docs_site.locations import ROOT, Location

log = logging.getLogger("mkdocs.hooks.reference")


def on_files(files: Files, config: Any) -> Files:
    """Adds what is generated. `extra.reference` may name the namespaces to write; all, where it does not."""
    wanted = config.extra.get("reference")
    entries = [
        entry
        for entry in catalog.entries()
        if not wanted or any(path.rpartition(".")[0] in wanted for path in entry.paths)
    ]
    address = config.repo_url and f"{config.repo_url.rstrip('/')}/blob/{config.extra['branch']}"

    linked: set[str] = set()

    def source(place: Location) -> str:
        if address:
            return f"{address}/{place.file}#L{place.line}"
        linked.add(place.file)
        return f"../{sources.file_of(place.file)}#L-{place.line}"

    def add(path: str, text: str) -> None:
        files.append(File.generated(config, path, content=text))

    reference = pages.Reference(entries, source)
    add(f"{pages.FOLDER}/index.md", reference.index())
    add(f"{pages.FOLDER}/op_types.md", reference.op_types())
    for space in reference.spaces:
        add(f"{pages.FOLDER}/{pages.file_of(space)}", reference.namespace(space))
    for entry in entries:
        if entry.path not in reference.spaces:  # a module that is a namespace has its page already
            add(f"{pages.FOLDER}/{pages.file_of(entry.path)}", reference.symbol(entry))
    config.nav[-1]["Reference"] += [
        {f"tf.{space}" if space else "tf": f"{pages.FOLDER}/{pages.file_of(space)}"}
        for space in reference.spaces
    ]
    log.info("Reference: %d symbols in %d namespaces", len(entries), len(reference.spaces))
    add("design/from_nothing.md", tutorial.page(ROOT / "docs" / "from_nothing.py"))
    for file in sorted(linked):
        add(sources.file_of(file), sources.page(ROOT, file))
    return files
