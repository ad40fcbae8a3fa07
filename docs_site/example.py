"""The example of an entry: written in its docstring or in docs_site/snippets, or made of its op's samples."""

from __future__ import annotations

import functools

from docs_site import docstrings, handwritten, programs, sample_programs
from docs_site.catalog import Entry

_BY_KIND = {
    "dtype": "dtype = {name}\nprint(dtype.name, dtype.size, dtype.is_floating, dtype.is_integer)",
    "value": "print({name})",
    "message": "print([field.name for field in {name}.DESCRIPTOR.fields])",
}


def of(entry: Entry) -> programs.Ran:
    """The entry's example, run. One that was written and fails is an error, as is an entry without one."""
    written = written_for(entry)
    if written is not None:
        try:
            return _ran(written)
        except Exception as error:
            raise RuntimeError(f"the example of {entry.name} fails:\n{written}") from error
    sampled = sample_programs.example(entry.name, entry.obj) if entry.kind == "function" else None
    if sampled is None:
        raise LookupError(f"{entry.name} has no example: write one in docs_site/snippets/")
    return sampled


_ran = functools.cache(programs.run_shown)  # one program may be the example of many entries


def written_for(entry: Entry) -> str | None:
    """The program that somebody wrote for the entry, or for all of its kind."""
    in_docstring = docstrings.of(entry.obj).examples
    if in_docstring:
        return _plain(in_docstring)
    if entry.path in handwritten.cells():
        return handwritten.cells()[entry.path]
    return _BY_KIND[entry.kind].format(name=entry.name) if entry.kind in _BY_KIND else None


def _plain(text: str) -> str:
    """A program without the fence or the prompts it may stand behind in a docstring."""
    lines = [line for line in text.strip().splitlines() if not line.startswith("```")]
    if any(line.startswith(">>> ") for line in lines):
        lines = [line[4:] for line in lines if line.startswith((">>> ", "... "))]
    return "\n".join(lines)
