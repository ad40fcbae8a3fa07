"""Differences of two texts: in the regions that `AnomalyInfo` has for them, and as people read them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tideflow.pipeline.messages.anomalies import DiffRegion

Part = Sequence[str]
Edit = tuple[str, int, int, int, int]
_CONTEXT = 3


def diff_regions(old_parts: Sequence[Part], new_parts: Sequence[Part]) -> list[Any]:
    """The regions that turn a text into another; what is far from a change is hidden.

    Args:
      old_parts: The parts of the text as it is, each of lines: the features and the domains of a schema.
      new_parts: The parts of the text as it is to be. A part is compared with that of the same name.

    Returns:
      `DiffRegion`s, with lines counted from 1.
    """
    regions = []
    old, new = ([line for part in parts for line in part] for parts in (old_parts, new_parts))
    edits = _joined(_edits(old_parts, new_parts))
    for position, (kind, i, k, j, m) in enumerate(edits):
        if kind == "equal":
            before = 0 if position == 0 else _CONTEXT
            after = 0 if position == len(edits) - 1 else _CONTEXT
            regions += _unchanged(old[i:k], i, j, before, after)
        elif kind == "delete":
            regions.append(DiffRegion(removed={"start": i + 1, "contents": old[i:k]}))
        elif kind == "insert":
            regions.append(DiffRegion(added={"start": j + 1, "contents": new[j:m]}))
        else:
            changed = {
                "left_start": i + 1,
                "left_contents": old[i:k],
                "right_start": j + 1,
                "right_contents": new[j:m],
            }
            regions.append(DiffRegion(changed=changed))
    return regions


def _edits(old: Sequence[Part], new: Sequence[Part]) -> Iterator[Edit]:
    """Edits of lines, as `difflib` names them.

    Parts are matched by their names first. Else lines that many parts have could be matched, and a fix would
    cut through a part that another fix changes.
    """
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    left, right = old[head : len(old) - tail], new[head : len(new) - tail]
    i = j = _size(old[:head])
    yield "equal", 0, i, 0, j
    names = [_name(part) for part in left], [_name(part) for part in right]
    for kind, a, b, c, d in difflib.SequenceMatcher(None, *names, autojunk=False).get_opcodes():
        if kind == "equal":
            for old_part, new_part in zip(left[a:b], right[c:d], strict=True):
                for line_kind, e, f, g, h in _line_edits(old_part, new_part):
                    yield line_kind, i + e, i + f, j + g, j + h
                i, j = i + len(old_part), j + len(new_part)
        else:
            k, m = i + _size(left[a:b]), j + _size(right[c:d])
            yield kind, i, k, j, m
            i, j = k, m
    yield "equal", i, i + _size(old[len(old) - tail :]), j, j + _size(new[len(new) - tail :])


def _name(part: Part) -> tuple[str, str]:
    return part[0], next((line for line in part if line.startswith("  name: ")), "")


def _size(parts: Sequence[Part]) -> int:
    return sum(map(len, parts))


def _line_edits(old: Part, new: Part) -> Iterator[Edit]:
    for kind, i, k, j, m in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        shift = 0
        if kind in ("insert", "delete"):
            # What is inserted or deleted begins with what opens it, not with the brace of what is before.
            lines, start, end = (new, j, m) if kind == "insert" else (old, i, k)
            while end + shift < len(lines) and lines[start + shift] == lines[end + shift] == lines[start]:
                if lines[start].strip() != "}":
                    break
                shift += 1
        if shift:
            yield "equal", i, i + shift, j, j + shift
        yield kind, i + shift, k + shift, j + shift, m + shift


def _joined(edits: Iterable[Edit]) -> list[Edit]:
    """Edits without empty ones; neighbours of a kind are one, and none begins before the last ended."""
    joined: list[Edit] = []
    at_old = at_new = 0
    for kind, i, k, j, m in edits:
        i, j = max(i, at_old), max(j, at_new)
        if i >= k and j >= m:
            continue
        at_old, at_new = max(k, at_old), max(m, at_new)
        if joined and joined[-1][0] == kind:
            kind, i, _, j, _ = joined.pop()
        joined.append((kind, i, at_old, j, at_new))
    return joined


def _unchanged(lines: Sequence[str], i: int, j: int, before: int, after: int) -> list[Any]:
    """The lines near the changes before and after them, and how many between are hidden."""

    def shown(start: int, end: int) -> Any:
        where = {"left_start": i + start + 1, "right_start": j + start + 1, "contents": lines[start:end]}
        return DiffRegion(unchanged=where)

    hidden = len(lines) - before - after
    if hidden <= 0:
        return [shown(0, len(lines))]
    regions = [shown(0, before)] if before else []
    regions.append(
        DiffRegion(hidden={"left_start": i + before + 1, "right_start": j + before + 1, "size": hidden})
    )
    return [*regions, shown(len(lines) - after, len(lines))] if after else regions


def diff_text(regions: Sequence[Any]) -> str:
    """Regions as a unified diff.

    Args:
      regions: What `diff_regions` returned.
    """
    lines: list[str] = []
    start = True
    for region in regions:
        kind = region.WhichOneof("details")
        detail = getattr(region, kind)
        if kind == "hidden":
            start = True
            continue
        if start:
            line = detail.left_start if kind in ("unchanged", "changed") else detail.start
            lines.append(f"@@ line {line} @@")
            start = False
        if kind == "unchanged":
            lines += [f" {line}" for line in detail.contents]
        if kind in ("removed", "changed"):
            gone = detail.contents if kind == "removed" else detail.left_contents
            lines += [f"-{line}" for line in gone]
        if kind in ("added", "changed"):
            come = detail.contents if kind == "added" else detail.right_contents
            lines += [f"+{line}" for line in come]
    return "".join(f"{line}\n" for line in lines)


def apply_regions(text: str, diffs: Sequence[Sequence[Any]]) -> str:
    """A text after several diffs of it, each made from that text.

    Args:
      text: The text that the diffs were made from.
      diffs: The regions of each diff.

    Raises:
      ValueError: Two of the diffs change the same line, each differently.
    """
    lines = text.splitlines()
    changed: dict[int, tuple[str, ...]] = {}  # by the first line: what stands in place of the lines
    size: dict[int, int] = {}
    added: dict[int, list[tuple[str, ...]]] = {}  # by the line before which they stand
    for regions in diffs:
        for start, count, contents in _replacements(regions):
            if not count:
                known = {line for other in added.setdefault(start, []) for line in other}
                if all(line.lstrip().startswith("value: ") for line in contents):
                    contents = tuple(line for line in contents if line not in known)  # of a shared domain
                if contents not in added[start]:
                    added[start].append(contents)
            elif changed.setdefault(start, contents) != contents or size.setdefault(start, count) != count:
                raise ValueError(
                    f"two fixes change line {start + 1} of the schema differently: accept one of them, "
                    "then validate again"
                )
    result: list[str] = []
    skip_to = 0
    for i in range(len(lines) + 1):
        for contents in added.get(i, ()):
            result += contents
        if i in changed:
            result += changed[i]
            skip_to = i + size[i]
        elif i < len(lines) and i >= skip_to:
            result.append(lines[i])
    return "".join(f"{line}\n" for line in result)


def _replacements(regions: Sequence[Any]) -> list[tuple[int, int, tuple[str, ...]]]:
    """By edit: the first line of the old text (from 0), how many lines go, what comes."""
    found, at = [], 0
    for region in regions:
        kind = region.WhichOneof("details")
        detail = getattr(region, kind)
        if kind == "unchanged":
            at = detail.left_start - 1 + len(detail.contents)
        elif kind == "hidden":
            at = detail.left_start - 1 + detail.size
        elif kind == "added":
            found.append((at, 0, tuple(detail.contents)))
        elif kind == "removed":
            found.append((detail.start - 1, len(detail.contents), ()))
            at = detail.start - 1 + len(detail.contents)
        else:
            gone = len(detail.left_contents)
            found.append((detail.left_start - 1, gone, tuple(detail.right_contents)))
            at = detail.left_start - 1 + gone
    return found
