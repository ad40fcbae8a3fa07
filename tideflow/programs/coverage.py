"""How much of TensorFlow 1.15 is there, honestly counted: op types, and public symbols with their arguments.

An op type is there when it has a kernel. A symbol is there when it resolves to something that works: a
function that can only refuse does not count. A symbol differs where a call, or a member, that TensorFlow's
list promises would not do. Keras, estimators and the like, and contrib, are counted apart.
"""

from __future__ import annotations

import dis
import inspect
import types
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tideflow import export
from tideflow.graph.op import definitions, not_differentiable, undefined_gradient
from tideflow.programs.namespace import Missing, resolve
from tideflow.programs.specification import (
    Argument,
    Symbol,
    contrib_symbols,
    more_symbols,
    op_types,
    symbols,
)

_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


# ------------------------------------------------------------------------------------------------ one symbol


def only_refuses(obj: Any) -> bool:
    """Whether all that a function does, or the making of a class's instance, is to raise an error."""
    if inspect.isclass(obj) and type(obj).__call__ is not type.__call__:
        return False  # its metaclass makes the instances
    function = obj.__dict__.get("__init__") if inspect.isclass(obj) else inspect.unwrap(obj)
    if not isinstance(function, types.FunctionType):
        return False
    return not any(line.opname.startswith(("RETURN", "YIELD")) for line in dis.get_instructions(function))


def differences(symbol: Symbol, obj: Any) -> list[str]:
    """In what a symbol that is there is not as TensorFlow has it."""
    lacking = [name for name in symbol.members if symbol.is_class and not _has_member(obj, name)]
    found = [f"lacks {', '.join(lacking)}"] if lacking else []
    if symbol.arguments is None:
        return found
    if not callable(obj):
        return [*found, "cannot be called"]
    try:
        parameters = list(inspect.signature(obj).parameters.values())
    except ValueError:  # a class of the C API
        return found
    return [*found, *_argument_differences(symbol.arguments, parameters)]


def _has_member(obj: Any, name: str) -> bool:
    if hasattr(obj, name) or name in getattr(obj, "__annotations__", ()):
        return True
    return inspect.isclass(obj) and name in _attributes_set(obj)


def _attributes_set(cls: type) -> set[str]:
    """The attributes that the methods of a class and of its bases set."""
    functions = [f for base in cls.__mro__ for f in vars(base).values() if inspect.isfunction(f)]
    lines = [line for function in functions for line in dis.get_instructions(function)]
    return {line.argval for line in lines if line.opname == "STORE_ATTR"}


