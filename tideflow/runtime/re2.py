"""RE2's regular expressions on Python's `re`: TensorFlow's string ops use RE2's syntax.

A pattern is read token by token and rewritten for Python, with the differences made explicit: `$` matches at
the end of the text only, `\\s` does not match a vertical tab, `\\d`, `\\w` and `\\b` are ASCII classes, flags
may change in the middle, lookaround and backreferences are errors. Text is UTF-8. As in RE2, nothing matches
bytes that are not UTF-8: for `re` they are lone surrogates.
"""

from __future__ import annotations

import functools
import re
import string
from collections.abc import Iterator

from tideflow.graph import errors
from tideflow.runtime.unicode_tables import CODE_POINTS, Ranges, characters

_UNDECODED = "\udc80-\udcff"  # bytes that are not UTF-8, as "surrogateescape" decodes them
_MOST_REPEATS = 1000
_PUNCTUATION = frozenset(string.punctuation)
_CONTROLS = {"a": "\a", "f": "\f", "t": "\t", "n": "\n", "r": "\r", "v": "\v"}
_ASSERTIONS = {"A": r"(?:\A)", "z": r"(?:\Z)", "b": r"(?a:\b)", "B": r"(?a:\B)"}
_CLASSES: dict[str, Ranges] = {
    "d": [(48, 57)],
    "s": [(9, 10), (12, 13), (32, 32)],
    "w": [(48, 57), (65, 90), (95, 95), (97, 122)],
}
_POSIX: dict[str, Ranges] = {
    "alnum": [(48, 57), (65, 90), (97, 122)],
    "alpha": [(65, 90), (97, 122)],
    "ascii": [(0, 127)],
    "blank": [(9, 9), (32, 32)],
    "cntrl": [(0, 31), (127, 127)],
    "digit": _CLASSES["d"],
    "graph": [(33, 126)],
    "lower": [(97, 122)],
    "print": [(32, 126)],
    "punct": [(33, 47), (58, 64), (91, 96), (123, 126)],
    "space": [(9, 13), (32, 32)],
    "upper": [(65, 90)],
    "word": _CLASSES["w"],
    "xdigit": [(48, 57), (65, 70), (97, 102)],
}
_REPEAT = re.compile(r"[*+?]|\{(\d+)(?:,(\d*))?\}")
_GROUP_OPENING = re.compile(
    r"\((?:\?P<(?P<name>[^>]*)>|\?(?P<on>[imsU]*)(?:-(?P<off>[imsU]+))?(?P<end>[:)]))?"
)
_POSIX_CLASS = re.compile(r"\[:(\^?)(\w+):\]")
_PROPERTY = re.compile(r"\\([pP])(?:\{(\^?)(\w+)\}|(\w))")
_CODE = re.compile(r"\\(?:x\{([0-9a-fA-F]+)\}|x([0-9a-fA-F]{2})|([1-7][0-7]{1,2}|0[0-7]{0,2}))")


def _as_text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def full_match(pattern: bytes, data: bytes) -> bool:
    """Whether the whole of `data` matches."""
    return compiled(pattern).fullmatch(_as_text(data)) is not None


def replace(pattern: bytes, rewrite: bytes, data: bytes, everywhere: bool) -> bytes:
    """`data` with its first match, or all matches, replaced by `rewrite`, where `\\1` stands for group 1."""
    parts, whole = _rewrite_parts(rewrite)
    if not whole and not everywhere:
        return data
    text = _as_text(data)
    pieces, end = [], 0
    for match in _matches(compiled(pattern), text):
        pieces += [text[end : match.start()], *(_part(part, match) for part in parts)]
        end = match.end()
        if not everywhere:
            break
    return "".join([*pieces, text[end:]]).encode("utf-8", "surrogateescape")


