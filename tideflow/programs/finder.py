"""`import tensorflow`, answered: a finder of modules that `install` puts before all others."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types
from typing import Any

import tideflow
from tideflow.graph.traceback import user_frames, user_line
from tideflow.platform.version import VERSION
from tideflow.programs import modules, old_names
from tideflow.programs.namespace import Missing

ROOT = "tensorflow"
ROOTS = (ROOT, "tensorflow_estimator")  # in 1.15, estimators are a package of their own


def install() -> None:
    """From here on, imports of TensorFlow find Tideflow, and programs the names of their time."""
    old_names.restore()
    if not any(isinstance(finder, Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, Finder())


class Facade(types.ModuleType):
    """A module of TensorFlow's by name, whose contents are looked up in Tideflow when they are asked for."""

    def __init__(self, name: str):
        super().__init__(name, f"{name}, answered by Tideflow.")
        self.__path__: list[str] = []  # any module of TensorFlow may have modules of its own
        self.__file__ = tideflow.__file__
        if name in (ROOT, f"{ROOT}.compat.v1", f"{ROOT}.python.framework.versions"):
            self.__version__ = VERSION
        elif name in _KERAS:
            self.__version__ = tideflow.keras.__version__

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return modules.names(_path(self.__name__))
        if name.startswith("__") and name not in _BUILDS:
            raise AttributeError(name)
        value = _look_up(self.__name__, name)
        if value is _NOTHING:
            raise AttributeError(
                f"module '{self.__name__}' has no attribute '{name}', asked for at {_caller()}. "
                f"{modules.why_not(_path(self.__name__), name)}",
                name=None,  # named, Python would add a suggestion of its own
                obj=None,
            )
        self.__dict__[name] = value
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        """Programs set switches of modules: the module that is behind the facade has them."""
        if isinstance(value, Facade) and modules.shows_functions(_path(self.__name__)):
            shown = _look_up(self.__name__, name)  # the import of a module sets it on its package
            value = value if shown is _NOTHING else shown
        before = self.__dict__.get(name)
        super().__setattr__(name, value)
        modules.pass_on(_path(self.__name__), name, value)
        modules.replace(_path(self.__name__), name, before, value)

    def __delattr__(self, name: str) -> None:
        """A mock that ends deletes what it has set on a module that did not have it yet."""
        super().__delattr__(name)
        modules.put_back(_path(self.__name__), name)

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__, *modules.names(_path(self.__name__))})


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds `tensorflow` and all modules below it, and `tensorflow_estimator`, which is part of it here."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name.partition(".")[0] not in ROOTS:
            return None
        if name.endswith(".__main__"):
            program = modules.program(_path(name.removesuffix(".__main__")))
            return None if program is None else importlib.util.spec_from_file_location(name, program)
        if not modules.is_module(_path(name)):
            # Named, the error of `from package import name` would be replaced by one that says less. Others
            # need the name: `pydoc.locate` knows by it that this module is missing, and not one inside.
            raise ModuleNotFoundError(_why_no_module(name), name=None if _is_from_import() else name)
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: Any) -> Facade:
        return Facade(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """A facade is whole when it is made. Some modules register what they hold."""
        modules.when_imported(_path(module.__name__))


def _why_no_module(name: str) -> str:
    package, _, last = name.rpartition(".")
    if _look_up(package, last) is not _NOTHING:
        return f"No module named '{name}', asked for at {_caller()}. {package} has a symbol of that name."
    return (
        f"No module or symbol named '{name}', asked for at {_caller()}. "
        f"{modules.why_not(_path(package), last)}"
    )


def _is_from_import() -> bool:
    """Whether the module is looked for because a package lacks a name that is imported from it."""
    frame: Any = sys._getframe(2)
    while frame is not None and "importlib" in frame.f_code.co_filename:
        if frame.f_code.co_name == "_handle_fromlist":
            return True
        frame = frame.f_back
    return False


_NOTHING = object()
_KERAS = tuple(f"{ROOT}.{path}keras" for path in ("", "python.", "compat.v1.", "compat.v2."))
_BUILDS = ("__git_version__", "__compiler_version__", "__cxx11_abi_flag__", "__monolithic_build__")


def _path(module: str) -> str:
    return module.partition(".")[2]


def _look_up(module: str, name: str) -> Any:
    """A symbol, or a module of the table, or nothing. Our own modules show themselves as TensorFlow's."""
    root = module.partition(".")[0]
    found = modules.module_named(_path(module), name)
    try:
        value = modules.look_up(_path(module), name)
    except Missing:
        return importlib.import_module(f"{root}.{found}") if found else _NOTHING
    if isinstance(value, types.ModuleType) and found:
        return importlib.import_module(f"{root}.{found}")
    return value


def _caller() -> str:
    """The line of the program that asks."""
    return user_line(user_frames())
