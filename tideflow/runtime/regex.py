"""Regular expressions by RE2, TensorFlow's own engine: its syntax and semantics, in time linear in the text.

Text is UTF-8; bytes that are not are matched by nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

import re2

from tideflow.graph import errors

_OPTIONS = re2.Options()
_OPTIONS.log_errors = False


def full_match(pattern: bytes, data: bytes) -> bool:
    """Whether the whole of `data` matches."""
    return compiled(pattern).fullmatch(data) is not None


def replace(pattern: bytes, rewrite: bytes, data: bytes, everywhere: bool) -> bytes:
    """`data` with its first match, or all of them, rewritten; `\\1` in the rewrite is what group 1 has."""
    parts, is_whole = _rewrite_parts(rewrite)
    if not is_whole and not everywhere:
        return data
    pieces, end = [], 0
    for match in _matches(compiled(pattern), data):
        pieces += [data[end : match.start()], *(_part(part, match) for part in parts)]
        end = match.end()
        if not everywhere:
            break
    return b"".join([*pieces, data[end:]])


def _matches(pattern: re2._Regexp, data: bytes) -> Iterator[re2._Match]:
    """Matches from left to right as RE2's GlobalReplace takes them: an empty one never touches the one before
    it, and none begins amid a character.
    """
    end, at = -1, 0
    while at <= len(data) and (match := pattern.search(data, at)):
        if match.end() == match.start() == end:
            at = end + _character_size(data, end)
            continue
        yield match
        end = at = match.end()


def _character_size(data: bytes, at: int) -> int:
    """The bytes of the UTF-8 character at a place; 1 where there is none."""
    first = data[at : at + 1]
    size = 1 if first < b"\xc0" else 2 if first < b"\xe0" else 3 if first < b"\xf0" else 4
    is_character = all(0x80 <= byte < 0xC0 for byte in data[at + 1 : at + size]) and at + size <= len(data)
    return size if is_character else 1


def _part(part: bytes | int, match: re2._Match) -> bytes:
    if isinstance(part, bytes):
        return part
    return match[part] or b"" if part <= match.re.groups else b""


@functools.lru_cache(256)
def _rewrite_parts(rewrite: bytes) -> tuple[list[bytes | int], bool]:
    """Text and numbers of groups up to the first backslash that means nothing; whether there is none."""
    parts: list[bytes | int] = []
    rest = rewrite
    while rest:
        plain, backslash, rest = rest.partition(b"\\")
        parts.append(plain)
        if not backslash:
            break
        escaped = rest[:1]
        if escaped == b"\\":
            parts.append(b"\\")
        elif escaped.isdigit():
            parts.append(int(escaped))
        else:
            return parts, False
        rest = rest[1:]
    return parts, True


@functools.lru_cache(256)
def compiled(pattern: bytes) -> re2._Regexp:
    """The compiled pattern; InvalidArgumentError in RE2's words where it is none."""
    try:
        return re2.compile(pattern, _OPTIONS)
    except re2.error as error:
        reason = error.args[0]
    reason = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
    reason = reason.replace("unexpected ):", "missing ):")  # as TensorFlow 1.15's version of RE2 has it
    shown = pattern.decode("utf-8", "replace")
    raise errors.invalid_argument(f"Invalid pattern: {shown}, error: {reason}")
