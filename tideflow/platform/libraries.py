"""`tf.load_op_library`: op types of the program's own, in C++ or declared with `tideflow.graph.op.Op`."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
import types

from tideflow.export import export
from tideflow.graph import errors
from tideflow.graph.op import definitions
from tideflow.graph.operation import Tensor
from tideflow.graph.wrappers import python_function, python_name
from tideflow.ops.arrays import constants


@export("load_op_library")
def load_op_library(library_filename: str) -> types.ModuleType:
    """Loads op types and their kernels from a library.

    A shared library is compiled from C++ that was written for TensorFlow, with the flags of `tf.sysconfig`
    (docs/cpp_kernels.md). A Python file declares its op types with `Op` (docs/add_an_op.md).

    Args:
      library_filename: The file. The name of a shared library is given to the system's loader as it is, so
        that one in this folder is `"./my_op.so"`.

    Returns:
      A module with a function for each op type: `mat_mul` for `MatMul`. The same file gives the same module.

    Raises:
      RuntimeError: If the file cannot be loaded: NotFoundError where it is not there, is no library, or lacks
        symbols.
    """
    if not library_filename.endswith(".py"):
        from tideflow.platform import kernel_libraries  # loaded when asked for

        return kernel_libraries.load(library_filename)
    path = os.path.abspath(library_filename)
    if not os.path.exists(path):
        raise errors.not_found(f"{library_filename}: there is no such file")
    name = f"tideflow_ops_{hashlib.sha256(path.encode()).hexdigest()[:12]}"
    if name in sys.modules:  # loaded before: its op types are there
        return sys.modules[name]
    known = set(definitions())
    module = _executed(name, path)
    for op_type in definitions().keys() - known:
        op = definitions()[op_type]
        op.check_parts(op.parts())
        module.__dict__.setdefault(python_name(op_type), python_function(op))
    return module


def _executed(name: str, path: str) -> types.ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


@export("load_library")
def load_library(library_location: str) -> None:
    """Loads op types from a file, or from all shared libraries and Python files in a directory.

    Args:
      library_location: The file or the directory.

    Raises:
      OSError: If it does not exist.
      RuntimeError: If a file cannot be loaded.
    """
    if not os.path.exists(library_location):
        raise OSError(2, "The file or folder to load kernel libraries from does not exist.", library_location)
    if not os.path.isdir(library_location):
        load_op_library(library_location)
        return
    for entry in sorted(os.listdir(library_location)):
        if entry.endswith((".py", ".so")):
            load_op_library(os.path.join(library_location, entry))


@export("user_ops.my_fact")
def my_fact() -> Tensor:
    """An example of a user's op: returns a fact as a string tensor."""
    return constants.fact_op()
