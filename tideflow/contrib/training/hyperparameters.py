"""HParams: a model's numbers by name, with types, that a command line can set:
`learning_rate=0.1,layers=[3,4]`.
"""

from __future__ import annotations

import json
import numbers
import re
from collections.abc import Mapping
from typing import Any

from tideflow.contrib.training.hparam_pb2 import HParamDef, definition_of, values_of
from tideflow.export import export
from tideflow.graph.collection_protos import register_proto_function

PARAM_RE = re.compile(
    r"""
    (?P<name>[a-zA-Z][\w.]*)
    (\[\s*(?P<index>\d+)\s*\])?
    \s*=\s*
    (?:\[(?P<vals>[^\]]*)\] | (?P<val>[^,\[]*))
    (?:$|,\s*)
    """,
    re.VERBOSE,
)


@export("contrib.training.parse_values")
def parse_values(values: str, type_map: Mapping[str, type], ignore_unknown: bool = False) -> dict[str, Any]:
    """Reads settings from text, each value of the type that the map has.

    Args:
      values: The text: `name=value,name=[value,…],name[index]=value`.
      type_map: The type of each setting.
      ignore_unknown: Whether settings that the map does not have are left out; if not, they are an error.

    Returns:
      The settings by name.

    Raises:
      ValueError: If the text cannot be read, or a setting comes twice or is not known.
    """
    found: dict[str, Any] = {}
    position = 0
    while position < len(values):
        match = PARAM_RE.match(values, position)
        if match is None:
            raise ValueError(f"Malformed hyperparameter value: {values[position:]}")
        position = match.end()
        name, index = match["name"], match["index"]
        if name not in type_map:
            if ignore_unknown:
                continue
            raise ValueError(f"Unknown hyperparameter type for {name}")
        _set(found, name, index, _parsed(name, type_map[name], match, values), values)
    return found


def _parsed(name: str, kind: type, match: re.Match, values: str) -> Any:
    if match["vals"] is not None:
        if match["index"] is not None:
            raise ValueError(f"Assignment of a list to a list index. Must be a scalar: {name}")
        return [
            _cast_text(name, kind, item, values)
            for item in re.split(r"[ ,]+", match["vals"].strip(" "))
            if item
        ]
    return _cast_text(name, kind, match["val"], values)


def _cast_text(name: str, kind: type, text: str, values: str) -> Any:
    try:
        if kind is bool:
            if text in ("true", "True"):
                return True
            return False if text in ("false", "False") else bool(int(text))
        return kind(text)
    except ValueError:
        raise ValueError(
            f"Could not parse hparam '{name}' of type '{kind.__name__}' with value '{text}' in {values}"
        ) from None


def _set(found: dict[str, Any], name: str, index: str | None, value: Any, values: str) -> None:
    if index is None:
        if name in found:
            raise ValueError(f"Multiple assignments to variable '{name}' in {values}")
        found[name] = value
        return
    by_index = found.setdefault(name, {})
    if not isinstance(by_index, dict) or int(index) in by_index:
        raise ValueError(f"Multiple assignments to variable '{name}[{index}]' in {values}")
    by_index[int(index)] = value


def _cast_if_compatible(name: str, kind: type, value: Any) -> Any:
    """The value in a hyperparameter's type, where nothing is lost; ValueError where it would be."""
    if issubclass(kind, type(None)):
        return value
    is_text = issubclass(kind, (str, bytes))
    wrong = (
        is_text and not isinstance(value, (str, bytes))
        or issubclass(kind, bool) != isinstance(value, bool)
        or issubclass(kind, numbers.Integral) and not isinstance(value, numbers.Integral)
        or issubclass(kind, numbers.Number) and not isinstance(value, numbers.Number)
    )  # fmt: skip
    if wrong:
        raise ValueError(f"Could not cast hparam '{name}' of type '{kind}' from value {value!r}")
    return kind(value)