def _argument_differences(promised: tuple[Argument, ...], given: list[inspect.Parameter]) -> Iterator[str]:
    if len(promised) == 2 and all(argument.name.startswith("*") for argument in promised):
        return  # TensorFlow's hands them on: what may be given is not in the list
    by_name = {p.name: p for p in given if p.kind not in _VARIADIC}
    takes_any = any(p.kind is p.VAR_KEYWORD for p in given)
    plain = [argument for argument in promised if not argument.name.startswith("*")]
    lacking = [a.name for a in plain if a.name not in by_name]
    if lacking:
        yield ("takes only as a keyword " if takes_any else "lacks the argument ") + ", ".join(lacking)
    positional = [p.name for p in given if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    expected = [a.name for a in plain if a.name not in lacking]
    ordered = [name for name in positional if name in expected]
    if ordered != expected:
        yield f"takes ({', '.join(ordered)}) by position, not ({', '.join(expected)})"
    extra = [name for name in positional if name not in {a.name for a in plain}]
    if extra and not any(a.name.startswith("**") for a in promised):
        yield f"takes {', '.join(extra)} besides"
    for argument in promised:
        if argument.name.startswith("*") and not _takes_variable(argument.name, given):
            yield f"does not take {argument.name}"
        parameter = by_name.get(argument.name)
        if parameter is not None and not _same_default(argument.default, parameter.default):
            ours = "no default" if parameter.default is parameter.empty else _written(parameter.default)
            yield f"{argument.name}={argument.default} is {ours}"


def _takes_variable(name: str, given: list[inspect.Parameter]) -> bool:
    """Where TensorFlow takes **kwargs, keyword-only parameters say which."""
    if name.startswith("**"):
        return any(p.kind in (p.VAR_KEYWORD, p.KEYWORD_ONLY) for p in given)
    return any(p.kind is p.VAR_POSITIONAL for p in given)


def _same_default(promised: str | None, given: Any) -> bool:
    if promised is None:
        return given is inspect.Parameter.empty
    if given is inspect.Parameter.empty:
        return False
    if "instance" in promised or "tensorflow.python" in promised:  # an object of TensorFlow's own
        return given is not None
    if isinstance(given, tuple) and promised.startswith("["):
        given = list(given)
    for_each_axis = {str((given,) * axes) for axes in (2, 3)}  # 1 says of all axes what (1, 1) says of each
    written = _written(given)  # a class that TensorFlow calls NameV1 has its public name here
    return promised in (written, written.strip(), f"{written}V1", *for_each_axis)


def _written(default: Any) -> str:
    """A default as the list writes it."""
    if isinstance(default, type):
        return default.__name__
    if hasattr(default, "as_numpy_dtype"):
        return default.name
    text = default.decode() if isinstance(default, bytes) else str(default)
    return text.replace("\t", r"\\t")


# ------------------------------------------------------------------------------------------------- all of it


@dataclass
class Area:
    """A namespace's symbols, sorted by whether they are there."""

    name: str
    there: list[str] = field(default_factory=list)
    differs: dict[str, list[str]] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)

    @property
    def total(self) -> int:
        return len(self.there) + len(self.differs) + len(self.missing)


@dataclass
class Coverage:
    """What is there of op types and of symbols."""

    ops: list[str]
    ops_with_gradient: list[str]
    missing_ops: list[str]
    areas: list[Area]  # of the core
    apart: dict[str, list[Area]]  # of what is counted apart, by the name of the part

    @property
    def there(self) -> int:
        """Symbols of the core that are there, those whose arguments differ included."""
        return _there(self.areas)

    @property
    def total(self) -> int:
        return _total(self.areas)

    @property
    def all_areas(self) -> list[Area]:
        return [*self.areas, *(area for areas in self.apart.values() for area in areas)]


def _there(areas: list[Area]) -> int:
    return sum(len(area.there) + len(area.differs) for area in areas)


def _total(areas: list[Area]) -> int:
    return sum(area.total for area in areas)


def measure() -> Coverage:
    """Looks up everything that the two lists have."""
    export.load_all()
    ours = {name: op for name, op in definitions().items() if name in op_types()}
    return Coverage(
        ops=sorted(ours),
        ops_with_gradient=sorted(
            name
            for name, op in ours.items()
            if op.gradient_function not in (not_differentiable, undefined_gradient)
        ),
        missing_ops=sorted(op_types().keys() - ours.keys()),
        areas=_areas(symbols()),
        apart={
            "Keras, estimators, AutoGraph, TPUs and XLA": _areas(more_symbols()),
            "contrib": _areas(contrib_symbols()),
        },
    )


def _areas(promised: dict[str, Symbol]) -> list[Area]:
    areas: dict[str, Area] = {}
    for symbol in promised.values():
        _judge(symbol, areas.setdefault(symbol.area, Area(symbol.area)))
    return sorted(areas.values(), key=lambda area: area.name)


def judge(name: str) -> tuple[str, bool] | None:
    """One symbol, in words, and whether it is there; None where TensorFlow has no such symbol."""
    path = name.removeprefix("tf.").removeprefix("compat.v1.")
    symbol = {**more_symbols(), **contrib_symbols(), **symbols()}.get(path)
    if symbol is None:
        return None
    area = Area(symbol.area)
    _judge(symbol, area)
    if area.missing:
        return f"tf.{path} is missing", False
    return f"tf.{path} {'; '.join(['is there', *area.differs.get(path, ())])}", True


