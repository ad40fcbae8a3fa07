"""Functions made of converted code, which is kept by the code that it was made of."""

from __future__ import annotations
import __future__

import ast
import copy
import threading
import types
import weakref
from dataclasses import dataclass
from typing import Any

from tideflow.autograph import sources, verbosity
from tideflow.autograph.options import ConversionOptions
from tideflow.autograph.rewriting import PREFIX, Rewriter
from tideflow.autograph.syntax import Names, define, placed
from tideflow.graph import traceback

_FUTURES = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)


@dataclass(frozen=True)
class Converted:
    """Converted code: what a function is made of, and the text of it."""

    code: types.CodeType
    text: str
    operators: str  # the name by which the code knows the operators


_cache: weakref.WeakKeyDictionary[types.CodeType, dict[Any, Converted]] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def converted_code(function: types.FunctionType, options: ConversionOptions) -> Converted:
    """The converted code of a function."""
    code = function.__code__
    # Codes are equal also where they come from different files; tracebacks must not mix them up.
    key = code.co_filename, options
    with _lock:
        known = _cache.get(code, {}).get(key)
    if known is not None:
        return known
    verbosity.log(1, "Converting %s", function)
    made = _convert(function, options)
    verbosity.log(2, "Compiled output of %s:\n\n%s\n", function, made.text)
    with _lock:
        return _cache.setdefault(code, {}).setdefault(key, made)


def instantiate(function: types.FunctionType, converted: Converted, operators: Any) -> types.FunctionType:
    """A function of converted code, with the variables, the defaults and the name of the original."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    cells[converted.operators] = types.CellType(operators)
    made = types.FunctionType(
        converted.code,
        function.__globals__,
        function.__name__ if function.__name__ == "<lambda>" else converted.code.co_name,
        function.__defaults__,
        tuple(cells[name] for name in converted.code.co_freevars),
    )
    made.__qualname__ = made.__name__  # errors about arguments name it
    made.__kwdefaults__ = function.__kwdefaults__
    made.__annotations__ = function.__annotations__
    made.__doc__ = function.__doc__
    made.__module__ = function.__module__
    made.autograph_info__ = {}  # type: ignore[attr-defined]
    return made


def _convert(function: types.FunctionType, options: ConversionOptions) -> Converted:
    code = function.__code__
    source = sources.find(code, function.__globals__)
    node = _as_definition(copy.deepcopy(source.node))
    names = Names(node, code.co_freevars)
    operators = names.fresh("ag__")
    rewriter = Rewriter(
        names, operators, options, _Directives(function).name_of, "__class__" in code.co_freevars
    )
    node = rewriter.function(node)
    tree = _inside_factory(node, source.class_name, sorted({*code.co_freevars, operators} - {"__class__"}))
    whole = compile(tree, source.file, "exec", flags=code.co_flags & _FUTURES, dont_inherit=True)
    inner = whole
    while inner.co_name != node.name:
        (inner,) = [constant for constant in inner.co_consts if isinstance(constant, types.CodeType)]
    with _lock:
        traceback.converted.update(dict.fromkeys(_codes(inner), True))
    return Converted(inner, ast.unparse(node) + "\n", operators)


def _as_definition(node: sources.Function) -> ast.FunctionDef:
    """A definition, named as TensorFlow does, of the same code. Arguments have no defaults or annotations:
    the function gets those of the original.
    """
    if isinstance(node, ast.Lambda):
        args, body, name = node.args, [placed(ast.Return(node.body), node.body)], "lambda_"
    else:
        args, body, name = node.args, node.body, node.name
    for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg):
        if arg is not None:
            arg.annotation = None
    args.defaults, args.kw_defaults = [], [None] * len(args.kwonlyargs)
    return placed(define(f"{PREFIX}{name}", args, body), node)  # type: ignore[return-value, arg-type]


def _inside_factory(node: ast.FunctionDef, class_name: str | None, free: list[str]) -> ast.Module:
    """The definition inside a function whose variables it captures, and in a class of its class's name."""
    body: list[ast.stmt] = [node]
    if class_name is not None:
        around = ast.ClassDef(class_name, [], [], [node], [])
        if "type_params" in around._fields:  # from Python 3.12 on
            around.type_params = []  # type: ignore[attr-defined]
        body = [*([] if class_name in free else [ast.Global([class_name])]), around]
    args = ast.arguments([], [ast.arg(name) for name in free], None, [], [], None, [])
    module = ast.Module([define("factory", args, body)], [])
    return ast.fix_missing_locations(module)


def _codes(code: types.CodeType) -> list[types.CodeType]:
    inner = [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return [code, *(c for constant in inner for c in _codes(constant))]


class _Directives:
    """Finds which functions of AutoGraph a program's expressions mean."""

    def __init__(self, function: types.FunctionType):
        self._cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
        self._globals = function.__globals__

    def name_of(self, node: ast.expr) -> str:
        """The name of a directive, or "" for any other expression."""
        last = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
        value = self._value(node)
        named = callable(value) and getattr(value, "__module__", "") == "tideflow.autograph.lists"
        return value.__name__ if named and last else ""

    def _value(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Name):
            try:
                return self._cells[node.id].cell_contents
            except (KeyError, ValueError):
                return self._globals.get(node.id)
        if isinstance(node, ast.Attribute):
            owner = self._value(node.value)
            return getattr(owner, node.attr, None) if isinstance(owner, types.ModuleType) else None
        return None
