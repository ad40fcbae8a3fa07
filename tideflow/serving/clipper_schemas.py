"""The bodies that Clipper's REST interface takes, and errors that say what was expected."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import orjson

from tideflow.serving.applications import INPUT_TYPES


class Field(NamedTuple):
    """A field of a body: how the schema says it, and what values fit."""

    text: str
    fits: Callable[[Any], bool]
    is_required: bool = True


def _is(*types: type) -> Callable[[Any], bool]:
    return lambda value: type(value) in types


def _list_of(*types: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(type(each) in types for each in value)


def _optional(field: Field) -> Field:
    return field._replace(is_required=False)


STRING, BOOL, INT = Field("string", _is(str)), Field("bool", _is(bool)), Field("int", _is(int))
NUMBER, STRINGS = Field("number", _is(int, float)), Field("[string]", _list_of(str))
ANY = Field("any", lambda value: True)
USER = Field("string | int", _is(str, int))
VERSION = Field("string | int", lambda value: type(value) in (str, int) and str(value).isdecimal())
INPUT_TYPE = Field(" | ".join(f'"{name}"' for name in INPUT_TYPES), lambda value: value in INPUT_TYPES)
INPUT = Field("[int] | [float] | [double] | string | base64 string", _is(list, str))
INPUTS = Field(f"[{INPUT.text}]", _list_of(list, str))
POLICY = Field('string | {"name" := string, …}', _is(str, dict))

Schema: TypeAlias = dict[str, Field]

NAME, APP, MODEL = {"name": STRING}, {"app_name": STRING}, {"model_name": STRING, "model_version": VERSION}
LINKS, VERBOSE = {**APP, "model_names": STRINGS}, {"verbose": _optional(BOOL)}

PREDICT_ONE: Schema = {"input": INPUT, "version": _optional(VERSION), "uid": _optional(USER)}
PREDICT_BATCH: Schema = {"input_batch": INPUTS, "version": _optional(VERSION), "uid": _optional(USER)}
UPDATE: Schema = {"uid": USER, "input": INPUT, "label": ANY}
ADD_APP: Schema = {
    "name": STRING,
    "input_type": INPUT_TYPE,
    "default_output": ANY,
    "latency_slo_micros": INT,
    "policy": _optional(POLICY),
    "confidence_threshold": _optional(NUMBER),
    "output_name": _optional(STRING),
    "per_user": _optional(BOOL),
}
ADD_MODEL: Schema = {
    **MODEL,
    "model_data_path": STRING,
    "labels": _optional(STRINGS),
    "input_type": _optional(INPUT_TYPE),
    "container_name": _optional(STRING),
    "batch_size": _optional(INT),
}


def schema_text(schema: Schema) -> str:
    """A schema as Clipper writes it."""
    fields = [f'"{name}"{"" if field.is_required else "?"} := {field.text}' for name, field in schema.items()]
    return "{" + ", ".join(fields) + "}"


class SchemaError(Exception):
    """A body that does not fit. Its text has the schema."""


def parse(body: bytes, *schemas: Schema) -> dict[str, Any]:
    """The object in a body that fits one of the schemas; the first one whose first field it has."""
    try:
        value = orjson.loads(body or b"{}")
        if not isinstance(value, dict):
            raise ValueError("the body is not an object")
        schema = next((each for each in schemas if next(iter(each)) in value), schemas[0])
        for name, field in schema.items():
            if name not in value:
                if field.is_required:
                    raise ValueError(f"JSON object does not have required key: {name}")
            elif not field.fits(value[name]):
                raise ValueError(f"the value of key {name} is not of its type")
    except ValueError as error:
        expected = " or ".join(map(schema_text, schemas))
        raise SchemaError(f"Error parsing JSON: {error}. Expected JSON schema: {expected}") from None
    return value