def _matches(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """The matches from left to right. As in RE2, an empty match never touches the match before it."""
    end, at = -1, 0
    while at <= len(text) and (match := pattern.search(text, at)):
        if match.end() == match.start() == end:
            at = end + 1
            continue
        yield match
        end = at = match.end()


def _part(part: str | int, match: re.Match[str]) -> str:
    if isinstance(part, str):
        return part
    return match[part] or "" if part <= match.re.groups else ""


@functools.lru_cache(256)
def _rewrite_parts(rewrite: bytes) -> tuple[list[str | int], bool]:
    """The text and the group numbers of a rewrite, up to an invalid backslash; and whether there is none."""
    parts: list[str | int] = []
    rest = _as_text(rewrite)
    while rest:
        plain, backslash, rest = rest.partition("\\")
        parts.append(plain)
        if not backslash:
            break
        if not rest or rest[0] not in "0123456789\\":
            return parts, False
        parts.append("\\" if rest[0] == "\\" else int(rest[0]))
        rest = rest[1:]
    return parts, True


@functools.lru_cache(256)
def compiled(pattern: bytes) -> re.Pattern[str]:
    """The pattern for Python. Raises InvalidArgumentError with RE2's message if RE2 would refuse it."""
    shown = pattern.decode("utf-8", "replace")
    try:
        return re.compile(_Translation(pattern.decode()).result)
    except UnicodeDecodeError:
        reason = "invalid UTF-8"
    except (_Refused, re.error) as error:
        reason = str(error)
    raise errors.invalid_argument(f"Invalid pattern: {shown}, error: {reason}")


class _Refused(Exception):
    """RE2's message about an invalid pattern."""


class _Translation:
    """The translation of one pattern to Python's syntax.

    Each token has its flags, so that they need no scope.
    """

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.flags: frozenset[str] = frozenset()
        self.result = self._alternatives()
        if self.at < len(pattern):
            raise _Refused(f"missing ): {pattern}")

    def _take(self, token: re.Pattern[str]) -> re.Match[str] | None:
        match = token.match(self.pattern, self.at)
        self.at = match.end() if match else self.at
        return match

    def _alternatives(self) -> str:
        """The translation of all tokens up to the end of the group."""
        made, repeatable = "", False
        while self.at < len(self.pattern) and self.pattern[self.at] != ")":
            repeat = self._take(_REPEAT)
            if repeat:
                made += self._repeat(repeat, repeatable)
                continue
            atom = self._atom()
            repeatable = atom != "|" if atom else repeatable
            made += atom
        return made

    def _repeat(self, repeat: re.Match[str], repeatable: bool) -> str:
        if not repeatable:
            raise _Refused(f"no argument for repetition operator: {repeat[0]}")
        low, high = repeat.groups()
        if low and (int(low) > _MOST_REPEATS or high and not int(low) <= int(high) <= _MOST_REPEATS):
            raise _Refused(f"invalid repetition size: {repeat[0]}")
        lazy = self.pattern.startswith("?", self.at)
        self.at += lazy
        again = self._take(_REPEAT)
        if again:
            raise _Refused(f"bad repetition operator: {repeat[0]}{again[0]}")
        return repeat[0] + ("?" if lazy != ("U" in self.flags) else "")

    def _atom(self) -> str:
        char = self.pattern[self.at]
        if char == "(":
            return self._group()
        if char == "[":
            return self._folded(self._class())
        if char == "\\":
            return self._escape()
        self.at += 1
        if char == ".":
            return f"[^{_UNDECODED}]" if "s" in self.flags else f"[^\n{_UNDECODED}]"
        if char == "^":
            return "(?m:^)" if "m" in self.flags else r"(?:\A)"
        if char == "$":
            return "(?m:$)" if "m" in self.flags else r"(?:\Z)"
        return char if char == "|" else self._folded(re.escape(char))

    def _folded(self, atom: str) -> str:
        return f"(?i:{atom})" if "i" in self.flags else atom

    def _group(self) -> str:
        start, outer = self.at, self.flags
        opening = self._take(_GROUP_OPENING)
        assert opening is not None, "the pattern has a parenthesis here"
        name, on, off, end = opening.group("name", "on", "off", "end")
        if name is not None and not re.fullmatch(r"\w+", name, re.A):
            raise _Refused(f"invalid named capture group: {opening[0]}")
        if end is None and name is None and self.pattern.startswith("?", self.at):
            raise _Refused(f"invalid perl operator: {self.pattern[start : self.at + 2]}")
        if end:
            self.flags = outer.union(on) - set(off or "")
        if end == ")":
            return ""
        inside = self._alternatives()
        if self.at == len(self.pattern):
            raise _Refused(f"missing ): {self.pattern}")
        self.at += 1
        self.flags = outer
        return f"(?:{inside})" if end else f"({inside})"

    def _escape(self) -> str:
        letter = self.pattern[self.at + 1 : self.at + 2]
        if letter in _ASSERTIONS:
            self.at += 2
            return _ASSERTIONS[letter]
        if letter == "Q":
            literal, _, _ = self.pattern[self.at + 2 :].partition("\\E")
            self.at += 2 + len(literal) + 2 * self.pattern.startswith("\\E", self.at + 2 + len(literal))
            return "".join(self._folded(re.escape(char)) for char in literal)
        ranges = self._named_ranges()
        return self._folded(_written(ranges) if ranges is not None else re.escape(self._character()))

    def _character(self) -> str:
        """One character of a class, or an escape for one character."""
        char = self.pattern[self.at]
        if char != "\\":
            self.at += 1
            return char
        code = self._take(_CODE)
        if code:
            point = int(code[3], 8) if code[3] else int(code[1] or code[2], 16)
            if point >= CODE_POINTS:
                raise _Refused(f"invalid escape sequence: {code[0]}")
            return chr(point)
        escape = self.pattern[self.at : self.at + 2]
        if escape == "\\":
            raise _Refused("trailing \\")
        if escape[1] not in _CONTROLS and escape[1] not in _PUNCTUATION:
            raise _Refused(f"invalid escape sequence: {escape}")
        self.at += 2
        return _CONTROLS.get(escape[1], escape[1])

    def _named_ranges(self) -> Ranges | None:
        r"""The characters of `\d`, `\pL` or `\p{Greek}`, if the next token is one of these."""
        letter = self.pattern[self.at + 1 : self.at + 2]
        if letter and letter.lower() in _CLASSES:
            self.at += 2
            known = _CLASSES[letter.lower()]
            return known if letter.islower() else _complement(known)
        found = self._take(_PROPERTY)
        if not found:
            return None
        ranges = characters(found[3] or found[4])
        if ranges is None:
            raise _Refused(f"invalid character class range: {found[0]}")
        return ranges if (found[1] == "p") != bool(found[2]) else _complement(ranges)

    def _class(self) -> str:
        start = self.at
        self.at += 1
        negated = self.pattern.startswith("^", self.at)
        self.at += negated
        ranges: Ranges = []
        while not ranges or not self.pattern.startswith("]", self.at):
            if self.at == len(self.pattern):
                raise _Refused(f"missing ]: {self.pattern[start:]}")
            ranges += self._class_item()
        self.at += 1
        return f"[^{_items(ranges)}{_UNDECODED}]" if negated else _written(ranges)

    def _class_item(self) -> Ranges:
        posix = self._take(_POSIX_CLASS)
        if posix:
            if posix[2] not in _POSIX:
                raise _Refused(f"invalid character class range: {posix[0]}")
            return _complement(_POSIX[posix[2]]) if posix[1] else _POSIX[posix[2]]
        named = self._named_ranges() if self.pattern[self.at] == "\\" else None
        if named is not None:
            return named
        start = self.at
        first = last = self._character()
        if self.pattern.startswith("-", self.at) and self.pattern[self.at + 1 : self.at + 2] not in ("]", ""):
            self.at += 1
            last = self._character()
        if last < first:
            raise _Refused(f"invalid character class range: {self.pattern[start : self.at]}")
        return [(ord(first), ord(last))]


def _items(ranges: Ranges) -> str:
    return "".join(f"{re.escape(chr(first))}-{re.escape(chr(last))}" for first, last in ranges)


def _written(ranges: Ranges) -> str:
    return f"[{_items(ranges)}]" if ranges else "(?!)"


def _complement(ranges: Ranges) -> Ranges:
    """All other characters. Surrogates are not characters."""
    found, next_free = [], 0
    for first, last in sorted([*ranges, (0xD800, 0xDFFF), (CODE_POINTS, CODE_POINTS)]):
        if first > next_free:
            found.append((next_free, first - 1))
        next_free = max(next_free, last + 1)
    return found
