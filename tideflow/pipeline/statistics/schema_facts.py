"""What statistics need to know of a schema."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tideflow.pipeline.messages.schema import FeatureType
from tideflow.pipeline.statistics.components import Composite, composites_of
from tideflow.pipeline.statistics.options import Path

_INT, _FLOAT, _BYTES = (FeatureType.Value(name) for name in ("INT", "FLOAT", "BYTES"))


@dataclass(frozen=True)
class SchemaFacts:
    """Which features are images, have integers that are categories, are categorical, or consist of others."""

    images: frozenset[Path] = frozenset()
    categories: frozenset[Path] = frozenset()
    categorical: frozenset[Path] = frozenset()
    composites: tuple[Composite, ...] = ()

    @classmethod
    def of(cls, schema: Any) -> SchemaFacts:
        """The facts of a Schema; none if there is no schema."""
        if schema is None:
            return cls()
        leaves = list(leaf_features(schema))
        return cls(
            frozenset(path for path, feature in leaves if feature.HasField("image_domain")),
            frozenset(path for path, feature in leaves if feature.type == _INT and is_categorical(feature)),
            frozenset(path for path, feature in leaves if is_categorical(feature)),
            tuple(composites_of(schema)),
        )


def leaf_features(schema: Any, within: Path = ()) -> Iterator[tuple[Path, Any]]:
    """The features of a schema and of the structs in it, with their paths."""
    for feature in schema.feature:
        path = (*within, feature.name)
        if feature.HasField("struct_domain"):
            yield from leaf_features(feature.struct_domain, path)
        else:
            yield path, feature


def is_categorical(feature: Any) -> bool:
    """Whether a feature's values are names of something: strings, or numbers that the schema says are."""
    if feature.type == _BYTES:
        return True
    if feature.type == _INT:
        return feature.int_domain.is_categorical or feature.WhichOneof("domain_info") in (
            "bool_domain",
            "natural_language_domain",
        )
    return bool(feature.type == _FLOAT and feature.float_domain.is_categorical)
