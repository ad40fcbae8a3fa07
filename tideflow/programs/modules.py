"""TensorFlow's modules, as programs import them, and where Tideflow keeps what is in each.

A module is a path below `tensorflow` ("python.ops.array_ops") and the places where its names are looked up,
in order: public namespaces ("tf", "tf.nn"), modules of Python ("tideflow.graph.scopes"), modules beside this
one ("inner.graph.graph_names"), or the functions of op types ("gen"). TensorFlow's inner modules hold, by and
large, what its public namespace shows, so most of them are the public namespace under another name.
"""

from __future__ import annotations

import contextlib
import difflib
import functools
import importlib
import importlib.util
import itertools
import re
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

from tideflow.graph.op import definitions
from tideflow.graph.wrappers import python_function, python_name
from tideflow.programs import namespace
from tideflow.programs.core_modules import MODULES, PACKAGES
from tideflow.programs.namespace import Missing
from tideflow.programs.refused_names import REFUSED
from tideflow.programs.specification import is_in_tensorflow, op_attributes, op_types

# Modules that hold, beside their own functions, those of op types.
_OF_OPS = ("python.ops.", "python.training.training_ops")


_OLD_KERAS = re.compile(r"^contrib\.keras\.(api\.keras\.)?")  # tf.keras's parts under their older names


@functools.cache
def places(module: str) -> tuple[str, ...] | None:
    """Where the names of a module are looked up; None where TensorFlow, or Tideflow, has no such module."""
    listed = _listed(module.removeprefix("compat.v2.compat.v1.").removeprefix("compat.v1."))
    if listed and module.startswith(_OF_OPS) and "gen" not in listed:
        listed += ("gen",)
    there = tuple(
        f"{__package__}.{place}" if place.startswith("inner.") else place
        for place in listed or ()
        if not place.startswith("tf.") or namespace.is_namespace(place[3:])
    )
    return None if listed is None or listed and not there else there


def _listed(module: str) -> tuple[str, ...] | None:
    package, _, name = module.rpartition(".")
    if module in MODULES:
        return tuple(MODULES[module].split())
    if module == "compat.v2" or module.startswith("compat.v2."):
        return _if_there(f"tideflow.{module}")
    if module in PACKAGES:
        return tuple(PACKAGES[module][0].split())
    if _has_module(package, name):
        return tuple(PACKAGES[package][0].split())
    if re.fullmatch(r"(python\.ops|python\.training|contrib\.[\w.]+)\.gen_\w+", module):
        return ("gen", "gen of contrib", "tf.raw_ops")
    if re.fullmatch(r"core\.(framework|protobuf|util)\.\w+_pb2", module):
        message = f"tensorboard.compat.proto.{name}"
        return (message,) if _importable(message) else None
    public = _OLD_KERAS.sub("keras.", module.removeprefix("python."))
    return (f"tf.{public}",) if namespace.is_namespace(public) else None


def _has_module(package: str, name: str) -> bool:
    return package in PACKAGES and name in PACKAGES[package][1].split()


