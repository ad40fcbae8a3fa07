"""The syntax tree of a function, found in the file that the function was compiled from.

A whole file is parsed, so that nodes have the lines of the file, and the class around a method is known.
"""

from __future__ import annotations

import ast
import inspect
import linecache
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType
from typing import NamedTuple

Function = ast.FunctionDef | ast.Lambda


class Source(NamedTuple):
    """A function in its file."""

    node: Function
    file: str
    class_name: str | None  # of the innermost class around it: private names get it as a prefix


class _Place(NamedTuple):
    node: Function
    class_name: str | None


def find(code: CodeType, module_globals: dict) -> Source:
    """The tree of a function's code. It is shared: whoever changes it copies it first.

    Raises:
      ValueError: If there is no source, it is no longer that of the code, or several functions fit.
    """
    lines = _lines(code, module_globals)
    try:
        places = _places("".join(lines)).get((code.co_firstlineno, code.co_name), ())
    except SyntaxError as error:
        raise ValueError(f"The source code of {code.co_filename} cannot be parsed: {error}") from None
    wanted = inspect.getargs(code)
    fitting = [place for place in places if _arguments(place) == wanted]
    if len(fitting) > 1:
        fitting = [place for place in fitting if _starts(place.node) == _start(code)] or fitting
    if not fitting:
        raise ValueError(
            f"The source code of {code.co_name}, line {code.co_firstlineno} of {code.co_filename}, is not "
            "what was compiled: the file has changed, or what was compiled was generated."
        )
    if len(fitting) > 1:
        raise ValueError(
            f"Unable to identify source code of lambda function {code.co_name}. It was defined on line "
            f"{code.co_firstlineno} of {code.co_filename}, which must contain a single lambda with matching "
            "signature. To avoid ambiguity, define each lambda in a separate expression."
        )
    return Source(fitting[0].node, code.co_filename, fitting[0].class_name)


def _lines(code: CodeType, module_globals: dict) -> list[str]:
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, module_globals)
    if not lines:
        raise ValueError(
            f"Unable to locate the source code of {code.co_name}. Note that functions defined in certain "
            "environments, like the interactive Python shell do not expose their source code. If that is the "
            "case, you should to define them in a .py source file. If you are certain the code is "
            "graph-compatible, wrap the call using @tf.autograph.do_not_convert. Original error: could not "
            "get source code"
        )
    return lines


@lru_cache(maxsize=32)
def _places(source: str) -> dict[tuple[int, str], list[_Place]]:
    """The functions of a file by first line and name."""
    found: dict[tuple[int, str], list[_Place]] = {}
    for place in _functions(ast.parse(source)):
        node = place.node
        if isinstance(node, ast.Lambda):
            key = node.lineno, "<lambda>"
        else:
            key = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]), node.name
        found.setdefault(key, []).append(place)
    return found


def _functions(tree: ast.Module) -> Iterator[_Place]:
    waiting: list[tuple[ast.AST, str | None]] = [(tree, None)]
    while waiting:
        node, class_name = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            yield _Place(node, class_name)
        inner = node.name if isinstance(node, ast.ClassDef) else class_name
        waiting += [(child, inner) for child in ast.iter_child_nodes(node)]


def _arguments(place: _Place) -> inspect.Arguments:
    """The arguments as `inspect.getargs` gives them."""
    args = place.node.args
    names = [private(a.arg, place.class_name) for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
    rest = (a and private(a.arg, place.class_name) for a in (args.vararg, args.kwarg))
    return inspect.Arguments(names, *rest)


def private(name: str, class_name: str | None) -> str:
    """A name as Python compiles it in a class: one that begins with two underscores is the class's own."""
    if class_name is None or not name.startswith("__") or name.endswith("__"):
        return name
    stripped = class_name.lstrip("_")
    return f"_{stripped}{name}" if stripped else name


def _starts(node: Function) -> tuple[int, int]:
    body = node.body if isinstance(node, ast.Lambda) else node.body[0]
    inner = min(
        ((n.lineno, n.col_offset) for n in ast.walk(body) if hasattr(n, "lineno")),
        default=(node.lineno, node.col_offset),
    )
    return inner


def _start(code: CodeType) -> tuple[int, int] | None:
    """Where the code's first expression begins, where Python notes columns (from 3.11 on)."""
    if not hasattr(code, "co_positions"):
        return None
    places = [
        (line, column)
        for line, _, column, _ in code.co_positions()
        if line is not None and column is not None
    ]
    return min((place for place in places if place[1] or place[0] != code.co_firstlineno), default=None)
