"""Examples that run: a small program, and what it prints when the page is built."""

from __future__ import annotations

import ast
import contextlib
import copy
import io
import linecache
import os
import re
import signal
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Any

import numpy as np

import tideflow as tf
from tideflow.graph.operation import Operation
from tideflow.runtime.settings import settings

_SECONDS = 60  # a program that takes longer waits for something that never comes
_STANDARD = ("json", "os", "pathlib", "sqlite3", "threading", "unittest")
_OTHERS = {"np": "import numpy as np", "tf": "import tideflow as tf"}


@dataclass(frozen=True)
class Ran:
    """A program, what it printed, and the operations it made."""

    program: str
    printed: str
    operations: tuple[Operation, ...]


def with_imports(body: str) -> str:
    """The body as a whole program: the modules that it uses are imported."""

    def uses(module: str) -> bool:
        return re.search(rf"(?<![\w.]){module}\.", body) is not None

    standard = [f"import {module}" for module in _STANDARD if uses(module)]
    others = [line for module, line in _OTHERS.items() if uses(module)]
    return "\n\n".join("\n".join(part) for part in (standard, others, [body]) if part)


def run(program: str) -> Ran:
    """Runs a program in a graph and an empty folder of its own; its errors are the caller's."""
    printed = io.StringIO()
    with _apart(printed) as graph:
        exec(_compiled(program), {"__name__": "__main__"})
    return Ran(program, printed.getvalue().rstrip(), tuple(graph.get_operations()))


def run_shown(body: str) -> Ran:
    """Runs a program whose last line may be an expression: its value is printed, a tensor's by a session."""
    last = ast.parse(body).body[-1]
    if not isinstance(last, ast.Expr) or ast.unparse(last).startswith("print("):
        return run(with_imports(body))
    lines = body.splitlines()
    before, expression = lines[: last.lineno - 1], "\n".join(lines[last.lineno - 1 :])
    printed = io.StringIO()
    with _apart(printed) as graph:
        scope: dict[str, Any] = {"__name__": "__main__"}
        start = with_imports(body).removesuffix(body)  # the imports, and an empty line
        begin = start + "\n".join([*before, ""])
        exec(_compiled(begin), scope)
        scope["y"] = value = eval(_compiled(f"({expression}\n)", "eval", begin), scope)
        shown = _shown(expression, value, graph)
        exec(_compiled("\n".join(shown[1:])), scope)
        if shown == [f"print({expression})"]:
            print(value)
    program = with_imports("\n".join([*before, *shown]))
    return Ran(program, printed.getvalue().rstrip(), tuple(graph.get_operations()))


def _compiled(text: str, mode: str = "exec", before: str = "") -> CodeType:
    """The text as code, which comes after what is `before` it in its file. The file is known to linecache, as
    a notebook's cells are: AutoGraph looks for the source of functions there.
    """
    file = "example.py"
    linecache.cache[file] = len(before + text), None, (before + text).splitlines(True), file
    return compile("\n" * before.count("\n") + text, file, mode)


def _shown(expression: str, value: Any, graph: tf.Graph) -> list[str]:
    """The lines that print an expression."""
    if value is None:
        return [expression]
    if not any(map(_is_fetch, tf.nest.flatten(value))):
        return [f"print({expression})"]
    initializers = {
        "tf.global_variables_initializer()": graph.get_collection(tf.GraphKeys.GLOBAL_VARIABLES),
        "tf.local_variables_initializer()": graph.get_collection(tf.GraphKeys.LOCAL_VARIABLES),
        "tf.tables_initializer()": graph.get_collection(tf.GraphKeys.TABLE_INITIALIZERS),
    }
    lines = [f"y = {expression}", "with tf.Session() as sess:"]
    lines += [f"    sess.run({initializer})" for initializer, wanted in initializers.items() if wanted]
    if type(value) is tuple:
        return [*lines, "    for value in sess.run(y):", "        print(value)"]
    return [*lines, "    print(sess.run(y))"]


def _is_fetch(value: Any) -> bool:
    return isinstance(value, (tf.Tensor, tf.SparseTensor, tf.RaggedTensor, tf.IndexedSlices, tf.Variable))


@contextlib.contextmanager
def _apart(printed: io.StringIO) -> Iterator[tf.Graph]:
    """A graph, a folder and an output of a program's own, and a limit to how long it runs."""
    here = os.getcwd()
    tf.reset_default_graph()
    tf.logging.set_verbosity(tf.logging.FATAL)
    with (
        tempfile.TemporaryDirectory() as folder,
        _limit(),
        _settings_put_back(),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(io.StringIO()),
        np.printoptions(precision=4, suppress=True, threshold=24, edgeitems=2, linewidth=88),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        os.chdir(folder)
        try:
            yield tf.get_default_graph()
        finally:
            tf.summary.FileWriterCache.clear()  # those of this folder, which goes
            os.chdir(here)
            tf.disable_eager_execution()


@contextlib.contextmanager
def _settings_put_back() -> Iterator[None]:
    """Undoes what a program changes by `tf.config`."""
    before = copy.deepcopy(vars(settings))
    try:
        yield
    finally:
        vars(settings).update(before)


@contextlib.contextmanager
def _limit() -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise TimeoutError(f"the program did not end within {_SECONDS} seconds")

    previous = signal.signal(signal.SIGALRM, stop)
    signal.alarm(_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)
