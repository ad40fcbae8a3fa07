"""Lines of a program, and the operations that they have made."""

from __future__ import annotations

import math
import os
import re
from collections import defaultdict
from typing import Any

import tideflow
from tideflow.programs.debugger.profiling import AggregateProfile

UNCOMPILED_SOURCE_SUFFIXES = (".py",)
COMPILED_SOURCE_SUFFIXES = (".pyc", ".pyo")
_PACKAGE = os.path.dirname(os.path.abspath(tideflow.__file__))


def _norm_abs_path(file_path: str) -> str:
    return os.path.normpath(os.path.abspath(file_path))


def _extension(path: str) -> str:
    return os.path.splitext(path)[1].lower()


def is_extension_uncompiled_python_source(file_path: str) -> bool:
    """Whether a file is one of Python's, as it was written."""
    return _extension(file_path) in UNCOMPILED_SOURCE_SUFFIXES


def is_extension_compiled_python_source(file_path: str) -> bool:
    """Whether a file is one of Python's, compiled."""
    return _extension(file_path) in COMPILED_SOURCE_SUFFIXES


def guess_is_tensorflow_py_library(py_file_path: str) -> bool:
    """Whether a file belongs to this library, and not to the user's program.

    Args:
      py_file_path: The path of the file.

    Returns:
      A boolean.
    """
    if not is_extension_uncompiled_python_source(py_file_path) and not is_extension_compiled_python_source(
        py_file_path
    ):
        raise ValueError(f"Input file path ({py_file_path}) is not a Python source file.")
    path = _norm_abs_path(py_file_path)
    return path.startswith(_PACKAGE + os.sep) and not path.endswith("_test.py")


def load_source(source_file_path: str) -> tuple[list[str], int]:
    """The lines of a file.

    Args:
      source_file_path: The path of the file.

    Returns:
      The lines, and how wide a column of their numbers is.
    """
    with open(source_file_path) as file:
        lines = file.read().split("\n")
    return lines, math.ceil(math.log10(len(lines))) + 3


def annotate_source(
    dump: Any,
    source_file_path: str,
    do_dumped_tensors: bool = False,
    file_stack_top: bool = False,
    min_line: int | None = None,
    max_line: int | None = None,
) -> dict[int, list[str]]:
    """What the lines of a file have made.

    Args:
      dump: A step.
      source_file_path: The path of the file.
      do_dumped_tensors: Whether tensors are meant that the step has values of, and not operations.
      file_stack_top: Whether only the innermost line of the file has made an operation, and not those around.
      min_line: The first line.
      max_line: The line behind the last one.

    Returns:
      The names of operations or tensors, by the number of the line.
    """
    graph = dump.python_graph
    if not graph:
        raise ValueError(
            "Cannot perform source annotation due to a lack of set Python graph in the dump object"
        )
    path = _norm_abs_path(source_file_path)
    made: dict[int, list[str]] = defaultdict(list)
    for op in graph.get_operations():
        for file, number, *_ in reversed(dump.node_traceback(op.name)):
            is_outside = (min_line is not None and number < min_line) or (
                max_line is not None and number >= max_line
            )
            if is_outside or _norm_abs_path(file) != path:
                continue
            if do_dumped_tensors:
                made[number] += {key.rpartition(":")[0] for key in dump.debug_watch_keys(op.name)}
            else:
                made[number].append(op.name)
            if file_stack_top:
                break
    return dict(made)


def list_source_files_against_dump(
    dump: Any, path_regex_whitelist: str | None = None, node_name_regex_whitelist: str | None = None
) -> list[tuple[str, bool, int, int, int, int]]:
    """The files that have made operations.

    Args:
      dump: A step.
      path_regex_whitelist: An expression that paths of files match; all files if None or empty.
      node_name_regex_whitelist: An expression that names of operations match; all if None or empty.

    Returns:
      Of each file: its path, whether it belongs to this library, how many operations and tensors it has made,
      how many values the step has of these, and the first of its lines that has made one.
    """
    graph = dump.python_graph
    if not graph:
        raise ValueError("Cannot generate source list due to a lack of set Python graph in the dump object")
    nodes: dict[str, set[str]] = defaultdict(set)
    tensors: dict[str, set[str]] = defaultdict(set)
    first: dict[str, int] = {}
    values: dict[str, int] = {}
    for op in graph.get_operations():
        if node_name_regex_whitelist and not re.match(node_name_regex_whitelist, op.name):
            continue
        for key in dump.debug_watch_keys(op.name):
            values.setdefault(key.rpartition(":")[0], len(dump.watch_key_to_data(key)))
        for file, number, *_ in dump.node_traceback(op.name):
            path = _norm_abs_path(file)
            if path_regex_whitelist and not re.match(path_regex_whitelist, path):
                continue
            if not is_extension_uncompiled_python_source(path) or not os.path.isfile(path):
                continue  # typed in, or made while the program ran
            nodes[path].add(op.name)
            tensors[path].update(output.name for output in op.outputs)
            first[path] = min(number, first.get(path, number))
    return [
        (
            path,
            guess_is_tensorflow_py_library(path),
            len(nodes[path]),
            len(tensors[path]),
            sum(values.get(name, 0) for name in tensors[path]),
            first[path],
        )
        for path in sorted(nodes)
    ]


def annotate_source_against_profile(
    profile_data: Any,
    source_file_path: str,
    node_name_filter: str | None = None,
    op_type_filter: str | None = None,
    min_line: int | None = None,
    max_line: int | None = None,
) -> dict[int, AggregateProfile]:
    """The times of what the lines of a file have made.

    Args:
      profile_data: `ProfileDatum`s.
      source_file_path: The path of the file.
      node_name_filter: An expression that names of operations match.
      op_type_filter: An expression that types of operations match.
      min_line: The first line.
      max_line: The line behind the last one.

    Returns:
      An `AggregateProfile` by the number of the line.
    """
    path = _norm_abs_path(source_file_path)
    times: dict[int, AggregateProfile] = {}
    for datum in profile_data:
        number = datum.line_number
        if not datum.file_path or _norm_abs_path(datum.file_path) != path:
            continue
        if (min_line is not None and number < min_line) or (max_line is not None and number >= max_line):
            continue
        if node_name_filter and not re.match(node_name_filter, datum.node_exec_stats.node_name):
            continue
        if op_type_filter and not re.match(op_type_filter, datum.op_type):
            continue
        if number in times:
            times[number].add(datum)
        else:
            times[number] = AggregateProfile(datum)
    return times
