"""From a function's tree to one whose statements and expressions ask, when they run, what they were given.

    if x > 0:            ->   def if_body():
        y = f(x)                  nonlocal y
                                  y = ag__.call(f, x)
                              def else_body(): ...
                              ag__.if_(x > 0, if_body, else_body, lambda: (y,), ("y",))

Variables stay variables of the function: the bodies share them by `nonlocal`, and the operators reach them by
the cells of a `lambda` that names them. Lines stay the user's, in errors and in the tracebacks of operations.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from tideflow.autograph.jumps import lower_jumps
from tideflow.autograph.list_syntax import Resolve, rewrite_lists
from tideflow.autograph.liveness import Accesses, Liveness, in_scope, roots
from tideflow.autograph.options import ConversionOptions, Feature
from tideflow.autograph.syntax import (
    BlockTransformer,
    Names,
    assign,
    define,
    is_docstring,
    load,
    loaded,
    names_tuple,
    no_arguments,
    operator,
    placed,
    strings_tuple,
    thunk,
)

PREFIX = "tf__"  # of the names of converted functions

# Functions that look at the frame that calls them.
_OF_THE_FRAME = {"super", "locals", "globals", "vars", "dir", "eval", "exec", "breakpoint"}
_DEBUGGERS = {"pdb.set_trace", "ipdb.set_trace"}
_BOUND_TO_FRAME = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)


class Rewriter(BlockTransformer):
    """Rewrites one function, and the functions inside of it."""

    def __init__(
        self, names: Names, operators: str, options: ConversionOptions, resolve: Resolve, has_class: bool
    ):
        self.names = names
        self.operators = operators
        self.options = options
        self.resolve = resolve
        self.has_class = has_class
        self.live: Any = None  # the Liveness of the function that is being rewritten
        self.first_argument = ""
        self.loops_around = 0

    def function(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """The function with its body rewritten; its arguments, and what decorates it, are left alone."""
        outer = self.live, self.first_argument
        if self.options.uses(Feature.LISTS):
            rewrite_lists(node, self.names, self.operators, self.resolve)
        lower_jumps(node, self.names, self.operators)
        self.live = Liveness(node)
        self.first_argument = next((a.arg for a in (*node.args.posonlyargs, *node.args.args)), "")
        begin = 1 if is_docstring(node.body[0]) else 0
        docstring, statements = node.body[:begin], node.body[begin:]
        declarations = self._declarations(node, statements)
        body = [*declarations, *self.block(statements)] or [placed(ast.Pass(), node)]
        if self.options.uses(Feature.NAME_SCOPES) or self.options.uses(Feature.AUTO_CONTROL_DEPS):
            body = self._in_scope(node, body)
        node.body = [*docstring, *body]
        self.live, self.first_argument = outer
        return node

    def _declarations(self, node: ast.FunctionDef, statements: list[ast.stmt]) -> list[ast.stmt]:
        """Bare annotations, which make variables the function's own that only bodies of statements assign."""
        args = node.args
        every = (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg)
        taken = {a.arg for a in every if a is not None} | self.live.globals | self.live.nonlocals
        kinds = (ast.If, ast.While, ast.For)
        blocks = (s for s in in_scope(statements) if isinstance(s, kinds))
        inner = {name for block in blocks for name in self.live.accesses(block).writes}
        return [
            placed(ast.AnnAssign(ast.Name(name, ast.Store()), load("object"), None, 1), statements[0])
            for name in sorted(inner - taken)
        ]

    def _in_scope(self, node: ast.FunctionDef, body: list[ast.stmt]) -> list[ast.stmt]:
        scope = self.names.fresh("function_scope")
        if isinstance(body[-1], ast.Return) and body[-1].value is not None:
            body[-1].value = operator(scope, "returned", body[-1].value)
        made = self._operator("function_scope", ast.Constant(node.name.removeprefix(PREFIX)))
        item = ast.withitem(made, ast.Name(scope, ast.Store()))
        return [placed(ast.With([item], body), node)]

    # ------------------------------------------------------------------------------------------ statements

    def block(self, statements: Iterable[ast.stmt]) -> list[ast.stmt]:
        done: list[ast.stmt] = []
        for statement in statements:
            made = self.visit(statement)
            made = made if isinstance(made, list) else [] if made is None else [made]
            done += [placed(s, statement) for s in made]
        return done

    def visit(self, node: ast.AST) -> Any:
        made = super().visit(node)
        return placed(made, node) if isinstance(made, ast.expr) and hasattr(node, "lineno") else made

    def visit_If(self, node: ast.If) -> list[ast.stmt]:
        inside = self.live.of_block(node.body).either(self.live.of_block(node.orelse))
        live = self.live.live_after(node)
        members = inside.members
        test = self.visit(node.test)
        then, then_name = self._body("if_body", node.body)
        otherwise, else_name = self._body("else_body", node.orelse)
        call = self._operator(
            "if_", test, load(then_name), load(else_name), *self._variables(inside.writes, live, members)
        )
        return [then, otherwise, ast.Expr(call)]

    def visit_While(self, node: ast.While) -> list[ast.stmt]:
        inside = self.live.accesses(node)
        variables = self._loop_variables(node, inside)
        test_accesses = self.live.accesses(node.test)
        test = [ast.Return(self.visit(node.test))]
        test_name = self.names.fresh("loop_test")
        test_function = define(test_name, no_arguments(), [*self._shared(test_accesses.writes), *test])
        self.loops_around += 1
        body, body_name = self._body("loop_body", node.body)
        self.loops_around -= 1
        call = self._operator("while_", load(test_name), load(body_name), *variables)
        return [test_function, body, ast.Expr(call)]

    def visit_For(self, node: ast.For) -> list[ast.stmt]:
        inside = self.live.accesses(node.target).then(self.live.of_block(node.body))
        variables = self._loop_variables(node, inside)
        iterated = self.visit(node.iter)
        extra = getattr(node, "extra_test", None)
        test = ast.Constant(None) if extra is None else thunk(self.visit(extra))
        element = self.names.fresh("element")
        taken = placed(ast.Assign([node.target], load(element)), node.target)
        self.loops_around += 1
        body, body_name = self._body("loop_body", node.body, [taken], inside)
        self.loops_around -= 1
        body.args.args = [ast.arg(element)]
        call = self._operator("for_", iterated, test, load(body_name), *variables)
        return [body, ast.Expr(call)]

    def _loop_variables(self, node: ast.stmt, inside: Accesses) -> list[ast.expr]:
        before = self.live.live_before(node)
        members = {text: m for text, m in inside.members.items() if roots(m) <= before}
        return self._variables(inside.writes, before | self.live.live_after(node), members)

    def _variables(
        self, writes: set[str], live: frozenset[str], members: dict[str, ast.expr]
    ) -> list[ast.expr]:
        """What an operator must know: the variables that change, which of them matter, and the members."""
        made: list[ast.expr] = [thunk(names_tuple(sorted(writes))), strings_tuple(sorted(writes & live))]
        if members:
            made.append(ast.Tuple([self._member(m) for _, m in sorted(members.items())], ast.Load()))
        return made

    def _member(self, member: ast.expr) -> ast.expr:
        text = ast.Constant(ast.unparse(member))
        owner = thunk(loaded(member.value))  # type: ignore[attr-defined]
        if isinstance(member, ast.Attribute):
            return self._operator("attribute", text, owner, ast.Constant(member.attr))
        return self._operator("item", text, owner, thunk(loaded(member.slice)))  # type: ignore[attr-defined]

    def _body(
        self,
        base: str,
        statements: list[ast.stmt],
        before: Iterable[ast.stmt] = (),
        inside: Accesses | None = None,
    ) -> tuple[ast.FunctionDef, str]:
        """A function of some statements, which shares its variables with the one around it."""
        name = self.names.fresh(base)
        writes = (inside or self.live.of_block(statements)).writes
        body = [*self._shared(writes), *before, *self.block(statements)]
        return define(name, no_arguments(), body or [ast.Pass()]), name

    def _shared(self, writes: set[str]) -> list[ast.stmt]:
        own, of_module = sorted(writes - self.live.globals), sorted(writes & self.live.globals)
        return [
            *([ast.Nonlocal(own)] if own else []),
            *([ast.Global(of_module)] if of_module else []),
        ]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        node.args = self.generic_visit(node.args)  # defaults
        if _is_generator(node):
            return node
        self.function(node)
        node.decorator_list.append(ast.Attribute(load(self.operators), "converted", ast.Load()))
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.stmt:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.stmt:
        return node  # its methods are converted when they are called

    def visit_With(self, node: ast.With) -> ast.stmt:
        # The calls that make context managers are left alone.
        node.body = self.block(node.body) or [placed(ast.Pass(), node)]
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt | None:
        """A variable that bodies share must not have an annotation."""
        if not isinstance(node.target, ast.Name):
            return self.generic_visit(node)  # type: ignore[return-value]
        return None if node.value is None else assign(node.target.id, self.visit(node.value))

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        if not self.options.uses(Feature.ASSERT_STATEMENTS):
            return self.generic_visit(node)  # type: ignore[return-value]
        message = node.msg or ast.Constant("Assertion error")
        return ast.Expr(self._operator("assert_", self.visit(node.test), thunk(self.visit(message))))

    def visit_Expr(self, node: ast.Expr) -> ast.stmt | list[ast.stmt] | None:
        call = node.value
        if isinstance(call, ast.Call):
            directive = self.resolve(call.func)
            if directive == "set_loop_options":
                if not self.loops_around:
                    raise ValueError('"set_loop_options" must be used inside a statement')
                return None  # TensorFlow 1 takes the options, and does not use them
            if directive == "set_element_type":
                return None  # `list_syntax.py` has read it
        return self.generic_visit(node)  # type: ignore[return-value]

    # ------------------------------------------------------------------------------------------ expressions

    def visit_Call(self, node: ast.Call) -> ast.expr:
        name = ast.unparse(node.func) if isinstance(node.func, (ast.Name, ast.Attribute)) else ""
        if name == "super" and not node.args and self.has_class and self.first_argument:
            node.args = [load("__class__"), load(self.first_argument)]
            return node
        if name in _OF_THE_FRAME or name in _DEBUGGERS or name.startswith(f"{self.operators}."):
            return self.generic_visit(node)  # type: ignore[return-value]
        if name == "print" and not self.options.uses(Feature.BUILTIN_FUNCTIONS):
            return self.generic_visit(node)  # type: ignore[return-value]
        self.generic_visit(node)
        return ast.Call(
            ast.Attribute(load(self.operators), "call", ast.Load()), [node.func, *node.args], node.keywords
        )

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        if _is_bound_to_frame(*node.values[1:]):
            return self.generic_visit(node)  # type: ignore[return-value]
        operator = "and_" if isinstance(node.op, ast.And) else "or_"
        *others, made = [self.visit(value) for value in node.values]
        for value in reversed(others):
            made = self._operator(operator, value, thunk(made))
        return made

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        return self._operator("not_", node.operand) if isinstance(node.op, ast.Not) else node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        if _is_bound_to_frame(node.body, node.orelse):
            return self.generic_visit(node)  # type: ignore[return-value]
        self.generic_visit(node)
        return self._operator("if_expression", node.test, thunk(node.body), thunk(node.orelse))

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        """`a == b < c` as `eq(a, b) and b < c`, where equality of tensors is asked for."""
        self.generic_visit(node)
        if not self.options.uses(Feature.EQUALITY_OPERATORS) or _is_bound_to_frame(*node.comparators):
            return node
        lefts = [node.left, *node.comparators]
        parts = [
            self._operator(_EQUALITY[type(op)], left, right)
            if type(op) in _EQUALITY
            else ast.Compare(left, [op], [right])
            for left, op, right in zip(lefts, node.ops, node.comparators)
        ]
        *others, made = parts
        for value in reversed(others):
            made = self._operator("and_", value, thunk(made))
        return made

    def _operator(self, name: str, *args: ast.expr, **keywords: ast.expr) -> ast.Call:
        return operator(self.operators, name, *args, **keywords)


_EQUALITY: dict[type, str] = {ast.Eq: "eq", ast.NotEq: "not_eq"}


def _is_bound_to_frame(*nodes: ast.expr) -> bool:
    """Whether an expression assigns, waits or yields, which it could not do from inside a `lambda`."""
    return any(isinstance(inner, _BOUND_TO_FRAME) for node in nodes for inner in ast.walk(node))


def _is_generator(function: ast.FunctionDef) -> bool:
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            waiting += ast.iter_child_nodes(node)
    return False
