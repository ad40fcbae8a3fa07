"""Conditions of custom validations: the expressions of SQL that say what statistics must be.

`feature.num_stats.mean BETWEEN 0 AND 10 AND NOT feature.string_stats.unique IN (1, 2)`: fields of messages,
numbers, strings, TRUE, FALSE, NULL, arithmetic, comparisons, AND, OR, NOT, IS NULL, IN, BETWEEN, ABS, ROUND,
ARRAY_LENGTH and CHAR_LENGTH. A comparison with NULL is NULL, as in SQL.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from google.protobuf.message import Message

_TOKEN = re.compile(
    r"""\s*(?:(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    |(?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    |(?P<name>[A-Za-z_][A-Za-z_0-9]*(?:\.[A-Za-z_][A-Za-z_0-9]*)*)
    |(?P<sign><=|>=|<>|!=|[=<>+\-*/(),]))""",
    re.VERBOSE,
)
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "ABS": abs,
    "ROUND": round,
    "ARRAY_LENGTH": len,
    "CHAR_LENGTH": len,
}
_CONSTANTS = {"TRUE": True, "FALSE": False, "NULL": None}
_DEEPEST = 100


def holds(condition: str, messages: Mapping[str, Any]) -> bool:
    """Whether a condition holds. One that is NULL does not.

    Args:
      condition: The expression.
      messages: By name, the messages that the expression may name.

    Raises:
      ValueError: The expression is not one, or names a field that is not there.
    """
    result = _Evaluation(condition, messages).run()
    if result is not None and not isinstance(result, bool):
        raise ValueError(f"{condition!r} is {result!r}: a condition must be TRUE or FALSE")
    return bool(result)


class _Evaluation:
    """Reads an expression and computes its value on the way, from the weakest operator to the strongest."""

    def __init__(self, text: str, messages: Mapping[str, Any]) -> None:
        self._text = text
        self._messages = messages
        self._tokens = list(self._read())
        self._at = 0
        self._depth = 0

    def _read(self) -> Any:
        at = 0
        while self._text[at:].strip():
            found = _TOKEN.match(self._text, at)
            if found is None:
                raise ValueError(f"{self._text!r} is not understood at {self._text[at:].strip()[:20]!r}")
            yield found.lastgroup, found.group(found.lastgroup or 0)
            at = found.end()

    def run(self) -> Any:
        value = self._or()
        if self._at < len(self._tokens):
            self._refuse()
        return value

    def _refuse(self) -> None:
        rest = " ".join(text for _, text in self._tokens[self._at :]) or "its end"
        raise ValueError(f"{self._text!r} is not understood at {rest[:40]!r}")

    def _take(self, *words: str) -> str | None:
        """The next token if it is one of these."""
        if self._at < len(self._tokens):
            kind, text = self._tokens[self._at]
            word = str(text.upper() if kind == "name" else text)
            if kind != "string" and word in words:
                self._at += 1
                return word
        return None

    def _expect(self, word: str) -> None:
        if self._take(word) is None:
            self._refuse()

    def _or(self) -> Any:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise ValueError(f"the condition is nested more than {_DEEPEST} levels deep")
        value = self._and()
        while self._take("OR"):
            other = self._and()
            value = True if value is True or other is True else None if None in (value, other) else False
        self._depth -= 1
        return value

    def _and(self) -> Any:
        value = self._not()
        while self._take("AND"):
            other = self._not()
            value = False if value is False or other is False else None if None in (value, other) else True
        return value

    def _not(self) -> Any:
        negations = 0
        while self._take("NOT"):
            negations += 1
        value = self._comparison()
        return value if value is None or not negations % 2 else not value

    def _comparison(self) -> Any:
        value = self._sum()
        if self._take("IS"):
            negated = bool(self._take("NOT"))
            word = self._take("NULL", "TRUE", "FALSE")
            if word is None:
                self._refuse()
            return (value is _CONSTANTS[word or ""]) != negated
        negated = bool(self._take("NOT"))
        if self._take("IN"):
            found = self._within(value)
        elif self._take("BETWEEN"):
            low = self._sum()
            self._expect("AND")
            high = self._sum()
            found = None if None in (value, low, high) else low <= value <= high
        else:
            if negated:
                self._refuse()
            sign = self._take(*_COMPARISONS)
            return value if sign is None else self._apply(_COMPARISONS[sign], value, self._sum())
        return found if found is None else found != negated

    def _within(self, value: Any) -> bool | None:
        self._expect("(")
        members = [self._sum()]
        while self._take(","):
            members.append(self._sum())
        self._expect(")")
        if value is None:
            return None
        return (
            True
            if value in [each for each in members if each is not None]
            else None
            if None in members
            else False
        )

    def _apply(self, function: Callable[..., Any], *values: Any) -> Any:
        if any(value is None for value in values):
            return None
        try:
            return function(*values)
        except (TypeError, ZeroDivisionError) as error:
            raise ValueError(f"{self._text!r} cannot be computed: {error}") from error

    def _sum(self) -> Any:
        value = self._product()
        while sign := self._take("+", "-"):
            value = self._apply(_ARITHMETIC[sign], value, self._product())
        return value

    def _product(self) -> Any:
        value = self._single()
        while sign := self._take("*", "/"):
            value = self._apply(_ARITHMETIC[sign], value, self._single())
        return value

    def _single(self) -> Any:
        negations = 0
        while self._take("-"):
            negations += 1
        value = self._atom()
        return self._apply(operator.neg, value) if negations % 2 else value

    def _atom(self) -> Any:
        if self._take("("):
            value = self._or()
            self._expect(")")
            return value
        if self._at == len(self._tokens):
            self._refuse()
        kind, text = self._tokens[self._at]
        self._at += 1
        if kind == "number":
            return int(text) if text.isdecimal() else float(text)
        if kind == "string":
            return re.sub(r"\\(.)", r"\1", text[1:-1])
        if kind == "name" and text.upper() in _CONSTANTS:
            return _CONSTANTS[text.upper()]
        if kind == "name" and text.upper() in _FUNCTIONS:
            return self._call(text.upper())
        if kind == "name":
            return self._field(text)
        self._at -= 1
        self._refuse()
        return None

    def _call(self, name: str) -> Any:
        self._expect("(")
        arguments = [self._or()]
        while self._take(","):
            arguments.append(self._or())
        self._expect(")")
        return self._apply(_FUNCTIONS[name], *arguments)

    def _field(self, path: str) -> Any:
        """The value of a field; NULL where a message on the way is not set."""
        first, *names = path.split(".")
        if first not in self._messages:
            known = " and ".join(self._messages)
            raise ValueError(f"{self._text!r} names {first}: the statistics are called {known}")
        value = self._messages[first]
        for name in names:
            if not isinstance(value, Message) or name not in value.DESCRIPTOR.fields_by_name:
                raise ValueError(f"{self._text!r}: the statistics have no field {path}")
            field = value.DESCRIPTOR.fields_by_name[name]
            if field.has_presence and not value.HasField(name):
                return None
            value = getattr(value, name)
            if field.enum_type is not None:
                value = field.enum_type.values_by_number[value].name
        return value