def _importable(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def _if_there(name: str) -> tuple[str, ...] | None:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        return None
    return (name,)


def shows_functions(module: str) -> bool:
    """Whether a package of TensorFlow's shows functions where it has modules of the same names."""
    return module.startswith("contrib.framework.")  # by `import *`


def look_up(module: str, name: str) -> Any:
    """What a module of TensorFlow has under a name; Missing where it has nothing, or only another module."""
    if "python" in module.split(".") and _has_module(module, name) and not shows_functions(module):
        raise Missing(name)  # python.ops.variable_scope is the module, not the function of that name
    asked = [name, *_public_names(name)] if module.startswith("python.") else [name]
    for place, each in itertools.product(places(module) or (), asked):
        try:
            return _in_place(place, each)
        except Missing:
            continue
    if module.startswith("python.") and name.endswith(("_v2", "V2")):
        found = _second_form(module, name)
        if found is not None:
            return found
    raise Missing(f"{module}.{name}" if module else name)


def _second_form(module: str, name: str) -> Any:
    """What TensorFlow 2 calls by this name less its `_v2`; None where it has no such thing."""
    public = name.removesuffix("V2").removesuffix("_v2")
    for place in places(module) or ():
        if place == "tf" or place.startswith("tf."):
            short = public.removeprefix("sparse_") if place == "tf.sparse" else public
            with contextlib.suppress(Missing):
                return look_up(f"compat.v2{place[2:]}", short)
    return None


# What TensorFlow's modules call otherwise than its public namespace does.
_RENAMED = {
    "DatasetV1Adapter": "Dataset",
    "TensorFlowBenchmark": "Benchmark",
    "TensorFlowTestCase": "TestCase",
    "eager_py_func": "py_function",
    "get_optimizer_jit": "get_jit",
    "set_optimizer_jit": "set_jit",
    "get_legacy_output_classes": "get_output_classes",
    "get_legacy_output_shapes": "get_output_shapes",
    "get_legacy_output_types": "get_output_types",
    "identity_initializer": "identity",
    "matrix_exponential": "expm",
    "sparse_cross": "cross",
    "sparse_cross_hashed": "cross_hashed",
    "sparse_expand_dims": "expand_dims",
    "sparse_eye": "eye",
    "stateless_random_normal": "stateless_normal",
    "stateless_random_uniform": "stateless_uniform",
    "string_format": "format",
    "string_length": "length",
    "substr_deprecated": "substr",
    "parse_single_example_v2_unoptimized": "parse_single_example",
}


def _public_names(name: str) -> Iterator[str]:
    """Under which names the public namespace may have a symbol of an inner module.

    Where TensorFlow has two forms of a symbol, its modules call the first one `name_v1` or `NameV1`; the
    variables that are references are `RefVariable`.
    """
    if name in _RENAMED:
        yield _RENAMED[name]
    if name.endswith("DatasetV2"):
        yield name.removesuffix("V2")
    if name.endswith(("_v1", "V1")):
        yield name.removesuffix("V1").removesuffix("_v1")
    if name.startswith("Ref"):
        yield name.removeprefix("Ref")


def _in_place(place: str, name: str) -> Any:
    if place == "gen":
        known = name if name in _generated() else name.removeprefix("_")  # `_assert`: a word of Python's
        if known not in _generated():
            raise Missing(name)
        return _generated()[known]
    if place == "gen of contrib":
        return _generated_of_contrib(name)
    if place == "tf" or place.startswith("tf."):
        return namespace.symbol(place[3:], name)
    try:
        return getattr(importlib.import_module(place), name)
    except AttributeError:
        raise Missing(name) from None


def pass_on(module: str, name: str, value: Any) -> None:
    """Sets what a program sets on a module of TensorFlow's on the one of ours that has such a thing."""
    for place in places(module) or ():
        ours = importlib.import_module(place) if place.startswith("tideflow.") else None
        a_switch = name in vars(ours) and not isinstance(value, types.ModuleType) if ours else False
        if a_switch and not name.startswith("__"):
            setattr(ours, name, value)


# What programs have put other things in the place of, by module of TensorFlow's and name: the modules that
# had it, and what it was.
_replaced: dict[tuple[str, str], tuple[list[types.ModuleType], Any]] = {}


def replace(module: str, name: str, before: Any, value: Any) -> None:
    """Puts a thing of a program's, such as the mock of a test, in the place of one of our functions or
    classes, where that is defined and in all modules that have imported it: they call the other one from
    here on. As in TensorFlow, only inner modules are where things are called from.
    """
    home = sys.modules.get(getattr(before, "__module__", None) or "")
    inner = "python" in module.split(".") and not isinstance(value, types.ModuleType)
    if (module, name) in _replaced:
        put_back(module, name, value)
    elif inner and home is not None and _has(home, name, before):
        holders = [holder for holder in list(sys.modules.values()) if _has(holder, name, before)]
        _replaced[module, name] = holders, before
        _set_in(holders, name, value)


def _has(module: types.ModuleType, name: str, value: Any) -> bool:
    ours = (getattr(module, "__name__", None) or "").startswith("tideflow.")
    return ours and vars(module).get(name) is value


def _set_in(holders: list[types.ModuleType], name: str, value: Any) -> None:
    for holder in holders:
        setattr(holder, name, value)


def put_back(module: str, name: str, value: Any = None) -> None:
    """Puts back what a program has replaced, unless it puts yet another thing there."""
    if (module, name) in _replaced:
        holders, original = _replaced[module, name]
        _set_in(holders, name, original if value is None else value)
        if value is None or value is original:
            del _replaced[module, name]


def names(module: str) -> list[str]:
    """What a module of TensorFlow has, as far as Tideflow has it."""
    found: set[str] = set()
    for place in places(module) or ():
        if place == "gen":
            found.update(_generated())
        elif place == "gen of contrib":
            continue  # as many modules share the op types, none lists them
        elif place == "tf" or place.startswith("tf."):
            symbols = namespace.symbols(place[3:])
            inner = {*namespace.names(place[3:])} - symbols
            found.update(symbols)
            found.update(space for space in inner if is_module(f"{module}.{space}".lstrip(".")))
        else:
            found.update(dir(importlib.import_module(place)))
    package = PACKAGES.get(module, ("", ""))[1].split()
    return sorted(name for name in found.union(package) if not name.startswith("_"))


def is_module(path: str) -> bool:
    """Whether `tensorflow.<path>` can be imported."""
    return path not in REFUSED and places(path) is not None


def program(path: str) -> str | None:
    """The file that `python -m tensorflow.<path>` runs; None for modules that are no programs."""
    package, _, name = path.rpartition(".")
    if package != "python.tools" or not is_module(path):
        return None
    found = importlib.util.find_spec(f"{__package__}.inner.tools.commands.{name}")
    return None if found is None else found.origin


# Modules whose op types are there only for the programs that import them.
_REGISTERING = {"python.framework.test_ops": "tideflow.programs.inner.testing.test_op_names"}


def when_imported(path: str) -> None:
    """Does what importing `tensorflow.<path>` does besides giving names."""
    if path in _REGISTERING:
        importlib.import_module(_REGISTERING[path]).register_all()


def module_named(module: str, name: str) -> str | None:
    """The module that a module has under a name: one of its own or, inside TensorFlow, one it imports."""
    own = f"{module}.{name}".lstrip(".")
    if is_module(own):
        return own
    if "python" not in module.split("."):
        return None
    return _shown_by_package(module, name) or _imported().get(name) or _beside(module, name)


def _shown_by_package(module: str, name: str) -> str | None:
    """The module of a package below a package, which shows what is in it."""
    below = (path for path in PACKAGES if path.rpartition(".")[0] == module and _has_module(path, name))
    return next((f"{path}.{name}" for path in below), None)


def _beside(module: str, name: str) -> str | None:
    """The module beside a module, which imports it."""
    package = module.rpartition(".")[0]
    return f"{package}.{name}" if _has_module(package, name) else None


# The packages whose modules TensorFlow's other modules import, the likelier first, and what they call some.
_IMPORTED = "python.framework python.ops python.util python.eager python.platform python.training"
_CALLED = {
    "learning_rate_schedule": "python.keras.optimizer_v2.learning_rate_schedule",
    "logging": "python.platform.tf_logging",
    "tf_variables": "python.ops.variables",
    "vs": "python.ops.variable_scope",
}


@functools.cache
def _imported() -> dict[str, str]:
    """Modules by the names that modules importing them have them under."""
    found = dict(_CALLED)
    for package in _IMPORTED.split():
        for name in PACKAGES[package][1].split():
            found.setdefault(name, f"{package}.{name}")
    return found


def why_not(module: str, name: str) -> str:
    """What to say to a program that asks a module for something that is not there."""
    path = f"{module}.{name}" if module else name
    for refused, sentence in REFUSED.items():
        if path == refused or path.startswith(f"{refused}."):
            return sentence
    near = _nearest(module, name, path)
    remarks = [
        _whose(path.removeprefix("compat.v1.")),
        f"The nearest that exists: {', '.join(near)}." if near else "",
    ]
    return " ".join(filter(None, remarks)) or "Nothing that exists is near to it."


def generated_function(name: str) -> Callable:
    """The function of an op type, by its name in the modules gen_…"""
    return _generated()[name]


def _whose(path: str) -> str:
    """Whether TensorFlow has what Tideflow does not, as far as that is known."""
    if is_module(path):
        return f"Programs that import tensorflow.{path} find it when `tideflow run` runs them."
    if is_in_tensorflow(path):
        return "TensorFlow 1.15 has it, Tideflow does not."
    unknown = _INNER.intersection(path.split(".")) or path.startswith(_UNLISTED)
    return "" if unknown else "TensorFlow 1.15 does not have it either."


_INNER = {"python", "core", "examples"}  # below these, modules that are not public: no list has their names
_UNLISTED = ("contrib.keras.", "contrib.quantization.")  # copies of something else


def _nearest(module: str, name: str, path: str) -> list[str]:
    if module in ("", "compat.v1") or namespace.is_namespace(module):
        public = path.removeprefix("compat.v1.")
        return [f"tf.{found}" for found in namespace.nearest(public)]
    alike = difflib.get_close_matches(name, names(module), 3)
    return [f"tensorflow.{module}.{found}" for found in alike]


@functools.cache
def _generated() -> dict[str, Callable]:
    """Every op type's function, by name: what TensorFlow's modules gen_… hold."""
    public = {name: op for name, op in definitions().items() if name in op_types()}
    return {python_name(name): python_function(op, op_attributes(name)) for name, op in public.items()}


@functools.cache
def _generated_of_contrib(name: str) -> Callable:
    """The function of an op type of contrib's."""
    importlib.import_module("tideflow.contrib.tensor_forest.ops")  # the others are there from the start
    for op_type, op in definitions().items():
        if op_type not in op_types() and not op_type.startswith("_") and python_name(op_type) == name:
            return python_function(op)
    raise Missing(name)
