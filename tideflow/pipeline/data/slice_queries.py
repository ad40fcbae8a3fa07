"""Slices by SQL, as TensorFlow Data Validation and Model Analysis take them.

    SELECT STRUCT(gender, IF(age > 30, 'old', 'young') AS age) FROM example.gender, example.age WHERE age > 0

A query is asked of every row, `example`. Each row of its answer is a slice that the row is in: names and
values. `FROM example.gender` has a row for each value of a feature; a feature that is not in `FROM` is its
one value, or NULL. Queries within expressions, `(SELECT MAX(age) FROM example.age)`, are asked of the same
row. Expressions are SQLite's, in whose words ZetaSQL's are put where the two differ.
"""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from tideflow.graph import errors
from tideflow.pipeline.data.lists import is_list, lengths_of

Key = tuple[tuple[str, str], ...]
_TOKEN = re.compile(
    r"""\s+ | (?P<text>[bBrR]?'(?:[^'\\]|\\.|'')*' | [bBrR]?"(?:[^"\\]|\\.)*") | `(?P<quoted>[^`]*)`
    | (?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+) | (?P<name>[A-Za-z_]\w*)
    | (?P<sign><=|>=|<>|!=|\|\||.)""",
    re.VERBOSE,
)
_FORM = "SELECT STRUCT(expression [AS name], ...) [FROM example.feature [AS name], ...] [WHERE condition]"
_CASTS = {"STRING": "TEXT", "BYTES": "TEXT", "INT64": "INTEGER", "FLOAT64": "REAL", "DOUBLE": "REAL"}
_KEYWORDS = frozenset(
    "AND OR NOT IN IS NULL LIKE BETWEEN CASE WHEN THEN ELSE END CAST AS TRUE FALSE ESCAPE DISTINCT".split()
)
_REFUSED = frozenset("SELECT FROM WHERE ORDER GROUP HAVING LIMIT JOIN UNION WITH".split())
_FUNCTIONS: dict[str, tuple[int, Any]] = {
    "if": (3, lambda test, this, that: this if test else that),
    "mod": (2, lambda x, y: None if x is None or not y else int(np.fmod(x, y))),
    "to_int64": (1, lambda x: _rounded(x) if isinstance(x, float) else x if x is None else int(x)),
    "div": (2, lambda x, y: None if x is None or not y else (abs(x) // abs(y)) * (1 if x * y >= 0 else -1)),
    "concat": (-1, lambda *parts: None if None in parts else "".join(map(str, parts))),
    "starts_with": (2, lambda text, begin: None if None in (text, begin) else text.startswith(begin)),
    "ends_with": (2, lambda text, end: None if None in (text, end) else text.endswith(end)),
    "greatest": (-1, lambda *values: None if None in values else max(values)),
    "least": (-1, lambda *values: None if None in values else min(values)),
    "regexp_contains": (2, lambda text, form: None if None in (text, form) else bool(re.search(form, text))),
}


def _rounded(number: float) -> int:
    """As ZetaSQL makes an integer of a number: halves away from zero."""
    return int(math.copysign(math.floor(abs(number) + 0.5), number))


class _Token(NamedTuple):
    kind: str  # "text", "quoted", "number", "name" or "sign"
    text: str

    def is_word(self, word: str) -> bool:
        return self.kind == "name" and self.text.upper() == word

    def is_sign(self, sign: str) -> bool:
        return self.kind == "sign" and self.text == sign


@dataclass(frozen=True)
class SliceQuery:
    """A query that was understood.

    Args:
      text: As it was written.
      names: Of the slices' parts.
      sql: What SQLite is asked: of `e`, whose columns are `c0`, `c1`, ... and, of how many values there are,
        `n0`, `n1`, ...; and of `t0`, `t1`, ... with `value`.
      features: The features that it reads, in the order of the columns.
      unnested: The numbers of those that `t0`, `t1`, ... have the values of.
    """

    text: str
    names: tuple[str, ...]
    sql: str
    features: tuple[str, ...]
    unnested: tuple[int, ...]

    def rows_by_key(self, columns: Mapping[str, pa.Array], rows: int) -> dict[Key, np.ndarray]:
        """The slices that rows of a block are in, and those rows, rising.

        Args:
          columns: Of the block, by feature; one that is not there has no values.
          rows: How many rows the block has.
        """
        found: dict[Key, dict[int, None]] = {}
        connection = sqlite3.connect(":memory:")
        try:
            self._fill(connection, columns, rows)
            for row, *values in connection.execute(self.sql):
                key = tuple(zip(self.names, map(_shown, values), strict=True))
                found.setdefault(key, {})[row] = None
        except sqlite3.Error as error:
            raise errors.invalid_argument(f"the slices by {self.text!r} cannot be made: {error}") from None
        finally:
            connection.close()
        return {key: np.sort(np.fromiter(members, np.int64)) for key, members in found.items()}

    def _fill(self, connection: sqlite3.Connection, columns: Mapping[str, pa.Array], rows: int) -> None:
        for name, (count, function) in _FUNCTIONS.items():
            connection.create_function(name, count, function, deterministic=True)
        flat = [_flat(columns.get(feature), rows) for feature in self.features]
        of_rows = [f"{kind}{at}" for at in range(len(flat)) for kind in "cn"]
        connection.execute(f"CREATE TABLE e ({', '.join(['row INTEGER PRIMARY KEY', *of_rows])})")
        whole = [column for lengths, values, places in flat for column in _single(lengths, values, places)]
        marks = ", ".join("?" * (1 + len(whole)))
        connection.executemany(f"INSERT INTO e VALUES ({marks})", zip(range(rows), *whole, strict=True))
        for at, number in enumerate(self.unnested):
            _, values, places = flat[number]
            connection.execute(f"CREATE TABLE t{at} (row INTEGER, value)")
            connection.executemany(
                f"INSERT INTO t{at} VALUES (?, ?)", zip(places.tolist(), values, strict=True)
            )
            connection.execute(f"CREATE INDEX i{at} ON t{at} (row)")


def _flat(column: pa.Array | None, rows: int) -> tuple[list[int | None], list[Any], np.ndarray]:
    """How many values each row has (None: it has no such feature), all values, and the row of each."""
    if column is None or not is_list(column.type):
        return [None] * rows, [], np.zeros(0, np.int64)
    lengths, present = lengths_of(column)
    counts: list[int | None] = lengths.tolist()
    if present is not None:
        counts = [count if there else None for count, there in zip(counts, present.tolist(), strict=True)]
    values = column.flatten()
    if pa.types.is_float32(values.type):  # the digits that are written for it: 0.1, not 0.10000000149011612
        shown = [float(str(value)) for value in values.to_numpy(zero_copy_only=False)]
    else:
        shown = [_plain(value) for value in values.to_pylist()]
    return counts, shown, np.repeat(np.arange(rows), lengths)


def _plain(value: Any) -> Any:
    return value.decode(errors="backslashreplace") if isinstance(value, bytes) else value


def _single(lengths: list[int | None], values: list[Any], places: np.ndarray) -> tuple[list[Any], list[Any]]:
    """The one value of each row, or None; and how many it has."""
    of_row = dict(zip(places.tolist(), values))
    return [of_row[row] if length == 1 else None for row, length in enumerate(lengths)], lengths


def _shown(value: Any) -> str:
    """A value in a slice's name, as ZetaSQL writes it."""
    if value is None:
        return "NULL"
    return f"{value:.15g}" if isinstance(value, float) else str(value)


# ------------------------------------------------------------------------------------------------- the query


@lru_cache
def slice_query(text: str) -> SliceQuery:
    """Understands a query.

    Args:
      text: `SELECT STRUCT(...) FROM example.feature WHERE ...`

    Raises:
      InvalidArgumentError: If it is none.
    """
    tokens = _tokens(text)
    if not tokens or not tokens[0].is_word("SELECT"):
        raise _wrong(text, "it does not begin with SELECT")
    selected, rest = _until(tokens[1:], "FROM", "WHERE")
    sources: list[_Token] = []
    if rest and rest[0].is_word("FROM"):
        sources, rest = _until(rest[1:], "WHERE")
    query = _Query(text)
    aliases = query.unnest(sources)
    items = query.items(selected)
    columns = [query.expression(item, aliases) for _, item in items]
    tables = ", ".join([*(f"t{at}" for at in aliases.values()), "e"])
    where = query.where(rest, aliases, aliases)
    sql = f"SELECT e.row, {', '.join(columns)} FROM {tables}{where}"
    return SliceQuery(
        text, tuple(name for name, _ in items), sql, tuple(query.features), tuple(query.unnested)
    )


class _Query:
    """A query that is being understood: the features that it reads so far."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.features: list[str] = []
        self.unnested: list[int] = []

    def unnest(self, tokens: Sequence[_Token]) -> dict[str, int]:
        """By the name that `FROM` gives it, the number of a table with a feature's values."""
        aliases: dict[str, int] = {}
        for part in _split(tokens) if tokens else []:
            words = [token for token in part if not token.is_word("AS")]
            if words and words[0].is_word("UNNEST"):
                words = [token for token in words[1:] if not (token.is_sign("(") or token.is_sign(")"))]
            is_feature = len(words) >= 3 and words[0].is_word("EXAMPLE") and words[1].is_sign(".")
            if not is_feature or len(words) > 4:
                raise _wrong(self.text, "FROM takes example.feature [AS name], and nothing else")
            alias = words[-1].text
            if alias in aliases:
                raise _wrong(self.text, f"FROM has {alias} twice")
            aliases[alias] = len(self.unnested)
            self.unnested.append(self._number(words[2].text))
        return aliases

    def where(self, tokens: Sequence[_Token], own: Mapping[str, int], aliases: Mapping[str, int]) -> str:
        """The condition: the values are of the row that is asked; and what is behind WHERE, if there."""
        conditions = [f"t{at}.row = e.row" for at in own.values()]
        if tokens:
            conditions.append(f"({self.expression(tokens[1:], aliases)})")
        return f" WHERE {' AND '.join(conditions)}" if conditions else ""

    def _subquery(self, tokens: Sequence[_Token], outer: Mapping[str, int]) -> str:
        """A query within an expression: of the values of the same row."""
        selected, rest = _until(tokens, "FROM", "WHERE")
        sources: list[_Token] = []
        if rest and rest[0].is_word("FROM"):
            sources, rest = _until(rest[1:], "WHERE")
        own = self.unnest(sources)
        aliases = {**outer, **own}
        if len(_split(selected)) != 1:
            raise _wrong(self.text, "a query within an expression selects one expression")
        if len(selected) > 2 and selected[-2].is_word("AS"):
            selected = selected[:-2]
        tables = f" FROM {', '.join(f't{at}' for at in own.values())}" if own else ""
        column = self.expression(selected, aliases)
        return f"(SELECT {column}{tables}{self.where(rest, own, aliases)})"

    def items(self, tokens: Sequence[_Token]) -> list[tuple[str, list[_Token]]]:
        """The names and expressions of a STRUCT."""
        words = list(tokens)
        if len(words) > 1 and words[0].is_word("AS") and words[1].is_word("STRUCT"):
            inside = words[2:]
        elif words and words[0].is_word("STRUCT"):
            close = _closing(words, 1)
            if close is None or len(words) not in (close + 1, close + 3):
                raise _wrong(self.text, "STRUCT(...) is not closed, or is not all that is selected")
            inside = words[2:close]
        else:
            raise _wrong(self.text, "it does not select a STRUCT")
        return [self._item(item) for item in _split(inside)]

    def _item(self, item: list[_Token]) -> tuple[str, list[_Token]]:
        if len(item) > 2 and item[-2].is_word("AS"):
            return item[-1].text, item[:-2]
        if item and item[-1].kind in ("name", "quoted") and (len(item) == 1 or item[-2].is_sign(".")):
            return item[-1].text, item
        raise _wrong(self.text, "an expression has no name: write `expression AS name`")

    def expression(self, tokens: Sequence[_Token], aliases: Mapping[str, int]) -> str:
        """An expression in SQLite's words."""
        made: list[str] = []
        at = 0
        while at < len(tokens):
            before = made[-1].upper() if made else ""
            construct = self._construct(tokens, at, before, aliases)
            text, at = construct or (self._single(tokens, at, before, aliases), at + 1)
            made.append(text)
        if not made:
            raise _wrong(self.text, "an expression is empty")
        return " ".join(made)

    def _construct(
        self, tokens: Sequence[_Token], at: int, before: str, aliases: Mapping[str, int]
    ) -> tuple[str, int] | None:
        """A construct of several tokens that begins here, and the place after it; None for anything else."""
        token, following = tokens[at], tokens[at + 1 : at + 3]
        if token.is_word("EXAMPLE") and len(following) == 2 and following[0].is_sign("."):
            return f"e.c{self._number(following[1].text)}", at + 3
        is_call = any(token.is_word(name) for name in ("ARRAY_LENGTH", "CAST", "UNNEST"))
        close = _closing(tokens, at + 1) if is_call else None
        if token.is_word("ARRAY_LENGTH"):
            inside = [each for each in tokens[at + 2 : close or at] if each.kind in ("name", "quoted")]
            if not inside:
                raise _wrong(self.text, "ARRAY_LENGTH takes example.feature")
            return f"e.n{self._number(inside[-1].text)}", (close or at) + 1
        if token.is_word("CAST") and close is not None and tokens[close - 1].is_word("INT64"):
            return f"to_int64({self.expression(tokens[at + 2 : close - 2], aliases)})", close + 1
        if token.is_word("UNNEST") and before == "IN":
            (table,) = self.unnest(tokens[at : (close or at) + 1]).values()
            return f"(SELECT value FROM t{table} WHERE t{table}.row = e.row)", (close or at) + 1
        if token.is_sign("(") and following and following[0].is_word("SELECT"):
            close = _closing(tokens, at)
            if close is None:
                raise _wrong(self.text, "a parenthesis is not closed")
            return self._subquery(tokens[at + 2 : close], aliases), close + 1
        return None

    def _single(self, tokens: Sequence[_Token], at: int, before: str, aliases: Mapping[str, int]) -> str:
        """A token that is no part of a construct, in SQLite's words."""
        token, word = tokens[at], tokens[at].text.upper()
        is_name = token.kind in ("name", "quoted")
        is_function = at + 1 < len(tokens) and tokens[at + 1].is_sign("(")
        if token.kind == "name" and word in _REFUSED:
            raise _wrong(self.text, f"{word} is not known here")
        if token.kind == "text":
            return _text_literal(token.text)
        if is_name and token.text in aliases:
            return f"t{aliases[token.text]}.value"
        if token.kind == "name" and before == "AS":
            return _CASTS.get(word, word)
        if token.kind == "name" and (word in _KEYWORDS or is_function):
            return word
        if is_name:
            return f"e.c{self._number(token.text)}"
        if token.is_sign("/"):
            return "* 1.0 /"  # whole numbers are divided as others are
        if token.text in ";#":
            raise _wrong(self.text, f"{token.text!r} is not known here")
        return token.text

    def _number(self, feature: str) -> int:
        if feature not in self.features:
            self.features.append(feature)
        return self.features.index(feature)


def _wrong(text: str, why: str) -> errors.InvalidArgumentError:
    return errors.invalid_argument(f"{text!r} makes no slices: {why}. A query is {_FORM}")


def _tokens(text: str) -> list[_Token]:
    matches = _TOKEN.finditer(text.strip().rstrip(";"))
    return [_Token(match.lastgroup, match[match.lastgroup]) for match in matches if match.lastgroup]


def _text_literal(text: str) -> str:
    """A text in SQLite's quotes. Its backslashes are ZetaSQL's."""
    quote = text[-1]
    is_raw = text[0] in "rR"
    inside = text[text.index(quote) + 1 : -1]
    if not is_raw:
        escapes = {"n": "\n", "t": "\t", "r": "\r"}
        inside = re.sub(r"\\(.)", lambda match: escapes.get(match[1], match[1]), inside, flags=re.DOTALL)
    return "'" + inside.replace("''", "'").replace("'", "''") + "'"


def _depths(tokens: Sequence[_Token]) -> Iterator[tuple[int, _Token, int]]:
    """The tokens with their places, and how many parentheses are open before each."""
    depth = 0
    for at, token in enumerate(tokens):
        depth -= token.is_sign(")")
        yield at, token, depth
        depth += token.is_sign("(")


def _until(tokens: Sequence[_Token], *words: str) -> tuple[list[_Token], list[_Token]]:
    """The tokens before one of some words that is in no parentheses, and the others."""
    for at, token, depth in _depths(tokens):
        if not depth and any(token.is_word(word) for word in words):
            return list(tokens[:at]), list(tokens[at:])
    return list(tokens), []


def _split(tokens: Sequence[_Token]) -> list[list[_Token]]:
    """Tokens between commas that are in no parentheses."""
    parts: list[list[_Token]] = [[]]
    for _, token, depth in _depths(tokens):
        if not depth and token.is_sign(","):
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _closing(tokens: Sequence[_Token], opening: int) -> int | None:
    """Where the parenthesis is closed that is opened at a place."""
    for at, token, depth in _depths(tokens[opening:]):
        if at and not depth and token.is_sign(")"):
            return opening + at
    return None
