"""The pages of the reference, as Markdown: one a symbol, one a namespace, one of all namespaces."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from docs_site import catalog, docstrings, example, locations, signatures
from docs_site.catalog import Entry
from docs_site.docstrings import Docstring
from docs_site.locations import Location
from tideflow.graph.op import definitions, not_differentiable

FOLDER = "reference"
Source = Callable[[Location], str]  # the address of a line of a file, as seen from a page of the reference


def file_of(path: str) -> str:
    """The name of a symbol's or namespace's page in the folder of the reference."""
    return f"tf.{path}.md" if path else "tf.md"


class Reference:
    """Writes the pages of a catalog's entries."""

    def __init__(self, entries: list[Entry], source: Source) -> None:
        self.entries = entries
        self.spaces = catalog.namespaces(entries)
        self._source = source
        self._home = {path: entry for entry in entries for path in entry.paths}

    def link(self, path: str) -> str | None:
        """The page on which a symbol (or a namespace) is described."""
        if path in self._home:
            return file_of(self._home[path].path)
        return file_of(path) if path in self.spaces else None

    # -------------------------------------------------------------------------------- symbols

    def symbol(self, entry: Entry) -> str:
        """The page of one symbol."""
        doc = docstrings.of(entry.obj)
        lines = _front(entry.name, boost=0.5 if entry.path.startswith("contrib.") else 2)
        lines += [self._way(entry.path), "{: .about }", "", f"# {entry.name}", ""]
        if entry.kind in ("function", "class"):
            lines += _fenced(signatures.text(entry.name, entry.obj), "python", "signature")
        lines += [self._text(doc.text or _default_text(entry)), ""]
        lines += self._about(entry)
        if entry.kind in ("function", "class"):
            lines += self._contract(entry.obj, doc)
        if entry.kind == "message":
            lines += _fields(entry.obj)
        lines += self._example(entry)
        if entry.kind == "class":
            lines += self._members(entry)
        return "\n".join(lines)

    def _way(self, path: str) -> str:
        """The namespaces around a symbol, outermost first."""
        parts = path.split(".")[:-1]
        spaces = [".".join(parts[:end]) for end in range(len(parts) + 1)]
        named = [(space.rpartition(".")[2] or "tf", self.link(space)) for space in spaces]
        return " › ".join(f"[{name}]({link})" if link else name for name, link in named)

    def _about(self, entry: Entry) -> list[str]:
        """The symbol's other names, and where it is defined."""
        place = locations.location(entry.path, entry.obj)
        also = ", ".join(f"`tf.{path}`" for path in entry.aliases)
        words = [f"Also {also}."] if also else []
        words += [f"Defined in {self._place(place)}."] if place else []
        return [" ".join(words), "{: .about }", ""] if words else []

    def _place(self, place: Location) -> str:
        return f"[`{place}`]({self._source(place)})"

    def _contract(self, obj: Any, doc: Docstring) -> list[str]:
        """Arguments, result and errors."""
        lines = []
        found = signatures.parameters(obj)
        if found:
            lines += ["**Arguments**", ""]
            lines += [self._argument(p, doc.arguments.get(p.name) or _USUAL.get(p.name, "")) for p in found]
            lines.append("")
        result = doc.returns or signatures.returned(obj)
        if result and not inspect.isclass(obj):
            kind = signatures.returned(obj)
            words = self._text(doc.returns)
            lines += ["**Returns**", "", " ".join(filter(None, [f"`{kind}`" if kind else "", words])), ""]
        if doc.raises:
            lines += ["**Raises**", ""]
            lines += [f"- `{kind}`: {self._text(text)}" for kind, text in doc.raises] + [""]
        return lines

    def _argument(self, parameter: inspect.Parameter, described: str) -> str:
        words = [f"`{kind}`" for kind in [signatures.type_text(parameter.annotation)] if kind]
        if parameter.default is not parameter.empty:
            words.append(f"default `{signatures.default_text(parameter.default)}`")
        kind = f" ({', '.join(words)})" if words else ""
        text = f": {self._text(described)}" if described else ""
        return f"- `{parameter.name}`{kind}{text}".replace("\n", "\n  ")

    def _example(self, entry: Entry) -> list[str]:
        ran = example.of(entry)
        printed = _fenced(ran.printed, "text", "printed") if ran.printed else []
        return ["## Example { data-search-exclude }", "", *_fenced(ran.program, "python"), *printed]

    # -------------------------------------------------------------------------------- classes

    def _members(self, entry: Entry) -> list[str]:
        lines: list[str] = []
        for title, wanted in (("Properties", _is_property), ("Methods", callable)):
            members = [m for m in _public_members(entry.obj) if wanted(m[1])]
            if members:
                lines += [f"## {title}", ""]
            for name, member, owner in members:
                lines += self._member(name, member, owner, entry.obj)
        return lines

    def _member(self, name: str, member: Any, owner: type, cls: type) -> list[str]:
        function = member.fget if isinstance(member, property) else member
        doc = docstrings.of(member)
        lines = [f"### `{name}`" + (" { data-search-exclude }" if owner is not cls else ""), ""]
        if not _is_property(member):
            lines += _fenced(signatures.text(name, function), "python", "signature")
        if owner is not cls:
            lines += [f"Inherited from {self._class(owner)}. {self._text(doc.summary)}", ""]
            return lines
        lines += [self._text(doc.text), ""]
        place = locations.location("", function)
        if place:
            lines += [f"Defined in {self._place(place)}.", "{: .about }", ""]
        return lines + ([] if _is_property(member) else self._contract(function, doc))

    def _class(self, owner: type) -> str:
        path = next((entry.path for entry in self.entries if entry.obj is owner), None)
        return f"[`tf.{path}`]({file_of(path)})" if path else f"`{owner.__name__}`"

    # -------------------------------------------------------------------------------- namespaces

    def namespace(self, space: str) -> str:
        """The page of a namespace: a line for each of its symbols, and the namespaces inside."""
        name = f"tf.{space}" if space else "tf"
        lines = _front(name, boost=1) + [f"# {name}", "", self._text(catalog.about(space)), ""]
        inner = [other for other in self.spaces if other and other.rpartition(".")[0] == space]
        if inner:
            lines += ["## Namespaces", ""]
            lines += [f"- [`tf.{other}`]({file_of(other)}) {catalog.about(other)}" for other in inner] + [""]
        for title, kinds in _TITLES.items():
            rows = [(path, e) for path, e in self.spaces[space].items() if e.kind in kinds]
            if rows:
                lines += [f"## {title}", "", "| name | what it is |", "|---|---|", *self._rows(rows), ""]
        return "\n".join(lines)

    def _rows(self, rows: Iterable[tuple[str, Entry]]) -> Iterator[str]:
        for path, entry in rows:
            same = "" if path == entry.path else f" (`{entry.name}`)"
            said = self._text(docstrings.of(entry.obj).summary or _default_text(entry)).replace("|", "\\|")
            yield f"| [`{path.rpartition('.')[2]}`]({file_of(entry.path)}){same} | {said} |"

    def index(self) -> str:
        """The page of all namespaces."""
        lines = ["# API reference", ""]
        lines += [
            f"{len(self._home)} names for {len(self.entries)} objects, in {len(self.spaces)} namespaces.",
            "",
        ]
        lines += ["| namespace | names | |", "|---|---:|---|"]
        for space, members in self.spaces.items():
            name = f"tf.{space}" if space else "tf"
            lines.append(
                f"| [`{name}`]({file_of(space)}) | {len(members)} | {self._text(catalog.about(space))} |"
            )
        return "\n".join(lines)

    def op_types(self) -> str:
        """The page of all op types, which `tf.raw_ops` has as functions."""
        ops = [op for name, op in sorted(definitions().items()) if not name.startswith("_")]
        lines = [
            "# Op types",
            "",
            f"The {len(ops)} op types of graphs. `tf.raw_ops.MatMul(a=…, b=…)` makes an operation "
            "of a type by itself; inputs and attributes are given by name.",
            "",
            "| op type | inputs | outputs | gradient | |",
            "|---|---|---|---|---|",
        ]
        for op in ops:
            file, line = op.place
            place = Location(Path(file).relative_to(locations.ROOT).as_posix(), line)
            gradient = "" if op.gradient_function is not_differentiable else "yes"
            inputs, outputs = (", ".join(f"`{arg.name}`" for arg in side) for side in (op.inputs, op.outputs))
            lines.append(
                f"| `{op.name}` | {inputs} | {outputs} | {gradient} | [source]({self._source(place)}) |"
            )
        return "\n".join(lines)

    def _text(self, text: str) -> str:
        return docstrings.markdown(text, self.link)