def _judge(symbol: Symbol, area: Area) -> None:
    try:
        obj = resolve(symbol.path)
    except Missing:
        area.missing.append(symbol.path)
        return
    if only_refuses(obj):
        area.missing.append(symbol.path)
    elif found := differences(symbol, obj):
        area.differs[symbol.path] = found
    else:
        area.there.append(symbol.path)


# ------------------------------------------------------------------------------------------------ in writing


def headline(coverage: Coverage) -> list[str]:
    """The counts, a sentence each."""
    ops = len(coverage.ops)
    return [
        f"{ops} of {ops + len(coverage.missing_ops)} op types have a kernel, "
        f"{len(coverage.ops_with_gradient)} of them a gradient.",
        f"{_count(coverage.areas)} with arguments or members that differ. Left out here, and counted apart:",
        *(f"{_count(areas, name)} with arguments that differ." for name, areas in coverage.apart.items()),
    ]


def _count(areas: list[Area], part: str = "") -> str:
    differing = sum(len(area.differs) for area in areas)
    of = f" of {part}" if part else ""
    return f"{_there(areas)} of {_total(areas)} public symbols{of} are there, {differing} of them"


def table(areas: list[Area]) -> list[tuple[str, int, int, int, int]]:
    """By area: name, all symbols, those there, those that differ, those missing."""
    return [(a.name, a.total, len(a.there) + len(a.differs), len(a.differs), len(a.missing)) for a in areas]


def as_text(coverage: Coverage, areas: Iterable[str] = ()) -> str:
    """For the terminal: counts by area and, of the areas named, every symbol that differs or is missing."""
    rows = [("area", "symbols", "there", "differ", "missing"), *table(coverage.all_areas)]
    lines = ["{:<42}{:>8}{:>8}{:>8}{:>9}".format(*row) for row in rows]
    lines += ["", *headline(coverage)]
    for area in coverage.all_areas:
        if area.name in areas:
            lines += ["", area.name]
            lines += [f"  differs  tf.{path}: {'; '.join(d)}" for path, d in area.differs.items()]
            lines += [f"  missing  tf.{path}" for path in area.missing]
    return "\n".join(lines)


def as_markdown(coverage: Coverage) -> str:
    """docs/coverage.md, whole."""
    lines = [
        "# What of TensorFlow 1.15 is there",
        "",
        "`tideflow coverage --write` wrote this page, from TensorFlow's own lists of op types and public",
        "symbols (`tideflow/graph/data/`); a test compares it with what is there. An op type counts when it",
        "has a kernel (`tests/ops/test_samples.py` runs each, and checks each gradient numerically). A",
        "symbol counts when it resolves and can do something; one that only refuses is missing. Keras,",
        "estimators and the like are counted apart, and so is contrib: there, a symbol is a name that a",
        "module lists as its own or, where it has no list, defines; members of classes are not compared.",
        "",
        *(f"- {line}" for line in headline(coverage)),
        "",
        *_table(coverage.areas),
        *(line for name, areas in coverage.apart.items() for line in (f"## {name}", "", *_table(areas))),
        "## Symbols that differ",
        "",
        *_or_none(
            f"- `tf.{path}`: {'; '.join(found)}"
            for area in coverage.all_areas
            for path, found in area.differs.items()
        ),
        "",
        "## Symbols that are missing",
        "",
        *_or_none(f"- `{area.name}`: {_missing(area)}" for area in coverage.all_areas if area.missing),
        "",
        "## Op types that are missing",
        "",
        _names(coverage.missing_ops),
        "",
        "## Op types that are there",
        "",
        _names(coverage.ops),
    ]
    return "\n".join(lines) + "\n"


def _table(areas: list[Area]) -> list[str]:
    return [
        "| area | symbols | there | differ | missing |",
        "|---|---:|---:|---:|---:|",
        *("| `{}` | {} | {} | {} | {} |".format(*row) for row in table(areas)),
        "",
    ]


def _missing(area: Area) -> str:
    if len(area.missing) == area.total:
        return f"all {area.total}"
    return _names(path.rsplit(".", 1)[-1] for path in area.missing)


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "none"


def _or_none(lines: Iterable[str]) -> list[str]:
    return list(lines) or ["None."]
