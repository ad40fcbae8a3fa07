"""`tideflow check`: which of TensorFlow a program uses, and what of that is not there, without running it.

The program is read, not imported. Names are followed as far as they can be without running it: imports under
any name, `slim = tf.contrib.slim`, chains of attributes; and of calls, which arguments are given. What a
program imports beside TensorFlow is to be installed, or to lie beside it (`requirements.py`).
"""

from __future__ import annotations

import ast
import difflib
import inspect
import re
import sys
import types
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tideflow
from tideflow.export import Namespace
from tideflow.programs import modules, requirements
from tideflow.programs.coverage import only_refuses
from tideflow.programs.namespace import Missing

ROOT = "tensorflow"
OURS = "tideflow"


@dataclass
class Use:
    """A symbol that a program uses: where, and what is wrong with it."""

    path: str
    lines: list[int] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    @property
    def shown(self) -> str:
        """As programs write it: tf.nn.relu for tensorflow.nn.relu."""
        path = self.path.removeprefix(f"{ROOT}.").removeprefix("compat.v1.")
        return self.path if path.startswith(("python.", "core.", "examples.")) else f"tf.{path}"


@dataclass
class Report:
    """What a program uses, by path; the modules it lacks; or why it cannot be read."""

    program: Path
    uses: dict[str, Use] = field(default_factory=dict)
    modules: dict[str, Use] = field(default_factory=dict)  # imported and not there
    unreadable: str = ""

    @property
    def faults(self) -> list[Use]:
        return [use for use in self.uses.values() if use.faults]

    @property
    def is_fine(self) -> bool:
        return not (self.unreadable or self.modules or self.faults)


def programs(path: Path) -> list[Path]:
    """The programs at a path: itself, or every Python file below a folder."""
    if path.is_dir():
        return sorted(found for found in path.rglob("*.py") if found.is_file())
    return [path] if path.is_file() else []


def check(program: Path, folder: Path | None = None) -> Report:
    """Reads a program and judges every symbol of TensorFlow that it uses, and every module that it imports.

    `folder` is the one that is checked as a whole: its modules are the program's own.
    """
    reader = _Reader(program, requirements.folders(program, folder or program.parent))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about escapes in strings: the program's own affair
            tree = ast.parse(program.read_bytes(), filename=str(program))
        reader.visit(tree)
    except SyntaxError as error:
        return Report(program, unreadable=_why_unreadable(error))
    except (RecursionError, MemoryError):
        return Report(program, unreadable="an expression in it is nested too deeply for Python's parser")
    except (OSError, ValueError) as error:  # null bytes are a ValueError to earlier Pythons
        return Report(program, unreadable=f"it cannot be read: {error}")
    return reader.report


# What Python 2 allowed and Python 3 does not, as one finds it in the line that Python 3 stops at.
_PYTHON_2 = re.compile(
    r"""\b(print|exec)\s+[^\s=(]                                  # statements that became functions
    |\bexcept\s+[^:]+,\s*\w+\s*:|\braise\s+[\w.]+\s*,            # except E, e:   raise E, "…"
    |\bdef\s+\w+\s*\(([^()]*,)?\s*\(|\blambda\s+([^():]*,)?\s*\( # def f((a, b)):   lambda (a, b): …
    |<>|`|(?<![\w.])0[0-7]+\b|\b\d+[lL]\b|\b[uU][rR]['"]         # operators and literals""",
    re.VERBOSE,
)


def _why_unreadable(error: SyntaxError) -> str:
    where = f"line {error.lineno}: " if error.lineno else ""
    line = (error.text or "").strip()
    if isinstance(error, TabError) or _PYTHON_2.search(line):
        return (
            f"{where}this is Python 2: {line}  Convert the file to Python 3 first: `2to3 -w` does it, which "
            "comes with Python up to 3.12."
        )
    version = "{}.{}".format(*sys.version_info)
    return f"{where}Python {version} cannot read it: {error.msg}{f': {line}' if line else ''}"


# --------------------------------------------------------------------------------------- reading the program


