"""Small pieces of syntax trees, and names that a function does not use yet."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable


class Names:
    """Makes names that do not occur in a tree."""

    def __init__(self, tree: ast.AST, taken: Iterable[str] = ()):
        self._taken = set(taken)
        for node in ast.walk(tree):
            for field in ("id", "arg", "name", "asname", "attr", "rest"):
                value = getattr(node, field, None)
                if isinstance(value, str):
                    self._taken.add(value)
            if isinstance(node, (ast.Global, ast.Nonlocal)):
                self._taken.update(node.names)

    def fresh(self, base: str) -> str:
        """`base` itself, or with the first number that makes it new."""
        name, number = base, 0
        while name in self._taken:
            number += 1
            name = f"{base}_{number}"
        self._taken.add(name)
        return name


class BlockTransformer(ast.NodeTransformer):
    """Visits statements a block at a time, so that a statement can become several, or none."""

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        raise NotImplementedError

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for name, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                setattr(node, name, self.block(value) or [placed(ast.Pass(), value[0])])
            elif isinstance(value, list):
                value[:] = [self.visit(item) if isinstance(item, ast.AST) else item for item in value]
            elif isinstance(value, ast.AST):
                setattr(node, name, self.visit(value))
        return node


def load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def assign(name: str, value: ast.expr) -> ast.Assign:
    return ast.Assign([ast.Name(name, ast.Store())], value)


def negation(value: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.Not(), value)


def thunk(value: ast.expr) -> ast.Lambda:
    """`lambda: value`."""
    return ast.Lambda(no_arguments(), value)


def no_arguments() -> ast.arguments:
    return ast.arguments([], [], None, [], [], None, [])


def names_tuple(names: Iterable[str]) -> ast.Tuple:
    """The tuple of the values of variables."""
    return ast.Tuple([load(name) for name in names], ast.Load())


def strings_tuple(names: Iterable[str]) -> ast.Tuple:
    """The tuple of the names themselves."""
    return ast.Tuple([ast.Constant(name) for name in names], ast.Load())


def operator(operators: str, name: str, *args: ast.expr, **keywords: ast.expr) -> ast.Call:
    """A call of one of the operators that converted code uses."""
    function = ast.Attribute(load(operators), name, ast.Load())
    return ast.Call(function, list(args), [ast.keyword(k, v) for k, v in keywords.items()])


def loaded(node: ast.expr) -> ast.expr:
    """A copy of an expression, for its value."""
    made = copy.deepcopy(node)
    if hasattr(made, "ctx"):
        made.ctx = ast.Load()
    return made


def stored(node: ast.expr) -> ast.expr:
    """A copy of an expression, to assign to."""
    made = copy.deepcopy(node)
    made.ctx = ast.Store()  # type: ignore[attr-defined]
    return made


def define(name: str, args: ast.arguments, body: list[ast.stmt]) -> ast.FunctionDef:
    made = ast.FunctionDef(name, args, body, [], None, None)
    if "type_params" in made._fields:  # from Python 3.12 on
        made.type_params = []
    return made


def placed(node: ast.AST, at: ast.AST) -> ast.AST:
    """Gives the node, and what in it has no place of its own, the place of another: of a statement with a
    body, that is where it begins.
    """
    place = {field: getattr(at, field) for field in ("lineno", "col_offset", "end_lineno", "end_col_offset")}
    if hasattr(at, "body"):
        header = next((getattr(at, part) for part in ("test", "iter") if hasattr(at, part)), None)
        ends = header if header is not None and hasattr(header, "end_lineno") else None
        place["end_lineno"] = at.lineno if ends is None else ends.end_lineno
        place["end_col_offset"] = at.col_offset if ends is None else ends.end_col_offset
    for inner in ast.walk(node):
        if "lineno" in inner._attributes and not hasattr(inner, "lineno"):
            for field, value in place.items():
                setattr(inner, field, value)
    return node


def is_docstring(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )
