"""Which variables a statement reads and writes, and which of them are read after it.

Jumps are gone before this (`jumps.py`), so a statement's effect on what is live is two sets, found from the
inside out: what it needs of before, and what it gives a value whatever happens.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass
class Accesses:
    """What a statement, or an expression, does to variables."""

    reads: set[str] = field(default_factory=set)  # before it has written them
    writes: set[str] = field(default_factory=set)  # on some path
    sets: set[str] = field(default_factory=set)  # on every path
    members: dict[str, ast.expr] = field(default_factory=dict)  # `a.b` and `a[i]` that it assigns to, by text

    def then(self, other: Accesses) -> Accesses:
        """One after the other."""
        return Accesses(
            self.reads | (other.reads - self.sets),
            self.writes | other.writes,
            self.sets | other.sets,
            {**self.members, **other.members},
        )

    def either(self, other: Accesses) -> Accesses:
        """One or the other."""
        return Accesses(
            self.reads | other.reads,
            self.writes | other.writes,
            self.sets & other.sets,
            {**self.members, **other.members},
        )

    def maybe(self) -> Accesses:
        return self.either(Accesses())


class Liveness:
    """How a function's statements access variables, and what is live after each.

    Inner functions share variables with this one. A statement that reads the name of an inner function may
    call it, so it counts as reading, and maybe writing, what the inner function does.
    """

    def __init__(self, function: ast.FunctionDef):
        self._known: dict[int, Accesses] = {}
        self._live_after: dict[int, frozenset[str]] = {}
        self._inner = dict(_named_functions(function.body))
        declared = [n for n in in_scope(function.body) if isinstance(n, (ast.Global, ast.Nonlocal))]
        self.globals = {name for n in declared if isinstance(n, ast.Global) for name in n.names}
        self.nonlocals = {name for n in declared if isinstance(n, ast.Nonlocal) for name in n.names}
        self._visit_block(function.body, frozenset(self.globals | self.nonlocals))

    def live_after(self, statement: ast.stmt) -> frozenset[str]:
        """The variables whose values at the statement's end are read later."""
        return self._live_after[id(statement)]

    def live_before(self, statement: ast.stmt) -> frozenset[str]:
        accesses = self.accesses(statement)
        return frozenset(accesses.reads | (self.live_after(statement) - accesses.sets))

    def of_block(self, block: Iterable[ast.stmt]) -> Accesses:
        total = Accesses()
        for statement in block:
            total = total.then(self.accesses(statement))
        return total

    # ------------------------------------------------------------------------------------- going backward

    def _visit_block(self, block: list[ast.stmt], live: frozenset[str]) -> None:
        for statement in reversed(block):
            self._live_after[id(statement)] = live
            self._visit_inside(statement, live)
            live = self.live_before(statement)

    def _visit_inside(self, statement: ast.stmt, live: frozenset[str]) -> None:
        if isinstance(statement, (ast.While, ast.For, ast.AsyncFor)):
            # What an iteration leaves is read by the next one, and by the loop's tests.
            self._visit_block(statement.body, live | self.accesses(statement).reads)
        elif isinstance(statement, ast.Try) or type(statement).__name__ == "TryStar":
            after = live | self.of_block(statement.finalbody).reads
            self._visit_block(statement.finalbody, live)
            self._visit_block(statement.orelse, after)
            for handler in statement.handlers:
                self._visit_block(handler.body, after)
                after |= self.of_block(handler.body).reads
            self._visit_block(statement.body, after | self.of_block(statement.orelse).reads)
        elif isinstance(statement, ast.Match):
            for case in statement.cases:
                self._visit_block(case.body, live)
        elif isinstance(statement, (ast.If, ast.With, ast.AsyncWith)):
            self._visit_block(statement.body, live)
            self._visit_block(getattr(statement, "orelse", []), live)

    # ------------------------------------------------------------------------------------------ accesses

    def accesses(self, statement: ast.AST) -> Accesses:
        """What a statement or an expression does to variables."""
        if id(statement) not in self._known:
            self._known[id(statement)] = self._find_accesses(statement)
        return self._known[id(statement)]

    def _find_accesses(self, node: ast.AST) -> Accesses:
        kind = type(node).__name__
        find = getattr(self, f"_of_{kind}", None)
        if find is not None:
            return find(node)
        if isinstance(node, _COMPREHENSIONS):
            return self._of_any_comprehension(node)
        if isinstance(node, _FUNCTIONS):
            return self._of_function(node)
        return self._in_order(ast.iter_child_nodes(node))

    def _in_order(self, nodes: Iterable[ast.AST | None]) -> Accesses:
        total = Accesses()
        for node in nodes:
            if node is not None:
                total = total.then(self.accesses(node))
        return total

    def _of_Name(self, node: ast.Name) -> Accesses:
        if not isinstance(node.ctx, ast.Load):
            return Accesses(writes={node.id}, sets={node.id})
        inner = self._inner.get(node.id)
        return Accesses({node.id}) if inner is None else Accesses({node.id, *inner.reads}, set(inner.writes))

    def _of_Attribute(self, node: ast.Attribute | ast.Subscript) -> Accesses:
        found = self._in_order(ast.iter_child_nodes(node))
        if not isinstance(node.ctx, ast.Load) and is_member(node):
            found = found.then(Accesses(members={ast.unparse(node): node}))
        return found

    _of_Subscript = _of_Attribute

    def _of_Assign(self, node: ast.Assign) -> Accesses:
        return self._in_order([node.value, *node.targets])

    def _of_AnnAssign(self, node: ast.AnnAssign) -> Accesses:
        return self._in_order([node.value, node.target]) if node.value is not None else Accesses()

    def _of_AugAssign(self, node: ast.AugAssign) -> Accesses:
        read = Accesses({node.target.id}) if isinstance(node.target, ast.Name) else Accesses()
        return read.then(self._in_order([node.value, node.target]))

    def _of_NamedExpr(self, node: ast.NamedExpr) -> Accesses:
        return self._in_order([node.value, node.target])

    def _of_alias(self, node: ast.alias) -> Accesses:
        name = node.asname or node.name.partition(".")[0]
        return Accesses(writes={name}, sets={name})

    def _of_If(self, node: ast.If | ast.IfExp) -> Accesses:
        branches = [
            self.of_block(part) if isinstance(part, list) else self.accesses(part)
            for part in (node.body, node.orelse)
        ]
        return self.accesses(node.test).then(branches[0].either(branches[1]))

    _of_IfExp = _of_If

    def _of_BoolOp(self, node: ast.BoolOp) -> Accesses:
        return self.accesses(node.values[0]).then(self._in_order(node.values[1:]).maybe())

    def _of_While(self, node: ast.While) -> Accesses:
        test = self.accesses(node.test)
        return test.then(self.of_block(node.body).then(test).maybe())

    def _of_For(self, node: ast.For) -> Accesses:
        extra = getattr(node, "extra_test", None)
        test = Accesses() if extra is None else self.accesses(extra)
        body = self.accesses(node.target).then(self.of_block(node.body))
        return self.accesses(node.iter).then(test).then(body.maybe())

    def _of_With(self, node: ast.With) -> Accesses:
        items = (part for item in node.items for part in (item.context_expr, item.optional_vars))
        return self._in_order(items).then(self.of_block(node.body))

    def _of_Try(self, node: ast.Try) -> Accesses:
        whole = self.of_block(node.body).then(self.of_block(node.orelse))
        for handler in node.handlers:
            caught = Accesses() if handler.type is None else self.accesses(handler.type)
            if handler.name is not None:
                caught = caught.then(Accesses(writes={handler.name}, sets={handler.name}))
            # A handler may begin after any part of the body.
            whole = whole.either(caught.then(self.of_block(handler.body)))
        final = self.of_block(node.finalbody)
        return Accesses(reads=set(final.reads)).then(whole).then(final)

    _of_TryStar = _of_Try

    def _of_Match(self, node: ast.Match) -> Accesses:
        total = Accesses()
        for case in node.cases:
            names = {n.name for n in ast.walk(case.pattern) if getattr(n, "name", None)}
            names |= {n.rest for n in ast.walk(case.pattern) if getattr(n, "rest", None)}
            found = Accesses(writes=set(names), sets=set(names)).then(
                self._in_order([case.pattern, case.guard])
            )
            total = total.either(found.then(self.of_block(case.body)))
        return self.accesses(node.subject).then(total)

    def _of_any_comprehension(self, node: Any) -> Accesses:
        whole = self._in_order(ast.iter_child_nodes(node))
        own = {n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
        inside = Accesses(whole.reads - own, whole.writes - own, whole.sets - own, whole.members)
        return self.accesses(node.generators[0].iter).then(inside)  # what it is of is seen from outside

    def _of_comprehension(self, node: ast.comprehension) -> Accesses:
        return self._in_order([node.iter, node.target, *node.ifs])

    def _of_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Accesses:
        defaults = [*node.args.defaults, *node.args.kw_defaults, *getattr(node, "decorator_list", ())]
        captured = _captured(node)
        made = self._in_order(defaults).then(Accesses(set(captured.reads), set(captured.writes)))
        if isinstance(node, ast.Lambda):
            return made
        return made.then(Accesses(writes={node.name}, sets={node.name}))

    def _of_ClassDef(self, node: ast.ClassDef) -> Accesses:
        reads = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        return Accesses(reads, {node.name}, {node.name})

    def _of_Global(self, node: ast.Global | ast.Nonlocal) -> Accesses:
        return Accesses()

    _of_Nonlocal = _of_Global


def is_member(node: ast.expr) -> bool:
    """Whether an expression is `a.b.c` or `a[i]`: what can be read and written again without side effects."""
    if isinstance(node, ast.Name):
        return True
    if isinstance(node, ast.Attribute):
        return is_member(node.value)
    if isinstance(node, ast.Subscript):
        return is_member(node.value) and (isinstance(node.slice, ast.Constant) or is_member(node.slice))
    return False


def roots(member: ast.expr) -> set[str]:
    """The variables that a member is found by."""
    return {node.id for node in ast.walk(member) if isinstance(node, ast.Name)}


def _named_functions(block: Iterable[ast.AST]) -> Iterator[tuple[str, Accesses]]:
    """The functions of a block that have names, with what they share with the function around."""
    for node in in_scope(block):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, _captured(node)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    yield target.id, _captured(node.value)


def in_scope(block: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The nodes of a function's own scope: inner functions and classes are there, but not what is in them."""
    waiting = list(block)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            waiting += ast.iter_child_nodes(node)


def _captured(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Accesses:
    """What a function reads and writes of the variables around it."""
    args = function.args
    every = (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg)
    own = {a.arg for a in every if a is not None}
    shared, reads, writes = set(), set(), set()
    body = [function.body] if isinstance(function, ast.Lambda) else function.body
    for node in in_scope(body):
        if isinstance(node, ast.Name):
            (reads if isinstance(node.ctx, ast.Load) else writes).add(node.id)
        elif isinstance(node, ast.Nonlocal):
            shared |= set(node.names)
        elif isinstance(node, _FUNCTIONS):
            inner = _captured(node)
            reads |= inner.reads
            writes |= inner.writes
            own |= {node.name} - shared if not isinstance(node, ast.Lambda) else set()
        elif isinstance(node, ast.ClassDef):
            reads |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
            own.add(node.name)
    own |= writes - shared
    return Accesses(reads - own, writes & shared)
