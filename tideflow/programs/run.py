"""`tideflow run`: a TensorFlow program, as `python` would run it, with Tideflow for TensorFlow."""

from __future__ import annotations

import builtins
import importlib.machinery
import importlib.util
import os
import runpy
import sys
import types
from collections.abc import Sequence

from tideflow.programs import old_messages, packed_messages
from tideflow.programs.finder import install


def run_script(script: str, arguments: Sequence[str] = ()) -> int:
    """Runs a file as the main program; the exit status."""
    path = os.path.abspath(script)
    with open(path, "rb") as file:  # bytes: the compiler reads the encoding that the file declares
        source = file.read()
    install()
    old_messages.install()
    packed_messages.install()
    sys.argv = [script, *arguments]
    sys.path[0] = os.path.dirname(os.path.realpath(path))
    main = types.ModuleType("__main__")
    loader = importlib.machinery.SourceFileLoader("__main__", path)
    main.__dict__.update(__file__=path, __builtins__=builtins, __loader__=loader, __cached__=None)
    sys.modules["__main__"] = main
    try:
        exec(compile(source, path, "exec", dont_inherit=True), main.__dict__)
    except Exception as error:
        return _report(error, path)
    return 0


def why_not_module(module: str) -> str:
    """Why a module cannot be run as `python -m` would; nothing where it can."""
    install()
    sys.path[0] = os.getcwd()
    try:
        spec = importlib.util.find_spec(module)
        if spec is not None and spec.submodule_search_locations is not None:
            inner = importlib.util.find_spec(f"{module}.__main__")
            return "" if inner is not None else f"{module} is a package without a __main__ module to run"
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise  # a package around it is there, and lacks something itself
        spec = None
    return "" if spec is not None else f"there is no module {module}"


def run_module(module: str, arguments: Sequence[str] = ()) -> int:
    """Runs a module as the main program, as `python -m` does; the exit status."""
    install()
    old_messages.install()
    packed_messages.install()
    sys.argv = [module, *arguments]
    sys.path[0] = os.getcwd()
    runpy.run_module(module, run_name="__main__", alter_sys=True)
    return 0


def _report(error: Exception, path: str) -> int:
    """Shows an error that the program did not catch, from the program's first line on: not how it was
    started.
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != path:
        trace = trace.tb_next
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, trace  # as Python leaves them
    sys.excepthook(type(error), error.with_traceback(trace), trace)
    return 1
