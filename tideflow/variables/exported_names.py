"""Names in messages: without the scope that was exported, and with the scope of the import."""

from __future__ import annotations


def strip_name_scope(name: str, export_scope: str | None) -> str:
    """The name within the exported scope."""
    if not export_scope:
        return name
    prefix = export_scope.removesuffix("/") + "/"
    return name.removeprefix(prefix)


def prepend_name_scope(name: str, import_scope: str | None) -> str:
    """The name in the graph, of a name within the scope that a graph was imported into."""
    return f"{import_scope.removesuffix('/')}/{name}" if import_scope else name
