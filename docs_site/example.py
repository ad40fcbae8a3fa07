"""The example of an entry: written beside it, written in docs_site/snippets, one of its op's samples, or a use."""

from __future__ import annotations

from dataclasses import dataclass

from docs_site import docstrings, handwritten, programs, sample_programs, usages
from docs_site.catalog import Entry
from docs_site.locations import Location


@dataclass(frozen=True)
class Example:
    """A program with what it printed; or, where it was not run, the test or program it is taken from."""

    program: str
    printed: str = ""
    location: Location | None = None


def of(entry: Entry) -> Example | None:
    """The entry's example; the errors of a program that was written for it are errors of the build."""
    written = docstrings.of(entry.obj).examples or handwritten.cells().get(entry.path)
    if written:
        try:
            ran = programs.run_shown(_plain(written))
        except Exception as error:
            raise RuntimeError(f"the example of {entry.name} fails:\n{written}") from error
        return Example(ran.program, ran.printed)
    if entry.kind == "function":
        sampled = sample_programs.example(entry.name, entry.obj)
        if sampled is not None:
            return Example(sampled.program, sampled.printed)
    if entry.kind in _BY_KIND:
        ran = programs.run_shown(_BY_KIND[entry.kind].format(name=entry.name))
        return Example(ran.program, ran.printed)
    used = usages.usage(entry.paths)
    return None if used is None else Example(used.text, location=used.location)


_BY_KIND = {
    "dtype": "dtype = {name}\nprint(dtype.name, dtype.size, dtype.is_floating, dtype.is_integer)",
    "value": "print({name})",
    "message": "print([field.name for field in {name}.DESCRIPTOR.fields])",
}


def _plain(text: str) -> str:
    """A program without the fence or the prompts it may stand behind in a docstring."""
    lines = [line for line in text.strip().splitlines() if not line.startswith("```")]
    if any(line.startswith(">>> ") for line in lines):
        lines = [line[4:] for line in lines if line.startswith((">>> ", "... "))]
    return "\n".join(lines)
