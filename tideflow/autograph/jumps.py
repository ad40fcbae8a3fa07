"""`break`, `continue` and `return` inside of statements, as flags that the statements around them look at.

    while a: b(); if c: break; d()   ->   stop = False
                                          while not stop and a:
                                              b()
                                              if c: stop = True
                                              else: d()

Afterwards control leaves each statement at its end, which is what functions that stand for statements need. A
loop of the result may have an attribute `extra_test`: what a `for` asks before it takes an element.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable

from tideflow.autograph.syntax import Names, assign, is_docstring, load, negation, operator, placed

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def lower_jumps(function: ast.FunctionDef, names: Names, operators: str) -> None:
    """Changes a function such that its only jump is a `return` at its end."""
    lowering = _Lowering(names)
    last = function.body[-1]
    *before, _ = function.body
    if not isinstance(last, ast.Return) or any(_jumps(s, ast.Return) for s in before):
        lowering.returned, lowering.value = names.fresh("do_return"), names.fresh("return_value")
    body = lowering.block(function.body)
    if lowering.returned_used:
        begin = 1 if is_docstring(body[0]) else 0
        undefined = operator(operators, "UndefinedReturnValue")
        at_start = [
            assign(lowering.returned, ast.Constant(False)),
            assign(lowering.value, undefined),
        ]
        given = operator(operators, "retval", load(lowering.value))
        body[begin:begin] = [placed(s, function.body[begin]) for s in at_start]
        body.append(placed(ast.Return(given), last))
    function.body = body


def _jumps(statement: ast.AST, kinds: type | tuple[type, ...]) -> bool:
    """Whether a statement has a jump of these kinds that leaves it."""
    if isinstance(statement, kinds):
        return True
    if isinstance(statement, _SCOPES):
        return False
    if isinstance(statement, _LOOPS) and kinds is not ast.Return:
        # Jumps in the body are the loop's own; those in its `else` belong to the loop around.
        inner = isinstance(kinds, tuple) and ast.Return in kinds and _any_jumps(statement.body, ast.Return)
        return inner or _any_jumps(statement.orelse, kinds)
    return any(_jumps(child, kinds) for child in ast.iter_child_nodes(statement))


def _any_jumps(block: Iterable[ast.stmt], kinds: type | tuple[type, ...]) -> bool:
    return any(_jumps(statement, kinds) for statement in block)


def _always_jumps(block: list[ast.stmt]) -> bool:
    """Whether what follows a block is never reached."""
    return any(
        isinstance(s, (ast.Return, ast.Break, ast.Continue))
        or (isinstance(s, ast.If) and _always_jumps(s.body) and _always_jumps(s.orelse))
        or (isinstance(s, ast.With) and _always_jumps(s.body))
        for s in block
    )


class _Lowering:
    def __init__(self, names: Names):
        self.names = names
        self.returned = self.value = ""  # the flag and the value of `return`; "" where it stays as it is
        self.returned_used = False
        self.stop: list[str] = []  # the flags of the loops around, innermost last
        self.skip: list[str] = []
        self.used: set[str] = set()

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        done: list[ast.stmt] = []
        for i, statement in enumerate(statements):
            rest = statements[i + 1 :]
            if isinstance(statement, (ast.Return, ast.Break, ast.Continue)):
                return [*done, *self.jump(statement)]
            if isinstance(statement, ast.If) and rest and _always_jumps(statement.body):
                statement.orelse, rest = [*statement.orelse, *rest], []
            elif isinstance(statement, ast.If) and rest and _always_jumps(statement.orelse):
                statement.body, rest = [*statement.body, *rest], []
            elif rest and not isinstance(statement, _SCOPES):
                flags = self.flags_of(statement)
                if flags:
                    return [
                        *done,
                        *self.statement(statement),
                        *self.guarded(flags, self.block(rest), rest[0]),
                    ]
            done += self.statement(statement)
            if not rest:
                break
        return done

    def flags_of(self, statement: ast.stmt) -> list[str]:
        """The flags that a statement may set, as far as what follows it must look at them."""
        flags = []
        if self.stop and _jumps(statement, ast.Break):
            flags.append(self.stop[-1])
        if self.skip and _jumps(statement, ast.Continue):
            flags.append(self.skip[-1])
        if self.returned and _jumps(statement, ast.Return):
            flags.append(self.returned)
        return flags

    def guarded(self, flags: list[str], block: list[ast.stmt], at: ast.stmt) -> list[ast.stmt]:
        for flag in reversed(flags):
            block = [placed(ast.If(negation(load(flag)), block, []), at)]
        return block

    def jump(self, statement: ast.stmt) -> list[ast.stmt]:
        if isinstance(statement, ast.Return):
            if not self.returned:
                return [statement]
            self.returned_used = True
            value = statement.value or ast.Constant(None)
            made = [assign(self.returned, ast.Constant(True)), assign(self.value, value)]
        else:
            flag = (self.stop if isinstance(statement, ast.Break) else self.skip)[-1]
            self.used.add(flag)
            made = [assign(flag, ast.Constant(True))]
        return [placed(s, statement) for s in made]

    def statement(self, statement: ast.stmt) -> list[ast.stmt]:
        if isinstance(statement, _SCOPES):
            return [statement]
        if isinstance(statement, _LOOPS):
            return self.loop(statement)
        if isinstance(statement, ast.Try) or type(statement).__name__ == "TryStar":
            return self.try_statement(statement)
        for field in ("body", "orelse"):
            if getattr(statement, field, None):
                setattr(statement, field, self.block(getattr(statement, field)))
        for case in getattr(statement, "cases", ()):
            case.body = self.block(case.body)
        return [statement]

    def loop(self, loop: ast.For | ast.AsyncFor | ast.While) -> list[ast.stmt]:
        stop, skip = self.names.fresh("do_break"), self.names.fresh("do_continue")
        returns = bool(self.returned) and _any_jumps(loop.body, ast.Return)
        self.stop.append(stop)
        self.skip.append(skip)
        body = self.block(loop.body)
        self.stop.pop()
        self.skip.pop()
        if skip in self.used:
            body.insert(0, placed(assign(skip, ast.Constant(False)), loop))
        flags = [flag for flag in (stop,) if flag in self.used] + [self.returned] * returns
        after = self.guarded(flags, self.block(loop.orelse), loop) if loop.orelse else []
        loop.body, loop.orelse = body, []
        tests = [negation(load(flag)) for flag in flags]
        begin = [placed(assign(stop, ast.Constant(False)), loop)] if stop in self.used else []
        if isinstance(loop, ast.While) and any(isinstance(n, ast.NamedExpr) for n in ast.walk(loop.test)):
            begin += self.tested_in_body(loop, flags)
        elif isinstance(loop, ast.While):
            loop.test = placed(_all([*tests, loop.test]), loop)
        else:
            loop.extra_test = placed(_all(tests), loop) if tests else None  # type: ignore[union-attr]
        return [*begin, loop, *after]

    def tested_in_body(self, loop: ast.While, flags: list[str]) -> list[ast.stmt]:
        """A test that assigns to variables becomes a statement before the loop, and the last one of its body:
        a loop of the graph can change variables only there.
        """
        going = self.names.fresh("going")
        again = placed(assign(going, copy.deepcopy(loop.test)), loop)
        loop.body += [placed(assign(going, ast.Constant(False)), loop), *self.guarded(flags, [again], loop)]
        first = placed(assign(going, loop.test), loop)
        loop.test = placed(load(going), loop)
        return [first]

    def try_statement(self, statement: ast.Try) -> list[ast.stmt]:
        if _any_jumps(statement.finalbody, (ast.Return, ast.Break, ast.Continue)):
            raise NotImplementedError("AutoGraph does not support jumps out of a finally block")
        flags = [flag for inner in statement.body for flag in self.flags_of(inner)]
        statement.body = self.block(statement.body)
        for handler in statement.handlers:
            handler.body = self.block(handler.body)
        if statement.orelse:
            orelse = self.block(statement.orelse)
            statement.orelse = self.guarded(list(dict.fromkeys(flags)), orelse, orelse[0])
        statement.finalbody = self.block(statement.finalbody)
        return [statement]


def _all(tests: list[ast.expr]) -> ast.expr:
    return tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)
