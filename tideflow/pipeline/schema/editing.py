"""Schemas as people edit them: text files, features by path, domains, environments."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from google.protobuf import text_format

from tideflow.io.local_files import as_tensorflow_errors
from tideflow.pipeline.data.whole_files import write_whole
from tideflow.pipeline.messages import schema as messages
from tideflow.pipeline.schema.feature_paths import path_text

FeaturePath = str | Sequence[str]

_DOMAIN_FIELDS = {
    messages.IntDomain: "int_domain",
    messages.FloatDomain: "float_domain",
    messages.StringDomain: "string_domain",
    messages.BoolDomain: "bool_domain",
    messages.StructDomain: "struct_domain",
    messages.NaturalLanguageDomain: "natural_language_domain",
    messages.ImageDomain: "image_domain",
    messages.MIDDomain: "mid_domain",
    messages.URLDomain: "url_domain",
    messages.TimeDomain: "time_domain",
    messages.TimeOfDayDomain: "time_of_day_domain",
}


def schema_text(schema: Any) -> str:
    """The text of a schema, byte for byte as TFDV writes it.

    Args:
      schema: A `Schema`.
    """
    return "".join(f"{line}\n" for part in SchemaParts()(schema) for line in part)


class SchemaParts:
    """The texts of schemas that have most of their features in common: of each the lines are made once.

    A part is a feature or a domain, or another field of the schema.
    """

    def __init__(self) -> None:
        self._made: dict[tuple[str, bytes], list[str]] = {}

    def __call__(self, schema: Any) -> list[list[str]]:
        return list(self._parts(schema))

    def _parts(self, schema: Any) -> Iterator[list[str]]:
        for field, value in schema.ListFields():
            if not hasattr(value, "add"):  # not a list of messages
                yield self._lines(field.name, value)
                continue
            for element in value:
                key = field.name, element.SerializeToString(deterministic=True)
                if key not in self._made:
                    self._made[key] = self._lines(field.name, [element])
                yield self._made[key]

    def _lines(self, name: str, value: Any) -> list[str]:
        alone = messages.Schema()
        field = getattr(alone, name)
        if isinstance(field, bool):
            setattr(alone, name, value)
        elif isinstance(value, list):
            field.extend(value)
        else:
            field.MergeFrom(value)
        return text_format.MessageToString(alone, as_utf8=False).splitlines()


def load_schema_text(input_path: str | os.PathLike[str]) -> Any:
    """Reads a schema from a text file.

    Args:
      input_path: The file.

    Returns:
      A `Schema`.

    Raises:
      ValueError: The file is not the text of a schema; with the line and the column.
    """
    with as_tensorflow_errors(os.fspath(input_path)):
        data = Path(input_path).read_bytes()
    try:
        return text_format.Parse(data.decode(), messages.Schema())
    except (text_format.ParseError, UnicodeDecodeError) as error:
        raise ValueError(f"{os.fspath(input_path)} is not the text of a schema: {error}") from error


def write_schema_text(schema: Any, output_path: str | os.PathLike[str]) -> None:
    """Writes a schema to a text file, for people to review and to version.

    Args:
      schema: A `Schema`.
      output_path: The file. It is replaced at once: a reader sees the old one or the new one.
    """
    with as_tensorflow_errors(os.fspath(output_path)):
        write_whole(output_path, schema_text(schema))


def get_feature(schema: Any, feature_path: FeaturePath) -> Any:
    """The description of a feature, to be read or edited.

    Args:
      schema: A `Schema`.
      feature_path: The feature's name; for a feature within another, the names from the outermost on.

    Raises:
      ValueError: The schema has no such feature.
    """
    steps = (feature_path,) if isinstance(feature_path, str) else tuple(feature_path)
    features, found = schema.feature, None
    for depth, step in enumerate(steps):
        found = next((feature for feature in features if feature.name == step), None)
        if found is None:
            raise ValueError(f"Feature {path_text(steps)} not found in the schema.")
        if depth + 1 < len(steps) and found.WhichOneof("domain_info") != "struct_domain":
            raise ValueError(
                f"Feature {path_text(steps[: depth + 1])} does not refer to a valid STRUCT feature."
            )
        features = found.struct_domain.feature if found.HasField("struct_domain") else ()
    return found


def get_domain(schema: Any, feature_path: FeaturePath) -> Any:
    """The domain of a feature, to be read or edited.

    Args:
      schema: A `Schema`.
      feature_path: As in `get_feature`.

    Raises:
      ValueError: There is no such feature, or it has no domain.
    """
    feature = get_feature(schema, feature_path)
    kind = feature.WhichOneof("domain_info")
    if kind is None:
        raise ValueError(f"Feature {_text(feature_path)} has no domain associated with it.")
    if kind != "domain":
        return getattr(feature, kind)
    for domain in schema.string_domain:
        if domain.name == feature.domain:
            return domain
    raise ValueError(f"Feature {_text(feature_path)} has an unsupported domain {feature.domain}.")


def set_domain(schema: Any, feature_path: FeaturePath, domain: Any) -> None:
    """Gives a feature a domain, in place of the one it has.

    Args:
      schema: A `Schema`, which is changed.
      feature_path: As in `get_feature`.
      domain: An `IntDomain` or another domain, or the name of a string domain of the schema.

    Raises:
      TypeError: The feature is a struct, or `domain` is none.
      ValueError: There is no such feature, or no string domain of that name.
    """
    feature = get_feature(schema, feature_path)
    if feature.type == messages.FeatureType.Value("STRUCT"):
        raise TypeError(f"Could not set the domain of a STRUCT feature {_text(feature_path)}.")
    if isinstance(domain, str):
        if all(known.name != domain for known in schema.string_domain):
            raise ValueError(f'Invalid global string domain "{domain}".')
        feature.domain = domain
    elif type(domain) in _DOMAIN_FIELDS:
        getattr(feature, _DOMAIN_FIELDS[type(domain)]).CopyFrom(domain)
    else:
        raise TypeError(f"domain is of type {type(domain).__name__}, should be one of the supported types")


def _text(feature_path: FeaturePath) -> str:
    return feature_path if isinstance(feature_path, str) else path_text(feature_path)
