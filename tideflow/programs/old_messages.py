"""Messages that protoc wrote before 3.19, which programs of TensorFlow's time bring with them.

Such a file spells out every descriptor, which protobuf refuses since its version 4. It also holds the whole
description as bytes, of which the messages are made here as newer generated files make them.
"""

from __future__ import annotations

import ast
import importlib.abc
import importlib.machinery
import sys
import types
from typing import Any

from google.protobuf import descriptor_pool, symbol_database
from google.protobuf.internal import builder


def install() -> None:
    """From here on, imports of such files find messages that this protobuf takes."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if not name.endswith("_pb2"):
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            source = spec.loader.get_source(name) or ""
            if "_descriptor.FileDescriptor(" in source:
                spec.loader = _Loader(name, spec.loader.path)
        return spec


class _Loader(importlib.machinery.SourceFileLoader):
    def exec_module(self, module: types.ModuleType) -> None:
        source = self.get_source(self.name) or ""
        tree = ast.parse(source, self.path)
        exec(compile(_imports(tree), self.path, "exec"), module.__dict__)
        file = descriptor_pool.Default().AddSerializedFile(_description(tree))
        module.__dict__.update(DESCRIPTOR=file, _sym_db=symbol_database.Default())
        builder.BuildMessageAndEnumDescriptors(file, module.__dict__)
        builder.BuildTopDescriptorsAndMessages(file, module.__name__, module.__dict__)


def _imports(tree: ast.Module) -> ast.Module:
    """What the file imports: the messages that its own are made of among them."""
    kept = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom, ast.Try))]
    return ast.Module(kept, type_ignores=[])  # type: ignore[arg-type]


def _description(tree: ast.Module) -> bytes:
    """The bytes of the file's description; `_b('…')` where the file is for Python 2 too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "serialized_pb":
            value = node.value.args[0] if isinstance(node.value, ast.Call) else node.value
            described = ast.literal_eval(value)
            return described if isinstance(described, bytes) else described.encode("latin1")
    raise ImportError("A generated file of messages has no serialized_pb")
