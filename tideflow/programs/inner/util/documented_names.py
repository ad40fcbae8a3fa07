"""`tensorflow.python.util.all_util`: packages that show no more than what they document.

A package names in its docstring, by lines `@@name`, or in a list what belongs to it, and has the rest taken
away from the module.
"""

from __future__ import annotations

import re
import sys
import types
from collections.abc import Sequence
from typing import Any

_REFERENCE = re.compile(r"^@@(\w+)$", re.MULTILINE)
_hidden: dict[str, tuple[types.ModuleType, Any]] = {}  # "module.name" -> where it was, and what


def make_all(module_name: str, doc_string_modules: Sequence[types.ModuleType] | None = None) -> list[str]:
    """What a module has of the names that docstrings mention.

    Args:
      module_name: The module's name.
      doc_string_modules: Whose docstrings; by default the module's own.

    Returns:
      The names, for the module's `__all__`.
    """
    module = sys.modules[module_name]
    texts = [each.__doc__ or "" for each in ([module] if doc_string_modules is None else doc_string_modules)]
    there = set(dir(module))
    return sorted({name for text in texts for name in _REFERENCE.findall(text)} & there)


def remove_undocumented(
    module_name: str,
    allowed_exception_list: Sequence[str] | None = None,
    doc_string_modules: Sequence[types.ModuleType] | None = None,
) -> None:
    """Takes away from a module what is not documented; names that begin with `_` stay.

    Args:
      module_name: The module's name.
      allowed_exception_list: Names that stay although no docstring mentions them.
      doc_string_modules: Whose docstrings; by default the module's own.
    """
    module = sys.modules[module_name]
    stay = {*make_all(module_name, doc_string_modules), *(allowed_exception_list or ())}
    for name in set(dir(module)) - stay:
        if not name.startswith("_"):
            _hidden[f"{module_name}.{name}"] = (module, getattr(module, name))
            delattr(module, name)


def reveal_undocumented(symbol_name: str, target_module: types.ModuleType | None = None) -> None:
    """Puts back what `remove_undocumented` has taken away.

    Args:
      symbol_name: The name, with its module's before it.
      target_module: Where it is put; by default where it was.

    Raises:
      LookupError: If nothing of that name was taken away.
    """
    if symbol_name not in _hidden:
        raise LookupError(f"Symbol {symbol_name} is not a hidden symbol")
    module, value = _hidden[symbol_name]
    setattr(target_module or module, symbol_name.rpartition(".")[2], value)