class _Reader(ast.NodeVisitor):
    """Walks a program with the names that stand for something of TensorFlow's in hand."""

    def __init__(self, program: Path, folders: list[Path]):
        self.report = Report(program)
        self._folders = folders  # where the program's own modules may lie
        self._names: dict[str, str] = {}  # a name of the program -> "tensorflow.contrib.slim"
        self._conditions = 0  # how many statements around this one let a program do without an import

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            root = alias.name.partition(".")[0]
            if root not in (ROOT, OURS):
                self._require(alias.name, 0, node)
            elif self._imports(alias.name, node):
                self._names[alias.asname or root] = alias.name if alias.asname else root

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        if node.level or module.partition(".")[0] not in (ROOT, OURS):
            self._require(module, node.level, node)
            return
        for alias in node.names:
            path = f"{module}.{alias.name}"
            if alias.name != "*" and self._imports(path, node):
                self._names[alias.asname or alias.name] = path

    def visit_Try(self, node: ast.Try) -> None:
        self._visit_condition(node)

    def visit_If(self, node: ast.If) -> None:
        self._visit_condition(node)

    def _visit_condition(self, node: ast.Try | ast.If) -> None:
        conditional = requirements.is_conditional(node)
        self._conditions += conditional
        self.generic_visit(node)
        self._conditions -= conditional

    def _imports(self, path: str, node: ast.AST) -> bool:
        """Whether an import gives a name something to stand for; records the use."""
        if self._conditions and _resolve(path).fault:
            return False  # the program has an answer to that
        self._use(path, node)
        return True

    def _require(self, module: str, level: int, node: ast.AST) -> None:
        why = "" if self._conditions else requirements.why_missing(module, level, self._folders)
        if why:
            name = "." * level + module.partition(".")[0]
            self.report.modules.setdefault(name, Use(name, faults=[why])).lines.append(node.lineno)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.generic_visit(node)
        path = self._path(node.value)
        for target in node.targets:
            if isinstance(target, ast.Name):
                if path is not None:
                    self._names[target.id] = path
                else:
                    self._names.pop(target.id, None)  # the name stands for something else now

    def visit_Name(self, node: ast.Name) -> None:
        self._visit_reference(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self._visit_reference(node)

    def visit_Call(self, node: ast.Call) -> None:
        path = self._path(node.func)
        if path is not None:
            self._use(path, node, call=node)
        else:
            self.visit(node.func)
        for part in [*node.args, *node.keywords]:
            self.visit(part)

    def _visit_reference(self, node: ast.Name | ast.Attribute) -> None:
        path = self._path(node)
        if path is not None:
            self._use(path, node)
        else:
            self.generic_visit(node)

    def _path(self, node: ast.AST) -> str | None:
        """The dotted path that an expression stands for, where it is a name or a chain of attributes."""
        if isinstance(node, ast.Name):
            return self._names.get(node.id)
        if isinstance(node, ast.Attribute):
            outer = self._path(node.value)
            return None if outer is None else f"{outer}.{node.attr}"
        return None

    def _use(self, path: str, node: ast.AST, call: ast.Call | None = None) -> None:
        found = _resolve(path)
        if found.is_module:
            return  # a name for a module is not yet a use of a symbol
        use = self.report.uses.setdefault(found.path, Use(found.path))
        if node.lineno not in use.lines:
            use.lines.append(node.lineno)
        faults = [found.fault] if found.fault else list(_call_faults(found.value, call)) if call else []
        use.faults += [fault for fault in faults if fault not in use.faults]


# --------------------------------------------------------------------------------------- judging what it uses


@dataclass
class _Found:
    path: str  # as far as it could be followed
    value: Any = None
    is_module: bool = False
    fault: str = ""


def _resolve(path: str) -> _Found:
    """Follows a path through modules to a symbol, and on to its members where it is a class or a module
    itself.
    """
    root, *names = path.split(".")
    if root == OURS:
        return _resolve_ours(names)
    module = ""
    for i, name in enumerate(names):
        if name.startswith("__"):
            break  # what every module has, such as __version__
        inner = f"{module}.{name}".lstrip(".")
        try:
            value = modules.look_up(module, name)
        except Missing:
            value = None
            if modules.module_named(module, name) is None:
                return _Found(f"{ROOT}.{inner}", fault=f"missing. {modules.why_not(module, name)}")
        found = modules.module_named(module, name)
        if found is not None and (value is None or isinstance(value, types.ModuleType)):
            module = found
            continue
        return _member(f"{ROOT}.{inner}", value, names[i + 1 :])
    return _Found(f"{ROOT}.{module}".rstrip("."), is_module=True)


def _resolve_ours(names: list[str]) -> _Found:
    """Follows a path through Tideflow's own namespaces. Its other modules are not TensorFlow's: no use."""
    value: Any = tideflow
    for i, name in enumerate(names):
        if name.startswith("__"):
            break
        space = ".".join(names[:i])
        try:
            value = getattr(value, name)
        except AttributeError:
            fault = f"missing. {modules.why_not(space, name)}"
            return _Found(".".join([ROOT, *names[: i + 1]]), fault=fault)
        except ImportError:  # a module that needs what is not installed
            break
        if not isinstance(value, types.ModuleType):
            return _member(".".join([ROOT, *names[: i + 1]]), value, names[i + 1 :])
        if not isinstance(value, Namespace):
            break
    return _Found(".".join([ROOT, *names]), is_module=True)


def _member(path: str, value: Any, names: list[str]) -> _Found:
    if only_refuses(value):
        return _Found(path, value, fault="missing: Tideflow can only refuse it")
    for name in names:
        if not isinstance(value, (type, types.ModuleType)):
            break  # what an instance has is known when the program runs
        path = f"{path}.{name}"
        if not hasattr(value, name):
            near = difflib.get_close_matches(name, dir(value), 3)
            return _Found(
                path, fault=f"missing. The nearest that exists: {', '.join(near)}." if near else "missing"
            )
        value = getattr(value, name)
    return _Found(path, value)


def _call_faults(function: Any, call: ast.Call) -> Iterator[str]:
    """The arguments of a call that its function does not take."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return
    if not any(p.kind is p.VAR_KEYWORD for p in parameters):
        named = {p.name for p in parameters if p.kind is not p.POSITIONAL_ONLY}
        for keyword in call.keywords:
            if keyword.arg is not None and keyword.arg not in named:
                yield f"lacks the argument {keyword.arg}"
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if any(p.kind is p.VAR_POSITIONAL for p in parameters) or any(
        isinstance(a, ast.Starred) for a in call.args
    ):
        return
    if len(call.args) > len(positional):
        yield f"takes {len(positional)} arguments by position, not {len(call.args)}"


# ------------------------------------------------------------------------------------------------ in writing


def as_text(reports: Iterable[Report], only_missing: bool = False) -> str:
    """A table for each program, and a summary."""
    return "\n\n".join(_one(report, only_missing) for report in reports)


def _one(report: Report, only_missing: bool) -> str:
    uses = sorted(report.faults if only_missing else report.uses.values(), key=lambda use: use.shown.lower())
    width = max((len(use.shown) for use in uses), default=0)
    lines = [str(report.program)]
    if report.unreadable:
        return "\n".join([*lines, f"  ✗ {report.unreadable}"])
    for module in sorted(report.modules.values(), key=lambda use: use.path):
        lines.append(f"  ✗ module {module.path}  {_lines(module.lines)}  {module.faults[0]}")
    for use in uses:
        mark, remark = ("✗", "; ".join(use.faults)) if use.faults else ("✓", "")
        lines.append(f"  {mark} {use.shown:<{width}}  {_lines(use.lines)}  {remark}".rstrip())
    return "\n".join([*lines, f"{summary(report)}"])


def _lines(numbers: list[int]) -> str:
    shown = ", ".join(map(str, numbers[:5])) + (" …" if len(numbers) > 5 else "")
    return f"line{'s' if len(numbers) > 1 else ''} {shown}"


def summary(report: Report) -> str:
    """How many symbols the program uses, and how many are not there."""
    count, faults = len(report.uses), len(report.faults)
    if not count:
        return "  It does not use TensorFlow."
    if not faults:
        return f"  All {count} TensorFlow symbols that it uses are there."
    return f"  {faults} of the {count} TensorFlow symbols that it uses are missing or lack an argument."
