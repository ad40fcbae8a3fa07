"""`tensorflow.python.util.tf_export`: decorators that mark symbols with the names that they have in an API.

Marks change nothing here: what Tideflow shows is said by its own `@export`.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tideflow.platform import decorators
from tideflow.programs.inner.util.inspection import getargspec

TENSORFLOW_API_NAME, ESTIMATOR_API_NAME, KERAS_API_NAME = "tensorflow", "estimator", "keras"
SUBPACKAGE_NAMESPACES = (ESTIMATOR_API_NAME,)


class _Attributes(NamedTuple):
    """The attributes that keep the names of symbols, and the constants of modules."""

    names: str
    constants: str


_PREFIXES = {TENSORFLOW_API_NAME: "_tf", ESTIMATOR_API_NAME: "_estimator", KERAS_API_NAME: "_keras"}
API_ATTRS = {api: _Attributes(f"{p}_api_names", f"{p}_api_constants") for api, p in _PREFIXES.items()}
API_ATTRS_V1 = {api: _Attributes(*(f"{name}_v1" for name in attrs)) for api, attrs in API_ATTRS.items()}


class SymbolAlreadyExposedError(Exception):
    """A symbol has names already."""


class InvalidSymbolNameError(Exception):
    """A name is not one that an API may have."""


class api_export:
    """Decorator: the names of a symbol in an API.

    Args:
      *args: The names.
      v1: The names in TensorFlow 1, where they differ.
      overrides: Symbols that lose their names.
      api_name: The API: "tensorflow", "estimator" or "keras".
      allow_multiple_exports: Whether a symbol that has names may get others.
    """

    def __init__(
        self,
        *args: str,
        v1: Sequence[str] | None = None,
        overrides: Sequence[Any] = (),
        api_name: str = TENSORFLOW_API_NAME,
        allow_multiple_exports: bool = False,
        **kwargs: Any,
    ):
        if "v2" in kwargs:
            raise ValueError(
                'You passed a "v2" argument to tf_export. This is not what you want. Pass v2 names directly '
                "as positional arguments instead."
            )
        self._names: Sequence[str] = args
        self._names_v1: Sequence[str] = args if v1 is None else v1
        self._overrides, self._api_name, self._again = overrides, api_name, allow_multiple_exports
        self._check({*self._names, *self._names_v1})

    def _check(self, names: set[str]) -> None:
        if self._api_name == TENSORFLOW_API_NAME:
            for package in SUBPACKAGE_NAMESPACES:
                if any(name.startswith(package) for name in names):
                    raise InvalidSymbolNameError(
                        f"@tf_export is not allowed to export symbols under {package}.*"
                    )
        elif not all(name.startswith(self._api_name) for name in names):
            raise InvalidSymbolNameError(
                "Can only export symbols under package name of component. e.g. tensorflow_estimator must "
                "export all symbols under tf.estimator"
            )

    def _attributes(self) -> tuple[_Attributes, _Attributes]:
        return API_ATTRS[self._api_name], API_ATTRS_V1[self._api_name]

    def __call__(self, func: Any) -> Any:
        new, old = self._attributes()
        for other in self._overrides:
            _, target = decorators.unwrap(other)
            delattr(target, new.names)
            delattr(target, old.names)
        _, target = decorators.unwrap(func)
        self.set_attr(target, new.names, self._names)
        self.set_attr(target, old.names, self._names_v1)
        return func

    def set_attr(self, func: Any, api_names_attr: str, names: Sequence[str]) -> None:
        """Gives a symbol its names."""
        if api_names_attr in vars(func) and not self._again:
            raise SymbolAlreadyExposedError(
                f"Symbol {func.__name__} is already exposed as {getattr(func, api_names_attr)}."
            )
        setattr(func, api_names_attr, names)

    def export_constant(self, module_name: str, name: str) -> None:
        """Gives a constant of a module its names."""
        module = sys.modules[module_name]
        for attributes, names in zip(self._attributes(), (self._names, self._names_v1), strict=True):
            if not hasattr(module, attributes.constants):
                setattr(module, attributes.constants, [])
            getattr(module, attributes.constants).append((names, name))


tf_export = functools.partial(api_export, api_name=TENSORFLOW_API_NAME)
estimator_export = functools.partial(api_export, api_name=ESTIMATOR_API_NAME)
keras_export = functools.partial(api_export, api_name=KERAS_API_NAME)


def get_canonical_name(api_names: Sequence[str], deprecated_api_names: Sequence[str]) -> str | None:
    """The first name that is not deprecated; else the first one; None where there is none."""
    current = (name for name in api_names if name not in deprecated_api_names)
    return next(current, None) or next(iter(api_names), None)


def get_canonical_name_for_symbol(
    symbol: Any, api_name: str = TENSORFLOW_API_NAME, add_prefix_to_v1_names: bool = False
) -> str | None:
    """The name of a symbol that its API prefers; None where it has none."""
    if not hasattr(symbol, "__dict__"):
        return None
    _, target = decorators.unwrap(symbol)
    if API_ATTRS[api_name].names not in vars(target):
        return None
    deprecated = vars(target).get("_tf_deprecated_api_names", [])
    found = get_canonical_name(getattr(target, API_ATTRS[api_name].names), deprecated)
    if found:
        return found
    old = get_canonical_name(getattr(target, API_ATTRS_V1[api_name].names), deprecated)
    return f"compat.v1.{old}" if add_prefix_to_v1_names else old


def _collected(holder: Any, attributes: dict[str, _Attributes], field: str) -> list[Any]:
    held = getattr(holder, "__dict__", {})
    return [item for each in attributes.values() for item in held.get(getattr(each, field), ())]


def get_v1_names(symbol: Any) -> list[str]:
    """The names of a symbol in TensorFlow 1."""
    return _collected(symbol, API_ATTRS_V1, "names")


def get_v2_names(symbol: Any) -> list[str]:
    """The names of a symbol in TensorFlow 2."""
    return _collected(symbol, API_ATTRS, "names")


def get_v1_constants(module: Any) -> list[Any]:
    """The constants of a module in TensorFlow 1."""
    return _collected(module, API_ATTRS_V1, "constants")


def get_v2_constants(module: Any) -> list[Any]:
    """The constants of a module in TensorFlow 2."""
    return _collected(module, API_ATTRS, "constants")


def kwarg_only(f: Callable) -> Callable:
    """Decorator: a function that takes its arguments by name only."""
    spec = getargspec(f)

    def by_name(*args: Any, **kwargs: Any) -> Any:
        if args:
            raise TypeError(
                f"{f.__name__} only takes keyword args (possible keys: {spec.args}). Please pass these args "
                "as kwargs instead."
            )
        return f(**kwargs)

    return decorators.make_decorator(f, by_name, decorator_argspec=spec)