@export("contrib.training.HParams")
class HParams:
    """Hyperparameters by name, as attributes. Each keeps the type that it began with.

    Args:
      hparam_def: A HParamDef message with the hyperparameters, in place of `kwargs`.
      model_structure: What a caller wants to keep beside them.
      kwargs: The hyperparameters: numbers, strings, bools, or lists of these.

    Raises:
      ValueError: If a name is one of the class's own attributes, a list is empty, or both are given.
    """

    def __init__(self, hparam_def: Any = None, model_structure: Any = None, **kwargs: Any):
        self._hparam_types: dict[str, tuple[type, bool]] = {}  # and whether it is a list
        self._model_structure = model_structure
        if hparam_def and kwargs:
            raise ValueError("hparam_def and initialization values are mutually exclusive")
        if hparam_def:
            kwargs = values_of(hparam_def)
        for name, value in kwargs.items():
            self.add_hparam(name, value)

    def add_hparam(self, name: str, value: Any) -> None:
        """Adds a hyperparameter.

        Args:
          name: Its name.
          value: Its first value: a number, a string, a bool, or a list of these.

        Raises:
          ValueError: If the name is taken, or a list is empty.
        """
        if getattr(self, name, None) is not None:
            raise ValueError(f"Hyperparameter name is reserved: {name}")
        if isinstance(value, (list, tuple)):
            if not value:
                raise ValueError(f"Multi-valued hyperparameters cannot be empty: {name}")
            self._hparam_types[name] = (type(value[0]), True)
        else:
            self._hparam_types[name] = (type(value), False)
        setattr(self, name, value)

    def set_hparam(self, name: str, value: Any) -> None:
        """Sets a hyperparameter to another value of its type.

        Args:
          name: Its name.
          value: The value.

        Raises:
          ValueError: If a value is not of its hyperparameter's type.
        """
        kind, is_list = self._hparam_types[name]
        if isinstance(value, list):
            if not is_list:
                raise ValueError(f"Must not pass a list for single-valued parameter: {name}")
            setattr(self, name, [_cast_if_compatible(name, kind, item) for item in value])
        else:
            if is_list:
                raise ValueError(f"Must pass a list for multi-valued parameter: {name}.")
            setattr(self, name, _cast_if_compatible(name, kind, value))

    def del_hparam(self, name: str) -> None:
        """Removes a hyperparameter, if it is there."""
        if hasattr(self, name):
            delattr(self, name)
            del self._hparam_types[name]

    def parse(self, values: str) -> HParams:
        """Sets what `values` says, in the form of a command line.

        Args:
          values: The text, as of `tf.contrib.training.parse_values`.

        Returns:
          The HParams itself.
        """
        return self.override_from_dict(
            parse_values(values, {n: kind for n, (kind, _) in self._hparam_types.items()})
        )

    def override_from_dict(self, values_dict: Mapping[str, Any]) -> HParams:
        """Sets hyperparameters by name.

        Args:
          values_dict: The values by name.

        Returns:
          The HParams itself.

        Raises:
          ValueError: If a value is not of its hyperparameter's type.
        """
        for name, value in values_dict.items():
            self.set_hparam(name, value)
        return self

    def set_from_map(self, values_map: dict[str, Any]) -> HParams:
        """An older name of `override_from_dict`."""
        return self.override_from_dict(values_map)

    def parse_json(self, values_json: str) -> HParams:
        """Sets what a JSON object says.

        Args:
          values_json: The JSON text of an object.

        Returns:
          The HParams itself.

        Raises:
          ValueError: If a value is not of its hyperparameter's type.
        """
        return self.override_from_dict(json.loads(values_json))

    def values(self) -> dict[str, Any]:
        """The hyperparameters by name."""
        return {name: getattr(self, name) for name in self._hparam_types}

    def get(self, key: str, default: Any = None) -> Any:
        """A hyperparameter, or a default for it, which must be of its type.

        Args:
          key: The name.
          default: What is returned where there is none.

        Returns:
          The value or the default.

        Raises:
          ValueError: If the default is not of the type of the hyperparameter.
        """
        if key not in self._hparam_types:
            return default
        if default is not None:
            kind, is_list = self._hparam_types[key]
            given = f"default={default}"
            if is_list and not isinstance(default, list):
                raise ValueError(
                    f"Hparam '{key}' of type '{self._type_name(key)}' is incompatible with {given}"
                )
            try:
                for item in default if is_list else [default]:
                    _cast_if_compatible(key, kind, item)
            except ValueError as error:
                raise ValueError(
                    f"Hparam '{key}' of type '{self._type_name(key)}' is incompatible with {given}: {error}"
                ) from None
        return getattr(self, key)

    def _type_name(self, name: str) -> str:
        kind, is_list = self._hparam_types[name]
        return f"[{kind.__name__}]" if is_list else kind.__name__

    def to_json(
        self, indent: int | None = None, separators: tuple[str, str] | None = None, sort_keys: bool = False
    ) -> str:
        """The hyperparameters as a JSON object; those that are functions are left out.

        Args:
          indent: As of `json.dumps`.
          separators: As of `json.dumps`.
          sort_keys: Whether names are sorted.

        Returns:
          The text.
        """
        plain = {name: value for name, value in self.values().items() if not callable(value)}
        return json.dumps(plain, indent=indent, separators=separators, sort_keys=sort_keys)

    def to_proto(self, export_scope: str | None = None) -> Any:
        """Makes a HParamDef message of the hyperparameters.

        Args:
          export_scope: Not used.

        Returns:
          The message.
        """
        return definition_of({name: (self.get(name), kind) for name, (kind, _) in self._hparam_types.items()})

    @staticmethod
    def from_proto(hparam_def: Any, import_scope: str | None = None) -> HParams:
        """Makes hyperparameters of a HParamDef message.

        Args:
          hparam_def: The message.
          import_scope: Not used.

        Returns:
          The hyperparameters.
        """
        return HParams(hparam_def=hparam_def)

    def set_model_structure(self, model_structure: Any) -> None:
        """Keeps whatever describes the model's structure.

        Args:
          model_structure: Whatever describes it.
        """
        self._model_structure = model_structure

    def get_model_structure(self) -> Any:
        """What `set_model_structure` was given."""
        return self._model_structure

    def __contains__(self, key: str) -> bool:
        return key in self._hparam_types

    def __str__(self) -> str:
        return ",".join(f"{name}={value}" for name, value in self.values().items())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({sorted(self.values().items())})"


register_proto_function("hparams", HParamDef, from_proto=HParams.from_proto)
