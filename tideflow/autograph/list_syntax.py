"""Lists that may be tensor lists (`Feature.LISTS`): what changes a list in place becomes an assignment.

    l.append(x)   ->   l = ag__.list_append(l, x)

A loop then sees that the variable changes. This runs before the analysis of variables.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from tideflow.autograph.syntax import BlockTransformer, Names, load, loaded, operator, placed, stored

Resolve = Callable[[ast.expr], str]  # the directive ("set_element_type") that an expression is, or ""
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def rewrite_lists(function: ast.FunctionDef, names: Names, operators: str, resolve: Resolve) -> None:
    """Rewrites what a function does to lists; functions inside of it have their own turn."""
    rewriter = _Lists(names, operators)
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and resolve(node.func) == "set_element_type":
            rewriter.set_element_type(node)
    function.body = rewriter.block(function.body)


class _Lists(BlockTransformer):
    def __init__(self, names: Names, operators: str):
        self.names = names
        self.operators = operators
        self.element_types: dict[str, dict[str, ast.expr]] = {}
        self.pops: list[ast.stmt] = []  # what must run before the statement that is being rewritten

    def set_element_type(self, call: ast.Call) -> None:
        if not call.args:
            raise ValueError('"set_element_type" requires a positional first argument as the target')
        entity, *rest = call.args
        given = dict(zip(("dtype", "shape"), rest)) | {k.arg: k.value for k in call.keywords if k.arg}
        self.element_types[ast.unparse(entity)] = given

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        done: list[ast.stmt] = []
        for statement in statements:
            outer, self.pops = self.pops, []
            made = statement if isinstance(statement, _SCOPES) else self.visit(statement)
            done += [placed(s, statement) for s in (*self.pops, made)]
            self.pops = outer
        return done

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        return node

    def visit_List(self, node: ast.List) -> ast.expr:
        self.generic_visit(node)
        return operator(self.operators, "new_list", node) if isinstance(node.ctx, ast.Load) else node

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        call = node.value
        if isinstance(call, ast.Call) and _is_method(call, "append", 1):
            owner = call.func.value  # type: ignore[attr-defined]
            made = operator(self.operators, "list_append", loaded(owner), self.visit(call.args[0]))
            return ast.Assign([stored(owner)], made)
        return self.generic_visit(node)  # type: ignore[return-value]

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if _is_method(node, "pop", 0) or _is_method(node, "pop", 1):
            return self._pop(node)
        self.generic_visit(node)
        if _is_method(node, "stack", 1, {"strict"}):
            given = node.args[0]
            dtype = self._element_type(given, "dtype")
            return operator(self.operators, "list_stack", given, dtype, node.func)
        return node

    def _pop(self, node: ast.Call) -> ast.expr:
        owner = node.func.value  # type: ignore[attr-defined]
        popped = self.names.fresh("popped")
        index = self.visit(node.args[0]) if node.args else ast.Constant(None)
        types = (self._element_type(owner, what) for what in ("dtype", "shape"))
        made = operator(self.operators, "list_pop", loaded(owner), index, *types)
        both = ast.Tuple([stored(owner), ast.Name(popped, ast.Store())], ast.Store())
        self.pops.append(ast.Assign([both], made))
        return load(popped)

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        target = node.targets[0]
        if len(node.targets) != 1 or not _is_item(target) or not _is_place(target.value):
            return self.generic_visit(node)  # type: ignore[return-value]
        value, index = self.visit(node.value), self.visit(target.slice)  # type: ignore[attr-defined]
        made = operator(self.operators, "set_item", loaded(target.value), index, value)
        return ast.Assign([stored(target.value)], made)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load) or not _is_item(node):
            return node
        dtype = self._element_type(node.value, "dtype")
        return operator(self.operators, "get_item", node.value, node.slice, dtype)

    def _element_type(self, entity: ast.expr, what: str) -> ast.expr:
        given = self.element_types.get(ast.unparse(entity), {}).get(what)
        return ast.Constant(None) if given is None else loaded(given)


def _is_item(node: ast.expr) -> bool:
    """Whether an expression is `a[i]` for a single index."""
    return isinstance(node, ast.Subscript) and not isinstance(node.slice, (ast.Slice, ast.Tuple))


def _is_place(node: ast.expr) -> bool:
    """Whether something can be assigned to an expression."""
    return isinstance(node, (ast.Name, ast.Attribute, ast.Subscript))


def _is_method(call: ast.Call, method: str, arguments: int, keywords: frozenset | set = frozenset()) -> bool:
    func = call.func
    return (
        isinstance(func, ast.Attribute)
        and func.attr == method
        and len(call.args) == arguments
        and all(k.arg in keywords for k in call.keywords)
        and (method == "stack" or _is_place(func.value))
    )
