"""Columns as plain values, as Keras writes layers: the name of the class and its settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tideflow.graph import dtypes
from tideflow.graph.dtypes import DType
from tideflow.variables import keras_initializers
from tideflow.variables.custom_objects import deserialize_keras_object, serialize_keras_object

# The classes of `tf.feature_column` by name; those of contrib have the same names.
CLASSES: dict[str, Any] = {}


def config_of(column: Any) -> dict[str, Any]:
    """The settings of a column as plain values."""
    return {name: _plain(value) for name, value in column._asdict().items()}


def _plain(value: Any) -> Any:
    if hasattr(value, "_get_config"):
        return serialize_feature_column(value)
    if isinstance(value, tuple):
        return tuple(_plain(item) for item in value)
    if isinstance(value, DType):
        return value.name
    if hasattr(value, "get_config") or callable(value):
        return serialize_keras_object(value)
    return value


def made_of(cls: Any, config: Mapping[str, Any], custom_objects: Any = None, known: Any = None) -> Any:
    """The column of a class that has these settings."""
    if set(config) != set(cls._fields):
        raise ValueError(f"Invalid config: {config}, expected keys: {cls._fields}")

    def field(name: str, value: Any) -> Any:
        if isinstance(value, dict) and name in ("categorical_column", "source_column", "keys"):
            return deserialize_feature_column(value, custom_objects, known)
        if name == "dtype":
            return dtypes.as_dtype(value)
        if name == "initializer":
            return keras_initializers.deserialize(value, custom_objects)
        if name == "normalizer_fn" and value is not None:
            return deserialize_keras_object(value, {}, custom_objects, "function")
        if isinstance(value, (list, tuple)):
            return tuple(field(name, item) for item in value)
        return value

    return cls(**{name: field(name, value) for name, value in config.items()})


def serialize_feature_column(fc: Any) -> Any:
    """A column as the name of its class and its settings; the name of a feature as it is."""
    if isinstance(fc, str):
        return fc
    if not hasattr(fc, "_get_config"):
        raise ValueError(f"Instance: {fc} is not a FeatureColumn")
    return {"class_name": type(fc).__name__, "config": fc._get_config()}


def deserialize_feature_column(
    config: Any, custom_objects: Mapping[str, Any] | None = None, columns_by_name: dict | None = None
) -> Any:
    """The column that was written; that of `columns_by_name` where it is there already."""
    if isinstance(config, str):
        return config
    if not isinstance(config, dict) or "class_name" not in config or "config" not in config:
        raise ValueError(f"Improper config format: {config}")
    classes = {**CLASSES, **(custom_objects or {})}
    cls = classes.get(config["class_name"])
    if cls is None:
        raise ValueError(f"Unknown feature_column_v2: {config['class_name']}")
    if not hasattr(cls, "_from_config"):
        raise ValueError(f"Expected FeatureColumn class, instead found: {cls}")
    known = {} if columns_by_name is None else columns_by_name
    made = cls._from_config(config["config"], custom_objects=custom_objects, columns_by_name=known)
    return known.setdefault(f"{type(made).__name__}:{made.name}", made)


def serialize_feature_columns(feature_columns: Iterable[Any]) -> list[Any]:
    """What `serialize_feature_column` gives for each."""
    return [serialize_feature_column(column) for column in feature_columns]


def deserialize_feature_columns(
    configs: Iterable[Any], custom_objects: Mapping[str, Any] | None = None
) -> list[Any]:
    """The columns of a list; those that are the same are one object."""
    known: dict[str, Any] = {}
    return [deserialize_feature_column(config, custom_objects, known) for config in configs]