_USUAL = {"name": "The name in the graph of what is made; one is found, if none is given."}
_TITLES = {
    "Functions": ("function",),
    "Classes": ("class",),
    "Messages": ("message",),
    "Types and values": ("dtype", "value", "module"),
}


def _front(title: str, boost: float) -> list[str]:
    return ["---", f"title: {title}", "search:", f"  boost: {boost}", "---", ""]


def _fenced(text: str, language: str, style: str = "") -> list[str]:
    attributes = f"{{ .{language} .{style} }}" if style else language
    return [f"```{attributes}" if not style else f"``` {attributes}", text, "```", ""]


def _fields(message: Any) -> list[str]:
    lines = ["**Fields**", "", "| name | type |", "|---|---|"]
    for each in message.DESCRIPTOR.fields:
        kind = each.message_type or each.enum_type
        word = kind.name if kind else _SCALARS.get(each.type, "bytes")
        lines.append(f"| `{each.name}` | {'list of ' if each.is_repeated else ''}{word} |")
    return [*lines, ""]


_SCALARS = {
    1: "double",
    2: "float",
    3: "int64",
    4: "uint64",
    5: "int32",
    8: "bool",
    9: "string",
    13: "uint32",
}


def _default_text(entry: Entry) -> str:
    if entry.kind == "message":
        return f"The protocol buffer message `{entry.obj.DESCRIPTOR.full_name}`."
    if entry.kind == "dtype":
        return f"The type {entry.obj.name}."
    if entry.kind == "value":
        return f"The value `{signatures.default_text(entry.obj)}`."
    return ""


def _is_property(member: Any) -> bool:
    return isinstance(member, property)


def _public_members(cls: type) -> list[tuple[str, Any, type]]:
    """The public methods and properties of a class with the class that defines them; its own ones first."""
    found = {}
    for owner in cls.__mro__:
        if not str(owner.__module__).startswith("tideflow"):
            continue
        for name, raw in vars(owner).items():
            if not name.startswith("_") or name == "__call__":
                member = raw.__func__ if isinstance(raw, (classmethod, staticmethod)) else raw
                if _is_property(member) or inspect.isfunction(member):
                    found.setdefault(name, (name, member, owner))
    return sorted(found.values(), key=lambda item: (item[2] is not cls, item[0]))
